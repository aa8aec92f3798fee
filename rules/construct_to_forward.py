"""`construct` of a Cell becomes `forward` of a module, and `step` of an optimizer.

Only in classes that are Cells through any chain of project classes, or that a Cell inherits from; the calls
by name follow their receiver (`super().construct`, `self.block.construct`, `getattr(net, "construct")`).
Where the receiver's type is known at run time only, `_backend.nn.construct` finds out.

    class Net(nn.Cell):
        def construct(self, x): return super().construct(x)

    class Net(_backend.nn.Module):
        def forward(self, x): return super().forward(x)
"""

from __future__ import annotations

import ast

import libcst as cst

from ms2torch import calls
from ms2torch.context import FileContext
from ms2torch.kinds import class_kind
from ms2torch.rule import Edit, rule
from ms2torch.rules._api import with_parens

METHODS = {"Module": "forward", "Optimizer": "step"}
WORD = "construct"


@rule("MS101", ast.FunctionDef, ast.AsyncFunctionDef)
def look_definition(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    owner = ctx.parents.get(node)
    if node.name != WORD or not isinstance(owner, ast.ClassDef) or ctx.settled(node):
        return None
    new_name = METHODS.get(ctx.kind_of_class(owner) or "")
    if new_name is None:
        return None
    if any(isinstance(n, ast.FunctionDef) and n.name == new_name for n in owner.body):
        message = f"{owner.name} defines {new_name} already; rename one of them"
        ctx.find(node, "MS101", "error", message, state="unresolved")
        ctx.count(node, "site", "unresolved")
        return None
    ctx.count(node, "site", "converted")
    return lambda old, new: new.with_changes(name=cst.Name(new_name))


@rule("MS101", ast.Attribute)
def look_use(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Attribute)
    if node.attr != WORD or ctx.settled(node) or ctx.reference(node) is not None:
        return None
    new_name = _method(node.value, ctx)
    if new_name is None:
        return _unknown(node, ctx)
    ctx.count(node, "site", "converted")
    return lambda old, new: new.with_changes(attr=cst.Name(new_name))


def _unknown(node: ast.Attribute, ctx: FileContext) -> Edit | None:
    """A receiver that may be a module: what is read is found at run time."""
    if not _may_be_cell(node.value, ctx):
        return None
    if not isinstance(node.ctx, ast.Load):
        if not _is_plain_write(ctx.parents.get(node)):  # else `look_write` sees to it
            message = "construct of a receiver of unknown type is written: write forward if it is a module"
            ctx.find(node, "MS101", "warning", message, state="unresolved")
            ctx.count(node, "site", "unresolved")
        return None
    ctx.count(node, "site", "adapted")

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(new, cst.Attribute)
        return with_parens(
            new, cst.Call(ctx.target("_backend.nn.construct"), [cst.Arg(calls.bare(new.value))])
        )

    return edit


@rule("MS101", ast.Assign)
def look_write(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Assign)
    target = node.targets[0]
    if not (_is_plain_write(node) and isinstance(target, ast.Attribute) and target.attr == WORD):
        return None
    if ctx.settled(node) or _method(target.value, ctx) is not None or not _may_be_cell(target.value, ctx):
        return None
    ctx.count(target, "site", "adapted")

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(new, cst.Assign)
        place = new.targets[0].target
        assert isinstance(place, cst.Attribute)
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        args = [cst.Arg(calls.bare(place.value), comma=comma), cst.Arg(calls.bare(new.value))]
        return cst.Expr(cst.Call(ctx.target("_backend.nn.set_construct"), args), semicolon=new.semicolon)

    return edit


@rule("MS101", ast.Call)
def look_dynamic(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Call)
    if not (isinstance(node.func, ast.Name) and node.func.id in ("getattr", "setattr", "hasattr")):
        return None
    if len(node.args) < 2 or not (isinstance(node.args[1], ast.Constant) and node.args[1].value == WORD):
        return None
    new_name = _method(node.args[0], ctx)
    if new_name is None:
        if ctx.names_mindspore and ctx.type_of(node.args[0]) is None:
            message = "construct by name on a receiver of unknown type: write forward if it is a module"
            ctx.find(node, "MS101", "warning", message, state="unresolved")
        return None

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(new, cst.Call)
        args = list(new.args)
        args[1] = args[1].with_changes(value=cst.SimpleString(f'"{new_name}"'))
        return new.with_changes(args=args)

    return edit


def _is_plain_write(node: ast.AST | None) -> bool:
    return (
        isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Attribute)
    )


def _may_be_cell(receiver: ast.expr, ctx: FileContext) -> bool:
    """Whether a receiver's type, and with it what `construct` means, is known at run time only."""
    unknown = ctx.type_of(receiver) is None and ctx.resolve(receiver) is None
    return ctx.names_mindspore and unknown and not _is_plain_self(receiver, ctx)


def _is_plain_self(node: ast.expr, ctx: FileContext) -> bool:
    """Whether a receiver is `self` or `super()` of a class that is no Cell."""
    is_super = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
    return is_super or (isinstance(node, ast.Name) and node.id in ("self", "cls"))


def _method(receiver: ast.expr, ctx: FileContext) -> str | None:
    """What `construct` of a receiver is called now; None where it is no module or unknown."""
    if _is_plain_self(receiver, ctx):
        owner = next(ctx.enclosing(receiver, ast.ClassDef), None)
        return METHODS.get((ctx.kind_of_class(owner) if isinstance(owner, ast.ClassDef) else None) or "")
    name = ctx.resolve(receiver)
    if name is not None:
        return METHODS.get(class_kind(name, ctx.index, ctx.tables) or "")
    found = ctx.type_of(receiver)
    if found is None:
        return None
    head = found.head
    if head.startswith("class:"):
        head = class_kind(head[6:], ctx.index, ctx.tables) or ""
    return METHODS.get(head)
