"""The one LibCST traversal of a file: walks beside the `ast` sequence and applies the edits on the way up."""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Mapping, Sequence

import libcst as cst

from ms2torch.order import Order
from ms2torch.rule import Edit, Lines

# LibCST class -> the `ast` classes that stand at the same place.
PARTNERS: dict[type[cst.CSTNode], tuple[type[ast.AST], ...]] = {
    cst.Name: (ast.Name,),
    cst.Attribute: (ast.Attribute,),
    cst.Call: (ast.Call,),
    cst.Subscript: (ast.Subscript,),
    cst.SimpleString: (ast.Constant,),
    cst.ConcatenatedString: (ast.Constant,),
    cst.FunctionDef: (ast.FunctionDef, ast.AsyncFunctionDef),
    cst.ClassDef: (ast.ClassDef,),
    cst.Return: (ast.Return,),
    cst.Del: (ast.Delete,),
    cst.Assign: (ast.Assign,),
    cst.AugAssign: (ast.AugAssign,),
    cst.AnnAssign: (ast.AnnAssign,),
    cst.For: (ast.For, ast.AsyncFor),
    cst.While: (ast.While,),
    cst.If: (ast.If,),
    cst.With: (ast.With, ast.AsyncWith),
    cst.Match: (ast.Match,),
    cst.Raise: (ast.Raise,),
    cst.Try: (ast.Try,),
    cst.Assert: (ast.Assert,),
    cst.Import: (ast.Import,),
    cst.ImportFrom: (ast.ImportFrom,),
    cst.Global: (ast.Global,),
    cst.Nonlocal: (ast.Nonlocal,),
    cst.Expr: (ast.Expr,),
    cst.Pass: (ast.Pass,),
    cst.Break: (ast.Break,),
    cst.Continue: (ast.Continue,),
}
for _cst_name, _ast_name in (("TryStar", "TryStar"), ("TypeAlias", "TypeAlias")):
    if hasattr(cst, _cst_name) and hasattr(ast, _ast_name):
        PARTNERS[getattr(cst, _cst_name)] = (getattr(ast, _ast_name),)

# Nodes that hold no name, statement or string: not worth a visit.
BARREN = (
    cst.SimpleWhitespace,
    cst.ParenthesizedWhitespace,
    cst.TrailingWhitespace,
    cst.EmptyLine,
    cst.Newline,
    cst.Comment,
    cst.Comma,
    cst.Dot,
    cst.AssignEqual,
    cst.LeftParen,
    cst.RightParen,
    cst.LeftSquareBracket,
    cst.RightSquareBracket,
    cst.Colon,
    cst.Integer,
    cst.Float,
    cst.Import,
    cst.ImportFrom,
    cst.Global,
    cst.Nonlocal,
)
# Names that are no expressions: (class, fields that hold them).
LABELS: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.Attribute: ("attr",),
    cst.Arg: ("keyword",),
    cst.Param: ("name",),
    cst.FunctionDef: ("name",),
    cst.ClassDef: ("name",),
    cst.MatchAs: ("name",),
    cst.MatchStar: ("name",),
    cst.MatchMapping: ("rest",),
    cst.MatchKeywordElement: ("key",),
}


class JoinError(Exception):
    """The two trees differ; a fault of this tool, reported and never edited around."""


class Transform(cst.CSTTransformer):
    """Applies `edits` (by `ast` node) to the LibCST tree of the same text."""

    def __init__(self, order: Order, edits: Mapping[ast.AST, Sequence[Edit]]) -> None:
        super().__init__()
        self.nodes, self.ends = order.nodes, order.ends
        self.edits = edits
        # before[i]: how many of nodes[:i] have edits, so that a subtree without any is known at once
        self.before = [0]
        for node in order.nodes:
            self.before.append(self.before[-1] + (node in edits))
        self.at = 0
        self.labels: set[int] = set()
        self.pending: dict[int, Sequence[Edit]] = {}
        self.lines: list[cst.BaseStatement] = []
        self.has_lines = False
        self.gone: set[int] = set()  # top-level lines that became nothing
        self.changed: set[int] = set()  # statements with an edit in them, as they are now
        self._keep: list[cst.CSTNode] = []  # keeps the ids in `gone` and `changed` valid

    def on_visit(self, node: cst.CSTNode) -> bool:
        kind = type(node)
        if kind in PARTNERS and not (id(node) in self.labels and self._drop_label(node)):
            if kind is cst.Name and node.value in ("None", "True", "False"):  # type: ignore[attr-defined]
                return False
            if kind in (cst.SimpleString, cst.ConcatenatedString) and not _is_text(node):
                return kind is cst.ConcatenatedString and self._label_parts(node)
            return self._pair(node)
        if isinstance(node, BARREN):
            return False
        self._label(node)
        return True

    def _drop_label(self, node: cst.CSTNode) -> bool:
        self.labels.discard(id(node))
        return True

    def _label(self, node: cst.CSTNode) -> None:
        for name in LABELS.get(type(node), ()):
            part = getattr(node, name)
            if part is not None:
                self.labels.add(id(part))
        if isinstance(node, cst.ExceptHandler | cst.ExceptStarHandler) and node.name is not None:
            self.labels.add(id(node.name.name))

    def _label_parts(self, node: cst.CSTNode) -> bool:
        """The plain parts of a concatenation with an f-string in it are no literals of their own in `ast`."""
        assert isinstance(node, cst.ConcatenatedString)
        for part in (node.left, node.right):
            if isinstance(part, cst.ConcatenatedString):
                self.labels.add(id(part))
                self._label_parts(part)
            elif isinstance(part, cst.SimpleString):
                self.labels.add(id(part))
        return True

    def _pair(self, node: cst.CSTNode) -> bool:
        if self.at >= len(self.nodes):
            raise JoinError(f"LibCST has a {type(node).__name__} more than ast")
        partner = self.nodes[self.at]
        if not isinstance(partner, PARTNERS[type(node)]) or _name(node) != _name(partner):
            kinds = f"{type(node).__name__} against {type(partner).__name__}"
            raise JoinError(f"line {getattr(partner, 'lineno', 0)}: {kinds}")
        end = self.ends[self.at]
        if self.before[end] == self.before[self.at]:
            self.at = end
            return False
        if partner in self.edits:
            self.pending[id(node)] = self.edits[partner]
        self.at += 1
        self._label(node)
        if isinstance(node, cst.ConcatenatedString):
            self._label_parts(node)
        return not isinstance(node, BARREN)

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        edits = self.pending.pop(id(original_node), None)
        for edit in edits or ():
            result = edit(original_node, updated_node)
            if isinstance(result, Lines):
                self.lines.extend(result.statements)
                self.has_lines = True
                return cst.RemoveFromParent()  # type: ignore[return-value]
            updated_node = result
        if isinstance(updated_node, cst.SimpleStatementLine):
            assert isinstance(original_node, cst.SimpleStatementLine)
            if len(original_node.body) == len(updated_node.body) and all(
                a is b for a, b in zip(original_node.body, updated_node.body, strict=True)
            ):
                return original_node
            return self._line(updated_node)
        if isinstance(updated_node, cst.BaseCompoundStatement) and updated_node is not original_node:
            self._mark(updated_node)
        if isinstance(updated_node, cst.FormattedString) and updated_node is not original_node:
            return _requoted(updated_node)
        if isinstance(updated_node, cst.SimpleStatementSuite):
            return self._suite(updated_node)
        if isinstance(updated_node, cst.IndentedBlock):
            return self._block(updated_node)
        return updated_node

    def _mark(self, *statements: cst.CSTNode) -> None:
        self._keep.extend(statements)
        self.changed.update(id(statement) for statement in statements)

    def _taken(self) -> list[cst.BaseStatement]:
        taken, self.lines, self.has_lines = self.lines, [], False
        return taken

    def _line(self, line: cst.SimpleStatementLine) -> cst.CSTNode:
        if not self.has_lines:
            self._mark(line)
            return line
        new = self._taken()
        if line.body:
            both = _headed([*new, line.with_changes(leading_lines=())], line.leading_lines)
            self._mark(*both)
            return cst.FlattenSentinel(both)  # type: ignore[return-value]
        if new:
            made = _headed(new, line.leading_lines)
            last = made[-1]
            if line.trailing_whitespace.comment is not None and isinstance(last, cst.SimpleStatementLine):
                made[-1] = last.with_changes(trailing_whitespace=line.trailing_whitespace)
            self._mark(*made)
            return cst.FlattenSentinel(made)  # type: ignore[return-value]
        # `pass` marks the place until its block has seen to its comments; LibCST drops an empty line at once.
        line = line.with_changes(body=[cst.Pass()])
        self._keep.append(line)
        self.gone.add(id(line))
        return line

    def _suite(self, suite: cst.SimpleStatementSuite) -> cst.CSTNode:
        if not self.has_lines:
            return suite
        new = self._taken()
        if not suite.body and not new:
            return suite.with_changes(body=[cst.Pass()])
        rest = [cst.SimpleStatementLine(suite.body)] if suite.body else []
        return cst.IndentedBlock([*new, *rest])

    def _block(self, block: cst.IndentedBlock) -> cst.CSTNode:
        if not any(id(line) in self.gone for line in block.body):
            return block
        body, rest = self.settle(block.body)
        if not body:
            body = [cst.SimpleStatementLine([cst.Pass()])]
        elif id(block.body[0]) in self.gone and not any(e.comment for e in _head(body[0])):
            # A blank line that set imports apart from the code says nothing without them.
            body[0] = body[0].with_changes(leading_lines=())
        return block.with_changes(body=body, footer=[*rest, *block.footer])

    def settle(
        self, body: Sequence[cst.BaseStatement]
    ) -> tuple[list[cst.BaseStatement], list[cst.EmptyLine]]:
        """A block without its emptied lines; their comments move to the statement after them."""
        kept: list[cst.BaseStatement] = []
        carried: list[cst.EmptyLine] = []
        for line in body:
            if id(line) in self.gone:
                assert isinstance(line, cst.SimpleStatementLine)
                if any(e.comment is not None for e in line.leading_lines):
                    carried.extend(line.leading_lines)
                elif not kept and not carried:
                    pass
                elif line.leading_lines and not carried:
                    carried.extend(e for e in line.leading_lines if e.comment is None)
                continue
            if carried:
                line = _headed([line], carried)[0]
                carried = []
            kept.append(line)
        return kept, [e for e in carried if e.comment is not None]


def _head(line: cst.BaseStatement) -> Sequence[cst.EmptyLine]:
    return getattr(line, "leading_lines", ())


def _headed(lines: Sequence[cst.BaseStatement], head: Sequence[cst.EmptyLine]) -> list[cst.BaseStatement]:
    """Statements with comments and blank lines put before the first."""
    first = lines[0]
    own = list(getattr(first, "leading_lines", ()))
    blanks = [e for e in head if e.comment is None]
    if own and len(blanks) == len(head):
        # Both have only blank lines at the joint: the longer run of them is enough.
        merged = own if any(e.comment for e in own) or len(own) >= len(head) else list(head)
    else:
        merged = [*head, *own]
    return [first.with_changes(leading_lines=merged), *lines[1:]]


class _Requote(cst.CSTTransformer):
    def __init__(self, quote: str) -> None:
        super().__init__()
        self.quote = quote

    def leave_SimpleString(
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.SimpleString:
        other = "'" if self.quote == '"' else '"'
        text = updated_node.value
        if self.quote in text and other not in text and "\\" not in text:
            return updated_node.with_changes(value=text.replace(self.quote, other))
        return updated_node


def _requoted(node: cst.FormattedString) -> cst.FormattedString:
    """An f-string whose replacement fields use its other quote: before Python 3.12 they may not share one."""
    if len(node.end) != 1:
        return node
    quote = _Requote(node.end)
    parts = [p if isinstance(p, cst.FormattedStringText) else p.visit(quote) for p in node.parts]
    return node.with_changes(parts=parts)


def _is_text(node: cst.CSTNode) -> bool:
    """Whether a string literal is one `str` constant to `ast`."""
    if isinstance(node, cst.SimpleString):
        return "b" not in node.prefix.lower()
    if isinstance(node, cst.ConcatenatedString):
        return _is_text(node.left) and _is_text(node.right)
    return False


def _identifier(written: str) -> str:
    """A name as Python compares it."""
    return written if written.isascii() else unicodedata.normalize("NFKC", written)


def _name(node: cst.CSTNode | ast.AST) -> str | None:
    """What must be equal on both sides beside the kind."""
    if isinstance(node, cst.Name):
        return _identifier(node.value)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, cst.Attribute):
        return _identifier(node.attr.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, cst.FunctionDef | cst.ClassDef):
        return _identifier(node.name.value)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    return None
