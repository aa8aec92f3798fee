"""A property of a tensor, parameter or module that torch spells otherwise, or a method taken as a value.

x.size; x.itemsize; mesh.layout
_backend.tensor.size(x); x.itemsize; _backend.parallel.layout(mesh)
"""

from __future__ import annotations

import ast

import libcst as cst

from ms2torch import calls
from ms2torch.context import FileContext
from ms2torch.rule import Edit, rule
from ms2torch.rules._api import state_of, with_parens


@rule("MS105", ast.Attribute)
def look(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Attribute)
    parent = ctx.parents.get(node)
    called = isinstance(parent, ast.Call) and parent.func is node
    if node.attr == "name" or ctx.resolve(node) is not None or ctx.settled(node):
        return None
    row = ctx.member_row(node.value, node.attr)
    if row is None or called:
        return None
    target = row.to or row.value or row.call or ""
    if row.unsupported or not target:
        ctx.find(
            node,
            "MS105",
            "error",
            f"{row.name}: {row.unsupported or 'it has no counterpart'}",
            row.name,
            "unresolved",
        )
        ctx.count(node, "site", "unresolved")
        return None
    if row.to == f".{node.attr}":
        return None
    if not isinstance(node.ctx, ast.Load):
        if not (row.to or "").startswith("."):
            return None
    elif not row.attr and not target.startswith("."):
        if ctx.type_of(node.value) is None:
            return None  # a field of some other object that only shares the name
        # A bound method as a value: its adapter would need the receiver.
        ctx.find(
            node, "MS105", "warning", f"{row.name} is taken as a value; write a function around it", row.name
        )
        return None
    ctx.count(node, "site", state_of(target))

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        if not isinstance(new, cst.Attribute):
            return new
        if row.call is not None:
            ctx.need(row.call)
            made = calls.atom(calls.fill(ctx.localised(row.call), {"self": new.value}))
            return with_parens(new, made)
        if target.startswith("."):
            return new.with_changes(attr=cst.Name(target[1:]))
        return with_parens(new, cst.Call(ctx.target(target), [cst.Arg(calls.bare(new.value))]))

    return edit
