"""Functions of mindspore.ops that change shape: MindSpore's argument names, forms and defaults.

Source: MindSpore 2.10, mindspore.ops.<name> of the same name.
"""

# torch leaves some of its functions untyped; which ones differs between its versions.
# mypy: disable-error-code="no-any-return, no-untyped-call"
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ._common import dims_of, ints


def reshape(input: Tensor, shape: Any) -> Tensor:
    return torch.reshape(input, ints(shape))


def transpose(input: Tensor, dims: Any) -> Tensor:
    """Axes in the order ``dims`` (torch's ``transpose`` swaps two)."""
    return torch.permute(input, ints(dims))


def permute(input: Tensor, axis: Any) -> Tensor:
    return torch.permute(input, ints(axis))


def expand_dims(input_x: Tensor, axis: int) -> Tensor:
    return torch.unsqueeze(input_x, int(axis))


def squeeze(input: Tensor, axis: Any = None) -> Tensor:
    """Without the axes of size 1 in ``axis``, or all of them; raises ValueError for an axis of another
    size."""
    if axis is None or axis == ():
        return torch.squeeze(input)
    dims = dims_of(axis, input.ndim)
    for dim in dims:
        if input.shape[dim] != 1:
            raise ValueError(f"squeeze: axis {dim} of shape {tuple(input.shape)} is not 1")
    return torch.squeeze(input, dims)


def concat(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    return torch.cat(tuple(tensors), axis)


def stack(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    return torch.stack(tuple(tensors), axis)


def unstack(input_x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    return torch.unbind(input_x, axis)


def chunk(input: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    return torch.chunk(input, chunks, axis)


def split(tensor: Tensor, split_size_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    size = split_size_or_sections
    return torch.split(tensor, size if isinstance(size, int) else list(size), axis)


def split_even(input_x: Tensor, axis: int, output_num: int) -> tuple[Tensor, ...]:
    """``output_num`` equal parts; raises ValueError where the size is not a multiple."""
    size = input_x.shape[axis]
    if size % output_num:
        raise ValueError(f"Split: {size} is not a multiple of output_num={output_num}")
    return torch.split(input_x, size // output_num, axis)


def tensor_split(input: Tensor, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    return torch.tensor_split(input, indices_or_sections, axis)


def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    return torch.hsplit(input, indices_or_sections)


def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    return torch.vsplit(input, indices_or_sections)


def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    return torch.dsplit(input, indices_or_sections)


def vstack(inputs: Sequence[Tensor]) -> Tensor:
    return torch.vstack(tuple(inputs))


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    return torch.hstack(tuple(tensors))


def tile(input: Tensor, dims: Any) -> Tensor:
    return torch.tile(input, ints(dims))


def broadcast_to(input: Tensor, shape: Any) -> Tensor:
    return torch.broadcast_to(input, ints(shape))


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    return input.expand_as(other)


def view_as(input: Tensor, other: Tensor) -> Tensor:
    return input.reshape(other.shape)


def type_as(input: Tensor, other: Tensor) -> Tensor:
    return input.to(other.dtype)


def flatten(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Axes from ``start_dim`` on as one; the first axis stays (torch's starts at 0). ``order`` "F" reverses
    the axes first."""
    if order not in ("C", "F"):
        raise ValueError(f"flatten: order must be 'C' or 'F', not {order!r}")
    if order == "F":
        input = input.permute(*range(input.ndim - 1, -1, -1))
    if input.ndim < 2 and start_dim in (1, -1, 0):
        return input.reshape(-1)
    return torch.flatten(input, start_dim, end_dim)


def flatten_prim(input_x: Tensor) -> Tensor:
    """Two axes: the first, and the product of the rest."""
    return input_x.reshape(input_x.shape[0], -1) if input_x.numel() else input_x.flatten(1)


def repeat_elements(x: Tensor, rep: int, axis: int = 0) -> Tensor:
    return torch.repeat_interleave(x, rep, axis)


def repeat_interleave(input: Tensor, repeats: Any, axis: Any = None) -> Tensor:
    """Each element ``repeats`` times along ``axis``; flattened without one. Counts may be a tuple or list."""
    if isinstance(repeats, (tuple, list)):
        repeats = torch.tensor(repeats, device=input.device)
    return torch.repeat_interleave(input, repeats, axis)


def narrow(input: Tensor, axis: int, start: Any, length: Any) -> Tensor:
    return torch.narrow(input, axis, int(start), int(length))


def slice_(input_x: Tensor, begin: Any, size: Any) -> Tensor:
    """``size`` elements from ``begin`` in each axis; size -1 is the rest."""
    out = input_x
    for axis, (start, length) in enumerate(zip(ints(begin), ints(size), strict=True)):
        out = out.narrow(axis, start, out.shape[axis] - start if length == -1 else length)
    return out


def strided_slice(
    input_x: Tensor,
    begin: Any,
    end: Any,
    strides: Any,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Tensor:
    """``x[begin:end:strides]`` with bit masks: an ignored begin or end, an ellipsis, a new axis, an axis
    taken away. Negative strides run backwards."""
    key: list[Any] = []
    axis = 0
    starts, stops, steps = ints(begin), ints(end), ints(strides)
    for i, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            rest = sum(1 for j in range(i + 1, len(starts)) if not new_axis_mask & (1 << j))
            skipped = input_x.ndim - axis - rest
            key += [slice(None)] * skipped
            axis += skipped
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(start)
            axis += 1
        else:
            full = slice(None if begin_mask & bit else start, None if end_mask & bit else stop, step)
            low, high, stride = full.indices(input_x.shape[axis])
            if stride < 0:
                where = torch.arange(low, high, stride, device=input_x.device)
                input_x = input_x.index_select(axis, where)
                key.append(slice(None))
            else:
                key.append(slice(low, high, stride))
            axis += 1
    return input_x[tuple(key)]


def pad(input_x: Tensor, padding: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Pads the last axes first, as torch does; negative amounts cut. ``padding`` may be a tensor."""
    amounts = list(ints(padding))
    if mode == "constant":
        return F.pad(input_x, amounts, "constant", 0 if value is None else value)
    return F.pad(input_x, amounts, mode)


def pad_prim(input_x: Tensor, paddings: Any) -> Tensor:
    """Zeros as the Pad primitive sets them: ``paddings`` has one (before, after) for each axis, the first
    axis first; negative amounts cut."""
    amounts: list[int] = []
    for before, after in reversed([tuple(p) for p in paddings]):
        amounts += [int(before), int(after)]
    return F.pad(input_x, amounts)


def mirror_pad(input_x: Tensor, paddings: Any, mode: str) -> Tensor:
    """Reflection without ("REFLECT") or with ("SYMMETRIC") the edge; one (before, after) for each axis."""
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"mirror_pad: mode must be REFLECT or SYMMETRIC, not {mode!r}")
    pairs = paddings.tolist() if isinstance(paddings, Tensor) else paddings
    out = input_x
    edge = 0 if mode == "SYMMETRIC" else 1
    for axis, (before, after) in enumerate(pairs):
        size = out.shape[axis]
        where = [*range(before - 1 + edge, edge - 1, -1), *range(size)]
        where += range(size - 1 - edge, size - 1 - edge - after, -1)
        out = out.index_select(axis, torch.tensor(where, dtype=torch.int64, device=out.device))
    return out


def reverse(x: Tensor, axis: Any) -> Tensor:
    return torch.flip(x, ints(axis))


def flip(input: Tensor, dims: Any) -> Tensor:
    return torch.flip(input, ints(dims))


def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    return torch.roll(input, shifts, dims)


def reverse_sequence(x: Tensor, seq_lengths: Tensor, seq_dim: int, batch_dim: int = 0) -> Tensor:
    """The first ``seq_lengths[b]`` elements of ``seq_dim`` in reverse, for each entry of ``batch_dim``."""
    moved = x.movedim((batch_dim, seq_dim), (0, 1))
    steps = torch.arange(moved.shape[1], device=x.device)
    lengths = seq_lengths.long().unsqueeze(1)
    where = torch.where(steps < lengths, lengths - 1 - steps, steps)
    where = where.reshape(where.shape + (1,) * (moved.ndim - 2)).expand(moved.shape)
    return torch.gather(moved, 1, where).movedim((0, 1), (batch_dim, seq_dim))


def meshgrid(*inputs: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Coordinate grids; "xy" by default (torch's is "ij")."""
    tensors = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)) else inputs
    return tuple(torch.meshgrid(*tensors, indexing=indexing))


def moveaxis(x: Tensor, source: Any, destination: Any) -> Tensor:
    return torch.movedim(x, source, destination)


movedim = moveaxis


def matrix_band_part(x: Tensor, lower: Any, upper: Any) -> Tensor:
    """The central band: ``lower`` diagonals below the main one and ``upper`` above; negative keeps all."""
    rows = torch.arange(x.shape[-2], device=x.device).unsqueeze(1)
    cols = torch.arange(x.shape[-1], device=x.device)
    low, high = int(lower), int(upper)
    keep = torch.ones((x.shape[-2], x.shape[-1]), dtype=torch.bool, device=x.device)
    if low >= 0:
        keep &= rows - cols <= low
    if high >= 0:
        keep &= cols - rows <= high
    return torch.where(keep, x, torch.zeros((), dtype=x.dtype, device=x.device))


def diag(input: Tensor) -> Tensor:
    """A tensor with ``input`` on its diagonal, of twice as many axes (torch's takes a matrix apart)."""
    return torch.diag(input.flatten()).reshape(input.shape * 2)


def diag_part(input_x: Tensor) -> Tensor:
    """The diagonal of a tensor of shape [d1, …, dk, d1, …, dk]."""
    half = input_x.shape[: input_x.ndim // 2]
    n = 1
    for size in half:
        n *= size
    return torch.diagonal(input_x.reshape(n, n)).reshape(half)


def diff(x: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    return torch.diff(x, n, axis, prepend, append)


def shape(input_x: Any) -> tuple[int, ...]:
    """The shape as a plain tuple."""
    return tuple(input_x.shape)


def dyn_shape(input_x: Tensor) -> Tensor:
    return torch.tensor(tuple(input_x.shape), dtype=torch.int64)


def size(input_x: Any) -> int:
    """The number of elements, an int."""
    return int(input_x.numel()) if isinstance(input_x, Tensor) else 1


def rank(input_x: Tensor) -> int:
    return input_x.ndim


def dtype(x: Tensor) -> Any:
    return x.dtype


def sequence_mask(lengths: Tensor, maxlen: Any = None) -> Tensor:
    """True up to each length, in a new last axis."""
    steps = torch.arange(int(lengths.max()) if maxlen is None else int(maxlen), device=lengths.device)
    return steps < lengths.unsqueeze(-1)


def atleast_1d(inputs: Any) -> Any:
    return torch.atleast_1d(inputs) if isinstance(inputs, Tensor) else tuple(torch.atleast_1d(*inputs))


def atleast_2d(inputs: Any) -> Any:
    return torch.atleast_2d(inputs) if isinstance(inputs, Tensor) else tuple(torch.atleast_2d(*inputs))


def atleast_3d(inputs: Any) -> Any:
    return torch.atleast_3d(inputs) if isinstance(inputs, Tensor) else tuple(torch.atleast_3d(*inputs))


def cat(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    return torch.cat(tuple(tensors), axis)


def expand(input_x: Tensor, size: Any) -> Tensor:
    return input_x.expand(ints(size))


def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    return torch.channel_shuffle(x, groups)


def padding(x: Tensor, pad_dim_size: int = 8) -> Tensor:
    """The last axis, of size 1, filled up with zeros to ``pad_dim_size``."""
    return F.pad(x, (0, pad_dim_size - x.shape[-1]))
