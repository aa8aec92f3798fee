"""mindspore.nn's optimizers on torch.optim.Optimizer."""

from .base import Optimizer as Optimizer
