"""The small language of receiver types that tables and inference share.

`Tensor`, `Parameter`, `DTensor`, `Module`, `Optimizer`; `class:pkg.mod.Name` for a project class;
`mindspore.…` or `hyper_parallel.…` for an instance of such a class; builtins by name; `foreign:x.y` for
what comes from another library; `tuple[A, B]`, `list[A]`, `iter[A]` for containers.
"""

from __future__ import annotations

import ast
import functools
from typing import NamedTuple

BUILTINS = frozenset(
    [
        "str",
        "int",
        "float",
        "bool",
        "bytes",
        "list",
        "dict",
        "tuple",
        "set",
        "frozenset",
        "None",
        "slice",
        "range",
        "complex",
    ]
)
CONTAINERS = frozenset(["list", "tuple", "iter", "set", "dict"])
# The MindSpore classes whose method rows a receiver answers to, nearest first.
OWNERS = {
    "Tensor": ("mindspore.Tensor",),
    "Parameter": ("mindspore.Parameter", "mindspore.Tensor"),
    "DTensor": ("hyper_parallel.DTensor", "mindspore.Tensor"),
    "Module": ("mindspore.nn.Cell",),
    "Optimizer": ("mindspore.nn.Optimizer", "mindspore.nn.Cell"),
}
# Classes of MindSpore itself that have a short head.
HEADS = {
    "mindspore.Tensor": "Tensor",
    "mindspore.Parameter": "Parameter",
    "hyper_parallel.DTensor": "DTensor",
    "mindspore.nn.Cell": "Module",
    "mindspore.nn.Optimizer": "Optimizer",
}


class Type(NamedTuple):
    """A type's head and its parameters."""

    head: str
    args: tuple[Type, ...] = ()

    @property
    def foreign(self) -> bool:
        """Whether the value is certainly neither a tensor nor a module."""
        return self.head in BUILTINS or self.head in CONTAINERS or self.head.startswith("foreign:")

    @property
    def element(self) -> Type | None:
        """What a loop over the value yields, where that is one known type."""
        if self.head in ("Tensor", "Parameter", "DTensor"):
            return Type("Tensor")
        if self.head in CONTAINERS and self.args and len(set(self.args)) == 1:
            return self.args[0]
        return None


TENSOR = Type("Tensor")
TENSORS = frozenset(("Tensor", "Parameter", "DTensor"))


@functools.cache
def parse(text: str) -> Type | None:
    """The type that a table's `returns` writes; None for `self`, `any` and what is no type."""
    try:
        return _from(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return None


def _from(node: ast.expr) -> Type | None:
    if isinstance(node, ast.Constant) and node.value is None:
        return Type("None")
    if isinstance(node, ast.Subscript):
        head = _from(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        parts = [_from(element) for element in inner]
        if head is None or any(part is None for part in parts):
            return head
        return Type(head.head, tuple(part for part in parts if part))
    name = ast.unparse(node)
    return None if name in ("self", "any", "Any", "object") else Type(HEADS.get(name, name))


def join(types: list[Type | None]) -> Type | None:
    """The one type that all of these are, leaving None values of optional variables aside."""
    known = {t for t in types if t != Type("None")}
    if len(known) == 1:
        return known.pop()
    if known and None not in known and all(t is not None and t.head in TENSORS for t in known):
        return TENSOR
    return None
