"""Selection and scattering."""

from __future__ import annotations

from typing import Any

import torch

from ._receiver import method, no_more, one_of

__all__ = [
    "choose",
    "gather",
    "gather_elements",
    "gather_nd",
    "index_add",
    "index_fill",
    "index_select",
    "inplace_update",
    "masked_fill",
    "scatter",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_sub",
    "searchsorted",
    "select",
    "take",
    "unsorted_segment_max",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "where",
]


@method
def gather(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`gather(dim, index)` as in torch, or `gather(input_indices, axis, batch_dims=0)`: whole slices along
    ``axis`` in the shape of the indices. MindSpore 2.10: Tensor.gather.
    """
    if "dim" in kwargs or "index" in kwargs or (args and isinstance(args[0], int)):
        dim = args[0] if args else kwargs.pop("dim")
        index = args[1] if len(args) > 1 else kwargs.pop("index")
        no_more("gather", kwargs)
        return self.gather(dim, index.long())
    indices = args[0] if args else kwargs.pop("input_indices")
    axis = args[1] if len(args) > 1 else kwargs.pop("axis")
    batch = int(args[2] if len(args) > 2 else kwargs.pop("batch_dims", 0))
    no_more("gather", kwargs)
    axis, batch = int(axis) % self.ndim, batch % max(indices.ndim, 1)
    if batch == 0:
        picked = self.index_select(axis, indices.reshape(-1).long())
        return picked.reshape(*self.shape[:axis], *indices.shape, *self.shape[axis + 1 :])
    lead = self.shape[:batch]
    size = lead.numel()
    rows = self.reshape(size, *self.shape[batch:])
    wanted = indices.reshape(size, *indices.shape[batch:])
    parts = [gather(row, where, axis - batch) for row, where in zip(rows, wanted, strict=True)]
    out = torch.stack(parts)
    return out.reshape(*lead, *out.shape[1:])


@method
def gather_elements(self: torch.Tensor, dim: int, index: torch.Tensor) -> torch.Tensor:
    """torch's gather. MindSpore 2.10: Tensor.gather_elements."""
    return self.gather(dim, index.long())


@method
def gather_nd(self: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """Slices at the index tuples in the last dimension of ``indices``. MindSpore 2.10: Tensor.gather_nd."""
    return self[tuple(indices.long().unbind(-1))]


@method
def index_select(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`index_select(axis, index)` or `index_select(dim, index)`. MindSpore 2.10: Tensor.index_select."""
    axis = args[0] if args else one_of("index_select", kwargs, "axis", "dim")
    index = args[1] if len(args) > 1 else kwargs.pop("index")
    no_more("index_select", kwargs)
    return self.index_select(axis, index)


@method
def take(
    self: torch.Tensor, indices: Any = None, axis: int | None = None, mode: str = "clip", **kwargs: Any
) -> Any:
    """`take(index)` or `take(indices, axis, mode)`: elements of the flat tensor, or slices along ``axis``.
    Indices outside are clipped (-1 counts from the end), or wrapped with ``mode="wrap"``.

    Raises NotImplementedError for ``mode="raise"``. MindSpore 2.10: Tensor.take.
    """
    index = kwargs.pop("index", indices)
    no_more("take", kwargs)
    if mode not in ("clip", "wrap"):
        raise NotImplementedError(f"Tensor.take: mode={mode!r}")
    source = self.reshape(-1) if axis is None else self
    dim = 0 if axis is None else axis
    size = source.shape[dim]
    where = index.long()
    where = where % size if mode == "wrap" else where.clamp(-size, size - 1) % size
    return gather(source, where, dim)


@method
def select(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`select(dim, index)` as in torch, or `select(condition, y)`: this tensor where the condition holds.

    MindSpore 2.10: Tensor.select.
    """
    first = args[0] if args else kwargs.get("condition", kwargs.get("dim"))
    if isinstance(first, torch.Tensor):
        return where(self, first, args[1] if len(args) > 1 else kwargs["y"])
    return self.select(*args, **kwargs)


@method
def where(self: torch.Tensor, condition: torch.Tensor, y: Any) -> torch.Tensor:
    """This tensor where the condition holds, else ``y``. MindSpore 2.10: Tensor.where."""
    return torch.where(condition.bool(), self, y)


@method
def masked_fill(self: torch.Tensor, mask: torch.Tensor, value: Any) -> torch.Tensor:
    """``value`` where the mask holds; the value may be a tensor of one element. MindSpore 2.10:
    Tensor.masked_fill.
    """
    if isinstance(value, torch.Tensor):
        value = value.reshape(()).to(self.dtype)
    return self.masked_fill(mask, value)


@method
def scatter(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`scatter(axis, index, src)` or `scatter(dim, index, src)`; ``src`` may be a number.

    MindSpore 2.10: Tensor.scatter.
    """
    axis = args[0] if args else one_of("scatter", kwargs, "axis", "dim")
    index = args[1] if len(args) > 1 else kwargs.pop("index")
    src = args[2] if len(args) > 2 else kwargs.pop("src")
    no_more("scatter", kwargs)
    return self.scatter(axis, index.long(), src)


@method
def scatter_add(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`scatter_add(dim, index, src)` as in torch, or `scatter_add(indices, updates)`: updates added at index
    tuples. MindSpore 2.10: Tensor.scatter_add.
    """
    if "indices" in kwargs or (args and isinstance(args[0], torch.Tensor)):
        return _scatter_nd("scatter_add", self, args, kwargs, "sum")
    dim = args[0] if args else kwargs.pop("dim")
    index = args[1] if len(args) > 1 else kwargs.pop("index")
    src = args[2] if len(args) > 2 else kwargs.pop("src")
    no_more("scatter_add", kwargs)
    return self.scatter_add(dim, index.long(), src)


def _scatter_nd(
    op: str, self: torch.Tensor, args: tuple[Any, ...], kwargs: dict[str, Any], reduce: str
) -> torch.Tensor:
    """``self`` with the updates reduced into the slices that the index tuples name."""
    indices = args[0] if args else kwargs.pop("indices")
    updates = args[1] if len(args) > 1 else kwargs.pop("updates")
    no_more(op, kwargs)
    depth = indices.shape[-1]
    lead, rest = self.shape[:depth], self.shape[depth:]
    steps = torch.ones(depth, dtype=torch.long)
    for i in range(depth - 2, -1, -1):
        steps[i] = steps[i + 1] * lead[i + 1]
    flat = (indices.long() * steps.to(indices.device)).sum(-1).reshape(-1)
    source = updates.to(self.dtype).reshape(flat.numel(), -1)
    rows = self.reshape(lead.numel(), -1)
    out = rows.scatter_reduce(0, flat.unsqueeze(1).expand_as(source), source, reduce)
    return out.reshape(*lead, *rest)


@method
def scatter_max(self: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor) -> torch.Tensor:
    """The larger of old and new at the index tuples. MindSpore 2.10: Tensor.scatter_max."""
    return _scatter_nd("scatter_max", self, (indices, updates), {}, "amax")


@method
def scatter_min(self: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor) -> torch.Tensor:
    """The smaller of old and new at the index tuples. MindSpore 2.10: Tensor.scatter_min."""
    return _scatter_nd("scatter_min", self, (indices, updates), {}, "amin")


@method
def scatter_sub(self: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor) -> torch.Tensor:
    """The updates subtracted at the index tuples. MindSpore 2.10: Tensor.scatter_sub."""
    return _scatter_nd("scatter_sub", self, (indices, -updates), {}, "sum")


@method
def scatter_mul(self: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor) -> torch.Tensor:
    """Multiplied by the updates at the index tuples. MindSpore 2.10: Tensor.scatter_mul."""
    return _scatter_nd("scatter_mul", self, (indices, updates), {}, "prod")


@method
def scatter_div(self: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor) -> torch.Tensor:
    """Divided by the updates at the index tuples (floats). MindSpore 2.10: Tensor.scatter_div."""
    return _scatter_nd("scatter_div", self, (indices, updates.reciprocal()), {}, "prod")


@method
def index_add(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`index_add(dim, index, source, *, alpha)` as in torch: a new tensor; or `index_add(indices, y, axis,
    use_lock, check_index_bound)`, which changes the receiver. MindSpore 2.10: Tensor.index_add.
    """
    if "indices" in kwargs or (args and isinstance(args[0], torch.Tensor)):
        indices = args[0] if args else kwargs.pop("indices")
        y = args[1] if len(args) > 1 else kwargs.pop("y")
        axis = args[2] if len(args) > 2 else kwargs.pop("axis")
        for name in ("use_lock", "check_index_bound"):
            kwargs.pop(name, None)
        no_more("index_add", kwargs)
        return self.index_add_(axis, indices, y.to(self.dtype))
    return self.index_add(*args, **kwargs)


@method
def index_fill(self: torch.Tensor, axis: int, index: torch.Tensor, value: Any) -> torch.Tensor:
    """``value`` in the slices at ``index``. MindSpore 2.10: Tensor.index_fill."""
    return self.index_fill(axis, index.long(), value)


@method
def inplace_update(self: torch.Tensor, v: torch.Tensor, indices: Any) -> torch.Tensor:
    """A copy with the rows at ``indices`` (an int, a tuple or a tensor) replaced by ``v``.

    MindSpore 2.10: Tensor.inplace_update.
    """
    out = self.clone()
    places = [indices] if isinstance(indices, int) else list(indices)
    out[places] = v.to(self.dtype)
    return out


@method
def searchsorted(self: torch.Tensor, v: Any, side: str = "left", sorter: Any = None) -> torch.Tensor:
    """Places (int32) at which ``v`` would go into this sorted tensor. MindSpore 2.10: Tensor.searchsorted."""
    wanted = v if isinstance(v, torch.Tensor) else torch.as_tensor(v, dtype=self.dtype, device=self.device)
    order = None if sorter is None else sorter.long()
    return torch.searchsorted(self, wanted, side=side, sorter=order, out_int32=True)


@method
def choose(self: torch.Tensor, choices: Any, mode: str = "clip") -> torch.Tensor:
    """For each place the element of the choice that this index tensor names there; indices outside are
    clipped or wrapped (``mode``). MindSpore 2.10: Tensor.choose.
    """
    if mode not in ("clip", "wrap"):
        raise NotImplementedError(f"Tensor.choose: mode={mode!r}")
    found = [c if isinstance(c, torch.Tensor) else torch.as_tensor(c, device=self.device) for c in choices]
    wide: Any = torch.broadcast_tensors
    rows = torch.stack(wide(*found))
    places, _ = wide(self.long(), rows[0])
    count = rows.shape[0]
    places = places % count if mode == "wrap" else places.clamp(0, count - 1)
    return rows.expand(count, *places.shape).gather(0, places.unsqueeze(0)).squeeze(0)


def _segments(
    self: torch.Tensor, segment_ids: torch.Tensor, num_segments: int, reduce: str, start: Any
) -> Any:
    ids = segment_ids.long().reshape(-1)
    rows = self.reshape(ids.numel(), -1)
    out = torch.full((int(num_segments), rows.shape[1]), start, dtype=self.dtype, device=self.device)
    out = out.scatter_reduce(0, ids.unsqueeze(1).expand_as(rows), rows, reduce)
    return out.reshape(int(num_segments), *self.shape[segment_ids.ndim :])


def _lowest(dtype: torch.dtype) -> Any:
    return torch.finfo(dtype).min if dtype.is_floating_point else torch.iinfo(dtype).min


def _highest(dtype: torch.dtype) -> Any:
    return torch.finfo(dtype).max if dtype.is_floating_point else torch.iinfo(dtype).max


@method
def unsorted_segment_max(self: torch.Tensor, segment_ids: torch.Tensor, num_segments: int) -> Any:
    """Maxima by segment; an empty one gets the lowest value. MindSpore 2.10: Tensor.unsorted_segment_max."""
    return _segments(self, segment_ids, num_segments, "amax", _lowest(self.dtype))


@method
def unsorted_segment_min(self: torch.Tensor, segment_ids: torch.Tensor, num_segments: int) -> Any:
    """Minima by segment; an empty one gets the highest value. MindSpore 2.10: Tensor.unsorted_segment_min."""
    return _segments(self, segment_ids, num_segments, "amin", _highest(self.dtype))


@method
def unsorted_segment_prod(self: torch.Tensor, segment_ids: torch.Tensor, num_segments: int) -> Any:
    """Products by segment; an empty one gets 1. MindSpore 2.10: Tensor.unsorted_segment_prod."""
    return _segments(self, segment_ids, num_segments, "prod", 1)
