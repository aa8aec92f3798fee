"""A definition that the profile names as graph-mode code stands under the guard, MindSpore and all.

class GraphNet(nn.Cell): ...

if _backend.HAS_MINDSPORE:
    class GraphNet(nn.Cell): ...
else:
    GraphNet = _backend.unavailable("pkg.mod", "GraphNet")
"""

from __future__ import annotations

import ast

import libcst as cst

from ms2torch.context import FileContext
from ms2torch.rule import Edit, rule


@rule("MS109", ast.ClassDef, ast.FunctionDef)
def look(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.ClassDef | ast.FunctionDef)
    owner = ctx.parents[node]
    name = f"{owner.name}.{node.name}" if isinstance(owner, ast.ClassDef) else node.name
    if name not in ctx.options.guarded or not (owner is ctx.tree or ctx.parents.get(owner) is ctx.tree):
        return None
    ctx.need("_backend.HAS_MINDSPORE")

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(new, cst.ClassDef | cst.FunctionDef)
        other = cst.parse_statement(
            ctx.localised(f'{node.name} = _backend.unavailable("{ctx.module}", "{name}")')
        )
        return cst.If(
            cst.parse_expression(ctx.localised("_backend.HAS_MINDSPORE")),
            cst.IndentedBlock([new.with_changes(leading_lines=())]),
            orelse=cst.Else(cst.IndentedBlock([other])),
            leading_lines=new.leading_lines,
        )

    return edit
