"""A call of a MindSpore function or class: arguments are bound to its signature and written for torch.

What cannot be bound (`*args`), or passes an argument that torch lacks, goes to the adapter with MindSpore's
own calling convention.

    ops.cast(x, dtype=ms.int32); nn.Dense(3, 4); ops.stack(*rows)
    x.to(torch.int32); _backend.nn.Dense(3, 4); _backend.ops.stack(*rows)
"""

from __future__ import annotations

import ast

import libcst as cst

from ms2torch import calls
from ms2torch.context import FileContext, Reference
from ms2torch.rule import Edit, rule
from ms2torch.rules._api import placeholder, spelled, state_of, unresolved, with_parens


@rule("MS103", ast.Call)
def look(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Call)
    ref = ctx.reference(node.func)
    if ref is None:
        return None
    if settled := ctx.settled(node):
        ctx.count(node.func, "chain", settled)
        return None
    row = ref.row
    if row is None or row.unsupported or (spelled(ref, "call") is None and row.call is None):
        unresolved(ctx, node.func, ref)
        return None if isinstance(node.func, ast.Name) else _missing(ctx, ref)
    if ref.rest or row.signature is None:
        return _renamed(ctx, node, str(spelled(ref, "call")))
    return _bound(ctx, node, ref)


def _missing(ctx: FileContext, ref: Reference) -> Edit:
    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(new, cst.Call)
        return new.with_changes(func=placeholder(ctx, ref.name))

    return edit


def _function(ctx: FileContext, node: ast.Call, target: str) -> cst.BaseExpression | None:
    """The expression for the called name; None where the local name stays."""
    use = ctx.uses.of(node.func)
    if isinstance(node.func, ast.Name) and use is not None and use.kept == target:
        return None
    return ctx.target(target)


def _renamed(ctx: FileContext, node: ast.Call, target: str) -> Edit | None:
    """Another name, the same arguments."""
    ctx.count(node.func, "chain", state_of(target))
    function = _function(ctx, node, target)
    if function is None:
        return None

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(new, cst.Call)
        return new.with_changes(func=with_parens(new.func, function))

    return edit


def _bound(ctx: FileContext, node: ast.Call, ref: Reference) -> Edit | None:
    row = ref.row
    assert row is not None and row.parameters is not None
    parameters = row.parameters
    value = spelled(ref, "value")
    target = spelled(ref, "call") or value
    # Until the arguments are bound on the LibCST side, the adapter is what the reference needs.
    ctx.count(node.func, "chain", state_of(row.call or target or ""))

    def adapted(new: cst.Call, why: str) -> cst.CSTNode:
        if value is None:
            unresolved(ctx, node.func, ref, why)
            return new.with_changes(func=placeholder(ctx, ref.name))
        ctx.count(node.func, "chain", state_of(value))
        function = _function(ctx, node, value)
        return new if function is None else new.with_changes(func=with_parens(new.func, function))

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(old, cst.Call) and isinstance(new, cst.Call)
        bound = calls.bind(new.args, parameters)
        if bound is None:
            return adapted(new, "the arguments of this call cannot be bound to its signature")
        if calls.needs_adapter(bound, row):
            return adapted(new, "torch has no counterpart for an argument of this call")
        if value is not None and (row.call or row.drop) and calls.has_comments(new.args):
            return adapted(new, "its comments would be lost")
        if row.call is not None:
            values = calls.values_of(row.call, bound, parameters)
            used = set(values or ())
            if values is None or not calls.in_order(row.call, bound, new.args) or set(bound) - used:
                return adapted(new, "the arguments of this call do not fit the template of its row")
            ctx.need(row.call)
            return with_parens(old, calls.atom(calls.fill(ctx.localised(row.call), values)))
        args = calls.renamed(new.args, bound, row)
        function = _function(ctx, node, str(target))
        changed = new if function is None else new.with_changes(func=with_parens(new.func, function))
        return changed.with_changes(args=args)

    return edit
