"""A MindSpore name that is not called becomes the torch or `_backend` name that means the same there.

The place decides: an annotation, `isinstance` or match pattern takes the class (`torch.Tensor`), a base class
its base form, an alias such as `self.cast = ops.cast` a function with MindSpore's calling convention.

    x: ms.Tensor; self.cast = ops.cast; y = ms.float32
    x: torch.Tensor; self.cast = _backend.ops.cast; y = torch.float32
"""

from __future__ import annotations

import ast

import libcst as cst

from ms2torch.context import FileContext
from ms2torch.rule import Edit, rule
from ms2torch.rules._api import (
    by_name,
    in_pattern,
    patched,
    placeholder,
    spelled,
    state_of,
    unresolved,
    with_parens,
)


@rule("MS102", ast.Name, ast.Attribute)
def look(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Name | ast.Attribute)
    parent = ctx.parents.get(node)
    if isinstance(parent, ast.Attribute):
        return None  # part of a longer chain, which is seen whole
    ref = ctx.reference(node)
    if ref is None or (isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)):
        return None
    role = ctx.role(node)
    if role == "call" or by_name(ctx, parent, node) is not None or patched(ctx, parent)[0] is node:
        return None
    if settled := ctx.settled(node):
        ctx.count(node, "chain", settled)
        return None
    target = None if isinstance(node.ctx, ast.Del) else spelled(ref, role)
    use = ctx.uses.of(node)
    if target is None:
        unresolved(ctx, node, ref)
        if isinstance(node, ast.Name) or role == "store":
            return None  # the import statement binds a placeholder
        if in_pattern(ctx, node):
            return lambda old, new: ctx.target("_backend.Missing")
        return lambda old, new: with_parens(old, placeholder(ctx, ref.name))  # type: ignore[arg-type]
    ctx.count(node, "chain", state_of(target))
    if role == "store":
        ctx.find(
            node,
            "MS102",
            "warning",
            f"assigns to a name of the framework: {ref.name} is now {target}",
            ref.name,
        )
    if ref.row is not None and ref.row.note and role == "base":
        ctx.find(node, "MS102", "note", f"{ref.name}: {ref.row.note}", ref.name)
    if isinstance(node, ast.Name) and use is not None and use.kept == target:
        return None

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(old, cst.BaseExpression)
        return with_parens(old, ctx.target(target))

    return edit
