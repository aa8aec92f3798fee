"""Reductions. MindSpore has two forms of each: `dim, keepdim` as in torch, `axis, keepdims` of its own."""

from __future__ import annotations

from typing import Any

import torch

from ._receiver import method, no_more, one_of, plain_axes

__all__ = [
    "all",
    "amax",
    "amin",
    "aminmax",
    "any",
    "argmax",
    "argmax_with_value",
    "argmin",
    "argmin_with_value",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "histc",
    "max",
    "mean",
    "median",
    "min",
    "nanmean",
    "nanmedian",
    "nansum",
    "norm",
    "prod",
    "ptp",
    "std",
    "sum",
    "trace",
    "var",
]


def _axis_keep(op: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, bool, tuple[Any, ...]]:
    """The axis and the keep flag under any of their names, and the positional arguments behind them."""
    axis = plain_axes(args[0] if args else one_of(op, kwargs, "axis", "dim"))
    keep = args[1] if len(args) > 1 else one_of(op, kwargs, "keepdims", "keep_dims", "keepdim", default=False)
    return axis, bool(keep), args[2:]


@method
def sum(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`sum(dim, keepdim, *, dtype)` or `sum(axis, dtype, keepdims, initial)`; bools and ints give int64.

    ``initial`` is added. MindSpore 2.10: Tensor.sum.
    """
    axis, dtype, keep, initial = (*args, *[None] * (4 - len(args)))[:4]
    if isinstance(dtype, bool):  # the second argument of the first form
        dtype, keep = None, dtype
    axis = plain_axes(axis if args else one_of("sum", kwargs, "axis", "dim"))
    dtype = kwargs.pop("dtype", dtype)
    keep = one_of("sum", kwargs, "keepdims", "keepdim", default=keep)
    initial = kwargs.pop("initial", initial)
    no_more("sum", kwargs)
    out = self.sum(axis, keepdim=bool(keep), dtype=dtype)
    return out if initial is None else out + initial


@method
def mean(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`mean(dim, keepdim, *, dtype)` or `mean(axis, keep_dims)`. Ints give their own dtype, truncated.

    MindSpore 2.10: Tensor.mean.
    """
    axis, keep, _ = _axis_keep("mean", args, kwargs)
    dtype = kwargs.pop("dtype", None)
    no_more("mean", kwargs)
    if dtype is None and not (self.is_floating_point() or self.is_complex()):
        return self.double().mean(axis, keep).to(self.dtype)
    return self.mean(axis, keep, dtype=dtype)


@method
def prod(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`prod(dim, keepdim, dtype)` or `prod(axis, keep_dims, dtype)`; bools and ints give int64.

    MindSpore 2.10: Tensor.prod.
    """
    axis, keep, rest = _axis_keep("prod", args, kwargs)
    dtype = rest[0] if rest else kwargs.pop("dtype", None)
    no_more("prod", kwargs)
    if axis is None:
        return self.prod(dtype=dtype)
    out = self
    for one in sorted(
        ((axis,) if isinstance(axis, int) else axis), key=lambda a: a % self.ndim, reverse=True
    ):
        out = out.prod(one, keep, dtype=dtype)
    return out


def _spread(
    op: str, self: torch.Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[torch.Tensor, Any, int, bool]:
    torch_form = bool({"dim", "correction", "keepdim"} & kwargs.keys())
    axis = plain_axes(args[0] if args else one_of(op, kwargs, "axis", "dim"))
    lost = args[1] if len(args) > 1 else one_of(op, kwargs, "ddof", "correction", default=int(torch_form))
    keep = args[2] if len(args) > 2 else one_of(op, kwargs, "keepdims", "keepdim", default=False)
    no_more(op, kwargs)
    wide = self if self.is_floating_point() or self.is_complex() else self.float()
    return wide, axis, int(lost), bool(keep)


@method
def std(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`std(axis=None, ddof=0, keepdims=False)`, or `std(dim=None, *, correction=1, keepdim=False)` when one
    of those names is used. Ints give float32. MindSpore 2.10: Tensor.std.
    """
    wide, axis, lost, keep = _spread("std", self, args, kwargs)
    return wide.std(axis, correction=lost, keepdim=keep)


@method
def var(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """Like :func:`std`, the square of it. MindSpore 2.10: Tensor.var."""
    wide, axis, lost, keep = _spread("var", self, args, kwargs)
    return wide.var(axis, correction=lost, keepdim=keep)


def _truth(op: str, self: torch.Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor:
    axis, keep, _ = _axis_keep(op, args, kwargs)
    no_more(op, kwargs)
    out = self.bool()
    axes = tuple(range(self.ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis
    # One dimension at a time: torch 2.4 and older accelerators take no tuple here.
    for one in sorted((a % self.ndim for a in axes), reverse=True):
        out = getattr(out, op)(one, keep if axis is not None else False)
    return out


@method
def any(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`any(axis, keep_dims)` or `any(dim, keepdim)`; axes may be a tuple. MindSpore 2.10: Tensor.any."""
    return _truth("any", self, args, kwargs)


@method
def all(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`all(axis, keep_dims)` or `all(dim, keepdim)`; axes may be a tuple. MindSpore 2.10: Tensor.all."""
    return _truth("all", self, args, kwargs)


def _extreme(op: str, self: torch.Tensor, axis: Any, keep: bool, initial: Any, where: Any) -> torch.Tensor:
    """amax or amin over axes (None: all), of the places where ``where`` holds, and of ``initial``."""
    if isinstance(where, torch.Tensor):
        if initial is None:
            raise ValueError(f"Tensor.{op}: where needs initial")
        self = torch.where(where, self, torch.as_tensor(initial, dtype=self.dtype, device=self.device))
    if axis is None:  # the result has no dimensions then, whatever the keep flag says
        axis, keep = tuple(range(self.ndim)), False
    out: torch.Tensor = getattr(self, f"a{op}")(axis, keep) if self.ndim else self
    if initial is None:
        return out
    bound = torch.as_tensor(initial, dtype=self.dtype, device=self.device)
    return torch.maximum(out, bound) if op == "max" else torch.minimum(out, bound)


def _extreme_forms(op: str, self: torch.Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not args and not kwargs:
        return getattr(self, op)()
    first = args[0] if args else kwargs.get("dim")
    own = bool({"axis", "keepdims", "initial", "where", "return_indices"} & kwargs.keys())
    if not own and isinstance(first, int):
        keep = args[1] if len(args) > 1 else kwargs.get("keepdim", False)
        values, indices = getattr(self, op)(first, keepdim=bool(keep))
        return values, indices
    axis, keep, _ = _axis_keep(op, args, kwargs)
    initial, where = kwargs.pop("initial", None), kwargs.pop("where", True)
    indices_too = kwargs.pop("return_indices", False)
    no_more(op, kwargs)
    if not indices_too:
        return _extreme(op, self, axis, keep, initial, where)
    if axis is None:
        return getattr(self, op)(), getattr(self, f"arg{op}")()
    if initial is not None or where is not True:
        raise NotImplementedError(f"Tensor.{op}: return_indices together with initial or where")
    values, indices = getattr(self, op)(axis, keepdim=keep)
    return values, indices


@method
def max(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """`max()`; `max(dim, keepdim)` with an int by position or as ``dim``: (values, indices); `max(axis=…,
    keepdims, initial, where, return_indices)`: values alone unless ``return_indices``.

    MindSpore 2.10: Tensor.max.
    """
    return _extreme_forms("max", self, args, kwargs)


@method
def min(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """Like :func:`max`. MindSpore 2.10: Tensor.min."""
    return _extreme_forms("min", self, args, kwargs)


@method
def amax(
    self: torch.Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> torch.Tensor:
    """Maximum over axes. MindSpore 2.10: Tensor.amax."""
    return _extreme("max", self, plain_axes(axis), keepdims, initial, where)


@method
def amin(
    self: torch.Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> torch.Tensor:
    """Minimum over axes. MindSpore 2.10: Tensor.amin."""
    return _extreme("min", self, plain_axes(axis), keepdims, initial, where)


@method
def aminmax(
    self: torch.Tensor, *, axis: int | None = 0, keepdims: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Minimum and maximum along an axis (the first by default). MindSpore 2.10: Tensor.aminmax."""
    found = plain_axes(axis)
    return _extreme("min", self, found, keepdims, None, None), _extreme(
        "max", self, found, keepdims, None, None
    )


@method
def ptp(self: torch.Tensor, axis: Any = None, keepdims: bool = False) -> torch.Tensor:
    """Maximum minus minimum. MindSpore 2.10: Tensor.ptp."""
    low, high = aminmax(self, axis=axis, keepdims=keepdims)
    return high - low


def _place_of(op: str, self: torch.Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor:
    axis, keep, _ = _axis_keep(op, args, kwargs)
    no_more(op, kwargs)
    # Over all elements the result has no dimensions, whatever the keep flag says.
    out: torch.Tensor = getattr(self, op)() if axis is None else getattr(self, op)(axis, keep)
    return out


@method
def argmax(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`argmax(axis, keepdims)` or `argmax(dim, keepdim)`, int64. MindSpore 2.10: Tensor.argmax."""
    return _place_of("argmax", self, args, kwargs)


@method
def argmin(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`argmin(axis, keepdims)` or `argmin(dim, keepdim)`, int32. MindSpore 2.10: Tensor.argmin."""
    return _place_of("argmin", self, args, kwargs).to(torch.int32)


@method
def argmax_with_value(
    self: torch.Tensor, axis: int | None = 0, keep_dims: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Maxima and their indices; with ``axis`` None the one of all, without dimensions, and the index 0 wherever
    it stands, as documented. MindSpore 2.10: Tensor.argmax_with_value.
    """
    if axis is None:
        value = self.max()
        return value, torch.zeros_like(value, dtype=torch.int64)
    values, indices = self.max(axis, keep_dims)
    return values, indices


@method
def argmin_with_value(
    self: torch.Tensor, axis: int | None = 0, keep_dims: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Minima and their indices; with ``axis`` None the one of all, without dimensions, and the index 0 wherever
    it stands, as documented. MindSpore 2.10: Tensor.argmin_with_value.
    """
    if axis is None:
        value = self.min()
        return value, torch.zeros_like(value, dtype=torch.int64)
    values, indices = self.min(axis, keep_dims)
    return values, indices


@method
def count_nonzero(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`count_nonzero(dim)` or `count_nonzero(axis, keep_dims, dtype)`; int32 unless ``dtype`` says otherwise.

    MindSpore 2.10: Tensor.count_nonzero.
    """
    axis, keep, rest = _axis_keep("count_nonzero", args, kwargs)
    dtype = rest[0] if rest else kwargs.pop("dtype", None)
    no_more("count_nonzero", kwargs)
    out = (self != 0).sum(axis, keepdim=keep)
    return out.to(dtype or torch.int32)


@method
def cumsum(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`cumsum(dim, *, dtype)` or `cumsum(axis=None, dtype=None)` (None: flattened). Ints keep their dtype,
    bools give int32. MindSpore 2.10: Tensor.cumsum.
    """
    axis = args[0] if args else one_of("cumsum", kwargs, "axis", "dim")
    dtype = args[1] if len(args) > 1 else kwargs.pop("dtype", None)
    no_more("cumsum", kwargs)
    kept = dtype or (torch.int32 if self.dtype is torch.bool else self.dtype)
    return self.reshape(-1).cumsum(0, dtype=kept) if axis is None else self.cumsum(axis, dtype=kept)


@method
def cumprod(self: torch.Tensor, dim: int, dtype: Any = None) -> torch.Tensor:
    """Products so far along ``dim``; ints give int64. MindSpore 2.10: Tensor.cumprod."""
    return self.cumprod(dim, dtype=dtype)


@method
def median(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """`median()`: one value, as on Ascend; with an axis or a dim: (values, indices).

    MindSpore 2.10: Tensor.median (on its CPU and GPU a call without arguments takes the last axis).
    """
    axis, keep, _ = _axis_keep("median", args, kwargs)
    no_more("median", kwargs)
    if axis is None:
        return self.median()
    values, indices = self.median(axis, keep)
    return values, indices


@method
def nanmedian(
    self: torch.Tensor, axis: int = -1, keepdims: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Medians without NaN, and their indices. MindSpore 2.10: Tensor.nanmedian."""
    values, indices = self.nanmedian(axis, keepdims)
    return values, indices


@method
def nanmean(
    self: torch.Tensor, axis: Any = None, keepdims: bool = False, *, dtype: Any = None
) -> torch.Tensor:
    """Mean without NaN. MindSpore 2.10: Tensor.nanmean."""
    return self.nanmean(plain_axes(axis), keepdims, dtype=dtype)


@method
def nansum(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """Sum without NaN, in the forms of `sum` with the keep flag second. MindSpore 2.10: Tensor.nansum."""
    axis, keep, _ = _axis_keep("nansum", args, kwargs)
    dtype = kwargs.pop("dtype", None)
    no_more("nansum", kwargs)
    return self.nansum(axis, keep, dtype=dtype)


@method
def norm(
    self: torch.Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> torch.Tensor:
    """Vector or matrix norm, `torch.linalg.norm` (torch's own method `norm` knows vectors only): on a matrix
    1, 2 and inf are matrix norms. Ints give float32. MindSpore 2.10: Tensor.norm.
    """
    wide = self if self.is_floating_point() or self.is_complex() else self.float()
    out: torch.Tensor = torch.linalg.norm(wide, ord, dim, keepdim, dtype=dtype)
    return out


@method
def trace(
    self: torch.Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None
) -> torch.Tensor:
    """Sum along a diagonal; ints give int64. MindSpore 2.10: Tensor.trace."""
    return self.diagonal(offset, axis1, axis2).sum(-1, dtype=dtype)


@method
def histc(self: torch.Tensor, bins: int = 100, min: float = 0, max: float = 0) -> torch.Tensor:
    """Counts in equal bins from ``min`` to ``max`` (both 0: the data's), int32 for ints.

    MindSpore 2.10: Tensor.histc.
    """
    if self.is_floating_point():
        return self.histc(bins, min, max)
    return self.double().histc(bins, min, max).to(torch.int32)
