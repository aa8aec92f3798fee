"""Gathering and scattering of mindspore.ops: int32 indices, negative indices where MindSpore takes them.

Source: MindSpore 2.10, mindspore.ops.<name> of the same name.
"""

# torch leaves some of its functions untyped; which ones differs between its versions.
# mypy: disable-error-code="no-any-return, no-untyped-call"
from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._common import index, ints, like


def gather(input_params: Tensor, input_indices: Any, axis: Any, batch_dims: int = 0) -> Tensor:
    """Slices of ``input_params`` along ``axis`` at ``input_indices`` of any shape: the axis is replaced
    by that shape (torch's ``gather`` is ``gather_elements`` here). Leading ``batch_dims`` axes are taken
    together."""
    dim = int(axis) % input_params.ndim
    where = index(input_indices, input_params)
    if batch_dims:
        if batch_dims < 0:
            batch_dims += where.ndim
        rows = [
            gather(params, places, dim - 1, batch_dims - 1)
            for params, places in zip(input_params, where, strict=True)
        ]
        return torch.stack(rows)
    where = torch.where(where < 0, where + input_params.shape[dim], where)
    out = torch.index_select(input_params, dim, where.reshape(-1))
    return out.reshape(input_params.shape[:dim] + where.shape + input_params.shape[dim + 1 :])


def gather_elements(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """torch's ``gather``; ``index`` may be int32 and negative."""
    where = index.long()
    return torch.gather(input, dim, torch.where(where < 0, where + input.shape[dim], where))


def gather_d(x: Tensor, dim: int, index: Tensor) -> Tensor:
    return gather_elements(x, dim, index)


def gather_nd(input_x: Tensor, indices: Any) -> Tensor:
    """``input_x[i, j, …]`` for each row (i, j, …) of the last axis of ``indices``."""
    where = index(indices, input_x)
    return input_x[tuple(where.unbind(-1))]


def scatter_nd(indices: Tensor, updates: Tensor, shape: Any) -> Tensor:
    """Zeros of ``shape`` with ``updates`` added at ``indices``; repeated places add up."""
    out = torch.zeros(ints(shape), dtype=updates.dtype, device=updates.device)
    return out.index_put(tuple(index(indices).unbind(-1)), updates, accumulate=True)


def _flat(input_x: Tensor, indices: Tensor) -> tuple[Tensor, Tensor, tuple[int, ...]]:
    """``input_x`` as [places, slice], the place of each row of ``indices``, and the slice's shape."""
    where = index(indices, input_x)
    depth = where.shape[-1]
    place = torch.zeros(where.shape[:-1], dtype=torch.int64, device=where.device)
    for d in range(depth):
        place = place * input_x.shape[d] + where[..., d]
    rest = tuple(input_x.shape[depth:])
    count = 1
    for size in input_x.shape[:depth]:
        count *= size
    return input_x.reshape(count, -1), place.reshape(-1), rest


def _reduce_nd(input_x: Tensor, indices: Tensor, updates: Any, how: str) -> Tensor:
    rows, place, rest = _flat(input_x, indices)
    values = like(updates, input_x).to(input_x.dtype)
    values = values.expand(tuple(indices.shape[:-1]) + rest).reshape(place.numel(), rows.shape[1])
    where = place.unsqueeze(1).expand_as(values)
    return rows.scatter_reduce(0, where, values, how, include_self=True).reshape(input_x.shape)


def tensor_scatter_update(input_x: Tensor, indices: Tensor, updates: Any) -> Tensor:
    """A copy with ``updates`` at ``indices`` (rows of the last axis are places)."""
    values = like(updates, input_x).to(input_x.dtype)
    return input_x.index_put(tuple(index(indices).unbind(-1)), values)


def tensor_scatter_add(input_x: Tensor, indices: Tensor, updates: Any) -> Tensor:
    values = like(updates, input_x).to(input_x.dtype)
    return input_x.index_put(tuple(index(indices).unbind(-1)), values, accumulate=True)


def tensor_scatter_sub(input_x: Tensor, indices: Tensor, updates: Any) -> Tensor:
    return tensor_scatter_add(input_x, indices, -updates)


def tensor_scatter_mul(input_x: Tensor, indices: Tensor, updates: Any) -> Tensor:
    return _reduce_nd(input_x, indices, updates, "prod")


def tensor_scatter_div(input_x: Tensor, indices: Tensor, updates: Any) -> Tensor:
    return _reduce_nd(input_x, indices, torch.reciprocal(updates), "prod")


def tensor_scatter_max(input_x: Tensor, indices: Tensor, updates: Any) -> Tensor:
    return _reduce_nd(input_x, indices, updates, "amax")


def tensor_scatter_min(input_x: Tensor, indices: Tensor, updates: Any) -> Tensor:
    return _reduce_nd(input_x, indices, updates, "amin")


def tensor_scatter_elements(
    input_x: Tensor, indices: Tensor, updates: Any, axis: int = 0, reduction: str = "none"
) -> Tensor:
    """A copy with ``updates`` written, or added ("add"), along ``axis`` at ``indices`` of the same shape."""
    where = index(indices, input_x)
    where = torch.where(where < 0, where + input_x.shape[axis], where)
    values = like(updates, input_x).to(input_x.dtype)
    if reduction == "none":
        return input_x.scatter(axis, where, values)
    if reduction == "add":
        return input_x.scatter_add(axis, where, values)
    raise ValueError(f"tensor_scatter_elements: reduction must be 'none' or 'add', not {reduction!r}")


def scatter(input: Tensor, axis: int, index: Tensor, src: Any) -> Tensor:
    """``src``, a tensor or a number, written along ``axis`` at ``index``."""
    where = index.long()
    if isinstance(src, Tensor):
        return torch.scatter(input, axis, where, src)
    return torch.scatter(input, axis, where, value=src)


def _rows(input_x: Tensor, indices: Any, updates: Any) -> tuple[Tensor, Tensor]:
    """int64 indices and matching updates of the scatter_* family, whose indices name whole rows."""
    where = index(indices, input_x)
    values = like(updates, input_x).to(input_x.dtype)
    values = values.expand(tuple(where.shape) + tuple(input_x.shape[1:]))
    return where.reshape(-1), values.reshape((where.numel(), *input_x.shape[1:]))


def _set(target: Tensor, value: Tensor) -> Tensor:
    """``value`` written into ``target``, a parameter, outside of autograd; returns a tensor on its memory."""
    with torch.no_grad():
        target.copy_(value)
    return target.detach()


def _scatter_rows(input_x: Tensor, indices: Any, updates: Any, how: str) -> Tensor:
    where, values = _rows(input_x.detach(), indices, updates)
    if how == "sub":
        how, values = "sum", -values
    if how == "div":
        how, values = "prod", torch.reciprocal(values)
    with torch.no_grad():
        if how == "update":
            input_x.index_copy_(0, where, values)
        elif how == "sum":
            input_x.index_add_(0, where, values)
        else:
            input_x.index_reduce_(0, where, values, how)
    return input_x.detach()


def scatter_update(input_x: Tensor, indices: Any, updates: Any) -> Tensor:
    """Rows of the parameter ``input_x`` at ``indices`` replaced, in place; returns a tensor on its
    memory."""
    return _scatter_rows(input_x, indices, updates, "update")


def scatter_add(input_x: Tensor, indices: Any, updates: Any) -> Tensor:
    """``updates`` added to rows of the parameter ``input_x`` in place (torch's ``scatter_add`` takes
    elements)."""
    return _scatter_rows(input_x, indices, updates, "sum")


def scatter_sub(input_x: Tensor, indices: Any, updates: Any) -> Tensor:
    return _scatter_rows(input_x, indices, updates, "sub")


def scatter_mul(input_x: Tensor, indices: Any, updates: Any) -> Tensor:
    return _scatter_rows(input_x, indices, updates, "prod")


def scatter_div(input_x: Tensor, indices: Any, updates: Any) -> Tensor:
    return _scatter_rows(input_x, indices, updates, "div")


def scatter_max(input_x: Tensor, indices: Any, updates: Any) -> Tensor:
    return _scatter_rows(input_x, indices, updates, "amax")


def scatter_min(input_x: Tensor, indices: Any, updates: Any) -> Tensor:
    return _scatter_rows(input_x, indices, updates, "amin")


def scatter_nd_update(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = True) -> Tensor:
    """``tensor_scatter_update`` in place on a parameter; locking has no meaning here."""
    return _set(input_x, tensor_scatter_update(input_x.detach(), indices, updates))


def scatter_nd_add(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor:
    return _set(input_x, tensor_scatter_add(input_x.detach(), indices, updates))


def scatter_nd_sub(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor:
    return _set(input_x, tensor_scatter_sub(input_x.detach(), indices, updates))


def scatter_nd_mul(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor:
    return _set(input_x, tensor_scatter_mul(input_x.detach(), indices, updates))


def scatter_nd_div(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor:
    return _set(input_x, tensor_scatter_div(input_x.detach(), indices, updates))


def scatter_nd_max(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor:
    return _set(input_x, tensor_scatter_max(input_x.detach(), indices, updates))


def scatter_nd_min(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor:
    return _set(input_x, tensor_scatter_min(input_x.detach(), indices, updates))


def index_add(
    x: Tensor, indices: Tensor, y: Tensor, axis: int, use_lock: bool = True, check_index_bound: bool = True
) -> Tensor:
    """``y`` added to the parameter ``x`` along ``axis`` at ``indices``, in place."""
    with torch.no_grad():
        x.index_add_(axis, index(indices), y)
    return x.detach()


def index_select(input: Tensor, axis: int, index: Tensor) -> Tensor:
    return torch.index_select(input, axis, index)


def index_fill(x: Tensor, axis: Any, index: Any, value: Any) -> Tensor:
    where = like(index, x).long().reshape(-1)
    return torch.index_fill(x, int(axis), where, value)


def masked_fill(input_x: Tensor, mask: Any, value: Any) -> Tensor:
    """``value``, a number or a tensor, where ``mask`` is True, in the dtype of ``input_x``."""
    keep = like(mask, input_x)
    return torch.where(keep, like(value, input_x).to(input_x.dtype), input_x)


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    return torch.masked_select(input, mask)


def select(condition: Any, input: Any, other: Any) -> Tensor:
    """``input`` where ``condition`` holds, else ``other``; a number takes the other's dtype."""
    return where(condition, input, other)


def where(condition: Any, input: Any, other: Any) -> Tensor:
    return torch.where(like(condition), input, other)


def take(input: Tensor, index: Tensor) -> Tensor:
    return torch.take(input, index.long())


def select_scatter(input: Tensor, src: Tensor, axis: int, index: int) -> Tensor:
    return torch.select_scatter(input, src, axis, index)


def slice_scatter(
    input: Tensor, src: Tensor, axis: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Tensor:
    return torch.slice_scatter(input, src, axis, start, end, step)


def unsorted_segment(x: Tensor, segment_ids: Tensor, num_segments: Any, how: str) -> Tensor:
    """Sum, product, largest or smallest of the slices of each segment; empty segments get 0, 1, and the
    lowest or highest value. Negative ids are left out."""
    ids = segment_ids.long()
    count = int(num_segments)
    rest = x.shape[ids.ndim :]
    rows = x.reshape((ids.numel(), *rest))
    flat = ids.reshape(-1)
    keep = flat >= 0
    info = torch.finfo(x.dtype) if x.is_floating_point() else None
    if how in ("amax", "amin") and info is None and x.dtype is not torch.bool:
        limits = torch.iinfo(x.dtype)
        start: float = limits.min if how == "amax" else limits.max
    else:
        start = {"sum": 0, "prod": 1}.get(how, 0)
        if info is not None and how in ("amax", "amin"):
            start = info.min if how == "amax" else info.max
    out = torch.full((count, *rest), start, dtype=x.dtype, device=x.device)
    if how == "sum":
        return out.index_add(0, flat[keep], rows[keep])
    return out.index_reduce(0, flat[keep], rows[keep], how)


def unsorted_segment_sum(input_x: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    return unsorted_segment(input_x, segment_ids, num_segments, "sum")


def unsorted_segment_prod(x: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    return unsorted_segment(x, segment_ids, num_segments, "prod")


def unsorted_segment_max(x: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    return unsorted_segment(x, segment_ids, num_segments, "amax")


def unsorted_segment_min(x: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    return unsorted_segment(x, segment_ids, num_segments, "amin")
