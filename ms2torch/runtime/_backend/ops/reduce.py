"""Reductions of mindspore.ops: `axis` may be empty for all axes, integer inputs keep their dtype.

Source: MindSpore 2.10, mindspore.ops.<name>; dtypes and index dtypes as its CPU build gives them.
"""

# torch leaves some of its functions untyped; which ones differs between its versions.
# mypy: disable-error-code="no-any-return, no-untyped-call"
from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._common import dims_of, index, like


def reduce_sum(x: Tensor, axis: Any = (), keep_dims: bool = False) -> Tensor:
    """Sum in the dtype of ``x``: int32 stays int32 (torch gives int64), bool is any()."""
    dims = dims_of(axis, x.ndim)
    if x.dtype == torch.bool:
        return torch.any(x, dim=dims, keepdim=keep_dims) if x.ndim else x
    return torch.sum(x, dim=dims, keepdim=keep_dims, dtype=x.dtype)


def reduce_mean(x: Tensor, axis: Any = (), keep_dims: bool = False) -> Tensor:
    """Mean in the dtype of ``x``; that of integers is cut off."""
    dims = dims_of(axis, x.ndim)
    if x.is_floating_point() or x.is_complex():
        return torch.mean(x, dim=dims, keepdim=keep_dims)
    return torch.mean(x.double(), dim=dims, keepdim=keep_dims).trunc().to(x.dtype)


def mean(x: Tensor, axis: Any = None, keep_dims: bool = False) -> Tensor:
    return reduce_mean(x, axis, keep_dims)


def reduce_prod(x: Tensor, axis: Any = (), keep_dims: bool = False) -> Tensor:
    out = x
    dims = sorted((d % x.ndim for d in dims_of(axis, x.ndim)), reverse=True) if x.ndim else []
    for dim in dims:
        out = torch.prod(out, dim=dim, keepdim=keep_dims, dtype=x.dtype)
    return out


def prod(input: Tensor, axis: Any = None, keep_dims: bool = False, dtype: Any = None) -> Tensor:
    """Product; integers give int64."""
    if dtype is None:
        dtype = input.dtype if input.is_floating_point() or input.is_complex() else torch.int64
    return reduce_prod(input.to(dtype), axis, keep_dims)


def reduce_max(x: Tensor, axis: Any = (), keep_dims: bool = False) -> Tensor:
    return torch.amax(x, dim=dims_of(axis, x.ndim), keepdim=keep_dims)


def reduce_min(x: Tensor, axis: Any = (), keep_dims: bool = False) -> Tensor:
    return torch.amin(x, dim=dims_of(axis, x.ndim), keepdim=keep_dims)


def all(input: Tensor, axis: Any = None, keep_dims: bool = False) -> Tensor:
    return torch.all(input.bool(), dim=dims_of(axis, input.ndim), keepdim=keep_dims)


def any(input: Tensor, axis: Any = None, keep_dims: bool = False) -> Tensor:
    return torch.any(input.bool(), dim=dims_of(axis, input.ndim), keepdim=keep_dims)


def _extreme(input: Tensor, where: Any, initial: Any, largest: bool) -> Tensor:
    """``input`` with the places that ``where`` excludes set to ``initial``, and nothing beyond
    ``initial``."""
    if where is not None:
        if initial is None:
            raise ValueError("where needs initial")
        input = torch.where(where, input, like(initial, input).to(input.dtype))
    if initial is not None:
        bound = like(initial, input).to(input.dtype)
        input = torch.maximum(input, bound) if largest else torch.minimum(input, bound)
    return input


def amax(
    input: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> Tensor:
    return reduce_max(_extreme(input, where, initial, True), axis, keepdims)


def amin(
    input: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> Tensor:
    return reduce_min(_extreme(input, where, initial, False), axis, keepdims)


def _with_index(x: Tensor, axis: Any, keepdims: bool, largest: bool) -> tuple[Tensor, Tensor]:
    values, where = (torch.max if largest else torch.min)(x, dim=int(axis), keepdim=keepdims)
    return values, where


def max(
    input: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> tuple[Tensor, Tensor]:
    """(largest value, its int64 index) along ``axis``; without ``axis`` the largest of all, with index 0."""
    if axis is None:
        top = torch.max(input)
        return top, torch.zeros_like(top, dtype=torch.int64)
    return _with_index(_extreme(input, where, initial, True), axis, keepdims, True)


def min(
    input: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> tuple[Tensor, Tensor]:
    """(smallest value, its int64 index) along ``axis``; without ``axis`` the smallest of all, with
    index 0."""
    if axis is None:
        low = torch.min(input)
        return low, torch.zeros_like(low, dtype=torch.int64)
    return _with_index(_extreme(input, where, initial, False), axis, keepdims, False)


def aminmax(input: Tensor, *, axis: Any = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """(smallest, largest); NaN counts as neither."""
    dims = dims_of(axis, input.ndim)
    low = high = input
    if input.is_floating_point():
        nothing = torch.isnan(input)
        low, high = input.masked_fill(nothing, float("inf")), input.masked_fill(nothing, float("-inf"))
    return torch.amin(low, dims, keepdims), torch.amax(high, dims, keepdims)


def argmin(input: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Index of the smallest value, int32 (``ops.argmax`` gives int64)."""
    return torch.argmin(input, axis, keepdims).int()


def var(input: Tensor, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Tensor:
    """Variance with ``ddof`` 0 by default (torch's correction is 1)."""
    return torch.var(input, dims_of(axis, input.ndim), correction=int(ddof), keepdim=keepdims)


def std(input: Tensor, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Tensor:
    """Standard deviation with ``ddof`` 0 by default (torch's correction is 1)."""
    return torch.std(input, dims_of(axis, input.ndim), correction=int(ddof), keepdim=keepdims)


def var_mean(input: Tensor, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    return var(input, axis, ddof, keepdims), torch.mean(input, dims_of(axis, input.ndim), keepdims)


def std_mean(input: Tensor, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    return std(input, axis, ddof, keepdims), torch.mean(input, dims_of(axis, input.ndim), keepdims)


def count_nonzero(x: Tensor, axis: Any = (), keep_dims: bool = False, dtype: Any = torch.int32) -> Tensor:
    """Number of elements that are not 0, int32 by default."""
    return torch.sum(x != 0, dim=dims_of(axis, x.ndim), keepdim=keep_dims).to(dtype)


def median(input: Tensor, axis: Any = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """(median, its index) along ``axis``, the lower of two middle values."""
    values, where = torch.median(input, int(axis), keepdims)
    return values, where


def nanmedian(input: Tensor, axis: Any = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    values, where = torch.nanmedian(input, int(axis), keepdims)
    return values, where


def nanmean(input: Tensor, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    return torch.nanmean(input, dims_of(axis, input.ndim), keepdims, dtype=dtype)


def nansum(input: Tensor, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    return torch.nansum(input, dims_of(axis, input.ndim), keepdims, dtype=dtype)


def quantile(input: Tensor, q: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    return torch.quantile(input, like(q, input).to(input.dtype), axis, keepdims)


def nanquantile(input: Tensor, q: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    return torch.nanquantile(input, like(q, input).to(input.dtype), axis, keepdims)


def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    return torch.logsumexp(input, dims_of(dim, input.ndim), keepdim)


def norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Vector or matrix norm; integers are taken as float32."""
    x = A if A.is_floating_point() or A.is_complex() else A.float()
    return torch.linalg.norm(x, ord, dim, keepdim, dtype=dtype)


def vector_norm(
    x: Tensor, ord: Any = 2, axis: Any = None, keepdims: bool = False, *, dtype: Any = None
) -> Tensor:
    return torch.linalg.vector_norm(x, ord, axis, keepdims, dtype=dtype)


def matrix_norm(
    A: Tensor, ord: Any = "fro", axis: Any = (-2, -1), keepdims: bool = False, *, dtype: Any = None
) -> Tensor:
    return torch.linalg.matrix_norm(A, ord, axis, keepdims, dtype=dtype)


def lp_norm(x: Tensor, axis: Any, p: Any = 2, keep_dims: bool = False, epsilon: float = 1e-12) -> Tensor:
    return torch.linalg.vector_norm(x, p, dims_of(axis, x.ndim), keep_dims).clamp(min=epsilon)


def l2_normalize(x: Tensor, axis: Any = 0, epsilon: float = 1e-4) -> Tensor:
    """``x / sqrt(max(sum(x^2), epsilon))`` along ``axis``."""
    total = torch.sum(torch.square(x), dims_of(axis, x.ndim), keepdim=True)
    return x * torch.rsqrt(total.clamp(min=epsilon))


def topk(
    input: Tensor, k: Any, dim: Any = None, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """(values, int32 indices); ``dim`` None is the last."""
    values, where = torch.topk(input, int(k), -1 if dim is None else int(dim), largest, sorted)
    return values, where.int()


def top_k(input_x: Tensor, k: Any, sorted: bool = True) -> tuple[Tensor, Tensor]:
    return topk(input_x, k, None, True, sorted)


def sort(input_x: Tensor, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """(sorted values, int32 indices)."""
    values, where = torch.sort(input_x, dim=axis, descending=descending, stable=True)
    return values, where.int()


def argsort(input: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
    return sort(input, axis, descending)[1]


def msort(input: Tensor) -> Tensor:
    return sort(input, 0)[0]


def bincount(input: Tensor, weights: Any = None, minlength: int = 0) -> Tensor:
    """Counts as float32, or sums of ``weights`` in their dtype."""
    return torch.bincount(input, weights, int(minlength)).to(
        torch.float32 if weights is None else weights.dtype
    )


def histc(input: Tensor, bins: int = 100, min: Any = 0.0, max: Any = 0.0) -> Tensor:
    """Histogram; that of integers is counted exactly and has int32 (torch's refuses them on most devices)."""
    if input.is_floating_point():
        return torch.histc(input, bins, min, max)
    return torch.histc(input.double(), bins, min, max).to(torch.int32)


def histogram_fixed_width(x: Tensor, limits: Tensor, bins: int) -> Tensor:
    """int32 counts of ``bins`` equal parts of [limits[0], limits[1]]; values outside go to the outer ones."""
    low, high = limits[0], limits[1]
    place = torch.floor((x - low) / (high - low) * bins).long().clamp(0, bins - 1)
    return torch.bincount(place.flatten(), minlength=bins).int()


def unique(input: Tensor) -> tuple[Tensor, Tensor]:
    """(unique values in the order of their first appearance, index of each element among them); indices have
    int64 for int64 input, else int32."""
    kind = torch.int64 if input.dtype == torch.int64 else torch.int32
    flat = input.flatten()
    values, inverse = torch.unique(flat, sorted=True, return_inverse=True)
    first = torch.full((values.numel(),), flat.numel(), dtype=torch.int64, device=flat.device)
    first = first.scatter_reduce(0, inverse, torch.arange(flat.numel(), device=flat.device), "amin")
    order = torch.argsort(first)
    place = torch.empty_like(order)
    place[order] = torch.arange(order.numel(), device=flat.device)
    return values[order], place[inverse].reshape(input.shape).to(kind)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    return torch.unique_consecutive(input, return_inverse, return_counts, dim)


def searchsorted(
    sorted_sequence: Tensor,
    values: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: Any = None,
    sorter: Any = None,
) -> Tensor:
    """Positions at which ``values`` would be inserted."""
    if side is not None and side == "left" and right:
        raise ValueError("searchsorted: side 'left' contradicts right=True")
    found = like(values, sorted_sequence)
    kind = torch.result_type(sorted_sequence, found)
    order = None if sorter is None else index(sorter)
    return torch.searchsorted(
        sorted_sequence.to(kind).contiguous(),
        found.to(kind).contiguous(),
        out_int32=out_int32,
        right=right or side == "right",
        sorter=order,
    )


def bucketize(input: Tensor, boundaries: Any, *, right: bool = False) -> Tensor:
    """int32 bucket of each value."""
    edges = torch.as_tensor(boundaries, dtype=torch.float32, device=input.device)
    return torch.bucketize(input.float(), edges, out_int32=True, right=right)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    return torch.cosine_similarity(x1, x2, dim, eps)


def intopk(x1: Tensor, x2: Tensor, k: int) -> Tensor:
    """Whether the value at the index ``x2`` is among the ``k`` largest of its row."""
    picked = x1.gather(1, index(x2).unsqueeze(1))
    return (x1 > picked).sum(1) < k


def logcumsumexp(input: Tensor, axis: int) -> Tensor:
    return torch.logcumsumexp(input, axis)


def unique_with_pad(x: Tensor, pad_num: Any) -> tuple[Tensor, Tensor]:
    """``unique`` with the values filled up with ``pad_num`` to the length of ``x``."""
    values, where = unique(x)
    full = torch.full_like(x, int(pad_num) if not x.is_floating_point() else float(pad_num))
    full[: values.numel()] = values
    return full, where


def segments(x: Tensor, segment_ids: Tensor, how: str) -> Tensor:
    """Sum, mean, product, largest or smallest of each run of equal, rising ids; missing ids give 0, or 1."""
    ids = segment_ids.long()
    count = int(ids[-1]) + 1
    fill = 1 if how == "prod" else 0
    out = torch.full((count, *x.shape[1:]), fill, dtype=x.dtype, device=x.device)
    if how == "sum":
        return out.index_add(0, ids, x)
    return out.index_reduce(0, ids, x, how, include_self=how == "prod")
