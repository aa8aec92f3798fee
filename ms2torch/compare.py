"""Two dumps of `_backend.trace`, aligned by module path: the first module that differs, and by how much. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ms2torch.errors import UserError

if TYPE_CHECKING:
    import torch

KINDS = ("input", "output", "output_grad", "grad", "value", "scalar")


@dataclass(frozen=True, slots=True)
class Dump:
    """One step of a run: tensors by key (`path|kind|number`), and the modules in the order in which they ended."""

    tensors: Mapping[str, torch.Tensor]
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """How one tensor of the second run differs from the first's; `why` says why they cannot be compared."""

    path: str
    kind: str
    number: str
    shape: tuple[int, ...]
    dtype: str
    max_abs: float = 0.0
    max_rel: float = 0.0
    cosine: float = 1.0
    why: str = ""

    def beyond(self, atol: float, rtol: float) -> bool:
        """Whether the difference is more than rounding."""
        return bool(self.why) or not (self.max_abs <= atol or self.max_rel <= rtol)


def read(path: Path, step: int | None = None) -> Dump:
    """The dump in a file, or a folder's dump of a step (its first by default); raises UserError."""
    try:
        from safetensors import safe_open
    except ImportError:
        raise UserError(
            "ms2torch compare needs torch and safetensors: pip install safetensors torch"
        ) from None
    if path.is_dir():
        files = sorted(path.glob("step_*.safetensors"))
        if step is not None:
            files = [file for file in files if file.name.startswith(f"step_{step:06d}")]
        if not files:
            raise UserError(f"{path}: holds no step_*.safetensors; record one with MF_TRACE={path}")
        path = files[0]
    try:
        with safe_open(str(path), framework="pt") as file:
            order = json.loads((file.metadata() or {}).get("order", "[]"))
            return Dump({key: file.get_tensor(key) for key in file.keys()}, tuple(order))  # noqa: SIM118
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file or folder") from None
    except Exception as error:
        raise UserError(f"{path}: no dump of _backend.trace ({' '.join(str(error).split())})") from None


def compare(first: Dump, second: Dump) -> Iterator[Difference]:
    """Every tensor of both, in the order of the first run: modules as they ended, then parameters and scalars."""
    places = {path: i for i, path in enumerate(first.order)}

    def place(key: str) -> tuple[int, int, int, str]:
        path, kind, _ = split(key)
        stage = 1 if kind == "output_grad" else 2 if kind in ("grad", "value", "scalar") else 0
        at = places.get(path, len(places))
        return stage, -at if stage == 1 else at, KINDS.index(kind), key

    for key in sorted({*first.tensors, *second.tensors}, key=place):
        yield difference(key, first.tensors.get(key), second.tensors.get(key))


def split(key: str) -> tuple[str, str, str]:
    """Module path, kind and number (or name) of a key."""
    path, _, rest = key.partition("|")
    kind, _, number = rest.partition("|")
    if kind not in KINDS:
        raise UserError(f"{key!r} is no key of a dump; both dumps must come from _backend.trace")
    return path, kind, number


def difference(key: str, a: Any, b: Any) -> Difference:
    """The difference of two tensors, either of which may be missing."""
    import torch

    path, kind, number = split(key)
    one = a if a is not None else b
    shape, dtype = tuple(one.shape), str(one.dtype).removeprefix("torch.")
    if a is None or b is None:
        why = "only in the second" if a is None else "only in the first"
        return Difference(path, kind, number, shape, dtype, why=why)
    if a.numel() != b.numel():
        return Difference(
            path, kind, number, shape, dtype, why=f"shapes {tuple(a.shape)} and {tuple(b.shape)}"
        )
    x, y = a.reshape(-1).double(), b.reshape(-1).double()
    if not x.numel():
        return Difference(path, kind, number, shape, dtype)
    if bool((x.isnan() != y.isnan()).any()):
        return Difference(path, kind, number, shape, dtype, why="NaN in one of them")
    same = x == y  # infinities too
    off = torch.where(same | x.isnan(), torch.zeros_like(x), (x - y).abs())
    scale = x.nan_to_num().abs().max().clamp_min(1e-30)
    x, y = x.nan_to_num(), y.nan_to_num()
    norm = x.norm() * y.norm()
    cosine = float(x @ y / norm) if float(norm) else 1.0 if bool(same.all()) else 0.0
    return Difference(
        path, kind, number, shape, dtype, float(off.max()), float(off.max() / scale), min(cosine, 1.0)
    )


def first_fault(found: list[Difference], atol: float, rtol: float) -> Difference | None:
    """The first tensor beyond rounding: of what modules give, before gradients and values of parameters.

    A module ends after the modules inside it, so that its own fault shows before its owner's.
    """
    forward = [d for d in found if d.kind == "output" and d.beyond(atol, rtol)]
    return next(iter(forward or [d for d in found if d.beyond(atol, rtol)]), None)
