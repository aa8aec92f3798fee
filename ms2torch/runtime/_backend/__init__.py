"""The one place of a port that knows device, vendor library and torch version.

It imports torch and the standard library only, so that any module may import it first.
"""

from . import compat as compat
from . import guard as guard
from .compat import param_name as param_name
from .compat import rms_norm as rms_norm
from .guard import HAS_MINDSPORE as HAS_MINDSPORE
from .guard import MindSporeRequired as MindSporeRequired
from .guard import unavailable as unavailable
from .guard import unavailable_module as unavailable_module
