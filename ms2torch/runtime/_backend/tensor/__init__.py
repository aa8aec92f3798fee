"""MindSpore's Tensor: its constructor, and adapters for the methods that differ from torch.Tensor's.

An adapter takes the receiver first and hands any receiver that is no torch tensor to its own method, so
`_backend.tensor.split(x, "/")` is `x.split("/")` where `x` is a string.
"""

from . import convert, create, elementwise, index, inplace, item, reduce, shape
from .convert import *  # noqa: F403
from .create import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .index import *  # noqa: F403
from .inplace import *  # noqa: F403
from .item import *  # noqa: F403
from .reduce import *  # noqa: F403
from .shape import *  # noqa: F403

__all__ = [
    *convert.__all__,
    *create.__all__,
    *elementwise.__all__,
    *index.__all__,
    *inplace.__all__,
    *item.__all__,
    *reduce.__all__,
    *shape.__all__,
]
