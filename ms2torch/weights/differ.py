"""`ms2torch weights diff`: what two checkpoints hold, tensor by tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from ms2torch.weights.formats import Checkpoint, open_source
from ms2torch.weights.formats.ranks import same

_STEP = 1 << 22


@dataclass(frozen=True)
class Difference:
    """One tensor that is not the same: ``kind`` is "only in A", "only in B", "shape", "type" or "values"."""

    name: str
    kind: str
    a: str
    b: str
    largest: float | None = None
    relative: float | None = None


def diff(a: Path, b: Path, tolerance: float = 0.0) -> tuple[int, list[Difference]]:
    """Number of tensors looked at, and the differences: values where |a - b| is over ``tolerance``; with
    tolerance 0 every byte counts. UserError for a path that holds no checkpoint."""
    left, right = open_source(a), open_source(b)
    return len(left.infos.keys() | right.infos.keys()), list(_compare(left, right, tolerance))


def _compare(left: Checkpoint, right: Checkpoint, tolerance: float) -> Iterator[Difference]:
    for name in dict.fromkeys([*left.infos, *right.infos]):
        one, other = left.infos.get(name), right.infos.get(name)
        if one is None or other is None:
            info = one or other
            assert info is not None
            told = f"{_short(info.dtype)}{list(info.shape)}"
            yield Difference(
                name, f"only in {'B' if one is None else 'A'}", *(("", told) if one is None else (told, ""))
            )
        elif one.shape != other.shape:
            yield Difference(name, "shape", str(list(one.shape)), str(list(other.shape)))
        elif one.dtype != other.dtype and not tolerance:
            yield Difference(name, "type", _short(one.dtype), _short(other.dtype))
        else:
            x, y = left.read(name), right.read(name)
            if same(x, y):
                continue
            largest, relative = _distance(x, y)
            if largest > tolerance or largest != largest or not tolerance:
                yield Difference(name, "values", "", "", largest, relative)


def _distance(x: torch.Tensor, y: torch.Tensor) -> tuple[float, float]:
    """Largest absolute difference, and that over the largest value of A."""
    largest = scale = 0.0
    x, y = x.reshape(-1), y.reshape(-1)
    for start in range(0, x.numel(), _STEP):
        part, other = (t[start : start + _STEP].double() for t in (x, y))
        off = (part - other).abs()
        off = torch.where(part == other, 0.0, off)  # equal infinities
        largest = max(largest, off.nan_to_num(nan=float("inf")).max().item())
        scale = max(scale, part.abs().nan_to_num().max().item())
    return largest, largest / scale if scale else largest


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
