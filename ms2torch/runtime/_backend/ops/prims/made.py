"""Primitives that take attributes when they are made. The keyword-only parameters below are those attributes.

Source: MindSpore 2.10, mindspore.ops.<Name>: constructor, call and defaults.
"""

# torch leaves some of its functions untyped; which ones differs between its versions.
# mypy: disable-error-code="no-any-return, no-untyped-call"
from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import arith, blocks, creation, indexing, reduce, shaping
from .._common import check_default, ints
from .base import attrs

# Reductions


@attrs
def ReduceSum(x: Tensor, axis: Any = (), *, keep_dims: bool = False, skip_mode: bool = False) -> Tensor:
    """Sum over ``axis``, all axes for (); with ``skip_mode`` an empty ``axis`` returns ``x``."""
    if skip_mode and axis == ():
        return x
    return reduce.reduce_sum(x, axis, keep_dims)


@attrs
def ReduceMean(x: Tensor, axis: Any = (), *, keep_dims: bool = False) -> Tensor:
    return reduce.reduce_mean(x, axis, keep_dims)


@attrs
def ReduceMax(x: Tensor, axis: Any = (), *, keep_dims: bool = False) -> Tensor:
    return reduce.reduce_max(x, axis, keep_dims)


@attrs
def ReduceMin(x: Tensor, axis: Any = (), *, keep_dims: bool = False) -> Tensor:
    return reduce.reduce_min(x, axis, keep_dims)


@attrs
def ReduceProd(x: Tensor, axis: Any = (), *, keep_dims: bool = False) -> Tensor:
    return reduce.reduce_prod(x, axis, keep_dims)


@attrs
def ReduceAll(input: Tensor, axis: Any = None, *, keep_dims: bool = False) -> Tensor:
    return reduce.all(input, axis, keep_dims)


@attrs
def ReduceAny(x: Tensor, axis: Any = (), *, keep_dims: bool = False) -> Tensor:
    return reduce.any(x, axis, keep_dims)


@attrs
def ReduceStd(x: Tensor, *, axis: Any = (), unbiased: bool = True, keep_dims: bool = False) -> Any:
    """(standard deviation, mean) over ``axis``."""
    return reduce.std_mean(x, axis, int(unbiased), keep_dims)


@attrs
def EuclideanNorm(x: Tensor, axes: Any, *, keep_dims: bool = False) -> Tensor:
    return torch.linalg.vector_norm(x, 2, ints(axes), keep_dims)


@attrs
def Argmax(input_x: Tensor, *, axis: int = -1, output_type: Any = torch.int32) -> Tensor:
    """Index of the largest value along the last axis by default, int32."""
    return torch.argmax(input_x, axis).to(output_type)


@attrs
def Argmin(x: Tensor, *, axis: int = -1, output_type: Any = torch.int32) -> Tensor:
    return torch.argmin(x, axis).to(output_type)


@attrs
def ArgMaxWithValue(input: Tensor, *, axis: int = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """(index, value): the index first, unlike ``ops.max`` and torch."""
    value, where = reduce.max(input, axis, keep_dims)
    return where, value


@attrs
def ArgMinWithValue(input: Tensor, *, axis: int = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """(index, value): the index first, unlike ``ops.min`` and torch."""
    value, where = reduce.min(input, axis, keep_dims)
    return where, value


@attrs
def TopK(input_x: Tensor, k: Any, *, sorted: bool = True) -> tuple[Tensor, Tensor]:
    return reduce.topk(input_x, k, None, True, sorted)


@attrs
def Sort(x: Tensor, *, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    return reduce.sort(x, axis, descending)


@attrs
def InTopK(x1: Tensor, x2: Tensor, *, k: int) -> Tensor:
    """Whether the value at the index ``x2`` is among the ``k`` largest of its row."""
    return reduce.intopk(x1, x2, k)


@attrs
def L2Normalize(x: Tensor, *, axis: Any = 0, epsilon: float = 1e-4) -> Tensor:
    return reduce.l2_normalize(x, axis, epsilon)


@attrs
def LpNorm(
    input: Tensor, *, axis: Any, p: int = 2, keep_dims: bool = False, epsilon: float = 1e-12
) -> Tensor:
    return reduce.lp_norm(input, axis, p, keep_dims, epsilon)


@attrs
def CumSum(input: Tensor, axis: Any, *, exclusive: bool = False, reverse: bool = False) -> Tensor:
    return arith.cumulative(input, axis, exclusive, reverse)


@attrs
def CumProd(x: Tensor, axis: Any, *, exclusive: bool = False, reverse: bool = False) -> Tensor:
    return arith.cumulative(x, axis, exclusive, reverse, product=True)


@attrs
def Cummax(input: Tensor, *, axis: int) -> tuple[Tensor, Tensor]:
    return arith.cummax(input, axis)


@attrs
def Cummin(input: Tensor, *, axis: int) -> tuple[Tensor, Tensor]:
    return arith.cummin(input, axis)


@attrs
def HistogramFixedWidth(x: Tensor, range: Tensor, *, nbins: int, dtype: str = "int32") -> Tensor:
    check_default("HistogramFixedWidth", dtype=(dtype, "int32"))
    return reduce.histogram_fixed_width(x, range, nbins)


# Shape


@attrs
def Concat(tensors: Any, *, axis: int = 0) -> Tensor:
    return shaping.concat(tensors, axis)


@attrs
def Stack(input_x: Any, *, axis: int = 0) -> Tensor:
    return shaping.stack(input_x, axis)


@attrs
def Unstack(input_x: Tensor, *, axis: int = 0, num: Any = None) -> tuple[Tensor, ...]:
    return shaping.unstack(input_x, axis)


@attrs
def Split(input_x: Tensor, *, axis: int = 0, output_num: int = 1) -> tuple[Tensor, ...]:
    """``output_num`` equal parts (not parts of that size)."""
    return shaping.split_even(input_x, axis, output_num)


@attrs
def SplitV(input_x: Tensor, *, size_splits: Any, split_dim: int, num_split: int) -> tuple[Tensor, ...]:
    sizes = list(size_splits)
    if -1 in sizes:
        sizes[sizes.index(-1)] = input_x.shape[split_dim] - sum(s for s in sizes if s != -1)
    return torch.split(input_x, sizes, split_dim)


@attrs
def Squeeze(input: Tensor, *, axis: Any = ()) -> Tensor:
    return shaping.squeeze(input, axis)


@attrs
def BroadcastTo(input: Tensor, *, shape: Any) -> Tensor:
    return torch.broadcast_to(input, ints(shape))


@attrs
def Pad(input_x: Tensor, *, paddings: Any) -> Tensor:
    """One (before, after) for each axis, the first axis first (torch takes the last first)."""
    return shaping.pad_prim(input_x, paddings)


@attrs
def MirrorPad(input_x: Tensor, paddings: Any, *, mode: str = "REFLECT") -> Tensor:
    return shaping.mirror_pad(input_x, paddings, mode)


@attrs
def PadV3(
    x: Tensor,
    paddings: Any,
    constant_value: Any = None,
    *,
    mode: str = "constant",
    paddings_contiguous: bool = True,
) -> Tensor:
    """Pads the last axes first; without ``paddings_contiguous`` all amounts before come before all after."""
    amounts = list(ints(paddings))
    if not paddings_contiguous:
        half = len(amounts) // 2
        amounts = [v for both in zip(amounts[:half], amounts[half:], strict=True) for v in both]
    names = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "circular": "circular"}
    value = constant_value.item() if isinstance(constant_value, Tensor) else constant_value
    return shaping.pad(x, amounts, names[mode], value)


@attrs
def ReverseV2(input: Tensor, *, axis: Any) -> Tensor:
    return torch.flip(input, ints(axis))


@attrs
def ReverseSequence(x: Tensor, seq_lengths: Tensor, *, seq_dim: int, batch_dim: int = 0) -> Tensor:
    return shaping.reverse_sequence(x, seq_lengths, seq_dim, batch_dim)


@attrs
def Roll(input: Tensor, *, shifts: Any, dims: Any = None) -> Tensor:
    return torch.roll(input, shifts, dims)


@attrs
def StridedSlice(
    input_x: Tensor,
    begin: Any,
    end: Any,
    strides: Any,
    *,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Tensor:
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return shaping.strided_slice(input_x, begin, end, strides, *masks)


@attrs
def Tril(x: Tensor, *, diagonal: int = 0) -> Tensor:
    return torch.tril(x, diagonal)


@attrs
def Triu(input: Tensor, *, diagonal: int = 0) -> Tensor:
    return torch.triu(input, diagonal)


@attrs
def Meshgrid(inputs: Any, *, indexing: str = "xy") -> tuple[Tensor, ...]:
    return shaping.meshgrid(*inputs, indexing=indexing)


@attrs
def SpaceToDepth(x: Tensor, *, block_size: int) -> Tensor:
    return blocks.space_to_depth(x, block_size)


@attrs
def DepthToSpace(x: Tensor, *, block_size: int) -> Tensor:
    return blocks.depth_to_space(x, block_size)


@attrs
def Range(start: Any, end: Any, step: Any, *, maxlen: int = 1000000) -> Tensor:
    return creation.range_(start, end, step, maxlen)


# Indices


@attrs
def OneHot(indices: Tensor, depth: Any, on_value: Any, off_value: Any, *, axis: int = -1) -> Tensor:
    return creation.one_hot(indices, depth, on_value, off_value, axis)


@attrs
def Gather(input_params: Tensor, input_indices: Any, axis: Any, *, batch_dims: int = 0) -> Tensor:
    return indexing.gather(input_params, input_indices, axis, batch_dims)


@attrs
def TensorScatterElements(
    data: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0, reduction: str = "none"
) -> Tensor:
    return indexing.tensor_scatter_elements(data, indices, updates, axis, reduction)


@attrs
def IndexAdd(
    x: Tensor, indices: Tensor, y: Tensor, *, axis: int, use_lock: bool = True, check_index_bound: bool = True
) -> Tensor:
    return indexing.index_add(x, indices, y, axis)


def _in_place(name: str, function: Any, locked: bool) -> type:
    """A primitive that changes its first argument, a parameter; ``use_locking`` has no meaning in one
    process."""

    def call(input_x: Tensor, indices: Any, updates: Any, *, use_locking: bool = locked) -> Tensor:
        made: Tensor = function(input_x, indices, updates)
        return made

    call.__name__, call.__doc__ = name, function.__doc__
    return attrs(call)


ScatterAdd = _in_place("ScatterAdd", indexing.scatter_add, False)
ScatterDiv = _in_place("ScatterDiv", indexing.scatter_div, False)
ScatterMax = _in_place("ScatterMax", indexing.scatter_max, False)
ScatterMin = _in_place("ScatterMin", indexing.scatter_min, False)
ScatterMul = _in_place("ScatterMul", indexing.scatter_mul, False)
ScatterSub = _in_place("ScatterSub", indexing.scatter_sub, False)
ScatterUpdate = _in_place("ScatterUpdate", indexing.scatter_update, True)
ScatterNdAdd = _in_place("ScatterNdAdd", indexing.scatter_nd_add, False)
ScatterNdDiv = _in_place("ScatterNdDiv", indexing.scatter_nd_div, False)
ScatterNdMax = _in_place("ScatterNdMax", indexing.scatter_nd_max, False)
ScatterNdMin = _in_place("ScatterNdMin", indexing.scatter_nd_min, False)
ScatterNdMul = _in_place("ScatterNdMul", indexing.scatter_nd_mul, False)
ScatterNdSub = _in_place("ScatterNdSub", indexing.scatter_nd_sub, False)
ScatterNdUpdate = _in_place("ScatterNdUpdate", indexing.scatter_nd_update, True)
