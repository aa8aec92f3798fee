"""`.name` of a parameter: torch's `Tensor.name` is None and cannot be written, so the port keeps `_mf_name`.

Reads go through `_backend.param_name`, which gives other objects their own `.name`; so do writes to a
receiver of unknown type.

    p.name = "w"; print(p.name)
    p._mf_name = "w"; print(_backend.param_name(p))
"""

from __future__ import annotations

import ast

import libcst as cst

from ms2torch import calls
from ms2torch.context import FileContext
from ms2torch.rule import Edit, rule
from ms2torch.rules._api import OTHER, UNKNOWN, kind_of, with_parens


@rule("MS106", ast.Attribute)
def look_read(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Attribute)
    if (
        node.attr != "name"
        or isinstance(node.ctx, ast.Del)
        or ctx.resolve(node) is not None
        or ctx.settled(node)
    ):
        return None
    kind = kind_of(node.value, ctx)
    if kind == OTHER:
        return None
    if isinstance(node.ctx, ast.Store):
        if kind == UNKNOWN:
            parent = ctx.parents.get(node)
            if not (
                isinstance(parent, ast.Assign) and len(parent.targets) == 1
            ):  # else `look_write` sees to it
                message = "sets .name of a receiver of unknown type: a tensor takes it as ._mf_name only"
                ctx.find(node, "MS106", "warning", message, state="unresolved")
                ctx.count(node, "site", "unresolved")
            return None
        ctx.count(node, "site", "converted")
        return lambda old, new: new.with_changes(attr=cst.Name("_mf_name"))
    ctx.count(node, "site", "adapted")

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(new, cst.Attribute)
        return with_parens(new, cst.Call(ctx.target("_backend.param_name"), [cst.Arg(calls.bare(new.value))]))

    return edit


@rule("MS106", ast.Assign)
def look_write(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Assign)
    target = node.targets[0]
    if len(node.targets) != 1 or not isinstance(target, ast.Attribute) or target.attr != "name":
        return None
    if kind_of(target.value, ctx) != UNKNOWN or ctx.settled(node):
        return None
    ctx.count(target, "site", "adapted")

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(new, cst.Assign)
        place = new.targets[0].target
        assert isinstance(place, cst.Attribute)
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        args = [cst.Arg(calls.bare(place.value), comma=comma), cst.Arg(calls.bare(new.value))]
        return cst.Expr(cst.Call(ctx.target("_backend.set_param_name"), args), semicolon=new.semicolon)

    return edit
