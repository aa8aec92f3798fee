"""`ms2torch explain`: a mapping row, a rule or a finding's code in words, with a before and after."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Iterator

from ms2torch import tables
from ms2torch.errors import UserError
from ms2torch.model import Engine, SourceFile, Tree
from ms2torch.rule import rules
from ms2torch.tables import Parameter, Row, Tables

# Findings that several rules share, and those of the steps around the rules.
CODES = {
    "MS001": "unresolved: a MindSpore name that has no counterpart in torch, or no row that names one yet.",
    "MS002": "not-parsed: a file is no Python that this version reads; it was copied as it was.",
    "MS003": "edits-do-not-fit: a file was copied as it was, since its rewritten parts could not be joined.",
    "MS201": "overlay-out-of-date: upstream changed a definition that an overlay replaces; it was left out.",
    "MS900": "result-does-not-compile: a file was left as it was, since its rewrite is no valid Python.",
    "MS901": "unreadable: a file or folder of SRC cannot be read, and is not in the result.",
    "MS902": "link-left-out: a symbolic link of SRC leads out of it or nowhere; links are never followed.",
    "MS903": "not-a-file: a pipe, socket or device in SRC was left out.",
}
_CODE = re.compile(r"[A-Z]{2,3}\d{3}")


def explain(name: str, engine: Engine) -> str:
    """What is known of a MindSpore name, a code such as MS101, or a rule's name; `engine` makes the after.

    Raises UserError, with the nearest known names, where nothing is.
    """
    for one in rules():
        if name.upper() == one.code or name == one.name:
            return f"{one.code} {one.name}\n\n{one.doc}"
    if name.upper() in CODES:
        return f"{name.upper()} {CODES[name.upper()]}"
    if _CODE.fullmatch(name):
        known = ", ".join(sorted({one.code for one in rules()} | set(CODES)))
        raise UserError(f"there is no code {name}; there are {known}")
    table = tables.load()
    for full in (name, f"mindspore.{name}"):
        found = table.find(full)
        if found is not None:
            return _row(full, *found, table, engine)
    near = difflib.get_close_matches(name, [*table.rows, *table.names], n=3, cutoff=0.75)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise UserError(f"no mapping row for {name}{hint}")


def _row(asked: str, row: Row, rest: str, table: Tables, engine: Engine) -> str:
    lines = [f"{row.name}{rest}"]
    if asked != row.name + rest:
        lines[0] += f" (asked as {asked})"
    for label, text in _fields(row):
        lines.append(textwrap.fill(f"{label:<14}{text}", 100, subsequent_indent=" " * 14))
    if not row.unsupported:
        before = _example(row, rest)
        tree = Tree((SourceFile("example.py", before.encode()),), "file")
        after = engine(tree, None, 1, lambda step, done, total: None)
        result = next(file.data.decode() for file in after.files if file.path == "example.py")
        lines += ["", "before", _indented(before), "after", _indented(result)]
    return "\n".join(lines)


def _fields(row: Row) -> Iterator[tuple[str, str]]:
    if row.unsupported:
        yield "not supported", row.unsupported
    forms = (
        ("in a call", row.call or row.to),
        ("as a value", row.as_value),
        ("as a type", row.type),
        ("as a base", row.base),
    )
    for label, form in forms:
        if form:
            yield label, form
    if row.signature:
        yield "signature", row.signature
    for old, new in row.rename.items():
        yield "argument", f"{old} is {new} in torch"
    for argument, values in row.drop.items():
        yield "argument", f"{argument} is left out where it is {' or '.join(map(repr, values))}"
    for argument in row.adapt:
        yield "argument", f"{argument} makes the call go to {row.as_value}"
    if row.returns:
        yield "returns", row.returns
    if row.note:
        yield "note", row.note
    yield "evidence", row.evidence
    yield "row", row.where


def _example(row: Row, rest: str) -> str:
    """A small program that uses the row's name in the way that its form suggests."""
    owner, method = tables.owner_and_method(row.name)
    needed = [one.name for one in row.parameters or (Parameter("x", "either"),) if _required(one)]
    given = ", ".join(needed)
    if tables.is_method(row.name):
        use = f"self.{method}" + ("" if row.attr else f"({given})")
        head = ", ".join([f"self: {owner}", *([] if row.attr else needed)])
    elif row.base and not row.call and row.signature is None:
        return f"import {row.name.partition('.')[0]}\n\n\nclass Example({row.name}):\n    pass\n"
    elif rest or row.attr or row.returns == "dtype" or (row.type and not row.call and row.signature is None):
        use, head = row.name + rest, ""
    else:
        use, head = f"{row.name}({given})", given
    return f"import {row.name.partition('.')[0]}\n\n\ndef example({head}):\n    return {use}\n"


def _required(one: Parameter) -> bool:
    return one.default is None and one.kind in ("positional", "either")


def _indented(text: str) -> str:
    kept = [line for line in text.strip().splitlines() if not line.startswith("#")]
    return textwrap.indent("\n".join(kept), "    ")
