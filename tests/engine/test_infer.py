"""What receivers certainly are; unknown stays unknown."""

import ast
import textwrap

import pytest

from ms2torch.context import FileContext, FileOptions
from ms2torch.index import build
from ms2torch.model import SourceFile
from ms2torch.order import flatten
from ms2torch.scopes import collect
from ms2torch.types import Type, join, parse
from tests.rules.helper import made

HEAD = """
import json
import numpy as np
from typing import Optional, Union
import mindspore as ms
from mindspore import Tensor, Parameter, nn, ops, mint
import hyper_parallel
class Net(nn.Cell):
    def __init__(self, size: int, dense):
        self.dense = nn.Dense(1)
        self.size = size
        self.other = dense
        self.maybe: Optional[Tensor] = None
        self.w = Parameter(1)
    def me(self): return self
class Plain: pass
def made() -> Tensor: ...
def text() -> str: ...
"""
CASES = {
    "x: Tensor\nx": "Tensor",
    "x: 'Tensor'\nx": "Tensor",
    "x: Optional[Tensor] = None\nx": "Tensor",
    "x: Tensor | None\nx": "Tensor",
    "x: Union[Tensor, Parameter]\nx": "Tensor",
    "x: Union[Tensor, int]\nx": None,
    "x: list[Parameter]\nx[0]": "Parameter",
    "x: list[Parameter]\nx[1:]": None,
    "x = Tensor(1)\nx + 1": "Tensor",
    "x = Tensor(1)\n1 - x": "Tensor",
    "x = Tensor(1)\n-x[0]": "Tensor",
    "x = Tensor(1)\nx > 0": "Tensor",
    "x = Tensor(1)\nx.abs().abs()": "Tensor",
    "x = Tensor(1)\nx.itemsize": "int",
    "x = Tensor(1)\nx.asnumpy()": "numpy.ndarray",
    "x = Tensor(1)\nx = 2\nx": None,
    "x = Tensor(1) if a else None\nx": "Tensor",
    "x = a or Tensor(1)\nx": None,
    "x = mint.abs(a)\nx": "Tensor",
    "x, y = mint.abs(a), 'b'\ny": "str",
    "x, y = a\nx": None,
    "(x := Tensor(1))\nx": "Tensor",
    "for x in Net(1, 2).trainable_params(): pass\nx": "Parameter",
    "for i, x in enumerate(Net(1, 2).trainable_params()): pass\nx": "Parameter",
    "for x, y in zip(a, b): pass\nx": None,
    "[x for x in Net(1, 2).trainable_params()][0]": "Parameter",
    "Net(1, 2)": "class:case.Net",
    "Net(1, 2).dense": "Module",
    "Net(1, 2).size": "int",
    "Net(1, 2).other": None,
    "Net(1, 2).maybe": "Tensor",
    "Net(1, 2).w": "Parameter",
    "made()": "Tensor",
    "text().split()[0]": "str",
    "json.loads('1')": "foreign:json.loads",
    "np.zeros(1)": "foreign:numpy.zeros",
    "f'{a}'": "str",
    "'a' + 'b'": "str",
    "{1: 2}": "dict",
    "hyper_parallel.DTensor(1)": "DTensor",
    "a": None,
    "x = x\nx": None,
    "if isinstance(a, Tensor):\n    a": "Tensor",
    "with Tensor(1) as x: pass\nx": "Tensor",
    "x = Tensor(1)\nx += 1\nx": "Tensor",
}


def types_of(source: str) -> tuple[FileContext, ast.Module]:
    tree = ast.parse(source)
    index = build([(SourceFile("case.py", source.encode()), tree, "case")])
    order = flatten(tree)
    scopes, reads = collect(tree)
    return FileContext("case.py", "case", tree, order, scopes, reads, made(), index, FileOptions()), tree


@pytest.mark.parametrize("case", CASES)
def test_last_expression(case: str) -> None:
    context, tree = types_of(textwrap.dedent(HEAD) + case + "\n")
    last: ast.AST = tree.body[-1]
    while not isinstance(last, ast.Expr):
        last = last.body[-1]  # type: ignore[attr-defined]
    found = context.type_of(last.value)
    assert (found.head if found else None) == CASES[case]


def test_self_and_parameters() -> None:
    source = (
        HEAD
        + "class Sub(Net):\n    def f(self, x: Tensor, *args, y=1, **kw):\n        return self, x, args, kw, y\n"
    )
    context, tree = types_of(source)
    returned = next(n for n in ast.walk(tree.body[-1]) if isinstance(n, ast.Return)).value
    assert isinstance(returned, ast.Tuple)
    heads = [t.head if (t := context.type_of(e)) else None for e in returned.elts]
    assert heads == ["class:case.Sub", "Tensor", "tuple", "dict", None]


def test_a_rebound_name_is_not_narrowed() -> None:
    context, tree = types_of(HEAD + "if isinstance(a, Tensor):\n    a = 1\n    a\n")
    last = tree.body[-1]
    assert isinstance(last, ast.If) and isinstance(last.body[-1], ast.Expr)
    assert context.type_of(last.body[-1].value) != Type("Tensor")


def test_the_language_of_types() -> None:
    assert parse("tuple[Tensor, list[int]]") == Type("tuple", (Type("Tensor"), Type("list", (Type("int"),))))
    assert parse("hyper_parallel.DTensor") == Type("DTensor") and parse("mindspore.Tensor") == Type("Tensor")
    assert parse("self") is None and parse("no type") is None and parse("None") == Type("None")
    assert join([Type("Tensor"), Type("None")]) == Type("Tensor") == join([Type("Tensor"), Type("Parameter")])
    assert join([Type("Tensor"), None]) is None and join([Type("int"), Type("str")]) is None
    assert Type("list", (Type("int"),)).element == Type("int") and Type("list").element is None
    assert Type("str").foreign and not Type("Tensor").foreign
