"""`del` of an imported name that the port no longer imports goes with the import.

import mindspore as ms; del ms
# nothing
"""

from __future__ import annotations

import ast

import libcst as cst

from ms2torch.context import FileContext
from ms2torch.rule import Edit, Lines, rule


@rule("MS114", ast.Delete)
def look(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Delete)
    if ctx.settled(node):
        return None
    gone = {t.id for t in node.targets if isinstance(t, ast.Name) and _is_gone(t, ctx)}
    if not gone:
        return None

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode | Lines:
        assert isinstance(new, cst.Del)
        if isinstance(new.target, cst.Name):
            return Lines([])
        assert isinstance(new.target, cst.Tuple)
        left = [
            e for e in new.target.elements if not (isinstance(e.value, cst.Name) and e.value.value in gone)
        ]
        if not left:
            return Lines([])
        left[-1] = left[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return new.with_changes(
            target=new.target.with_changes(elements=left) if len(left) > 1 else left[0].value
        )

    return edit


def _is_gone(name: ast.Name, ctx: FileContext) -> bool:
    """Whether every binding of a name is an import that does not stay."""
    bindings = ctx.bindings(name)
    uses = [ctx.uses.by_key.get((id(b.node), name.id)) for b in bindings]
    return bool(uses) and all(use is not None and not use.bound for use in uses)
