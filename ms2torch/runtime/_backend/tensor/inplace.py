"""In-place methods that MindSpore performs where torch refuses.

hyper_parallel computes on local shards, so one operand may be plain: it is this rank's shard. torch refuses
the mixture. Source: hyper-parallel hyper_parallel/core/shard/_op_dispatch.py.

MindSpore records inside a gradient function only: outside of one a Parameter that takes a gradient is written
like any tensor. torch records from the start and refuses to write a leaf. Source: MindSpore 2.10 on CPU (copy_,
zero_, add_ and mul_ of a Parameter; inside a gradient function it refuses as torch does, here it is written).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch

from ._receiver import method

__all__ = [
    "add_",
    "bernoulli_",
    "clamp_",
    "copy_",
    "div_",
    "exp_",
    "fill_",
    "index_add_",
    "index_copy_",
    "index_fill_",
    "masked_fill_",
    "mul_",
    "normal_",
    "scatter_",
    "scatter_add_",
    "set_",
    "sub_",
    "zero_",
]


def _writable(tensor: torch.Tensor) -> contextlib.AbstractContextManager[Any]:
    """Recording is off for a leaf that takes a gradient, or a view of one; what is recorded stays recorded."""
    leaf = tensor._base if tensor._is_view() and tensor._base is not None else tensor
    refused = torch.is_grad_enabled() and leaf.is_leaf and leaf.requires_grad
    return torch.no_grad() if refused else contextlib.nullcontext()


def _in_place(name: str, target: torch.Tensor, other: Any, args: Any, kwargs: Any) -> torch.Tensor:
    with _writable(target):
        if isinstance(other, torch.Tensor):
            ours, theirs = (hasattr(t, "_local_tensor") for t in (target, other))
            if ours != theirs:
                shard = target._local_tensor if ours else target  # type: ignore[attr-defined]
                plain = other._local_tensor if theirs else other  # type: ignore[attr-defined]
                getattr(shard, name)(plain, *args, **kwargs)
                return target
        result: torch.Tensor = getattr(target, name)(other, *args, **kwargs)
    return result


def _plain(name: str) -> Callable[..., Any]:
    def call(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        with _writable(self):
            return getattr(self, name)(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"``self.{name}(…)``; a Parameter is written unrecorded. MindSpore 2.10: Tensor.{name}."
    return method(call)


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


@method
def index_copy_(self: torch.Tensor, dim: int, index: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    """Copies rows of ``tensor`` to the places ``index``, int32 or int64. MindSpore 2.10: Tensor.index_copy_."""
    with _writable(self):
        return self.index_copy_(dim, index.long(), tensor)


@method
def index_fill_(self: torch.Tensor, dim: int, index: torch.Tensor, value: Any) -> torch.Tensor:
    """Fills the places ``index``, int32 or int64, along ``dim``. MindSpore 2.10: Tensor.index_fill_."""
    with _writable(self):
        return self.index_fill_(dim, index.long(), value)


@method
def set_(
    self: torch.Tensor, source: Any = None, storage_offset: Any = None, size: Any = None, stride: Any = None
) -> torch.Tensor:
    """Makes this tensor one over the memory of ``source``, whose dtype it takes.

    Raises NotImplementedError for an offset, size or stride of a source of another dtype.
    MindSpore 2.10: Tensor.set_.
    """
    if not isinstance(source, torch.Tensor) or source.dtype is self.dtype:
        given = [x for x in (source, storage_offset, size, stride) if x is not None]
        with _writable(self):
            result: torch.Tensor = self.set_(*given)
        return result
    if any(x is not None for x in (storage_offset, size, stride)):
        raise NotImplementedError(
            "set_: storage_offset, size and stride need a source of the tensor's own dtype"
        )
    self.data = source
    return self


bernoulli_ = _plain("bernoulli_")
clamp_ = _plain("clamp_")
exp_ = _plain("exp_")
fill_ = _plain("fill_")
index_add_ = _plain("index_add_")
masked_fill_ = _plain("masked_fill_")
normal_ = _plain("normal_")
scatter_ = _plain("scatter_")
scatter_add_ = _plain("scatter_add_")
zero_ = _plain("zero_")
