"""Rows, aliases, and what is said of a bad row."""

from pathlib import Path

import pytest

from ms2torch import tables
from ms2torch.errors import UserError
from ms2torch.tables import Parameter

GOOD = """namespace: mindspore.ops
evidence: "docs: x"
rows:
  abs: torch.abs
  cast: {signature: "(input_x, dtype)", call: "{input_x}.to({dtype})", value: _backend.ops.cast}
"""


def test_rows_carry_name_place_and_evidence() -> None:
    first, second = tables.read_rows(GOOD, "t.yaml")
    assert (first.name, first.to, first.where, first.evidence) == (
        "mindspore.ops.abs",
        "torch.abs",
        "t.yaml:4",
        "docs: x",
    )
    assert (second.as_value, second.as_type, second.as_base) == ("_backend.ops.cast",) * 3
    assert second.parameters == (Parameter("input_x", "either"), Parameter("dtype", "either"))


BAD = {
    "a: 1": "t.yaml:3: the row a is neither a target nor a mapping",
    "a: {to: [x]}": "t.yaml:3: the row a is wrong: Expected `str | null`, got `array` - at `$.to`",
    "a: {too: x}": "unknown field `too`",
    "a: {to: x, name: y}": "may not set name or where",
    "a: {note: only a note}": "neither what the name becomes nor why it cannot",
    "a: {to: x, rename: {b: c}}": "need a signature",
    "a: {to: x, signature: '(b', rename: {b: c}}": "is no signature",
    "a: {to: x, signature: '(b)', rename: {c: d}}": "its signature has no c",
    "a: {signature: '(b)', call: 'f({b})', adapt: [b]}": "adapt needs a value form",
    "a: {signature: '(b)', call: '{b} + {b}'}": "repeats a placeholder",
    "a: {signature: '(b)', call: 'f({c})'}": "its call names c",
    "a: {signature: '(b)', call: 'f({b}'}": "is no expression",
    "a: x\n  b: y\n  a: z": "t.yaml:5: the row a stands already on line 3",
    "a: [": "not YAML",
}


@pytest.mark.parametrize("row", BAD)
def test_bad_rows_are_refused_with_file_and_line(row: str) -> None:
    with pytest.raises(UserError) as error:
        tables.read_rows(f"evidence: 'docs: x'\nrows:\n  {row}\n", "t.yaml")
    assert BAD[row] in str(error.value) and str(error.value).startswith("t.yaml:")


def test_evidence_and_sections_are_asked_for() -> None:
    with pytest.raises(UserError, match="no evidence"):
        tables.read_rows("rows:\n  a: x\n", "t.yaml")
    with pytest.raises(UserError, match="holds namespace, evidence and rows"):
        tables.read_rows("row:\n  a: x\n", "t.yaml")


def made(text: str) -> tables.Tables:
    names = {
        "mindspore.common.tensor.Tensor": "mindspore.Tensor",
        "mindspore.common.Tensor": "mindspore.Tensor",
    }
    rows = tables.read_rows("evidence: 'docs: x'\nrows:\n" + text, "t.yaml")
    return tables.build(rows, names, {"mindspore.common.dtype": "mindspore"})


def test_canonical_names() -> None:
    known = made("  mindspore.Tensor: {to: T}\n  mindspore.float32: torch.float32\n")
    assert known.canonical("mindspore.common.tensor.Tensor") == "mindspore.Tensor"
    assert known.canonical("mindspore.common.tensor.Tensor.abs.x") == "mindspore.Tensor.abs.x"
    assert known.canonical("mindspore.common.dtype.float32") == "mindspore.float32"
    assert known.canonical("mindspore.other") == "mindspore.other"


def test_find_takes_the_longest_head_but_no_namespace() -> None:
    known = made("  mindspore.ops: {to: x, module: true}\n  mindspore.ops.ReduceOp: {to: torch.R}\n")
    row, rest = known.find("mindspore.ops.ReduceOp.SUM") or (None, "")
    assert row is not None and (row.to, rest) == ("torch.R", ".SUM")
    assert known.find("mindspore.ops.cast") is None
    assert known.find("mindspore.ops") is not None


def test_two_rows_of_one_object() -> None:
    with pytest.raises(UserError, match=r"t.yaml:4: mindspore.common.Tensor is the same object as"):
        made("  mindspore.Tensor: {to: T}\n  mindspore.common.Tensor: {to: U}\n")
    with pytest.raises(UserError, match="the name go is unique, but"):
        made(
            "  mindspore.Tensor.go: {to: .a, unique: true}\n  mindspore.nn.Cell.go: {to: .b, unique: true}\n"
        )


def test_methods_by_class() -> None:
    known = made("  mindspore.Tensor.go: {to: .a, unique: true}\n  mindspore.ops.go: {to: x}\n")
    assert set(known.methods) == {"mindspore.Tensor"} and set(known.unique) == {"go"}
    assert (
        known.method("mindspore.Tensor", "go") is not None and known.method("mindspore.nn.Cell", "go") is None
    )


def test_signatures() -> None:
    found = tables.parse_signature("(a, /, b=1, *c, d, e=(1, 2), **f)")
    assert [(p.name, p.kind, p.default) for p in found] == [
        ("a", "positional", None),
        ("b", "either", "1"),
        ("c", "*", None),
        ("d", "keyword", None),
        ("e", "keyword", "(1, 2)"),
        ("f", "**", None),
    ]


def test_the_real_tables_load_and_have_a_digest() -> None:
    known = tables.load()
    assert len(known.rows) > 500 and len(known.digest) == 64
    assert all(row.evidence and row.where for row in known.rows.values())


def test_a_file_that_cannot_be_read() -> None:
    with pytest.raises(UserError, match="cannot be read"):
        tables.load(extra=(Path("/nonexistent/t.yaml"),))
