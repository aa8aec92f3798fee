"""The place of a name decides which form of its row it takes: a type, a class that is compared, a value."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ms2torch.types import BUILTINS

if TYPE_CHECKING:
    from ms2torch.context import FileContext

# What a type may stand in and still be one: a tuple of classes, `A | B`, `list[A]`, a string.
TRANSPARENT = (ast.Tuple, ast.List, ast.Set, ast.BinOp, ast.Subscript, ast.Starred, ast.Constant)
# Builtins and typing functions that take a class, by the place of that argument.
TYPE_ARGUMENTS = {0: ("cast",), 1: ("isinstance", "issubclass")}


def is_type(node: ast.AST, ctx: FileContext) -> bool:
    """Whether a name stands where Python or a type checker reads a class."""
    child, parent = node, ctx.parents.get(node)
    while isinstance(parent, TRANSPARENT):
        if isinstance(parent, ast.Subscript) and child is parent.slice and _is_typing(parent.value, ctx):
            return True
        child, parent = parent, ctx.parents.get(parent)
    if isinstance(parent, ast.arg):
        return True
    if isinstance(parent, ast.AnnAssign):
        return child is parent.annotation
    if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
        return child is parent.returns
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and child in parent.args:
        place = parent.args.index(child)
        return parent.func.id in TYPE_ARGUMENTS.get(place, ())
    if isinstance(parent, ast.keyword):
        return parent.arg == "bound"
    if isinstance(parent, ast.MatchClass):
        return child is parent.cls
    return isinstance(parent, ast.ExceptHandler)


def is_class(node: ast.AST, ctx: FileContext) -> bool:
    """Whether a value serves to tell classes apart: what makes an instance would not do."""
    child, parent = node, ctx.parents.get(node)
    if isinstance(parent, ast.Tuple | ast.List | ast.Set) and isinstance(
        ctx.parents.get(parent), ast.Compare
    ):
        child, parent = parent, ctx.parents.get(parent)
    if isinstance(parent, ast.Compare):
        return any(_is_type_call(side) for side in (parent.left, *parent.comparators))
    if isinstance(parent, ast.Dict):
        return child in parent.keys
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        return parent.func.attr == "register" and isinstance(ctx.parents.get(parent), ast.FunctionDef)
    # `TENSORS = (Tensor, Parameter)` is there for isinstance.
    return isinstance(parent, ast.Tuple)


def _is_typing(node: ast.expr, ctx: FileContext) -> bool:
    """Whether `node[…]` writes a type: `Union`, `Optional`, `Callable`, `list` and the like."""
    if isinstance(node, ast.Name) and node.id in BUILTINS and not ctx.bindings(node):
        return True
    name = ctx.written(node) or ""
    return name.startswith(("typing.", "typing_extensions.", "collections.abc."))


def _is_type_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"
