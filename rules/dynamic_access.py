"""A name of the framework looked up with `getattr` or `hasattr`: a literal is settled like the name itself.

Where the name is known at run time only, the run says so; names of dtypes are found in `_backend.dtypes`.

    getattr(ms, "float32"); hasattr(mint, "abs"); getattr(ops, "missing", None)
    torch.float32; True; None

A name that is patched is patched where the port looks it up:

    monkeypatch.setattr(ms, "DeviceCtx", f); mock.patch.object(mint.distributed, "get_rank", f)
    monkeypatch.setattr(_backend.misc, "DeviceCtx", f); mock.patch.object(_backend.distributed, "get_rank", f)
"""

from __future__ import annotations

import ast
from collections.abc import Callable

import libcst as cst

from ms2torch import calls
from ms2torch.context import FileContext, Reference
from ms2torch.rule import Edit, rule
from ms2torch.rules._api import by_name, patched, placeholder, spelled, state_of, unresolved, with_parens

DTYPES = "_backend.dtypes"


@rule("MS110", ast.Call)
def look(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Call)
    if not (
        isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr") and len(node.args) > 1
    ):
        return None
    owner = node.args[0]
    ref = ctx.reference(owner)
    if ref is None or ctx.bindings(node.func):
        return None
    name = by_name(ctx, node, owner)
    if name is None:
        # A class takes its members along; a module's names are settled one by one.
        whole = ref.row is not None and not ref.row.module
        if not ctx.settled(node) and not whole and not (spelled(ref, "value") or "").startswith(DTYPES):
            message = (
                f"looks a name up in {ref.name} that is known at run time only; it is asked for as it is"
            )
            ctx.find(node, "MS110", "warning", message, ref.name)
        return None
    if settled := ctx.settled(node):
        ctx.count(owner, "chain", settled)
        return None
    full = f"{ctx.resolve(owner)}.{name}"
    wanted = Reference(ctx.tables.canonical(full), *(ctx.tables.find(full) or (None, "")))
    target = spelled(wanted, "value")
    if node.func.id == "hasattr":
        ctx.count(owner, "chain", "converted")
        return _to(lambda: cst.Name(str(target is not None)))
    if target is not None:
        ctx.count(owner, "chain", state_of(target))
        return _to(lambda: ctx.target(target))
    if len(node.args) == 3:
        ctx.count(owner, "chain", "converted")
        return lambda old, new: calls.atom(new.args[2].value)  # type: ignore[attr-defined]
    unresolved(ctx, owner, wanted)
    return _to(lambda: placeholder(ctx, wanted.name))


@rule("MS110", ast.Call)
def look_patch(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Call)
    owner, name = patched(ctx, node)
    if owner is None or ctx.settled(node):
        return None
    full = f"{ctx.resolve(owner)}.{name}"
    wanted = Reference(ctx.tables.canonical(full), *(ctx.tables.find(full) or (None, "")))
    target = spelled(wanted, "call")
    if target is None or "." not in target:
        unresolved(ctx, owner, wanted)
        return _on(lambda: placeholder(ctx, wanted.name))
    home, _, last = target.rpartition(".")
    ctx.count(owner, "chain", state_of(target))
    return _on(lambda: ctx.target(home), last)


def _on(owner: Callable[[], cst.BaseExpression], name: str | None = None) -> Edit:
    """Patches another object, under another name if one is given."""

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(new, cst.Call)
        args = [new.args[0].with_changes(value=owner()), *new.args[1:]]
        if name is not None:
            args[1] = args[1].with_changes(value=cst.SimpleString(f'"{name}"'))
        return new.with_changes(args=args)

    return edit


def _to(make: Callable[[], cst.BaseExpression]) -> Edit:
    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(old, cst.BaseExpression)
        return with_parens(old, make())

    return edit
