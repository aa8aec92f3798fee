"""Matrix products joined with a collective; here the collective and the product one after the other."""

from __future__ import annotations

from typing import Any

import torch

from .. import collectives, groups
from ._device import refuse

__all__ = ["all_gather_matmul", "matmul_reduce_scatter"]


class _Gather(torch.autograd.Function):
    """All-gather along the first dimension; its gradient is the reduce-scatter."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, group: Any, size: int) -> torch.Tensor:
        ctx.group, ctx.size = group, size
        return _gather(x, group, size)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        return _scatter(grads[0], ctx.group, ctx.size), None, None


class _Scatter(torch.autograd.Function):
    """Sum over ranks, each keeping its part of the first dimension; its gradient is the all-gather."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, group: Any, size: int) -> torch.Tensor:
        ctx.group, ctx.size = group, size
        return _scatter(x, group, size)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        return _gather(grads[0], ctx.group, ctx.size), None, None


def _gather(x: torch.Tensor, group: Any, size: int) -> torch.Tensor:
    out = x.new_empty(x.shape[0] * size, *x.shape[1:])
    collectives.all_gather_into_tensor(out, x.contiguous(), group)
    return out


def _scatter(x: torch.Tensor, group: Any, size: int) -> torch.Tensor:
    out = x.new_empty(x.shape[0] // size, *x.shape[1:])
    collectives.reduce_scatter_tensor(out, x.contiguous(), group=group)
    return out


def _check(op: str, input: torch.Tensor, group: Any, world_size: int) -> None:
    if input.ndim != 2:
        raise RuntimeError(f"{op}: input must have two dimensions, not {input.ndim}")
    size = groups.get_world_size(group)
    if size != world_size:
        raise RuntimeError(f"{op}: world_size is {world_size}, but the group has {size} ranks")


def all_gather_matmul(
    input: torch.Tensor,
    x2: torch.Tensor,
    group: Any,
    world_size: int,
    *,
    bias: Any = None,
    gather_index: int = 0,
    gather_output: bool = True,
    comm_turn: int = 0,
    trans_input: bool = False,
    trans_x2: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """``(all_gather(input) @ x2, all_gather(input))``: input [m, k], x2 [k, n] ([n, k] with ``trans_x2``);
    results [m * world_size, n] and [m * world_size, k]. Without ``gather_output`` the second is empty.

    Raises NotImplementedError for the arguments that MindSpore keeps for later (``bias``, ``gather_index``,
    ``comm_turn``, ``trans_input``), RuntimeError for another size of the group.
    MindSpore 2.10: mindspore.ops.all_gather_matmul.
    """
    refuse(
        "all_gather_matmul",
        bias=bias,
        gather_index=gather_index or None,
        comm_turn=comm_turn or None,
        trans_input=trans_input,
    )
    _check("all_gather_matmul", input, group, world_size)
    gathered: torch.Tensor = _Gather.apply(input, group, world_size)  # type: ignore[no-untyped-call]
    out = gathered @ (x2.transpose(0, 1) if trans_x2 else x2)
    return out, gathered if gather_output else input.new_empty(0)


def matmul_reduce_scatter(
    input: torch.Tensor,
    x2: torch.Tensor,
    group: Any,
    world_size: int,
    *,
    reduce_op: str = "sum",
    bias: Any = None,
    comm_turn: int = 0,
    trans_input: bool = False,
    trans_x2: bool = False,
) -> torch.Tensor:
    """This rank's rows of ``sum over ranks of input @ x2``: input [m, k], x2 [k, n] ([n, k] with
    ``trans_x2``), result [m / world_size, n].

    Raises NotImplementedError for the arguments that MindSpore keeps for later (``bias``, ``comm_turn``,
    ``trans_input``, another ``reduce_op``), RuntimeError for another size of the group or rows that do not
    divide. MindSpore 2.10: mindspore.ops.matmul_reduce_scatter.
    """
    refuse(
        "matmul_reduce_scatter",
        bias=bias,
        comm_turn=comm_turn or None,
        trans_input=trans_input,
        reduce_op=None if reduce_op == "sum" else reduce_op,
    )
    _check("matmul_reduce_scatter", input, group, world_size)
    if input.shape[0] % world_size:
        raise RuntimeError(f"matmul_reduce_scatter: {input.shape[0]} rows over {world_size} ranks")
    out = input @ (x2.transpose(0, 1) if trans_x2 else x2)
    scattered: torch.Tensor = _Scatter.apply(out, group, world_size)  # type: ignore[no-untyped-call]
    return scattered
