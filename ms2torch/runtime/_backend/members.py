"""Members looked up by name: ``hasattr(x, "asnumpy")`` asks what MindSpore's tensor has, not torch's.

``owner`` is, in each function, the torch class of the MindSpore class that defines the member
(``torch.Tensor`` for ``Tensor.asnumpy``): its instances have the member through the port's adapters.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

__all__ = ["bind_member", "has_member", "read_member", "scalar"]


def has_member(value: Any, name: str, owner: type) -> bool:
    """Whether ``value`` has the member ``name``, as MindSpore would answer.

    A tensor that is no ``owner`` has it only as its own attribute: that ``torch.Tensor`` has a member of
    this name (``layout``) says nothing of MindSpore's.
    """
    if isinstance(value, owner):
        return True
    if isinstance(value, torch.Tensor) and hasattr(torch.Tensor, name):
        return False
    return hasattr(value, name)


def read_member(value: Any, name: str, owner: type, adapter: Callable[..., Any], *default: Any) -> Any:
    """``getattr(value, name[, default])`` of a property that ``adapter(value)`` reads.

    Raises AttributeError where ``value`` has no such member and no default is given.
    """
    if isinstance(value, owner):
        return adapter(value)
    if has_member(value, name, owner):
        return getattr(value, name)
    return getattr(_Nothing(), name, *default)


def bind_member(value: Any, name: str, owner: type, adapter: Callable[..., Any], *default: Any) -> Any:
    """``getattr(value, name[, default])`` of a method that ``adapter(value, *args)`` performs.

    Raises AttributeError where ``value`` has no such member and no default is given.
    """
    if isinstance(value, owner):
        return functools.partial(adapter, value)
    if has_member(value, name, owner):
        return getattr(value, name)
    return getattr(_Nothing(), name, *default)


def scalar(value: Any) -> Any:
    """What ``float()`` and its like take: the one element of a numpy array of any rank, other values as they
    are. Raises ValueError for an array of another size."""
    return value.item() if isinstance(value, np.ndarray) else value


class _Nothing:
    """Has no member, and says so as Python does."""

    __slots__ = ()
