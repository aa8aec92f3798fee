"""How a rule is declared and found: a function registered for the `ast` nodes it wants to see.

A rule looks at a node of the source (`ast`, with the file's context) and returns an edit, or None. The edit
is called on the way back up with the LibCST node of the same place (original, and as updated by the rules
below it) and returns what stands there in the port.
"""

from __future__ import annotations

import ast
import functools
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import libcst as cst

from ms2torch.context import FileContext


@dataclass(frozen=True, slots=True)
class Lines:
    """An edit's result for a simple statement that becomes zero or more whole statements."""

    statements: Sequence[cst.BaseStatement]


Result = cst.CSTNode | Lines
Edit = Callable[[cst.CSTNode, cst.CSTNode], Result]
Look = Callable[[ast.AST, FileContext], Edit | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's stable code, the name of its file, the nodes it looks at, and its function."""

    code: str
    name: str
    kinds: tuple[type[ast.AST], ...]
    look: Look
    doc: str


_registered: list[Rule] = []


def rule(code: str, *kinds: type[ast.AST]) -> Callable[[Look], Look]:
    """Register a function for some kinds of `ast` nodes (statements, Name, Attribute, Call, Subscript, str)."""

    def register(look: Look) -> Look:
        module = importlib.import_module(look.__module__)
        name = look.__module__.rpartition(".")[2].replace("_", "-")
        _registered.append(Rule(code, name, kinds, look, (module.__doc__ or "").strip()))
        return look

    return register


@functools.cache
def rules() -> tuple[Rule, ...]:
    """Every rule of `ms2torch.rules`, found by walking the package, in the order of their codes."""
    package = importlib.import_module("ms2torch.rules")
    for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
        if not module.ispkg and not module.name.startswith("_"):
            importlib.import_module(f"ms2torch.rules.{module.name}")
    return tuple(sorted(_registered, key=lambda r: (r.code, r.name)))


@functools.cache
def by_kind() -> dict[type[ast.AST], tuple[Rule, ...]]:
    """Rules for each kind of node."""
    found: dict[type[ast.AST], tuple[Rule, ...]] = {}
    for one in rules():
        for kind in one.kinds:
            found[kind] = (*found.get(kind, ()), one)
    return found
