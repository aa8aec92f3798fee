"""Which binding a name stands for, by Python's own rules."""

import ast
import textwrap

import pytest

from ms2torch.scopes import Scope, absolute, collect


def kinds(source: str, mark: str = "name") -> list[list[str]]:
    """Kinds of the bindings of each read of `name`, in the order of the source; [] for none."""
    tree = ast.parse(textwrap.dedent(source))
    _, reads = collect(tree, "pkg.sub")
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == mark and isinstance(node.ctx, ast.Load):
            hit = reads[node].lookup(mark)
            found.append((node.lineno, node.col_offset, [b.kind for b in hit[1]] if hit else []))
    return [kinds for _, _, kinds in sorted(found)]


CASES = {
    "parameter shadows": ("import name\ndef f(name): name\nname", [["parameter"], ["import"]]),
    "default is outside": ("import name\ndef f(name=name): pass", [["import"]]),
    "decorator and annotation are outside": (
        "import name\n@name\ndef f(x: name) -> name:\n    name = 1",
        [["import"], ["import"], ["import"]],
    ),
    "class body is invisible to methods": (
        "import name\nclass A:\n    name = 1\n    x = name\n    def f(self): name",
        [["assign"], ["import"]],
    ),
    "class body is invisible to comprehensions but for the first iterable": (
        "import name\nclass A:\n    name = 1\n    x = [name for i in name]",
        [["import"], ["assign"]],
    ),
    "comprehension variable": (
        "import name\n[name for name in name]\nname",
        [["for"], ["import"], ["import"]],
    ),
    "global": (
        "import name\ndef f():\n    global name\n    name = 1\n    name\nname",
        [["import", "assign"]] * 2,
    ),
    "nonlocal": (
        "import name\ndef f():\n    name = 1\n    def g():\n        nonlocal name\n        name = 2\n    name",
        [["assign", "assign"]],
    ),
    "walrus in a comprehension binds outside": ("[y for x in z if (name := x)]\nname", [["assign"]]),
    "lambda": ("import name\nlambda name: name\nlambda: name", [["parameter"], ["import"]]),
    "with, except, for": (
        "with a as name: pass\ntry: pass\nexcept E as name: pass\nfor name in x: pass\nname",
        [["with", "except", "for"]],
    ),
    "match": (
        "match x:\n    case [*name]: name\n    case {**name}: pass\n    case A() as name: pass",
        [["other"] * 3],
    ),
    "augmented and annotated": ("name: int = 1\nname += 1\nname", [["annotated", "augmented"]]),
    "tuple targets": ("a, (name, *b) = 1, 2\nname", [["assign"]]),
    "attribute targets read": ("import name\nname.x = 1\nname[0] = 1", [["import"], ["import"]]),
    "builtin": ("name", [[]]),
    "local import": ("def f():\n    from a import name\n    name\nname", [["import"], []]),
}


@pytest.mark.parametrize("case", CASES)
def test_bindings(case: str) -> None:
    source, expected = CASES[case]
    assert kinds(source) == expected


def test_import_targets() -> None:
    tree = ast.parse("import a.b\nimport a.b as c\nfrom .d import e as f\nfrom .. import g\nfrom h import *")
    scopes, _ = collect(tree, "pkg.sub")
    names = {name: [b.target for b in found] for name, found in scopes[tree].names.items()}
    assert names == {"a": ["a"], "c": ["a.b"], "f": ["pkg.sub.d.e"], "g": ["pkg.g"]}


def test_absolute_of_relative_imports() -> None:
    def of(text: str, package: str) -> str:
        node = ast.parse(text).body[0]
        assert isinstance(node, ast.ImportFrom)
        return absolute(node, package)

    assert of("from a.b import c", "x") == "a.b"
    assert of("from . import c", "x.y") == "x.y"
    assert of("from .a import c", "x.y") == "x.y.a"
    assert of("from ..a import c", "x.y") == "x.a"
    assert of("from . import c", "") == ""


def test_a_scope_knows_its_parents() -> None:
    tree = ast.parse("def f():\n    def g(): pass")
    scopes, _ = collect(tree)
    inner = next(s for n, s in scopes.items() if getattr(n, "name", "") == "g")
    assert isinstance(inner, Scope) and [getattr(s.node, "name", "") for s in inner.functions()] == [
        "g",
        "f",
        "",
    ]
