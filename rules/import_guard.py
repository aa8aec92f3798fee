"""An import of a legacy (graph-mode) module from ported code stands under a guard.

The guard is True only where MF_WITH_MINDSPORE=1 asks for it; otherwise each name is bound to a placeholder
that raises, on use, an error which names its module. Which modules are legacy is the profile's to say.

    from pkg.models.graph import Net

    if _backend.HAS_MINDSPORE:
        from pkg.models.graph import Net
    else:
        Net = _backend.unavailable("pkg.models.graph", "Net")
"""

from __future__ import annotations

import ast

import libcst as cst

from ms2torch.context import FileContext
from ms2torch.rule import Edit, Lines, rule
from ms2torch.scopes import absolute


@rule("MS107", ast.Import, ast.ImportFrom)
def look(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.Import | ast.ImportFrom)
    if not ctx.options.legacy or ctx.settled(node):
        return None
    if isinstance(node, ast.Import):
        legacy = {a.name for a in node.names if a.name in ctx.options.legacy}
        lines = [_module(a.asname, a.name, ctx) for a in node.names if a.name in legacy and a.asname]
    else:
        base = absolute(node, ctx.package)
        if base in ctx.options.legacy:
            legacy = {a.name for a in node.names}
            lines = _names(node, base, ctx)
        else:
            modules = [a for a in node.names if f"{base}.{a.name}" in ctx.options.legacy]
            legacy = {a.name for a in modules}
            lines = [_module(a.asname or a.name, f"{base}.{a.name}", ctx) for a in modules]
    if not legacy:
        return None
    ctx.need("_backend.HAS_MINDSPORE")
    ctx.count(node, "guard", "guarded")

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode | Lines:
        assert isinstance(new, cst.Import | cst.ImportFrom)
        inside, rest = _split(new, legacy)
        guard = cst.If(
            cst.parse_expression(ctx.localised("_backend.HAS_MINDSPORE")),
            cst.IndentedBlock([_line(inside)]),
            orelse=cst.Else(cst.IndentedBlock([cst.parse_statement(line) for line in lines]))
            if lines
            else None,
        )
        return Lines([guard] if rest is None else [_line(rest), guard])

    return edit


def _names(node: ast.ImportFrom, base: str, ctx: FileContext) -> list[str]:
    """One placeholder for each imported name, and for the sub-module itself where the file speaks of it."""
    lines: list[str] = []
    for alias in node.names:
        if alias.name == "*":
            info = ctx.index.modules.get(base)
            lines += [_class(name, base, name, ctx) for name in (info.public() if info else [])]
        elif f"{base}.{alias.name}" in ctx.options.legacy:
            lines.append(_module(alias.asname or alias.name, f"{base}.{alias.name}", ctx))
        else:
            lines.append(_class(alias.asname or alias.name, base, alias.name, ctx))
    # Importing a sub-module binds its name in the package: `__all__.extend(callback.__all__)` relies on it.
    sub = base.removeprefix(f"{ctx.module}.")
    if sub != base and "." not in sub and sub in ctx.free_names:
        lines.append(_module(sub, base, ctx))
    return lines


def _class(local: str, module: str, name: str, ctx: FileContext) -> str:
    return ctx.localised(f'{local} = _backend.unavailable("{module}", "{name}")')


def _module(local: str | None, name: str, ctx: FileContext) -> str:
    info = ctx.index.modules.get(name)
    exports = (
        f", {info.exports!r}" if info is not None and info.exports is not None and info.is_package else ""
    )
    return ctx.localised(f'{local} = _backend.unavailable_module("{name}"{exports})')


def _line(small: cst.Import | cst.ImportFrom) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([small.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])


def _split(
    node: cst.Import | cst.ImportFrom, legacy: set[str]
) -> tuple[cst.Import | cst.ImportFrom, cst.Import | cst.ImportFrom | None]:
    """The statement with only the legacy names, and the one with the others."""
    if isinstance(node.names, cst.ImportStar):
        return node, None
    code = cst.Module([]).code_for_node
    inside = [a for a in node.names if code(a.name) in legacy]
    rest = [a for a in node.names if code(a.name) not in legacy]
    if not rest:
        return node, None
    return node.with_changes(names=_closed(inside)), node.with_changes(names=_closed(rest))


def _closed(names: list[cst.ImportAlias]) -> list[cst.ImportAlias]:
    return [*names[:-1], names[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)]
