"""mindspore.nn's and mindspore.mint.optim's optimizers on torch.optim.Optimizer."""

from . import mint as mint
from .adam import Adam as Adam
from .adam import AdaMax as AdaMax
from .adam import AdamWeightDecay as AdamWeightDecay
from .adam import LazyAdam as LazyAdam
from .adaptive import FTRL as FTRL
from .adaptive import Adadelta as Adadelta
from .adaptive import Adagrad as Adagrad
from .adaptive import ProximalAdagrad as ProximalAdagrad
from .adaptive import RMSProp as RMSProp
from .base import Optimizer as Optimizer
from .sgd import SGD as SGD
from .sgd import Momentum as Momentum
