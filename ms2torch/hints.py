"""Annotations written as strings: parsed, and joined to the file's tree, so that the names in them have uses.

`x: "Tensor"` needs its import as much as `x: Tensor` does: `typing.get_type_hints` evaluates the text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, MutableMapping

# Calls of `typing` with a type among their arguments: name -> index of the argument, or its keyword.
TYPING_CALLS: dict[str, tuple[int | None, str]] = {"cast": (0, "typ"), "TypeVar": (None, "bound")}


def parse(nodes: Iterable[ast.AST], parents: MutableMapping[ast.AST, ast.AST]) -> dict[ast.AST, ast.expr]:
    """Expression of each string literal that is an annotation; `parents` learns of the expressions' nodes."""
    found: dict[ast.AST, ast.expr] = {}
    for node in nodes:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if not is_annotation(node, parents):
            continue
        try:
            inner = ast.parse(node.value, mode="eval").body
        except (SyntaxError, ValueError):
            continue
        found[node] = inner
        parents[inner] = node
        for part in ast.walk(inner):
            parents.update(dict.fromkeys(ast.iter_child_nodes(part), part))
    return found


def is_annotation(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether an expression is read as a type: in an annotation, or where `typing` takes one."""
    child, parent = node, parents.get(node)
    while isinstance(parent, ast.Tuple | ast.List | ast.BinOp | ast.Subscript):
        if isinstance(parent, ast.Subscript):
            if child is not parent.slice and parent.value is not child:
                return False
            head = ast.unparse(parent.value).rpartition(".")[2]
            if head == "Literal":
                return False
            if head == "Annotated" and isinstance(child, ast.Tuple) and _path(node, child, parents) != 0:
                return False
        child, parent = parent, parents.get(parent)
    if isinstance(parent, ast.arg):
        return True
    if isinstance(parent, ast.AnnAssign):
        return child is parent.annotation
    if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
        return child is parent.returns
    if isinstance(parent, ast.keyword):
        outer = parents.get(parent)
        return isinstance(outer, ast.Call) and TYPING_CALLS.get(_called(outer), ("", ""))[1] == parent.arg
    if isinstance(parent, ast.Call):
        place = TYPING_CALLS.get(_called(parent), (None, ""))[0]
        return place is not None and len(parent.args) > place and parent.args[place] is child
    return False


def _called(node: ast.Call) -> str:
    return ast.unparse(node.func).removeprefix("typing.").removeprefix("t.")


def _path(node: ast.AST, around: ast.Tuple, parents: Mapping[ast.AST, ast.AST]) -> int:
    """Which element of a tuple a node lies in."""
    while parents[node] is not around:
        node = parents[node]
    return next(i for i, element in enumerate(around.elts) if element is node)


def chains(node: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
    """The longest dotted chains of an expression, from left to right."""
    if isinstance(node, ast.Name | ast.Attribute):
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name):
            yield node
            return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from chains(child)
