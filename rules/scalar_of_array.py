"""`float(x.asnumpy())` of a one-element tensor of any rank: numpy 2.4 converts only scalar arrays.

MindSpore holds numpy below 2, where an array of shape (1,) is a number too; the port does not.

    float(loss.asnumpy())
    float(_backend.tensor.asnumpy(loss).item())
    float(_backend.members.scalar(_backend.tensor.asnumpy(loss)))  # where loss may be no tensor
"""

from __future__ import annotations

import ast

import libcst as cst

from ms2torch.context import FileContext
from ms2torch.rule import Edit, rule
from ms2torch.types import TENSORS


@rule("MS115", ast.Call)
def look(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Call)
    if not (isinstance(node.func, ast.Name) and node.func.id in ("float", "int", "bool")):
        return None
    if len(node.args) != 1 or node.keywords or ctx.bindings(node.func) or ctx.settled(node):
        return None
    inner = node.args[0]
    if not (
        isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "asnumpy"
    ):
        return None
    receiver = ctx.type_of(inner.func.value)
    known = receiver is not None and receiver.head in TENSORS
    ctx.count(node, "site", "converted" if known else "adapted")

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(new, cst.Call)
        if not known:
            one = cst.Call(ctx.target("_backend.members.scalar"), [cst.Arg(new.args[0].value)])
            return new.with_changes(args=[new.args[0].with_changes(value=one)])
        item = cst.Call(cst.Attribute(new.args[0].value, cst.Name("item")))
        return new.with_changes(args=[new.args[0].with_changes(value=item)])

    return edit
