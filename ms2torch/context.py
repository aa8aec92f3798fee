"""What a rule may ask about one file, and where it leaves its findings and needs."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from ms2torch.index import ClassInfo, Index
from ms2torch.infer import Inference, class_kind
from ms2torch.model import Finding, Severity
from ms2torch.order import Order
from ms2torch.scopes import Binding, Scope
from ms2torch.tables import PACKAGES, Row, Tables
from ms2torch.types import Type

# The states that a reference or site can end in.
STATES = ("converted", "adapted", "grafted", "guarded", "unresolved")


@dataclass(frozen=True, slots=True)
class Reference:
    """A name of MindSpore or hyper_parallel in the code: its dotted name, its row and what follows the row."""

    name: str
    row: Row | None
    rest: str


@dataclass(slots=True)
class Needs:
    """Imports that the rewritten file needs at its top."""

    modules: set[str] = field(default_factory=set)  # "torch", "_backend", "numpy"


class FileContext:
    """One file under rewrite: resolved names, receiver types, tables, the project index."""

    def __init__(
        self,
        path: str,
        module: str,
        tree: ast.Module,
        order: Order,
        scopes: dict[ast.AST, Scope],
        reads: dict[ast.AST, Scope],
        tables: Tables,
        index: Index,
        backend: str,
        legacy: frozenset[str] = frozenset(),
    ) -> None:
        self.path = path
        self.module = module
        self.tree = tree
        self.parents = order.parents
        self.nodes = order.nodes
        self.scopes = scopes
        self.reads = reads
        self.tables = tables
        self.index = index
        self.backend = backend  # dotted name of the `_backend` package; "_backend" beside a script
        self.legacy = legacy  # modules that stay MindSpore code and are imported under a guard
        self.needs = Needs()
        self.findings: list[Finding] = []
        self.states: dict[tuple[int, int, str], str] = {}  # (line, column, kind) -> state
        self.kept: dict[ast.AST, str] = {}  # import statement alias -> target it is imported from now
        self._names: dict[ast.AST, str | None] = {}
        self.types = Inference(tables, index, module, scopes, self.scope_of, self.parents, self.resolve)

    def scope_of(self, node: ast.AST) -> Scope:
        """The scope that a node stands in."""
        found = self.reads.get(node)
        while found is None:
            if node not in self.parents:
                return self.scopes[self.tree]
            node = self.parents[node]
            found = self.scopes.get(node) or self.reads.get(node)
        return found

    def bindings(self, node: ast.Name) -> list[Binding]:
        """The bindings that a name may stand for here; none for a builtin."""
        found = self.scope_of(node).lookup(node.id)
        return found[1] if found else []

    def written(self, node: ast.AST) -> str | None:
        """Dotted name that a chain stands for by this file's imports and definitions, unresolved across files."""
        if isinstance(node, ast.Attribute):
            head = self.written(node.value)
            return f"{head}.{node.attr}" if head else None
        if not isinstance(node, ast.Name):
            return None
        found = self.scope_of(node).lookup(node.id)
        if found is None:
            return None
        scope, bindings = found
        targets = {b.target for b in bindings if b.kind == "import"}
        if targets:
            # A fallback (`except ImportError: x = None`) does not change what the name is when it is there.
            return targets.pop() if len(targets) == 1 else _preferred(targets)
        if any(b.kind in ("class", "def") for b in bindings) and scope.parent is None:
            return f"{self.module}.{node.id}"
        return None

    def resolve(self, node: ast.AST) -> str | None:
        """Dotted name of a chain of names, followed through the project's re-exports; None if it is no import."""
        if node in self._names:
            return self._names[node]
        written = self.written(node)
        found = self.index.resolve(written) if written else None
        self._names[node] = found
        return found

    @functools.cached_property
    def is_library(self) -> bool:
        """Whether the file belongs to a package (so that `_backend` has a dotted home)."""
        return "." in self.backend

    def reference(self, node: ast.AST) -> Reference | None:
        """The MindSpore reference that a longest dotted chain is, or None."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
        name = self.resolve(node)
        if name is None or name.partition(".")[0] not in PACKAGES:
            return None
        found = self.tables.find(name)
        return Reference(self.tables.canonical(name), *(found or (None, "")))

    def role(self, node: ast.AST) -> str:
        """How a reference is used: "call", "base", "type", "store", "decorator" or "value"."""
        parent = self.parents.get(node)
        if isinstance(node, ast.Name | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            return "store"
        if isinstance(parent, ast.Call) and parent.func is node:
            return "call"
        if isinstance(parent, ast.ClassDef) and node in parent.bases:
            return "base"
        return "type" if self._is_type(node) else "value"

    def _is_type(self, node: ast.AST) -> bool:
        child, parent = node, self.parents.get(node)
        while isinstance(parent, ast.Tuple | ast.List | ast.BinOp | ast.Subscript | ast.Starred):
            child, parent = parent, self.parents.get(parent)
        if isinstance(parent, ast.arg):
            return True
        if isinstance(parent, ast.AnnAssign):
            return child is parent.annotation
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
            return child is parent.returns
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
            return parent.func.id in ("isinstance", "issubclass") and child in parent.args[1:]
        if isinstance(parent, ast.MatchClass):
            return child is parent.cls
        return isinstance(parent, ast.ExceptHandler)

    def type_of(self, node: ast.expr) -> Type | None:
        """Receiver type of an expression, or None."""
        return self.types.type_of(node)

    def class_info(self, node: ast.ClassDef) -> ClassInfo | None:
        """The index' entry for a top-level class of this file."""
        return self.index.find_class(self.types.class_name(node))

    def kind_of_class(self, node: ast.ClassDef) -> str | None:
        """"Module", "Optimizer", … for a class of this file: by its bases, or by the classes it is mixed into."""
        info = self.class_info(node)
        if info is None or info.node.lineno != node.lineno:
            return self._local_kind(node)
        kind = class_kind(info.full, self.index, self.tables)
        if kind is not None:
            return kind
        heirs = {class_kind(heir, self.index, self.tables) for heir in self.index.heirs(info.full)} - {None}
        return heirs.pop() if len(heirs) == 1 else None

    def _local_kind(self, node: ast.ClassDef) -> str | None:
        """The kind of a class that the index does not hold: one inside a function or another class."""
        for base in node.bases:
            name = self.resolve(base)
            kind = class_kind(name, self.index, self.tables) if name else None
            if kind is None and isinstance(base, ast.Name):
                made = next((b.node for b in self.bindings(base) if b.kind == "class"), None)
                if isinstance(made, ast.ClassDef) and made is not node:
                    kind = self.kind_of_class(made)
            if kind is not None:
                return kind
        return None

    def enclosing(self, node: ast.AST, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        """The nodes of some kinds around a node, innermost first."""
        outer = self.parents.get(node)
        while outer is not None:
            if isinstance(outer, kinds):
                yield outer
            outer = self.parents.get(outer)

    def target(self, dotted: str) -> cst.BaseExpression:
        """The expression for a target such as `torch.nn.functional.relu` or `_backend.ops.cast`; notes the import."""
        self.need(dotted)
        return cst.parse_expression(dotted)

    def need(self, dotted: str) -> None:
        """Note that the file refers to a target by its dotted name."""
        root = dotted.partition(".")[0]
        if root in ("torch", "_backend", "numpy", "math"):
            self.needs.modules.add(root)

    def find(self, node: ast.AST, code: str, severity: Severity, message: str, name: str = "", state: str = "") -> None:
        """Leave a finding at a node."""
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1
        self.findings.append(Finding(self.path, line, column, code, severity, message, name, state))

    def count(self, node: ast.AST, kind: str, state: str) -> None:
        """Say in which state a reference ("alias", "chain", "string") or a "site" ended."""
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1
        self.states[(line, column, kind)] = state


def _preferred(targets: set[str]) -> str | None:
    """Of several imports of one name, the MindSpore one if all lead into it; else nothing certain."""
    roots = {target.partition(".")[0] for target in targets}
    return min(targets) if roots <= set(PACKAGES) else None
