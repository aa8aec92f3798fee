"""What a project name resolves to, across files."""

import ast

import pytest

from ms2torch.index import Index, build, module_name
from ms2torch.model import SourceFile

FILES = {
    "pkg/__init__.py": "from .base import *\nfrom .base import Net as Renamed\nfrom . import sub\n",
    "pkg/base.py": (
        "from mindspore import Tensor, nn\nfrom mindspore.nn import Cell\nimport mindspore as ms\n"
        "__all__ = ['Net', 'Tensor']\nAlias = nn.Dense\n"
        "class Net(Cell): pass\nclass Other(nn.Cell): pass\nclass Mixin: pass\n"
    ),
    "pkg/sub/__init__.py": "from ..base import *\nfrom pkg.sub.leaf import Leaf\n",
    "pkg/sub/leaf.py": (
        "from .. import Net\nimport pkg.base as b\nfrom ..base import Mixin\n"
        "class Leaf(Mixin, b.Other): pass\nclass Deep(Leaf): pass\n"
        "try:\n    import fast\nexcept ImportError:\n    fast = None\n"
        "def f():\n    from mindspore import ops\n    return ops\n"
    ),
    "pkg/loop_a.py": "from .loop_b import x\n",
    "pkg/loop_b.py": "from .loop_a import x\n",
    "pkg/heir.py": "from .sub.leaf import Deep\ndef f(net): net.name = Deep.__name__\n",
    "pkg/stars.py": "from .loop_a import *\nfrom .base import *\n",
}


@pytest.fixture(scope="module")
def index() -> Index:
    return build((SourceFile(p, t.encode()), ast.parse(t), module_name(p)) for p, t in FILES.items())


RESOLVED = {
    "pkg.Net": "pkg.base.Net",
    "pkg.Renamed": "pkg.base.Net",
    "pkg.Tensor": "mindspore.Tensor",
    "pkg.Tensor.abs": "mindspore.Tensor.abs",
    "pkg.base.nn.Cell": "mindspore.nn.Cell",
    "pkg.base.ms.ops.cast": "mindspore.ops.cast",
    "pkg.base.Alias": "mindspore.nn.Dense",
    "pkg.sub.leaf.b.Net": "pkg.base.Net",
    "pkg.sub.Leaf": "pkg.sub.leaf.Leaf",
    "pkg.sub.leaf.ops": "pkg.sub.leaf.ops",  # imported inside a function
    "pkg.stars.Tensor": "mindspore.Tensor",
    "pkg.loop_a.x": "pkg.loop_a.x",
    "json.dumps": "json.dumps",
}


@pytest.mark.parametrize("name", RESOLVED)
def test_resolve(index: Index, name: str) -> None:
    assert index.resolve(name) == RESOLVED[name]


def test_ancestors_and_heirs(index: Index) -> None:
    deep = index.find_class("pkg.sub.leaf.Deep")
    assert deep is not None
    assert list(index.ancestors(deep)) == [
        "pkg.sub.leaf.Leaf",
        "pkg.base.Mixin",
        "pkg.base.Other",
        "mindspore.nn.Cell",
    ]
    assert index.heirs("pkg.base.Mixin") == {"pkg.sub.leaf.Leaf", "pkg.sub.leaf.Deep"}
    assert index.heirs("pkg.nothing") == set()


def test_imports_know_their_module_and_whether_they_are_nested(index: Index) -> None:
    sites = index.modules["pkg.sub.leaf"].imports
    assert {(s.module, s.name, s.nested) for s in sites} == {
        ("pkg", "Net", False),
        ("pkg.base", None, False),
        ("pkg.base", "Mixin", False),
        ("fast", None, False),
        ("mindspore", "ops", True),
    }


def test_takes_names_of_the_framework_through_the_project(index: Index) -> None:
    assert {name for name, info in index.modules.items() if index.takes(info, ("mindspore",))} == {
        "pkg",
        "pkg.sub",
        "pkg.sub.leaf",
        "pkg.stars",
        "pkg.heir",  # a class built on one
    }


def test_module_names() -> None:
    assert module_name("a/b/c.py") == "a.b.c"
    assert module_name("a/b/__init__.py") == "a.b"
    assert module_name("run.py") == "run"
