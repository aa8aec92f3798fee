"""Weight tables: `mapping_tables/weights/<model>.yaml` and files of the user, checked when they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import yaml

from ms2torch.errors import UserError
from ms2torch.weights.formula import evaluate, fill

FOLDER = Path(__file__).parent.parent / "mapping_tables" / "weights"
_NAMES = "names"


class Row(msgspec.Struct, forbid_unknown_fields=True):
    """One MindFormers tensor and the Hugging Face tensors that it is made of; or a use of a block of rows."""

    mf: str
    hf: dict[str, list[Any]] | str | None = None
    ops: list[dict[str, Any]] = []
    stack: dict[str, Any] = {}
    when: str | bool = True
    keep_dtype: bool = False
    fill: float | None = None
    shape: list[Any] | None = None
    dtype: str = "float32"
    block: str | None = None
    loop: dict[str, list[Any]] = msgspec.field(name="for", default_factory=dict)


class Same(msgspec.Struct, forbid_unknown_fields=True):
    """A second name of a tensor."""

    side: str
    name: str
    of: str = msgspec.field(name="as")
    when: str | bool = True
    write: bool = False
    loop: dict[str, list[Any]] = msgspec.field(name="for", default_factory=dict)


class Refusal(msgspec.Struct, forbid_unknown_fields=True):
    """What a model may not have, and why."""

    when: str
    why: str


class Table(msgspec.Struct, forbid_unknown_fields=True):
    """All that is known about a model's weights."""

    model: str = ""
    extends: str | None = None
    architectures: list[str] = []
    defaults: dict[str, Any] = {}
    compare: list[str] = []
    compare_if_both: list[str] = []
    divides: dict[str, list[str]] = {}
    refuse: list[Refusal] = []
    count: dict[str, dict[str, str]] = {}
    blocks: dict[str, list[Row]] = {}
    rows: list[Row] = []
    drop: list[str] = []
    same: list[Same] = []
    ignore: dict[str, list[str]] = {}


@dataclass(frozen=True)
class Entry:
    """A row with its numbers put in: one MindFormers tensor."""

    mf: str
    hf: tuple[tuple[tuple[str, tuple[int, ...]], ...], ...]  # for each part of the stack: names and shapes
    ops: tuple[tuple[str, Mapping[str, Any]], ...]
    stacked: bool
    keep_dtype: bool
    fill: float | None = None
    shape: tuple[int, ...] = ()
    dtype: str = "float32"


@dataclass(frozen=True)
class Expanded:
    """A table with the numbers of one configuration put in."""

    entries: tuple[Entry, ...]
    same: tuple[tuple[str, str, str, bool], ...]  # side, name, of, write
    ignore: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def _parse(path: Path) -> Table:
    try:
        return msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")) or {}, Table)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    except (yaml.YAMLError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is no weight table: {error}") from error


def models() -> dict[str, Table]:
    """The tables that come with the tool, by model."""
    tables = [_parse(path) for path in sorted(FOLDER.glob("*.yaml")) if path.stem != _NAMES]
    return {table.model: table for table in tables}


def load(extra: tuple[Path, ...] = ()) -> dict[str, Table]:
    """All tables by model; a file in ``extra`` adds a model, or with `extends` changes rows of one."""
    known = models()
    for path in extra:
        table = _parse(path)
        if not table.extends:
            if not table.model:
                raise UserError(f"{path} says neither which model it is for nor which table it extends")
            known[table.model] = table
            continue
        if table.extends not in known:
            raise UserError(f"{path} extends {table.extends!r}; known are {', '.join(sorted(known))}")
        known[table.model or table.extends] = _merged(known[table.extends], table)
    return known


def _merged(base: Table, more: Table) -> Table:
    replaced = {row.mf for row in more.rows if row.block is None} | set(more.drop)
    return msgspec.structs.replace(
        base,
        model=more.model or base.model,
        architectures=base.architectures + more.architectures,
        defaults=base.defaults | more.defaults,
        compare=base.compare + more.compare,
        compare_if_both=base.compare_if_both + more.compare_if_both,
        divides=base.divides | more.divides,
        refuse=base.refuse + more.refuse,
        count=base.count | more.count,
        blocks={name: [row for row in rows if row.mf not in replaced] for name, rows in base.blocks.items()}
        | more.blocks,
        rows=[row for row in base.rows if row.block or row.mf not in replaced] + more.rows,
        same=base.same + more.same,
        ignore={side: base.ignore.get(side, []) + more.ignore.get(side, []) for side in ("hf", "mf")},
    )


def _each(loop: Mapping[str, list[Any]], values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The values with each combination of the loop's variables."""
    found = [dict(values)]
    for name, bounds in loop.items():
        first, last = (evaluate(bound, values) for bound in bounds)
        found = [{**one, name: number} for one in found for number in range(first, last)]
    return found


def expand(table: Table, values: Mapping[str, Any]) -> Expanded:
    """Every row of ``table`` with ``values`` in its names, shapes and conditions.

    UserError where a formula needs what the values do not have, or a row names an unknown block.
    """
    entries: list[Entry] = []
    for row in table.rows:
        for scope in _each(row.loop, values):
            if not evaluate(row.when, scope):
                continue
            if row.block is None:
                _add(entries, row, scope, "", "")
                continue
            if row.block not in table.blocks:
                raise UserError(f"the weight table of {table.model} has no block {row.block!r}")
            before = fill(str(row.hf or ""), scope), fill(row.mf, scope)
            for inner in table.blocks[row.block]:
                if evaluate(inner.when, scope):
                    _add(entries, inner, scope, *before)
    same = tuple(
        (one.side, fill(one.name, scope), fill(one.of, scope), one.write)
        for one in table.same
        for scope in _each(one.loop, values)
        if evaluate(one.when, scope)
    )
    return Expanded(tuple(entries), same, {side: tuple(names) for side, names in table.ignore.items()})


def _add(entries: list[Entry], row: Row, scope: dict[str, Any], hf: str, mf: str) -> None:
    named = row.hf if isinstance(row.hf, dict) else {}
    parts = [
        tuple((hf + fill(name, one), _shape(formulas, one)) for name, formulas in named.items())
        for one in _each({name: [0, count] for name, count in row.stack.items()}, scope)
    ]
    ops = []
    for op in row.ops:
        kind = next(iter(op), "")
        ops.append((kind, {key: _numbers(value, scope) for key, value in op.items()}))
    entries.append(
        Entry(
            mf + fill(row.mf, scope),
            tuple(parts) if named else (),
            tuple(ops),
            bool(row.stack),
            row.keep_dtype,
            row.fill,
            _shape(row.shape or [], scope),
            row.dtype,
        )
    )


def _shape(formulas: list[Any], scope: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(int(evaluate(formula, scope)) for formula in formulas)


def _numbers(value: Any, scope: Mapping[str, Any]) -> Any:
    return [evaluate(v, scope) for v in value] if isinstance(value, list) else evaluate(value, scope)
