"""A member of a tensor, parameter or module asked for by its name as a string.

torch's tensor has no `asnumpy`, but the port's does: `hasattr` is answered as MindSpore would answer it.

    hasattr(x, "asnumpy"); getattr(x, "has_init", False); getattr(p, "name", None); setattr(p, "name", "w")

    _backend.members.has_member(x, "asnumpy", torch.Tensor)
    _backend.members.read_member(x, "has_init", torch.Tensor, _backend.tensor.has_init, False)
    _backend.param_name(p); _backend.set_param_name(p, "w")
"""

from __future__ import annotations

import ast

import libcst as cst

from ms2torch.context import FileContext
from ms2torch.rule import Edit, rule
from ms2torch.rules._api import OTHER, kind_of, with_parens
from ms2torch.tables import Row, owner_and_method

DISTRIBUTED = "hyper_parallel.DTensor"


@rule("MS113", ast.Call)
def look(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Call)
    if not (isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr", "setattr")):
        return None
    if len(node.args) < 2 or node.keywords or ctx.bindings(node.func) or ctx.settled(node):
        return None
    receiver, literal = node.args[0], node.args[1]
    name = literal.value if isinstance(literal, ast.Constant) else None
    if not isinstance(name, str) or name == "construct" or ctx.resolve(receiver) is not None:
        return None
    if name == "name":
        return _name(node, ctx)
    row = ctx.member_row(receiver, name)
    if row is None or row.unsupported or row.to == f".{name}":
        return None
    home = ctx.tables.rows.get(_owner(row, name, ctx))
    owner = home.as_type if home is not None else None
    adapter = row.value or row.to or ""
    word = {"hasattr": "has_member", "getattr": "read_member" if row.attr else "bind_member"}.get(
        node.func.id
    )
    if owner is not None and (word == "has_member" or (word and adapter.startswith("_backend."))):
        ctx.count(node, "site", "adapted")
        return _asked(ctx, word, owner, "" if word == "has_member" else adapter)
    if (row.to or "").startswith(".") and ctx.type_of(receiver) is not None:
        ctx.count(node, "site", "converted")
        return _renamed(str(row.to)[1:])
    _report(node, row, ctx)
    return None


def _owner(row: Row, name: str, ctx: FileContext) -> str:
    """The class whose instances have the member: of `to_local` only a distributed tensor, though a Parameter
    may be one."""
    distributed = ctx.tables.method(DISTRIBUTED, name)
    if distributed is not None and distributed.to == row.to:
        return DISTRIBUTED
    return owner_and_method(row.name)[0]


def _report(node: ast.Call, row: Row, ctx: FileContext) -> None:
    message = f"{row.name} is looked up by its name; write {row.as_value or row.call} where it is wanted"
    ctx.find(node, "MS113", "warning", message, row.name, "unresolved")
    ctx.count(node, "site", "unresolved")


def _asked(ctx: FileContext, word: str, owner: str, adapter: str) -> Edit:
    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(new, cst.Call)
        args = [new.args[0].value, new.args[1].value, ctx.target(owner)]
        args += [ctx.target(adapter)] if adapter else []
        args += [arg.value for arg in new.args[2:]]
        given = [cst.Arg(a, comma=_comma()) for a in args[:-1]] + [cst.Arg(args[-1])]
        return new.with_changes(func=ctx.target(f"_backend.members.{word}"), args=given)

    return edit


def _renamed(name: str) -> Edit:
    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(new, cst.Call)
        literal = new.args[1].with_changes(value=cst.SimpleString(f'"{name}"'))
        return new.with_changes(args=[new.args[0], literal, *new.args[2:]])

    return edit


def _name(node: ast.Call, ctx: FileContext) -> Edit | None:
    """`getattr(p, "name", …)` and `setattr(p, "name", …)` of what may be a parameter."""
    assert isinstance(node.func, ast.Name)
    word = node.func.id
    if word == "hasattr" or kind_of(node.args[0], ctx) == OTHER:
        return None
    ctx.count(node, "site", "adapted")

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(old, cst.BaseExpression) and isinstance(new, cst.Call)
        if word == "setattr":
            args = [new.args[0], *new.args[2:]]
            return new.with_changes(func=ctx.target("_backend.set_param_name"), args=args)
        read = cst.Call(ctx.target("_backend.param_name"), [cst.Arg(new.args[0].value)])
        default = new.args[2].value if len(new.args) > 2 else cst.Name("None")
        if isinstance(default, cst.Name) and default.value == "None":
            return with_parens(old, read)
        either = cst.BooleanOperation(read, cst.Or(), default)
        return either.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])

    return edit


def _comma() -> cst.Comma:
    return cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
