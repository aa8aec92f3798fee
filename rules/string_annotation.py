"""An annotation written as a string names torch's classes, so that `typing.get_type_hints` finds them.

def f(x: "ms.Tensor") -> "list[Tensor]": ...
def f(x: "torch.Tensor") -> "list[Tensor]": ...  # with `from torch import Tensor`
"""

from __future__ import annotations

import ast

import libcst as cst

from ms2torch import hints
from ms2torch.context import FileContext, Reference
from ms2torch.rule import Edit, rule
from ms2torch.rules._api import NAME, reason, spelled, state_of, unresolved


@rule("MS111", ast.Constant)
def look(node: ast.AST, ctx: FileContext) -> Edit | None:
    tree = ctx.strings.get(node)
    if tree is None:
        return None
    assert isinstance(node, ast.Constant) and isinstance(node.value, str)
    kind = "string" if NAME.fullmatch(node.value) else "site"
    changes: list[tuple[ast.expr, str]] = []
    for chain in hints.chains(tree):
        ref = ctx.reference(chain) or _unimported(chain, ctx)
        if ref is None:
            continue
        if settled := ctx.settled(node):
            ctx.count(node, kind, settled)
            continue
        target = spelled(ref, "type")
        if target is None:
            unresolved(ctx, node, ref, f"in an annotation; {reason(ref)}", kind)
            continue
        ctx.count(node, kind, state_of(target))
        use = ctx.uses.of(chain)
        if not (isinstance(chain, ast.Name) and use is not None and use.kept == target):
            ctx.need(target)
            changes.append((chain, ctx.localised(target)))
    return _edit(_replaced(node.value, changes)) if changes else None


def _unimported(chain: ast.expr, ctx: FileContext) -> Reference | None:
    """A name of the framework that the file does not even import; only type checkers could read it."""
    text = ast.unparse(chain)
    if not NAME.fullmatch(text) or ctx.written(chain) is not None:
        return None
    return Reference(ctx.tables.canonical(text), *(ctx.tables.find(text) or (None, "")))


def _replaced(text: str, changes: list[tuple[ast.expr, str]]) -> str:
    """The annotation with its chains replaced; `ast` counts columns in bytes."""
    lines = [line.encode() for line in text.split("\n")]
    for chain, target in reversed(changes):
        at, end = chain.lineno - 1, chain.end_col_offset
        lines[at] = lines[at][: chain.col_offset] + target.encode() + lines[at][end:]
    return b"\n".join(lines).decode()


def _edit(text: str) -> Edit:
    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        if not isinstance(new, cst.SimpleString) or new.prefix or any(c in text for c in "\n\\'\""):
            return cst.SimpleString(repr(text))
        return new.with_changes(value=f"{new.quote}{text}{new.quote}")

    return edit
