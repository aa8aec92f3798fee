"""What the adapters share: MindSpore's notions of an axis, a number given as a tensor, an index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

NO_DEFAULT = object()


def like(value: Any, other: Any = None) -> Tensor:
    """``value`` as a tensor on the device of ``other``. A number becomes a 0-d tensor, which torch
    promotes as MindSpore promotes a number: an integer array with 2.5 gives float32, a float16 array with
    2 float16."""
    if isinstance(value, Tensor):
        return value
    device = other.device if isinstance(other, Tensor) else None
    if isinstance(value, float) and isinstance(other, Tensor) and other.dtype == torch.float64:
        return torch.tensor(value, dtype=torch.float64, device=device)
    return torch.as_tensor(value, device=device)


def pair(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Both operands as tensors; either may be a number, as in ``ops.equal(x, 1)`` or ``ops.sub(2, x)``."""
    return like(a, b), like(b, a)


def left(a: Any, b: Any) -> tuple[Tensor, Any]:
    """The first operand as a tensor, the second as it is: torch's binary functions take a number there, which
    saves a copy to the device."""
    return like(a, b), b


def dims_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes as a tuple; ``None`` and the empty tuple, MindSpore's default of most reductions, mean all
    axes."""
    if isinstance(axis, Tensor):
        axis = axis.tolist()
    if axis is None or (isinstance(axis, Iterable) and not list(axis)):
        return tuple(range(ndim))
    return (int(axis),) if not isinstance(axis, Iterable) else tuple(int(a) for a in axis)


def ints(value: Any) -> tuple[int, ...]:
    """A shape, a size or a list of axes, given as an int, a sequence or an integer tensor."""
    if isinstance(value, Tensor):
        value = value.tolist()
    if isinstance(value, Iterable):
        return tuple(int(v) for v in value)
    return (int(value),)


def index(value: Any, other: Any = None) -> Tensor:
    """An index tensor as int64: MindSpore takes int32 where torch insists on int64."""
    made = like(value, other)
    return made if made.dtype in (torch.int64, torch.bool) else made.long()


def check_default(name: str, **given: Any) -> None:
    """Raises NotImplementedError for an argument that is not at its default (given as ``arg=(value,
    default)``)."""
    for arg, (value, default) in given.items():
        if value is not default and value != default:
            raise NotImplementedError(f"{name}: {arg}={value!r} has no torch counterpart")


def wide(x: Tensor) -> Tensor:
    """Half precision as float32, for arithmetic that MindSpore does in float32; others unchanged."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def is_sequence(x: Any) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, str)
