"""In-place arithmetic between a distributed and a plain tensor.

hyper_parallel computes on local shards, so one operand may be plain: it is this rank's shard. torch
refuses the mixture. Source: hyper-parallel hyper_parallel/core/shard/_op_dispatch.py.
"""

from __future__ import annotations

from typing import Any

import torch

from ._receiver import method

__all__ = ["add_", "copy_", "div_", "mul_", "sub_"]


def _in_place(name: str, target: torch.Tensor, other: Any, args: Any, kwargs: Any) -> torch.Tensor:
    if isinstance(other, torch.Tensor):
        ours, theirs = (hasattr(t, "_local_tensor") for t in (target, other))
        if ours != theirs:
            shard = target._local_tensor if ours else target  # type: ignore[attr-defined]
            getattr(shard, name)(other._local_tensor if theirs else other, *args, **kwargs)  # type: ignore[attr-defined]
            return target
    result: torch.Tensor = getattr(target, name)(other, *args, **kwargs)
    return result


@method
def add_(self: torch.Tensor, other: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
    """``self += alpha * other``, mixed operands on this rank's shard. MindSpore 2.10: Tensor.add_."""
    return _in_place("add_", self, other, args, kwargs)


@method
def sub_(self: torch.Tensor, other: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
    """``self -= alpha * other``, mixed operands on this rank's shard. MindSpore 2.10: Tensor.sub_."""
    return _in_place("sub_", self, other, args, kwargs)


@method
def mul_(self: torch.Tensor, other: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
    """``self *= other``, mixed operands on this rank's shard. MindSpore 2.10: Tensor.mul_."""
    return _in_place("mul_", self, other, args, kwargs)


@method
def div_(self: torch.Tensor, other: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
    """``self /= other``, mixed operands on this rank's shard. MindSpore 2.10: Tensor.div_."""
    return _in_place("div_", self, other, args, kwargs)


@method
def copy_(self: torch.Tensor, src: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
    """Copies ``src`` into ``self``, mixed operands on this rank's shard. MindSpore 2.10: Tensor.copy_."""
    return _in_place("copy_", self, src, args, kwargs)
