"""Runs the engine over small sources with small tables, and states what every result must fulfil."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from unittest import mock

from ms2torch import pipeline, plan, rewrite, tables
from ms2torch.model import Finding, RunResult, SourceFile, Tree
from tests.rules import references

PATH = "case.py"
# The names are real; the rows are cut down to what the tests need, and hold whatever the real ones say.
TABLE = """
evidence: "example: made for the tests"
rows:
  mindspore: {to: torch, module: true}
  mindspore.ops: {to: torch, module: true}
  mindspore.nn: {to: torch.nn, module: true}
  mindspore.mint: {to: torch, module: true}
  mindspore.Tensor: {to: _backend.tensor.Tensor, type: torch.Tensor, base: torch.Tensor, returns: Tensor}
  mindspore.Parameter: {to: _backend.params.Parameter, type: torch.nn.Parameter, returns: Parameter}
  mindspore.float32: {to: torch.float32, returns: dtype}
  mindspore.float16: {to: torch.float16, returns: dtype}
  mindspore.nn.Cell: {to: _backend.nn.Module, type: torch.nn.Module, returns: Module}
  mindspore.nn.Optimizer: {to: _backend.optim.Optimizer, type: torch.optim.Optimizer, returns: Optimizer}
  mindspore.nn.Dense: {to: _backend.nn.Dense, returns: Module}
  mindspore.mint.abs: {to: torch.abs, returns: Tensor}
  mindspore.mint.cat: {to: torch.cat, returns: Tensor}
  mindspore.mint.sum:
    {to: torch.sum, signature: "(input, dim=None, keepdim=False, *, dtype=None)", rename: {dim: axis},
     adapt: [dtype], value: _backend.ops.sum, returns: Tensor}
  mindspore.ops.cast:
    {signature: "(input_x, dtype)", call: "{input_x}.to({dtype})", value: _backend.ops.cast, returns: Tensor}
  mindspore.ops.Cast: {to: _backend.ops.Cast}
  mindspore.ops.split:
    {to: torch.split, signature: "(tensor, size, axis=0)", drop: {axis: [0]}, rename: {size: split_size},
     value: _backend.ops.split}
  mindspore.ops.constexpr: {to: _backend.ops.constexpr}
  mindspore.jit: {to: _backend.jit}
  mindspore.ops.custom: {unsupported: "graphs only"}
  mindspore.common.api.Stop: {to: _backend.Stop}
  mindspore.ops.ReduceOp: {to: torch.distributed.ReduceOp}
  mindspore.Tensor.asnumpy: {to: _backend.tensor.asnumpy, unique: true, returns: numpy.ndarray}
  mindspore.Tensor.astype: {to: _backend.tensor.astype, returns: Tensor}
  mindspore.Tensor.expand_dims: {to: .unsqueeze, signature: "(axis)", rename: {axis: dim}, returns: Tensor}
  mindspore.Tensor.itemset: {unsupported: "tensors are not written in place", signature: "(value)"}
  mindspore.Tensor.itemsize: {to: .itemsize, attr: true, returns: int}
  mindspore.Tensor.size: {to: _backend.tensor.size, attr: true, returns: int}
  mindspore.Tensor.abs: {to: .abs, returns: Tensor}
  mindspore.nn.Cell.trainable_params: {to: _backend.nn.trainable_params, unique: true, returns: "list[Parameter]"}
  mindspore.nn.Cell.cells: {to: .children, returns: "iter[Module]"}
  mindspore.Tensor.to_local: {to: _backend.parallel.to_local, unique: true, returns: Tensor}
  mindspore.Parameter.to_local: {to: _backend.parallel.to_local, unique: true, returns: Tensor}
  hyper_parallel.DTensor.to_local: {to: _backend.parallel.to_local, unique: true, returns: Tensor}
  hyper_parallel.DTensor: {to: _backend.parallel.DTensor, returns: DTensor}
  hyper_parallel.fully_shard: {to: _backend.parallel.fully_shard}
"""
ALIASES = {
    "mindspore.common.tensor.Tensor": "mindspore.Tensor",
    "mindspore.common.dtype.float32": "mindspore.float32",
}
MODULES = {"mindspore.common.dtype": "mindspore"}


def made(text: str = TABLE) -> tables.Tables:
    """Tables of one YAML text."""
    return tables.build(tables.read_rows(text, "test.yaml"), ALIASES, MODULES, "test")


def run(
    files: Mapping[str, str | bytes],
    known: tables.Tables | None = None,
    profile: plan.Profile | None = None,
    jobs: int = 1,
) -> RunResult:
    """A whole run over files that are given as text."""
    sources = tuple(
        SourceFile(path, data if isinstance(data, bytes) else data.encode())
        for path, data in sorted(files.items())
    )
    chosen = mock.patch.object(plan, "detect", return_value=profile)
    with chosen, mock.patch.object(tables, "load", return_value=known or made()):
        return pipeline.rewrite_tree(Tree(sources, "directory"), None, jobs, lambda step, done, total: None)


def text_of(result: RunResult, path: str = PATH) -> str:
    """One file of a result, without the notice of change."""
    data = next(f.data for f in result.files if f.path == path)
    return data.decode().replace(rewrite.CHANGED + "\n", "", 1)


def check_result(files: Mapping[str, str], result: RunResult, known: tables.Tables | None = None) -> None:
    """What holds of every run: it compiles, a second has nothing to do, each reference is counted once."""
    port = {f.path: f.data for f in result.files if f.path in files}
    for path, data in port.items():
        compile(data, path, "exec")
    again = run(port, known)
    assert {f.path: f.data for f in again.files if f.path in files} == port
    # What stays unresolved in the text is reported again; nothing else is.
    assert not again.findings or result.findings
    assert {f.code for f in again.findings} <= {f.code for f in result.findings}
    expected = references.count(files)
    assert result.summary["references"].get("total", 0) == expected, (result.summary, expected)


def check_files(
    before: Mapping[str, str], after: Mapping[str, str], *, known: tables.Tables | None = None
) -> tuple[Finding, ...]:
    """Several files become these; returns the findings."""
    files = {path: textwrap.dedent(text).lstrip("\n") for path, text in before.items()}
    result = run(files, known)
    for path, text in after.items():
        assert text_of(result, path) == textwrap.dedent(text).lstrip("\n")
    check_result(files, result, known)
    return result.findings


def check_transformed(before: str, after: str, *, known: tables.Tables | None = None) -> None:
    """One file becomes another, without findings."""
    assert before != after, "use check_noop"
    found = check_files({PATH: before}, {PATH: after}, known=known)
    assert found == (), found


def check_noop(source: str, *, known: tables.Tables | None = None) -> None:
    """A file keeps its bytes, without findings."""
    assert check_files({PATH: source}, {PATH: source}, known=known) == ()


def check_finding(
    source: str, code: str, line: int, column: int, *, known: tables.Tables | None = None
) -> str:
    """A file leads to exactly one finding, at this place; returns its message."""
    text = textwrap.dedent(source).lstrip("\n")
    result = run({PATH: text}, known)
    assert [(f.code, f.line, f.column) for f in result.findings] == [(code, line, column)], result.findings
    compile(text_of(result), PATH, "exec")
    assert result.summary["references"].get("total", 0) == references.count({PATH: text})
    return result.findings[0].message
