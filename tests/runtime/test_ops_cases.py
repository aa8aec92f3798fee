"""Rows of the tables for mindspore.ops and mindspore.mint against results recorded from MindSpore on CPU.

Each expression of ops_cases.txt is evaluated with torch behind the names, found through the mapping tables.
"""

import functools
import importlib
import json
import types
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ms2torch.tables import load  # noqa: E402

LINES = [
    line
    for line in Path(__file__).with_name("ops_cases.txt").read_text().splitlines()
    if line.strip() and not line.startswith("#")
]


def target(dotted):
    """The object that a target of the tables names."""
    root, *rest = dotted.split(".")
    made = importlib.import_module(f"ms2torch.runtime.{root}" if root == "_backend" else root)
    for name in rest:
        if isinstance(made, types.ModuleType) and not hasattr(made, name):
            importlib.import_module(f"{made.__name__}.{name}")
        made = getattr(made, name)
    return made


MODULES = {"nn", "functional", "linalg", "special", "auto_generate"}


class Space:
    """A MindSpore module whose names are looked up in the tables, in their value form."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        full = f"{self._name}.{name}"
        if name in MODULES:
            return Space(full)
        found = load().find(full)
        assert found is not None, f"{full} has no row"
        row, rest = found
        assert row.as_value, f"{full} has no value form"
        return target(row.as_value + rest)


class MindSpore(Space):
    def __getattr__(self, name):
        return getattr(torch, name) if hasattr(torch, name) else super().__getattr__(name)


def t(data, dtype=None):
    array = np.array(data)
    made = torch.from_numpy(array)
    if dtype is None and array.dtype == np.float64:
        dtype = "float32"
    return made.to(getattr(torch, dtype)) if dtype else made


def p(data, dtype=None):
    return torch.nn.Parameter(t(data, dtype), requires_grad=False)


def grad(function, *tensors):
    leaves = [x.clone().requires_grad_() for x in tensors]
    return torch.autograd.grad(function(*leaves).sum(), leaves)


NAMES = {
    "ms": MindSpore("mindspore"),
    "np": np,
    "ops": Space("mindspore.ops"),
    "mint": Space("mindspore.mint"),
    "t": t,
    "p": p,
    "grad": grad,
}


def check(value, want, source):
    if isinstance(want, dict) and "is" in want:
        assert value is getattr(torch, want["is"]), f"{source}: {value}"
    elif isinstance(want, dict):
        assert isinstance(value, torch.Tensor), f"{source}: {value!r} is no tensor"
        assert str(value.dtype) == f"torch.{want['dtype']}", f"{source}: {value.dtype}"
        assert list(value.shape) == want["shape"], f"{source}: shape {tuple(value.shape)}"
        got = value.detach().double() if not value.is_complex() else value.detach()
        expected = torch.tensor(want["data"], dtype=got.dtype).reshape(want["shape"])
        loose = 2e-3 if want["dtype"] in ("float16", "bfloat16") else 1e-5
        torch.testing.assert_close(got, expected, rtol=loose, atol=loose, equal_nan=True, msg=source)
    elif isinstance(want, list):
        assert isinstance(value, (tuple, list)) and len(value) == len(want), f"{source}: {value!r}"
        for one, other in zip(value, want, strict=True):
            check(one, other, source)
    else:
        assert value == want and isinstance(value, type(want)), f"{source}: {value!r}"


@functools.cache
def parsed(line):
    source, _, result = line.partition(" => ")
    return source, json.loads(result)


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.partition(" => ")[0][:80])
def test_equals_mindspore(line):
    source, want = parsed(line)
    check(eval(source, dict(NAMES)), want, source)
