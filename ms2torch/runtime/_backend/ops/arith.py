"""Elementwise functions of mindspore.ops that differ from torch's; either operand may be a number.

Source: MindSpore 2.10, mindspore.ops.<name> of the same name.
"""

# torch leaves some of its functions untyped; which ones differs between its versions.
# mypy: disable-error-code="no-any-return, no-untyped-call"
from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._common import dims_of, is_sequence, left, like, pair


def add(input: Any, other: Any) -> Tensor:
    return torch.add(*left(input, other))


def sub(input: Any, other: Any) -> Tensor:
    return torch.sub(*left(input, other))


def mul(input: Any, other: Any) -> Tensor:
    return torch.mul(*left(input, other))


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """``input / other``; with ``rounding_mode`` "floor" or "trunc" integers stay integers."""
    a, b = left(input, other)
    return torch.div(a, b, rounding_mode=rounding_mode)


def subtract(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    a, b = left(input, other)
    return torch.sub(a, b, alpha=alpha)


def true_divide(dividend: Any, divisor: Any) -> Tensor:
    return torch.true_divide(*left(dividend, divisor))


def real_div(x: Any, y: Any) -> Tensor:
    """Division as the RealDiv primitive does it: integers are divided towards zero and stay integers."""
    a, b = pair(x, y)
    whole = not (a.is_floating_point() or b.is_floating_point() or a.is_complex() or b.is_complex())
    return torch.div(a, b, rounding_mode="trunc") if whole else torch.div(a, b)


def floor_div(x: Any, y: Any) -> Tensor:
    return torch.floor_divide(*left(x, y))


def floor_divide(input: Any, other: Any) -> Tensor:
    return torch.floor_divide(*left(input, other))


def floor_mod(x: Any, y: Any) -> Tensor:
    """Remainder with the sign of ``y``."""
    return torch.remainder(*left(x, y))


def remainder(input: Any, other: Any) -> Tensor:
    return torch.remainder(*left(input, other))


def fmod(input: Any, other: Any) -> Tensor:
    """Remainder with the sign of ``input``."""
    return torch.fmod(*left(input, other))


def truncate_div(x: Any, y: Any) -> Tensor:
    a, b = left(x, y)
    return torch.div(a, b, rounding_mode="trunc")


def truncate_mod(x: Any, y: Any) -> Tensor:
    return torch.fmod(*left(x, y))


def pow(input: Any, exponent: Any) -> Tensor:
    """Power; a negative integer exponent of integers truncates (``2 ** -1`` is 0), where torch refuses
    a number."""
    a, b = left(input, exponent)
    if isinstance(b, (int, float)) and not (isinstance(b, int) and b < 0):
        return torch.pow(a, b)
    b = like(b, a)
    if not (a.is_floating_point() or b.is_floating_point() or a.is_complex() or b.is_complex()):
        kind = torch.result_type(a, b)
        return torch.pow(a.double(), b.double()).trunc().to(kind) if bool((b < 0).any()) else torch.pow(a, b)
    return torch.pow(a, b)


def maximum(input: Any, other: Any) -> Tensor:
    return torch.maximum(*pair_same(input, other))


def minimum(input: Any, other: Any) -> Tensor:
    return torch.minimum(*pair_same(input, other))


def pair_same(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Two operands in their common dtype, for torch functions that do not promote by themselves."""
    x, y = pair(a, b)
    kind = torch.result_type(x, y)
    return x.to(kind), y.to(kind)


def equal(input: Any, other: Any) -> Tensor:
    """Elementwise equality as a bool tensor (``torch.equal`` returns one bool)."""
    return torch.eq(*left(input, other))


def not_equal(input: Any, other: Any) -> Tensor:
    return torch.ne(*left(input, other))


def less(input: Any, other: Any) -> Tensor:
    return torch.lt(*left(input, other))


def less_equal(input: Any, other: Any) -> Tensor:
    return torch.le(*left(input, other))


def greater(input: Any, other: Any) -> Tensor:
    return torch.gt(*left(input, other))


def greater_equal(input: Any, other: Any) -> Tensor:
    return torch.ge(*left(input, other))


def logical_and(input: Any, other: Any) -> Tensor:
    return torch.logical_and(*pair(input, other))


def logical_or(input: Any, other: Any) -> Tensor:
    return torch.logical_or(*pair(input, other))


def logical_xor(input: Any, other: Any) -> Tensor:
    return torch.logical_xor(*pair(input, other))


def bitwise_and(input: Any, other: Any) -> Tensor:
    return torch.bitwise_and(*left(input, other))


def bitwise_or(input: Any, other: Any) -> Tensor:
    return torch.bitwise_or(*left(input, other))


def bitwise_xor(input: Any, other: Any) -> Tensor:
    return torch.bitwise_xor(*left(input, other))


def bitwise_left_shift(input: Any, other: Any) -> Tensor:
    return torch.bitwise_left_shift(*left(input, other))


def bitwise_right_shift(input: Any, other: Any) -> Tensor:
    return torch.bitwise_right_shift(*left(input, other))


def atan2(input: Any, other: Any) -> Tensor:
    return torch.atan2(*pair(input, other))


def xlogy(input: Any, other: Any) -> Tensor:
    return torch.xlogy(*left(input, other))


def xdivy(x: Any, y: Any) -> Tensor:
    """``x / y``, and 0 where ``x`` is 0 whatever ``y`` is."""
    a, b = pair(x, y)
    zero = a == 0
    return torch.where(zero, torch.zeros_like(a * 1.0), a / torch.where(zero, torch.ones_like(b), b))


def div_no_nan(x: Any, y: Any) -> Tensor:
    """``x / y``, and 0 where ``y`` is 0."""
    a, b = pair(x, y)
    zero = b == 0
    safe = torch.where(zero, torch.ones_like(b), b)
    return torch.where(zero, torch.zeros((), dtype=a.dtype, device=a.device), real_div(a, safe))


def mul_no_nan(x: Any, y: Any) -> Tensor:
    """``x * y``, and 0 where ``y`` is 0, even if ``x`` is infinite or not a number."""
    a, b = pair(x, y)
    zero = b == 0
    return torch.where(zero, torch.zeros((), dtype=a.dtype, device=a.device), a * b)


def squared_difference(x: Any, y: Any) -> Tensor:
    a, b = pair(x, y)
    return torch.square(a - b)


def lerp(input: Any, end: Any, weight: Any) -> Tensor:
    """``input + weight * (end - input)``; ``weight`` is a number or a tensor."""
    return torch.lerp(input, end, weight)


def sqrt(x: Any) -> Tensor:
    return torch.sqrt(like(x))


def inv(x: Tensor) -> Tensor:
    """Elementwise reciprocal (``torch.inverse`` is that of a matrix); integers stay integers."""
    return torch.reciprocal(x) if x.is_floating_point() or x.is_complex() else truncate_div(1, x)


def invert(x: Tensor) -> Tensor:
    return torch.bitwise_not(x)


def addn(x: Any) -> Tensor:
    """Sum of a list or tuple of tensors."""
    if isinstance(x, Tensor):
        return x
    total = x[0]
    for term in x[1:]:
        total = total + term
    return total


accumulate_n = addn


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Tensor:
    """``input + value * tensor1 / tensor2``; ``value`` may be a tensor."""
    return input + value * (tensor1 / tensor2)


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Tensor:
    """``input + value * tensor1 * tensor2``; ``value`` may be a tensor."""
    return input + value * (tensor1 * tensor2)


def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Values limited to [min, max]; where min exceeds max the result is max. Takes a list of tensors, too."""
    if is_sequence(input):
        return type(input)(clamp(x, min, max) for x in input)
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        out: Tensor = input
        if min is not None:
            out = maximum(out, min)
        return out if max is None else minimum(out, max)
    return torch.clamp(input, min, max)


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """Values limited as by ``clamp``; ``x`` may be a list or tuple of tensors.

    MindSpore makes it of Maximum and Minimum: a value equal to a bound gets half of the gradient
    (``clamp`` hands on all of it).
    """
    if clip_value_min is None and clip_value_max is None:
        raise ValueError("clip_by_value needs clip_value_min or clip_value_max")
    if is_sequence(x):
        return type(x)(clip_by_value(one, clip_value_min, clip_value_max) for one in x)
    if not (isinstance(x, Tensor) and x.is_floating_point()):
        return clamp(x, clip_value_min, clip_value_max)
    low, high = (
        torch.as_tensor(bound, dtype=x.dtype, device=x.device) if isinstance(bound, int | float) else bound
        for bound in (clip_value_min, clip_value_max)
    )
    out = x if low is None else maximum(x, low)
    return out if high is None else minimum(out, high)


def clip_by_norm(x: Any, max_norm: Any, norm_type: Any = 2.0, error_if_nonfinite: bool = False) -> Any:
    """Tensors scaled by ``max_norm / (norm + 1e-6)`` where their common norm exceeds ``max_norm``; a new
    tensor (torch's ``clip_grad_norm_`` changes its argument)."""
    tensors = [x] if isinstance(x, Tensor) else list(x)
    norms = torch.stack([torch.linalg.vector_norm(t.float(), float(norm_type)) for t in tensors])
    total = torch.linalg.vector_norm(norms, float(norm_type))
    if error_if_nonfinite and not bool(torch.isfinite(total)):
        raise RuntimeError(f"clip_by_norm: the norm of order {norm_type} is not finite")
    factor = torch.clamp(max_norm / (total + 1e-6), max=1.0)
    made = [(t.float() * factor).to(t.dtype) for t in tensors]
    return made[0] if isinstance(x, Tensor) else type(x)(made)


def clip_by_global_norm(x: Any, clip_norm: Any = 1.0, use_norm: Any = None) -> Any:
    """Tensors scaled by ``clip_norm / max(global norm, clip_norm)``; the container's kind is a tuple."""
    if use_norm is not None:
        raise ValueError("clip_by_global_norm: use_norm must be None")
    total = torch.sqrt(sum((t.float().square().sum() for t in x), start=torch.zeros((), device=x[0].device)))
    limit = like(clip_norm, x[0]).float()
    factor = limit / torch.maximum(total, limit)
    return tuple((t.float() * factor).to(t.dtype) for t in x)


def cummax(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    values, indices = torch.cummax(input, axis)
    return values, indices


def cummin(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """(running smallest values, their int32 indices); those of ``cummax`` are int64."""
    values, indices = torch.cummin(input, axis)
    return values, indices.int()


def cumsum(x: Tensor, axis: int, dtype: Any = None) -> Tensor:
    """Running sum in the dtype of ``x`` (torch sums small integers in int64)."""
    return torch.cumsum(x, int(axis), dtype=dtype or x.dtype)


def cumulative(x: Tensor, axis: int, exclusive: bool, reverse: bool, product: bool = False) -> Tensor:
    """Running sum or product of the CumSum and CumProd primitives: ``exclusive`` leaves the element
    itself out, ``reverse`` runs from the end."""
    axis = dims_of(axis, x.ndim)[0]
    run = torch.cumprod if product else torch.cumsum
    out = x.flip(axis) if reverse else x
    out = run(out, axis, dtype=x.dtype)
    if exclusive:
        first = torch.full_like(out.narrow(axis, 0, 1), 1 if product else 0)
        out = torch.cat([first, out.narrow(axis, 0, out.shape[axis] - 1)], axis)
    return out.flip(axis) if reverse else out


def approximate_equal(x: Tensor, y: Tensor, tolerance: float = 1e-5) -> Tensor:
    return torch.abs(x - y) < tolerance


def trapz(y: Tensor, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    return torch.trapezoid(y, x, dim=dim) if x is not None else torch.trapezoid(y, dx=dx, dim=dim)


def exp(input: Any) -> Tensor:
    return torch.exp(like(input))


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    return torch.round(input, decimals=decimals) if decimals else torch.round(input)


def rint(input_x: Tensor) -> Tensor:
    return torch.round(input_x)


def isreal(input: Tensor) -> Tensor:
    return torch.isreal(input)


def is_nonzero(input: Tensor) -> bool:
    return bool(torch.is_nonzero(input))


def is_floating_point(input: Tensor) -> bool:
    return torch.is_floating_point(input)


def logit(input: Tensor, eps: Any = None) -> Tensor:
    return torch.logit(input, eps)


def arcsin(x: Tensor) -> Tensor:
    return torch.arcsin(x)


def copysign(x: Any, other: Any) -> Tensor:
    return torch.copysign(*left(x, other))


def ldexp(x: Tensor, other: Tensor) -> Tensor:
    return torch.ldexp(x, other)


def eps(x: Tensor) -> Tensor:
    """The gap between 1 and the next number of the dtype, in the shape of ``x``."""
    return torch.full_like(x, torch.finfo(x.dtype).eps)


def population_count(input_x: Tensor) -> Tensor:
    """Number of bits that are 1, uint8."""
    bits = torch.iinfo(input_x.dtype).bits
    places = torch.arange(bits, device=input_x.device, dtype=torch.int64)
    return ((input_x.long().unsqueeze(-1) >> places) & 1).sum(-1).to(torch.uint8)


def zeta(input: Tensor, other: Tensor) -> Tensor:
    return torch.special.zeta(input, other)
