"""Subscripts that MindSpore's tensors take and torch's refuse.

A slice with a negative step, a list or tuple as the new value, and a write into a Parameter (which torch
forbids while it takes a gradient) go through `_backend.tensor`; any other receiver keeps its own meaning.

    x[::-1]; x[0] = [1, 2]; self.weight[0] = row
    _backend.tensor.getitem(x, slice(None, None, -1)); _backend.tensor.setitem(x, 0, [1, 2]); …
"""

from __future__ import annotations

import ast

import libcst as cst

from ms2torch import calls
from ms2torch.context import FileContext
from ms2torch.rule import Edit, rule
from ms2torch.rules._api import COMMA, index_of, with_parens
from ms2torch.types import TENSORS


@rule("MS116", ast.Subscript)
def look(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Subscript)
    if not isinstance(node.ctx, ast.Load) or not ctx.names_mindspore or ctx.settled(node):
        return None
    if not any(_is_backward(part) for part in _parts(node.slice)):
        return None
    if isinstance(node.value, ast.Call | ast.Attribute) and _is_shape(node.value):
        return None
    if (kind := _kind(node.value, ctx)) is None:
        return None
    ctx.count(node, "site", kind)

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(old, cst.Subscript) and isinstance(new, cst.Subscript)
        args = [cst.Arg(calls.bare(new.value), comma=COMMA), cst.Arg(index_of(new))]
        return with_parens(old, cst.Call(ctx.target("_backend.tensor.getitem"), args))

    return edit


@rule("MS116", ast.Assign)
def look_write(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Assign)
    target = node.targets[0]
    if len(node.targets) != 1 or not isinstance(target, ast.Subscript) or not ctx.names_mindspore:
        return None
    if ctx.settled(node) or (kind := _kind(target.value, ctx)) is None:
        return None
    owner = ctx.type_of(target.value)
    parts = _parts(target.slice)
    if not parts:
        return None
    sure = owner is not None
    needed = owner is not None and owner.head == "Parameter"
    if isinstance(node.value, ast.List | ast.Tuple):
        # A key that may be a word is a dict's: only what indexes a tensor counts.
        needed = needed or sure or all(_is_place(p) for p in parts)
    if not needed:
        return None
    ctx.count(target, "site", kind)

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(new, cst.Assign)
        place = new.targets[0].target
        assert isinstance(place, cst.Subscript)
        value = new.value
        if isinstance(value, cst.Tuple) and not value.lpar:
            value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        args = [cst.Arg(calls.bare(place.value), comma=COMMA), cst.Arg(index_of(place), comma=COMMA)]
        function = ctx.target("_backend.tensor.setitem")
        return cst.Expr(cst.Call(function, [*args, cst.Arg(calls.bare(value))]), semicolon=new.semicolon)

    return edit


def _kind(receiver: ast.expr, ctx: FileContext) -> str | None:
    """ "converted" for a tensor, "adapted" for what may be one, None for anything else."""
    owner = ctx.type_of(receiver)
    if owner is None:
        return None if ctx.resolve(receiver) is not None else "adapted"
    return "converted" if owner.head in TENSORS else None


def _parts(node: ast.expr) -> list[ast.expr]:
    """The parts of a subscript; none where some of them are unpacked."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return [] if any(isinstance(p, ast.Starred) for p in parts) else parts


def _is_shape(node: ast.expr) -> bool:
    """Whether an expression is a shape, and so a tuple."""
    name = node.func if isinstance(node, ast.Call) else node
    return isinstance(name, ast.Attribute) and name.attr in ("shape", "strides")


def _is_backward(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Slice)
        and isinstance(node.step, ast.UnaryOp)
        and isinstance(node.step.op, ast.USub)
    )


def _is_place(node: ast.expr) -> bool:
    """Whether one part of a subscript is surely a position: a number, a slice, an ellipsis."""
    if isinstance(node, ast.UnaryOp):
        return _is_place(node.operand)
    return isinstance(node, ast.Slice) or (
        isinstance(node, ast.Constant) and isinstance(node.value, int | type(...))
    )
