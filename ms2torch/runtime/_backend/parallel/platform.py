"""``get_platform()``: the few platform services of hyper_parallel that models and optimizers call.

Source: hyper-parallel hyper_parallel/platform/platform.py and platform/mindspore/platform.py.
"""

from __future__ import annotations

import functools
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from ..groups import new_group

__all__ = ["Platform", "enable_backward_compat", "get_platform"]

_OPS = {"sum": dist.ReduceOp.SUM, "max": dist.ReduceOp.MAX, "min": dist.ReduceOp.MIN}


class _AllReduceSum(torch.autograd.Function):
    """Sum over a group; each rank's gradient is the sum of the ranks' gradients."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, group: Any) -> torch.Tensor:
        ctx.group = group
        out = x.contiguous().clone()
        dist.all_reduce(out, group=group)
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        out = grad.contiguous().clone()
        dist.all_reduce(out, group=ctx.group)
        return out, None


class Platform:
    """Services by name; a name that is not here raises ``NotImplementedError`` that says which."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotImplementedError(f"hyper_parallel platform service {name!r}")

    def __repr__(self) -> str:
        return "<torch platform>"

    @staticmethod
    def get_rank() -> int:
        return dist.get_rank()

    @staticmethod
    def get_world_size() -> int:
        return dist.get_world_size()

    @staticmethod
    def get_global_rank(group: Any, group_rank: int) -> int:
        return dist.get_global_rank(group, group_rank)

    @staticmethod
    def create_group(rank_list: Any, group_name: str | None = None) -> Any:
        """The group of these ranks, made once; called by its members only."""
        return new_group([int(r) for r in rank_list])

    @staticmethod
    def differentiable_all_reduce(data: torch.Tensor, op: str, group: Any) -> torch.Tensor:
        """A reduced copy of ``data``; ``sum`` and ``avg`` are differentiable (gradients are reduced as well).

        ``NotImplementedError`` for another op on data that needs a gradient, and for an unknown op.
        """
        kind = str(op).lower()
        if kind == "sum":
            return _AllReduceSum.apply(data, group)  # type: ignore[no-any-return,no-untyped-call]
        if kind in ("avg", "mean"):
            return _AllReduceSum.apply(data, group) / dist.get_world_size(group)  # type: ignore[no-any-return,no-untyped-call]
        if kind not in _OPS or data.requires_grad:
            raise NotImplementedError(f"differentiable_all_reduce with op {op!r}")
        out = data.contiguous().clone()
        dist.all_reduce(out, op=_OPS[kind], group=group)
        return out

    @staticmethod
    def get_cells_and_names(cell: nn.Module) -> Any:
        return cell.named_modules()

    @staticmethod
    def parameters_dict(cell: nn.Module) -> Any:
        return cell.named_parameters()


@functools.cache
def get_platform() -> Platform:
    """The platform, the same object at every call."""
    return Platform()


def enable_backward_compat() -> None:
    """Teach MindSpore's tensors ``backward()`` of hyper_parallel's kind; torch's have it, so nothing is
    done."""
