"""Creation of tensors by mindspore.ops: dtype by position, MindSpore's default dtypes.

Source: MindSpore 2.10, mindspore.ops.<name>. Tensors stand on torch's default device.
"""

# torch leaves some of its functions untyped; which ones differs between its versions.
# mypy: disable-error-code="no-any-return, no-untyped-call"
from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._common import ints, like


def zeros(size: Any, dtype: Any = None) -> Tensor:
    """Zeros of a shape given as an int, a tuple, a list or a tensor; float32 by default."""
    return torch.zeros(ints(size), dtype=dtype or torch.float32)


def ones(shape: Any, dtype: Any = None) -> Tensor:
    """Ones of a shape given as an int, a tuple, a list or a tensor; float32 by default."""
    return torch.ones(ints(shape), dtype=dtype or torch.float32)


def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """``fill_value`` everywhere; int64 where no dtype is given, for floats too, as MindSpore 2.10 has it."""
    return torch.full(ints(size), fill_value, dtype=dtype or torch.int64)


def fill(type: Any, shape: Any, value: Any) -> Tensor:
    """``value``, cast to dtype ``type``, in ``shape``; a bool, a number or a tensor of one element."""
    number = value.item() if isinstance(value, Tensor) else value
    if not type.is_floating_point and not type.is_complex and type is not torch.bool:
        number = int(number)
    return torch.full(ints(shape), number, dtype=type)


def fill_v2(shape: Any, value: Any) -> Tensor:
    """``value``, a tensor of one element, in ``shape``; differentiable in ``value``."""
    return like(value).reshape(()).expand(ints(shape)).clone()


def fills(x: Tensor, value: Any) -> Tensor:
    number = value.item() if isinstance(value, Tensor) else value
    return torch.full_like(x, number)


def eye(n: Any, m: Any = None, dtype: Any = None) -> Tensor:
    return torch.eye(int(n), int(n if m is None else m), dtype=dtype or torch.float32)


def linspace(start: Any, end: Any, steps: Any) -> Tensor:
    """``steps`` values from ``start`` to ``end``, float32 unless given as tensors of another dtype."""
    dtype = start.dtype if isinstance(start, Tensor) and start.is_floating_point() else torch.float32
    return torch.linspace(float(start), float(end), int(steps), dtype=dtype)


def range_(start: Any, end: Any, step: Any, maxlen: int = 1000000) -> Tensor:
    """Values from ``start`` to ``end``, ``end`` excluded; int64 for integers, also for int32 tensors."""
    values = [v.item() if isinstance(v, Tensor) else v for v in (start, end, step)]
    out = torch.arange(*values)
    if out.numel() > maxlen:
        raise ValueError(f"range: {out.numel()} values are more than maxlen={maxlen}")
    return out


def logspace(start: Any, end: Any, steps: int, base: Any = 10, *, dtype: Any = torch.float32) -> Tensor:
    return torch.logspace(float(start), float(end), int(steps), float(base), dtype=dtype)


def one_hot(indices: Tensor, depth: Any, on_value: Any = 1, off_value: Any = 0, axis: int = -1) -> Tensor:
    """``on_value`` at the index and ``off_value`` elsewhere, in their dtype (int64 for the default
    numbers); an index outside [0, depth) gives a row of ``off_value``. The new axis is ``axis``."""
    depth = int(depth)
    steps = torch.arange(depth, device=indices.device)
    hit = indices.long().unsqueeze(-1) == steps
    on, off = like(on_value, indices), like(off_value, indices)
    return torch.where(hit, on, off).movedim(-1, axis)


def tuple_to_array(input_x: Any) -> Tensor:
    """A tuple of numbers as a tensor: float32, or int32 where all are integers."""
    whole = all(isinstance(v, int) and not isinstance(v, bool) for v in input_x)
    return torch.tensor(input_x, dtype=torch.int32 if whole else torch.float32)


def scalar_to_tensor(input_x: Any, dtype: Any = torch.float32) -> Tensor:
    return torch.tensor(input_x, dtype=dtype)


def scalar_cast(input_x: Any, input_y: Any) -> Any:
    """A Python number as the Python kind of dtype ``input_y``."""
    if input_y is torch.bool:
        return bool(input_x)
    return float(input_x) if input_y.is_floating_point else int(input_x)


def cast(input: Any, dtype: Any) -> Tensor:
    """``input``, a tensor or a number, in ``dtype``; differentiable."""
    if isinstance(input, Tensor):
        return input.to(dtype)
    return torch.as_tensor(input).to(dtype)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = torch.int64) -> Tensor:
    return torch.tril_indices(row, col, offset, dtype=dtype)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = torch.int64) -> Tensor:
    return torch.triu_indices(row, col, offset, dtype=dtype)


def bartlett_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    return torch.bartlett_window(int(window_length), periodic, dtype=dtype or torch.float32)


def blackman_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    return torch.blackman_window(int(window_length), periodic, dtype=dtype or torch.float32)


def hann_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    return torch.hann_window(int(window_length), periodic, dtype=dtype or torch.float32)


def hamming_window(
    window_length: Any, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = None
) -> Tensor:
    return torch.hamming_window(int(window_length), periodic, alpha, beta, dtype=dtype or torch.float32)


def kaiser_window(
    window_length: Any, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None
) -> Tensor:
    return torch.kaiser_window(int(window_length), periodic, beta, dtype=dtype or torch.float32)


def fftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Tensor:
    return torch.fft.fftfreq(n, d, dtype=dtype)


def rfftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Tensor:
    return torch.fft.rfftfreq(n, d, dtype=dtype)
