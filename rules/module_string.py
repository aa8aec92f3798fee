"""A string that names a MindSpore module or object: converted where a literal says all, else a finding.

`unittest.mock.patch("mindspore.…")` and `importlib.import_module("mindspore.…")` look names up when they run,
so a name left in a string fails late.

    patch("mindspore.mint.distributed.get_rank")
    patch("pkg._backend.distributed.get_rank")
"""

from __future__ import annotations

import ast
import re

import libcst as cst

from ms2torch.context import FileContext, Reference
from ms2torch.rule import Edit, rule
from ms2torch.rules._api import NAME, reason, spelled, state_of, unresolved

BARE = re.compile(r"(mindspore|hyper_parallel)(\.[A-Za-z_]\w*)*")
PLACEHOLDERS = ("backend.unavailable", "backend.unavailable_module")
LOOKUPS = ("import_module", "__import__", "find_spec", "patch", "setattr", "importorskip", "locate")


@rule("MS108", ast.Constant)
def look(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Constant)
    text = str(node.value)
    if node in ctx.strings:
        return None
    parent = ctx.parents.get(node)
    looked_up = isinstance(parent, ast.Call) and ast.unparse(parent.func).rpartition(".")[2] in LOOKUPS
    if isinstance(parent, ast.Call) and ast.unparse(parent.func).endswith(PLACEHOLDERS):
        return None  # of an earlier run
    if not (BARE if looked_up else NAME).fullmatch(text) or isinstance(parent, ast.Expr):
        return None
    settled = ctx.settled(node)
    if settled:
        ctx.count(node, "string", settled)
        return None
    found = ctx.tables.find(text)
    ref = Reference(ctx.tables.canonical(text), *(found or (None, "")))
    target = spelled(ref, "value")
    if target is None:
        unresolved(ctx, node, ref, f"named in a string; {reason(ref)}", "string")
        return None
    ctx.count(node, "string", state_of(target))
    new_text = ctx.spell_import(target)

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        if not isinstance(new, cst.SimpleString):
            return cst.SimpleString(repr(new_text))
        return new.with_changes(value=f"{new.prefix}{new.quote}{new_text}{new.quote}")

    return edit
