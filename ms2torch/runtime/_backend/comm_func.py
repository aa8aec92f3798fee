"""The functional collectives of mindspore.communication.comm_func: the input stays, ``(tensor, handle)`` comes
back, the handle None unless ``async_op``. Source: MindSpore 2.10, mindspore.communication.comm_func, where they
are deprecated in favour of mindspore.ops.communication.
"""

from __future__ import annotations

from typing import Any

import torch

from .collectives import Handle
from .communication import gathered, reduced, scattered
from .distributed import ReduceOp
from .distributed import barrier as _barrier

__all__ = ["all_gather_into_tensor", "all_reduce", "barrier", "reduce_scatter_tensor"]

Result = tuple[torch.Tensor, Handle | None]


def all_reduce(
    tensor: torch.Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Result:
    """The reduction of the members' tensors; differentiable."""
    return reduced(tensor, op, group, async_op)


def all_gather_into_tensor(tensor: torch.Tensor, group: Any = None, async_op: bool = False) -> Result:
    """The members' tensors, one after another in dimension 0; differentiable."""
    return gathered(tensor, group, async_op)


def reduce_scatter_tensor(
    tensor: torch.Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Result:
    """This member's part, along dimension 0, of the reduction of the members' tensors; differentiable."""
    return scattered(tensor, op, group, async_op)


def barrier(group: Any = None) -> None:
    """Waits until every member is here."""
    _barrier(group)
