"""One file: analysed with `ast`, rewritten in one LibCST pass. Pure: bytes in, bytes and findings out."""

from __future__ import annotations

import ast
import codecs
import io
import tokenize
from collections import Counter
from collections.abc import Sequence

import libcst as cst

from ms2torch.context import FileContext, FileOptions
from ms2torch.index import Index
from ms2torch.model import FileResult, Finding, SourceFile
from ms2torch.order import flatten
from ms2torch.rule import Edit, by_kind
from ms2torch.scopes import collect
from ms2torch.tables import Tables
from ms2torch.transform import JoinError, Transform

# Apache-2.0 asks for a notice in changed files; it marks generated files too.
CHANGED = "# Changed by ms2torch: ported from MindSpore to PyTorch."
# The kinds of references; everything else that is counted is a site.
REFERENCES = ("alias", "chain", "string")
NOT_PARSED = "MS002"
JOIN_FAULT = "MS003"


def decode(data: bytes) -> tuple[str, str, bytes]:
    """(text, encoding, byte order mark) of a source file by Python's own rules; raises SyntaxError."""
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    body = data[len(mark) :]
    try:
        return body.decode("utf-8" if mark else encoding), "utf-8" if mark else encoding, mark
    except UnicodeDecodeError as error:
        line = body[: error.start].count(b"\n") + 1
        made = SyntaxError(f"is not {encoding}: byte {body[error.start]:#x}")
        made.lineno, made.offset = line, 1
        raise made from None


def parse(data: bytes) -> ast.Module:
    """The `ast` of a file; raises SyntaxError (ValueError for NUL bytes is turned into one)."""
    text, _, _ = decode(data)
    try:
        return ast.parse(text)
    except ValueError as error:
        raise SyntaxError(str(error)) from None
    except RecursionError:
        raise SyntaxError("nests too deeply to be parsed") from None


def broken(path: str, error: SyntaxError) -> Finding:
    """The finding for a file that cannot be parsed; it is copied as it is."""
    message = f"not parsed, left as it is: {error.msg}"
    return Finding(
        path, error.lineno or 1, error.offset or 1, NOT_PARSED, "error", message, state="unresolved"
    )


def rewrite(
    file: SourceFile, module: str, tree: ast.Module, tables: Tables, index: Index, options: FileOptions
) -> FileResult:
    """One file's port. A file that needs no change keeps its bytes."""
    order = flatten(tree)
    scopes, reads = collect(tree, options.package)
    context = FileContext(file.path, module, tree, order, scopes, reads, tables, index, options)
    edits: dict[ast.AST, list[Edit]] = {}
    rules = by_kind()
    for node in order.nodes:
        for one in rules.get(type(node), ()):
            edit = one.look(node, context)
            if edit is not None:
                edits.setdefault(node, []).append(edit)
    data = file.data
    if edits:
        try:
            data = _edited(file.data, context, order, edits)
        except (cst.ParserSyntaxError, JoinError, RecursionError) as error:
            # The text of a ParserSyntaxError needs the position, which is wrong for an empty tail.
            reason = error.message if isinstance(error, cst.ParserSyntaxError) else str(error)
            message = f"left as it is: {' '.join(reason.split())[:200]}"
            context.findings = [Finding(file.path, 1, 1, JOIN_FAULT, "error", message, state="unresolved")]
            context.states = dict.fromkeys(context.states, "unresolved")
            data = file.data
    found = Counter(
        f"{'references' if kind in REFERENCES else 'sites'}.{state}"
        for (_, _, kind), state in context.states.items()
    )
    findings = tuple(sorted(set(context.findings)))
    return FileResult(file.path, data, findings, data != file.data, found)


def _edited(data: bytes, context: FileContext, order: object, edits: dict[ast.AST, list[Edit]]) -> bytes:
    text, encoding, mark = decode(data)
    module = cst.parse_module(text)
    transform = Transform(order, edits)  # type: ignore[arg-type]
    changed = module.visit(transform)
    if transform.at != len(transform.nodes):
        raise JoinError("LibCST has fewer nodes than ast")
    body = _with_imports(changed, context, transform)
    code = changed.with_changes(body=body[0], footer=body[1]).code
    return mark + marked(code, module.default_newline).encode(encoding)


def marked(code: str, newline: str) -> str:
    """The text with the line that says it was changed, after the comments at its head (the licence)."""
    lines = code.splitlines(keepends=True)
    at = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    if any(CHANGED in line for line in lines[:at]):
        return code
    if at and not lines[at - 1].endswith(("\n", "\r")):
        lines[at - 1] += newline
    return "".join([*lines[:at], CHANGED + newline, *lines[at:]])


def _with_imports(
    module: cst.Module, context: FileContext, transform: Transform
) -> tuple[list[cst.BaseStatement], Sequence[cst.EmptyLine]]:
    """The module's statements with the root imports put in, and its footer."""
    lines = [cst.parse_statement(line, module.config_for_parsing) for line in context.root_imports()]
    body = list(module.body)
    if lines:
        spot = _spot(body, transform)
        if spot < len(body) and id(body[spot]) in transform.gone:
            gone = body[spot]
            assert isinstance(gone, cst.SimpleStatementLine)
            lines[0] = lines[0].with_changes(leading_lines=gone.leading_lines)
            body[spot : spot + 1] = lines
        else:
            if spot < len(body):
                head = getattr(body[spot], "leading_lines", ())
                if _is_import(body[spot]):
                    lines[0] = lines[0].with_changes(leading_lines=head)
                    body[spot] = body[spot].with_changes(leading_lines=())
                elif not head:
                    body[spot] = body[spot].with_changes(leading_lines=[cst.EmptyLine(indent=False)])
            body[spot:spot] = lines
    kept, rest = transform.settle(body)
    return kept, [*rest, *module.footer]


def _is_import(node: cst.BaseStatement) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and any(
        isinstance(small, cst.Import | cst.ImportFrom) for small in node.body
    )


def _spot(body: Sequence[cst.BaseStatement], transform: Transform) -> int:
    """Where the root imports go: before the first changed statement, but within the leading imports."""
    head = 0
    for i, line in enumerate(body):
        if not isinstance(line, cst.SimpleStatementLine) or id(line) in transform.gone:
            break
        if (i == 0 and _is_docstring(line)) or _is_future(line):
            head = i + 1
        elif not _is_docstring(line):
            break
    places = [i for i, line in enumerate(body) if id(line) in transform.changed or id(line) in transform.gone]
    start = max(head, min(places, default=head))
    if start < len(body) and (id(body[start]) in transform.gone or _is_import(body[start])):
        return start
    block = head
    for i in range(head, start):
        if _is_import(body[i]):
            block = i + 1
    return block


def _is_docstring(line: cst.SimpleStatementLine) -> bool:
    return (
        len(line.body) == 1
        and isinstance(line.body[0], cst.Expr)
        and isinstance(line.body[0].value, cst.SimpleString | cst.ConcatenatedString)
    )


def _is_future(line: cst.SimpleStatementLine) -> bool:
    small = line.body[0] if line.body else None
    return (
        isinstance(small, cst.ImportFrom)
        and isinstance(small.module, cst.Name)
        and small.module.value == "__future__"
    )
