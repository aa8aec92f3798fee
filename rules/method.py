"""A method of a tensor, parameter or module that torch names, orders or defaults otherwise.

Applied where the receiver's type is known; on a receiver of unknown type only where the name exists on
nothing else, or where the adapter hands foreign receivers to their own method.

    x.asnumpy(); x.expand_dims(0); net.trainable_params()
    _backend.tensor.asnumpy(x); x.unsqueeze(0); _backend.nn.trainable_params(net)
"""

from __future__ import annotations

import ast

import libcst as cst

from ms2torch import calls
from ms2torch.context import FileContext
from ms2torch.rule import Edit, rule
from ms2torch.rules._api import state_of, with_parens
from ms2torch.tables import Parameter, Row, parse_signature


@rule("MS104", ast.Call)
def look(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Call)
    func = node.func
    if not isinstance(func, ast.Attribute) or ctx.resolve(func) is not None or ctx.settled(node):
        return None
    row = ctx.member_row(func.value, func.attr)
    if row is None or row.attr:
        return None
    if row.unsupported:
        ctx.find(node, "MS104", "error", f"{row.name}: {row.unsupported}", row.name, "unresolved")
        ctx.count(func, "site", "unresolved")
        return None
    if row.to == f".{func.attr}" and not (row.rename or row.drop or row.adapt):
        return None
    if row.same is not None and _fits(node, parse_signature(row.same)):
        return None
    ctx.count(func, "site", state_of(row.call or row.to or row.value or ""))
    return _edit(ctx, node, func, row)


def _fits(node: ast.Call, parameters: tuple[Parameter, ...]) -> bool:
    """Whether a call gives only arguments of a signature, in the way that it takes them."""
    places = sum(p.kind in ("positional", "either") for p in parameters)
    named = {p.name for p in parameters if p.kind in ("either", "keyword")}
    anywhere = any(p.kind == "*" for p in parameters)
    if any(isinstance(arg, ast.Starred) for arg in node.args) and not anywhere:
        return False
    required = [p.name for p in parameters if p.default is None and p.kind == "either"]
    names = [k.arg for k in node.keywords]
    enough = anywhere or len(node.args) + len(set(required) & set(names)) >= len(required)
    return (anywhere or len(node.args) <= places) and all(n in named for n in names) and enough


def _edit(ctx: FileContext, node: ast.Call, func: ast.Attribute, row: Row) -> Edit:
    adapter = next((t for t in (row.value, row.to) if t and not t.startswith(".")), None)

    def adapted(new: cst.Call, why: str) -> cst.CSTNode:
        assert isinstance(new.func, cst.Attribute)
        if adapter is None:
            ctx.find(node, "MS104", "error", f"{row.name}: {why}", row.name, "unresolved")
            ctx.count(func, "site", "unresolved")
            return new
        receiver = cst.Arg(calls.bare(new.func.value), comma=cst.MaybeSentinel.DEFAULT)
        if new.args:
            receiver = receiver.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        return new.with_changes(func=ctx.target(adapter), args=[receiver, *new.args])

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(old, cst.Call) and isinstance(new, cst.Call)
        if not isinstance(new.func, cst.Attribute):
            return new
        if row.parameters is None:
            if row.to is not None and row.to.startswith("."):
                return _named(new, row.to[1:])
            return adapted(new, "it has no counterpart")
        bound = calls.bind(new.args, row.parameters)
        if bound is None or calls.needs_adapter(bound, row):
            return adapted(new, "the arguments of this call have no counterpart")
        if adapter is not None and (row.call or row.drop) and calls.has_comments(new.args):
            return adapted(new, "its comments would be lost")
        if row.call is not None:
            values = calls.values_of(row.call, bound, row.parameters)
            if values is None or set(bound) - set(values) or not calls.in_order(row.call, bound, new.args):
                return adapted(new, "the arguments of this call do not fit the template of its row")
            ctx.need(row.call)
            values["self"] = new.func.value
            return with_parens(old, calls.atom(calls.fill(ctx.localised(row.call), values)))
        if row.to is not None and row.to.startswith("."):
            return _named(new, row.to[1:]).with_changes(args=calls.renamed(new.args, bound, row))
        return adapted(new.with_changes(args=calls.renamed(new.args, bound, row)), "it has no counterpart")

    return edit


def _named(call: cst.Call, name: str) -> cst.Call:
    assert isinstance(call.func, cst.Attribute)
    return call.with_changes(func=call.func.with_changes(attr=cst.Name(name)))
