"""From a table with its numbers and the tensors of a source to the tensors of a result: nothing is read.

Whatever does not fit is collected, so that one error tells all of it before anything is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from ms2torch.errors import UserError
from ms2torch.weights import expr
from ms2torch.weights.expr import Expr, Read, Shape
from ms2torch.weights.formula import as_regex
from ms2torch.weights.table import Entry, Expanded

# What wrappers put before a name.
_PREFIXES = ("module.", "network.", "backbone.", "_backbone.", "model.")


@dataclass(frozen=True)
class Info:
    """A tensor of a source: its shape and dtype."""

    shape: Shape
    dtype: torch.dtype


@dataclass
class Plan:
    """The tensors of the result in order, pairs of the source that must be equal, and what was left out."""

    outputs: dict[str, Expr] = field(default_factory=dict)
    equal: list[tuple[str, str]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


@dataclass
class _Problems:
    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)

    def raise_any(self) -> None:
        told = []
        for label, names in (("missing", self.missing), ("not expected", self.extra)):
            if names:
                told.append(f"{len(names)} {label}: {listed(names)}")
        if self.other:
            told.append(listed(self.other, "; "))
        if told:
            raise UserError("the weights do not fit the model: " + "; ".join(told))


def listed(names: list[str], between: str = ", ") -> str:
    """All names in one line."""
    return between.join(names)


def _forward(
    entry: Entry, parts: list[Expr]
) -> tuple[Expr, list[tuple[str, Mapping[str, Any], list[Shape]]]]:
    """The operations applied to the tensors of one part, and what each of them found."""
    trail = []
    for kind, op in entry.ops:
        trail.append((kind, op, [part.shape for part in parts]))
        if kind == "concat":
            parts = [expr.Concat(tuple(parts), op[kind])]
        elif kind == "interleave":
            parts = [expr.Interleave(tuple(parts), op[kind], op["groups"])]
        elif kind == "transpose":
            parts = [expr.Transpose(part, *op[kind]) for part in parts]
        elif kind == "pad":
            parts = [expr.Pad(part, op[kind], op["to"]) for part in parts]
        else:
            raise UserError(f"{entry.mf}: the operation {kind!r} is not known")
    if len(parts) != 1:
        raise UserError(f"{entry.mf}: {len(parts)} tensors and no operation that makes one of them")
    return parts[0], trail


def _backward(made: Expr, trail: Iterable[tuple[str, Mapping[str, Any], list[Shape]]]) -> list[Expr]:
    """The tensors that ``_forward`` would have made ``made`` from."""
    parts = [made]
    for kind, op, shapes in reversed(list(trail)):
        dim = op[kind]
        if kind == "concat":
            sizes = [shape[dim] for shape in shapes]
            starts = [sum(sizes[:n]) for n in range(len(sizes))]
            parts = [
                expr.Narrow(parts[0], dim, start, size) for start, size in zip(starts, sizes, strict=True)
            ]
        elif kind == "interleave":
            split = tuple(shape[dim] for shape in shapes)
            parts = [expr.Deinterleave(parts[0], dim, op["groups"], split, n) for n in range(len(split))]
        elif kind == "transpose":
            parts = [expr.Transpose(part, *dim) for part in parts]
        else:
            parts = [expr.Narrow(part, dim, 0, shape[dim]) for part, shape in zip(parts, shapes, strict=True)]
    return parts


def _made(entry: Entry, dtype: torch.dtype) -> Expr:
    """The MindFormers tensor as the configuration wants it."""
    if entry.fill is not None:
        return expr.Fill(entry.shape, getattr(torch, entry.dtype), entry.fill)
    stacked = [_forward(entry, [Read(name, shape, dtype) for name, shape in part])[0] for part in entry.hf]
    return expr.Stack(tuple(stacked)) if entry.stacked else stacked[0]


class Names:
    """The source's names, whatever prefix or convention they were written with."""

    def __init__(self, names: Iterable[str], wanted: set[str], suffixes: Mapping[str, str]) -> None:
        self.actual: dict[str, str] = {}
        self.rest: list[str] = []
        for name in names:
            match = next((form for form in forms(name, suffixes) if form in wanted), None)
            if match is None or match in self.actual:
                self.rest.append(name)
            else:
                self.actual[match] = name


def forms(name: str, suffixes: Mapping[str, str]) -> Iterable[str]:
    """The names that a tensor called ``name`` may have without its prefixes and by other conventions."""
    known = [name, f"model.{name}"]
    short = name
    while any(short.startswith(prefix) for prefix in _PREFIXES):
        short = short.split(".", 1)[1]
        known.append(short)
        known.append(f"model.{short}")
    for form in known:
        yield form
        head, _, last = form.rpartition(".")
        if last in suffixes:
            yield f"{head}.{suffixes[last]}"


def make(
    table: Expanded,
    source: Mapping[str, Info],
    to: str,
    *,
    dtype: torch.dtype | None = None,
    suffixes: Mapping[str, str] | None = None,
    state: Iterable[str] = (),
) -> Plan:
    """The plan for a result on side ``to`` ("hf" or "mf"). UserError lists all that does not fit."""
    problems, plan = _Problems(), Plan()
    entries = [entry for entry in table.entries if to == "mf" or entry.fill is None]
    side = "hf" if to == "mf" else "mf"
    ignored = [as_regex(pattern) for pattern in (*table.ignore.get(side, ()), *state)]
    wanted = _expected(entries, side, problems)
    dropped = {entry.mf for entry in table.entries if entry.fill is not None} if side == "mf" else set()
    again = {name: of for where, name, of, _ in table.same if where == side}
    names = Names(source, set(wanted) | set(again) | dropped, suffixes or {})
    reads = _checked(wanted, names, source, problems)
    for name, of in again.items():
        if name in names.actual and of in names.actual:
            plan.equal.append((names.actual[name], names.actual[of]))
    plan.left_out = [names.actual[name] for name in sorted(dropped) if name in names.actual]
    for name in names.rest:
        if any(pattern.fullmatch(form) for pattern in ignored for form in forms(name, {})):
            plan.left_out.append(name)
        else:
            problems.extra.append(name)
    for entry in entries:
        needed = [name for part in entry.hf for name, _ in part] if to == "mf" else [entry.mf]
        if all(name in reads for name in needed):  # else it is among what is missing or wrong already
            _output(plan, entry, reads, to, dtype, problems)
    problems.raise_any()
    for where, name, of, write in table.same:
        if where == to and write and of in plan.outputs:
            plan.outputs[name] = plan.outputs[of]
    return plan


def fit(
    table: Expanded,
    source: Mapping[str, Info],
    whole: Callable[[str, Shape], None],
    suffixes: Mapping[str, str],
) -> None:
    """Tell a source that was written by ranks the whole shape of each of its tensors."""
    wanted = {entry.mf: _made(entry, torch.float32).shape for entry in table.entries}
    wanted |= {name: wanted[of] for side, name, of, _ in table.same if side == "mf" and of in wanted}
    for name, actual in Names(list(source), set(wanted), suffixes).actual.items():
        whole(actual, wanted[name])


def _expected(entries: list[Entry], side: str, problems: _Problems) -> dict[str, Shape]:
    wanted: dict[str, Shape] = {}
    for entry in entries:
        if side == "hf":
            wanted.update({name: shape for part in entry.hf for name, shape in part})
            continue
        try:
            wanted[entry.mf] = _made(entry, torch.float32).shape
        except expr.ShapeError as error:
            problems.other.append(f"{entry.mf}: {error}")
    return wanted


def _checked(
    wanted: Mapping[str, Shape], names: Names, source: Mapping[str, Info], problems: _Problems
) -> dict[str, Read]:
    reads = {}
    for name, shape in wanted.items():
        if name not in names.actual:
            problems.missing.append(name)
            continue
        there = source[names.actual[name]]
        if there.shape != shape:
            problems.other.append(f"{name} has shape {list(there.shape)}, expected {list(shape)}")
        elif not there.dtype.is_floating_point or there.dtype.itemsize < 2:
            problems.other.append(f"{name} is {_short(there.dtype)}, expected float32, float16 or bfloat16")
        else:
            reads[name] = Read(names.actual[name], there.shape, there.dtype)
    return reads


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _output(
    plan: Plan,
    entry: Entry,
    reads: Mapping[str, Read],
    to: str,
    dtype: torch.dtype | None,
    problems: _Problems,
) -> None:
    try:
        plan.outputs.update(_outputs(entry, reads, to, dtype))
    except expr.ShapeError as error:
        problems.other.append(f"{entry.mf}: {error}")


def _outputs(entry: Entry, reads: Mapping[str, Read], to: str, dtype: torch.dtype | None) -> dict[str, Expr]:
    cast: Callable[[Expr], Expr] = lambda made: (  # noqa: E731
        made if dtype is None or entry.keep_dtype or made.dtype == dtype else expr.Cast(made, dtype)
    )
    if to == "mf":
        if entry.fill is not None:
            return {entry.mf: _made(entry, torch.float32)}
        stacked = [_forward(entry, [reads[name] for name, _ in part])[0] for part in entry.hf]
        return {entry.mf: cast(expr.Stack(tuple(stacked)) if entry.stacked else stacked[0])}
    made_of = {}
    whole = reads[entry.mf]
    for number, part in enumerate(entry.hf):
        _, trail = _forward(entry, [Read(name, shape, whole.dtype) for name, shape in part])
        piece: Expr = expr.Index(whole, number) if entry.stacked else whole
        for (name, _), made in zip(part, _backward(piece, trail), strict=True):
            made_of[name] = cast(made)
    return made_of
