"""Primitives of mindspore.ops.auto_generate that stand behind mindspore.mint: torch's functions as objects.

Source: MindSpore 2.10, mindspore.ops.auto_generate.<Name>: constructor, call and defaults.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import arith, creation, mint
from .._common import pair
from .base import attrs, calls


def _add(input: Any, other: Any, alpha: Any = 1) -> Tensor:
    """``input + alpha * other``."""
    a, b = pair(input, other)
    return torch.add(a, b, alpha=alpha)


def _sub(input: Any, other: Any, alpha: Any = 1) -> Tensor:
    """``input - alpha * other``."""
    a, b = pair(input, other)
    return torch.sub(a, b, alpha=alpha)


def _sum(input: Tensor, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """torch's sum, with ``dtype`` by position."""
    return torch.sum(input, dim, keepdim, dtype=dtype)


def _mean(input: Tensor, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """torch's mean, with ``dtype`` by position."""
    return torch.mean(input, dim, keepdim, dtype=dtype)


def _prod(input: Tensor, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """torch's product, with ``dtype`` by position."""
    return mint.prod(input, dim, keepdim, dtype=dtype)


def _clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Values limited to [min, max]."""
    return torch.clamp(input, min, max)


def _arange(start: Any, end: Any, step: Any, dtype: Any = None) -> Tensor:
    """Values of [start, end)."""
    return torch.arange(start, end, step, dtype=dtype)


def _repeat(input: Tensor, repeats: Any, dim: Any = None, output_size: Any = None) -> Tensor:
    """Each element ``repeats`` times."""
    return mint.repeat_interleave(input, repeats, dim, output_size=output_size)


def _split(input: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of ``split_size``, a number or a list."""
    return mint.split(input, split_size, dim)


def _sort(
    input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False
) -> tuple[Tensor, Tensor]:
    """(sorted values, int64 indices)."""
    values, where = torch.sort(input, dim=dim, descending=descending, stable=stable)
    return values, where


def _topk(
    input: Tensor, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """(values, int64 indices)."""
    values, where = torch.topk(input, int(k), dim, largest, sorted)
    return values, where


def _fmod(input: Any, other: Any) -> Tensor:
    """Remainder with the sign of ``input``."""
    return arith.fmod(input, other)


AddExt = calls("AddExt", _add)
SubExt = calls("SubExt", _sub)
SumExt = calls("SumExt", _sum)
MeanExt = calls("MeanExt", _mean)
ProdExt = calls("ProdExt", _prod)
Arange = calls("Arange", _arange)
ArgMaxExt = calls("ArgMaxExt", torch.argmax)
ArgMinExt = calls("ArgMinExt", torch.argmin)
BatchMatMulExt = calls("BatchMatMulExt", torch.bmm)
Chunk = calls("Chunk", torch.chunk)
ClampScalar = calls("ClampScalar", _clamp)
ClampTensor = calls("ClampTensor", _clamp)
CumsumExt = calls("CumsumExt", mint.cumsum)
FmodScalar = calls("FmodScalar", _fmod)
FmodTensor = calls("FmodTensor", _fmod)
GeluExt = calls("GeluExt", lambda input, approximate="none": F.gelu(input, approximate=approximate))
HistcExt = calls("HistcExt", mint.histc)
IndexSelect = calls("IndexSelect", torch.index_select)
MatMulExt = calls("MatMulExt", torch.matmul)
MaxDim = calls("MaxDim", lambda input, dim, keepdim=False: tuple(torch.max(input, dim, keepdim)))
MinDim = calls("MinDim", lambda input, dim, keepdim=False: tuple(torch.min(input, dim, keepdim)))
Mm = calls("Mm", torch.mm)
NonZeroExt = calls("NonZeroExt", lambda input: torch.nonzero(input, as_tuple=True))
OnesLikeExt = calls("OnesLikeExt", lambda input, dtype=None: torch.ones_like(input, dtype=dtype))
RepeatInterleaveInt = calls("RepeatInterleaveInt", _repeat)
RepeatInterleaveTensor = calls("RepeatInterleaveTensor", _repeat)
ScatterAddExt = calls("ScatterAddExt", mint.scatter_add)
SortExt = calls("SortExt", _sort)
SplitTensor = calls("SplitTensor", _split)
SplitWithSize = calls("SplitWithSize", _split)
TopkExt = calls("TopkExt", _topk)
TrilExt = calls("TrilExt", torch.tril)
ZerosLikeExt = calls("ZerosLikeExt", lambda input, dtype=None: torch.zeros_like(input, dtype=dtype))


def _scatter(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: Any = "none") -> Tensor:
    """``src`` written ("none" or 0) or added ("add" or 1) along ``dim``."""
    if reduce not in (0, 1, "none", "add"):
        raise ValueError(f"Scatter: reduce must be 'none' or 'add', not {reduce!r}")
    written = mint.scatter if reduce in (0, "none") else mint.scatter_add
    return written(input, dim, index, src)


Scatter = calls("Scatter", _scatter)


@attrs
def OneHotExt(tensor: Tensor, num_classes: Any, on_value: Any, off_value: Any, *, axis: int = -1) -> Tensor:
    return creation.one_hot(tensor, num_classes, on_value, off_value, axis)


@attrs
def StackExt(tensors: Any, *, dim: int = 0) -> Tensor:
    return torch.stack(tuple(tensors), dim)
