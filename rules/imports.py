"""Imports of MindSpore and hyper_parallel: rewritten, merged, or removed when nothing needs them.

A name whose uses all became one target keeps its local name; what has no counterpart is bound to a
placeholder that raises, on use, an error naming it. `torch` and `_backend` themselves are imported once,
at the first place that needs them.

    from mindspore import Tensor, mint
    from torch import Tensor
"""

from __future__ import annotations

import ast

import libcst as cst

from ms2torch.context import FileContext
from ms2torch.rule import Edit, Lines, rule
from ms2torch.rules._api import UNRESOLVED, state_of
from ms2torch.scopes import absolute
from ms2torch.tables import PACKAGES


@rule("MS100", ast.Import, ast.ImportFrom)
def look(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Import | ast.ImportFrom)
    module = absolute(node, ctx.package) if isinstance(node, ast.ImportFrom) else ""
    ours = [a for a in node.names if (module or a.name).partition(".")[0] in PACKAGES]
    if not ours:
        return None
    if settled := ctx.settled(node):
        for alias in ours:
            ctx.count(alias, "alias", settled)
        return None
    if any(alias.name == "*" for alias in ours):
        ctx.find(
            node,
            UNRESOLVED,
            "error",
            f"from {module} import *: which names it brings cannot be known",
            module,
        )
        ctx.count(ours[0], "alias", "unresolved")
        return None
    if isinstance(ctx.parents.get(node), ast.ClassDef):
        uses = {alias: ctx.uses.by_key.get((id(node), _local(alias, module))) for alias in ours}
        lost = [alias for alias, use in uses.items() if use is not None and not use.chains]
        for alias in lost:
            why = "imported in a class body it is an attribute, whose uses are not followed"
            ctx.find(node, UNRESOLVED, "error", f"{module or alias.name}: {why}", alias.name)
    made = [line for alias in ours for line in _lines(node, alias, module, ctx)]
    made += [
        ("guarded", ast.unparse(_only(node, alias)), "")
        for alias in ours
        if _is_guarded(node, alias, module, ctx)
    ]
    if _falls_back(node, ctx) and any(line[0] == "missing" for line in made):
        missing = next(line for line in made if line[0] == "missing")
        statements: list[cst.BaseStatement] = [
            _statement(f'raise ImportError("{missing[1]} has no torch counterpart")')
        ]
    else:
        statements = _merged(made, ctx)
    names = {alias.name for alias in ours}

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode | Lines:
        assert isinstance(new, cst.Import | cst.ImportFrom)
        if isinstance(new, cst.ImportFrom) or len(ours) == len(node.names):
            return Lines(_commented(statements, new))
        rest = [a for a in new.names if cst.Module([]).code_for_node(a.name) not in names]
        rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        left = cst.SimpleStatementLine([new.with_changes(names=rest, semicolon=cst.MaybeSentinel.DEFAULT)])
        return Lines([left, *statements])

    return edit


def _commented(statements: list[cst.BaseStatement], node: cst.CSTNode) -> list[cst.BaseStatement]:
    """The statements with the comments that stood on lines of their own between the imported names."""
    lines = [line.strip() for line in cst.Module([]).code_for_node(node).splitlines()]
    comments = [cst.EmptyLine(comment=cst.Comment(line)) for line in lines if line.startswith("#")]
    if not comments or not statements:
        return statements
    return [statements[0].with_changes(leading_lines=comments), *statements[1:]]


def _local(alias: ast.alias, module: str) -> str:
    """The name that an import binds."""
    return alias.asname or (alias.name if module else alias.name.partition(".")[0])


def _lines(
    node: ast.Import | ast.ImportFrom, alias: ast.alias, module: str, ctx: FileContext
) -> list[tuple[str, str, str]]:
    """("from", target, local name), ("missing", name, local name) or nothing for one imported name."""
    local = _local(alias, module)
    full = f"{module}.{alias.name}" if module else alias.name
    use = ctx.uses.by_key.get((id(node), local))
    if use is None:
        ctx.count(alias, "alias", "converted")
        return []
    if use.kept is not None:
        ctx.count(alias, "alias", state_of(use.kept))
        return [("from", use.kept, local)]
    found = ctx.tables.find(full)
    if use.missing:
        if found is None or found[0].unsupported is None:
            why = "no row of the mapping tables says what it becomes"
        else:
            why = found[0].unsupported
        ctx.count(alias, "alias", "unresolved")
        ctx.find(alias, UNRESOLVED, "error", f"{ctx.tables.canonical(full)}: {why}", full, "unresolved")
        return [("missing", full, local)]
    ctx.count(alias, "alias", "converted")
    return []


def _merged(made: list[tuple[str, str, str]], ctx: FileContext) -> list[cst.BaseStatement]:
    """Import statements for the kept names, one a module, and placeholders for the missing ones."""
    modules: dict[str, list[str]] = {}
    statements: list[cst.BaseStatement] = []
    for kind, target, local in made:
        if kind == "from":
            home, _, name = ctx.spell_import(target).rpartition(".")
            entry = name if name == local else f"{name} as {local}"
            if entry not in modules.setdefault(home, []):
                modules[home].append(entry)
    for home, names in modules.items():
        if not home:
            statements += [_statement(f"import {name}") for name in names]
            continue
        line = f"from {home} import {', '.join(names)}"
        if len(line) > 100:
            line = f"from {home} import (\n    " + ",\n    ".join(names) + ",\n)"
        statements.append(_statement(line))
    guarded = [target for kind, target, _ in made if kind == "guarded"]
    if guarded:
        ctx.need("_backend.HAS_MINDSPORE")
        lines = "".join(f"    {line}\n" for line in guarded)
        statements.append(_statement(ctx.localised("if _backend.HAS_MINDSPORE:\n") + lines))
    for kind, target, local in made:
        if kind == "missing":
            owner, _, last = target.rpartition(".")
            ctx.need("_backend.unavailable")
            made_by = f'unavailable("{owner}", "{last}")' if owner else f'unavailable_module("{last}")'
            statements.append(_statement(f"{local} = {ctx.root('_backend')}.{made_by}"))
    return statements


def _only(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> ast.stmt:
    """The statement with one of its names."""
    if isinstance(node, ast.Import):
        return ast.Import([alias])
    return ast.ImportFrom(node.module, [alias], node.level)


def _is_guarded(node: ast.AST, alias: ast.alias, module: str, ctx: FileContext) -> bool:
    local = _local(alias, module)
    use = ctx.uses.by_key.get((id(node), local))
    return use is not None and use.guarded


def _statement(code: str) -> cst.BaseStatement:
    return cst.parse_statement(code)


def _falls_back(node: ast.AST, ctx: FileContext) -> bool:
    """Whether the statement stands in a `try` that catches ImportError: the code brings its own fallback."""
    parent = ctx.parents.get(node)
    if not isinstance(parent, ast.Try) or node not in parent.body:
        return False
    names = {ast.unparse(h.type) if h.type else "ImportError" for h in parent.handlers}
    return any(word in name for name in names for word in ("ImportError", "ModuleNotFoundError", "Exception"))
