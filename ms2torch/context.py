"""What a rule may ask about one file, and where it leaves its findings and needs."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from ms2torch import hints, roles
from ms2torch.index import ClassInfo, Index
from ms2torch.infer import Inference
from ms2torch.kinds import class_kind
from ms2torch.model import Finding, Severity
from ms2torch.order import Order
from ms2torch.scopes import Binding, Scope
from ms2torch.tables import PACKAGES, Row, Tables
from ms2torch.types import Type

if TYPE_CHECKING:
    from ms2torch.uses import Uses

ROOTS = frozenset(("torch", "_backend", "numpy", "math", "functools"))
# A root at the head of a dotted name inside a target or template.
ROOT = re.compile(
    r"^(torch|_backend|numpy|math|functools)$|(?<![\w.])(torch|_backend|numpy|math|functools)(?=\.)"
)
# The states that a reference or site can end in.
STATES = ("converted", "adapted", "grafted", "guarded", "unresolved")


@dataclass(frozen=True, slots=True)
class Reference:
    """A name of MindSpore or hyper_parallel in the code: its dotted name, its row, what follows the row."""

    name: str
    row: Row | None
    rest: str


@dataclass(frozen=True, slots=True)
class FileOptions:
    """What the plan says of one file."""

    package: str = ""  # the package that relative imports start from
    backend: str = "_backend"  # dotted name of the `_backend` package; "_backend" beside a script
    legacy: frozenset[str] = frozenset()  # modules that stay MindSpore code, imported under a guard
    guarded: frozenset[str] = frozenset()  # definitions ("Class.method" too) that stay MindSpore code
    grafted: frozenset[str] = frozenset()  # definitions ("Class.method" too) that an overlay replaces
    exported: frozenset[str] = frozenset()  # names that other files import from this one
    names_mindspore: bool = True  # whether the file's text names a MindSpore package


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
        options: FileOptions,
    ) -> None:
        self.path = path
        self.module = module
        self.package = options.package
        self.options = options
        self.tree = tree
        self.parents = order.parents
        self.nodes = order.nodes
        self.scopes = scopes
        self.reads = reads
        self.tables = tables
        self.index = index
        self.needs = Needs()
        self.findings: list[Finding] = []
        self.states: dict[tuple[int, int, str], str] = {}  # (line, column, kind) -> state
        self._names: dict[ast.AST, str | None] = {}
        self._aliases: list[Binding] = []
        # Annotations written as strings, and the names in them.
        self.strings = hints.parse(order.nodes, order.parents)
        self.types = Inference(
            tables, index, module, scopes, self.scope_of, self.parents, self.resolve, self.strings
        )

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
        """Dotted name that a chain stands for by this file's own imports and definitions."""
        if isinstance(node, ast.Attribute):
            head = self.written(node.value)
            return f"{head}.{node.attr}" if head else None
        if not isinstance(node, ast.Name):
            return None
        found = self.scope_of(node).lookup(node.id)
        if found is None:
            return self._starred(node.id)
        scope, bindings = found
        targets = {b.target for b in bindings if b.kind == "import"}
        if targets:
            # A fallback (`except ImportError: x = None`) does not change what the name is when it is there.
            return targets.pop() if len(targets) == 1 else _preferred(targets)
        if len(bindings) == 1 and (module := self._module_alias(bindings[0])) is not None:
            return module
        if any(b.kind in ("class", "def") for b in bindings) and scope.parent is None:
            return f"{self.module}.{node.id}"
        return None

    def _module_alias(self, binding: Binding) -> str | None:
        """The framework's module that `P = ms.ops` names again: its names are settled one by one."""
        if binding.kind != "assign" or not isinstance(binding.node, ast.Name):
            return None
        if not isinstance(binding.value, ast.Name | ast.Attribute) or binding in self._aliases:
            return None
        self._aliases.append(binding)  # an alias of itself is none
        try:
            name = self.resolve(binding.value)
        finally:
            self._aliases.pop()
        if name is None or name.partition(".")[0] not in PACKAGES:
            return None
        found = self.tables.find(name)
        is_module = (found is None or found[0].module) and name.rpartition(".")[2].islower()
        return name if is_module else None

    def _starred(self, name: str) -> str | None:
        """What a name that is bound nowhere stands for if `from … import *` of a project module brings it."""
        info = self.index.modules.get(self.module)
        if info is None or not info.stars:
            return None
        full = f"{self.module}.{name}"
        found = self.index.resolve(full)
        return found if found != full else None

    def resolve(self, node: ast.AST) -> str | None:
        """Dotted name of a chain, followed through the project's re-exports; None if it is no import."""
        if node in self._names:
            return self._names[node]
        written = self.written(node)
        found = self.index.resolve(written) if written else None
        self._names[node] = found
        return found

    @property
    def names_mindspore(self) -> bool:
        """Whether the file's text names a MindSpore package: else only unique names are touched."""
        return self.options.names_mindspore

    @functools.cached_property
    def uses(self) -> Uses:
        """How the file uses each MindSpore name that it imports."""
        from ms2torch.uses import Uses

        return Uses(self, self.options.exported)

    @functools.cached_property
    def _settled(self) -> dict[ast.AST, str]:
        found: dict[ast.AST, str] = {}
        for node in self.tree.body:
            name = getattr(node, "name", None)
            if name in self.options.guarded or self._is_guard(node):
                found.update(dict.fromkeys(ast.walk(node), "guarded"))
            if name in self.options.grafted:
                found.update(dict.fromkeys(ast.walk(node), "grafted"))
            for inner in node.body if isinstance(node, ast.ClassDef) else ():
                member = f"{name}.{getattr(inner, 'name', '')}"
                if member in self.options.grafted or member in self.options.guarded:
                    state = "grafted" if member in self.options.grafted else "guarded"
                    found.update(dict.fromkeys(ast.walk(inner), state))
        return found

    def _is_guard(self, node: ast.stmt) -> bool:
        return isinstance(node, ast.If) and ast.unparse(node.test).endswith("_backend.HAS_MINDSPORE")

    def settled(self, node: ast.AST) -> str | None:
        """ "guarded" or "grafted" for a node that no rule may touch: guard or overlay answers for it."""
        return self._settled.get(node)

    @functools.cached_property
    def free_names(self) -> frozenset[str]:
        """Names that the file reads but binds nowhere."""
        return frozenset(
            node.id
            for node in self.nodes
            if isinstance(node, ast.Name) and self.scope_of(node).lookup(node.id) is None
        )

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
        """How a reference is used: "call", "base", "type", "store", "value", or "class" for a value that is
        compared as a class if it is one."""
        parent = self.parents.get(node)
        if isinstance(node, ast.Name | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            return "store"
        if isinstance(parent, ast.Call) and parent.func is node:
            return "call"
        if isinstance(parent, ast.ClassDef) and node in parent.bases:
            return "base"
        if roles.is_type(node, self):
            return "type"
        return "class" if roles.is_class(node, self) else "value"

    def type_of(self, node: ast.expr) -> Type | None:
        """Receiver type of an expression, or None."""
        return self.types.type_of(node)

    def class_info(self, node: ast.ClassDef) -> ClassInfo | None:
        """The index' entry for a top-level class of this file."""
        return self.index.find_class(self.types.class_name(node))

    def kind_of_class(self, node: ast.ClassDef) -> str | None:
        """ "Module", "Optimizer", … for a class of this file: by its bases, or what it is mixed into."""
        info = self.class_info(node)
        if info is None or info.line != node.lineno:
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
        """The expression for a target such as `torch.nn.functional.relu`; notes the import that it needs."""
        self.need(dotted)
        return cst.parse_expression(self.localised(dotted))

    def need(self, dotted: str) -> None:
        """Note which of `torch`, `_backend` and the like a target or template refers to."""
        self.needs.modules.update(match.group() for match in ROOT.finditer(dotted))

    def localised(self, dotted: str) -> str:
        """A target or template with its roots spelled as this file imports them."""
        return ROOT.sub(lambda match: self.root(match.group()), dotted)

    @functools.cached_property
    def _taken(self) -> frozenset[str]:
        """Roots that the file itself binds to something else."""
        taken: set[str] = set()
        for scope in self.scopes.values():
            for name in ROOTS & scope.names.keys():
                homes = (name, f"{self.options.backend}")
                if any(b.kind != "import" or b.target not in homes for b in scope.names[name]):
                    taken.add(name)
        return frozenset(taken)

    def root(self, name: str) -> str:
        """The local name of `torch` or `_backend` here: another one where the file uses the name itself."""
        return f"_ms_{name.strip('_')}" if name in self._taken else name

    def spell_import(self, target: str) -> str:
        """A target as an import statement names it: `_backend` by its dotted home."""
        head, _, rest = target.partition(".")
        return f"{self.options.backend}.{rest}" if head == "_backend" else target

    def root_imports(self) -> list[str]:
        """Import lines for the roots that the rewritten file needs and does not import yet."""
        lines: list[str] = []
        module_names = self.scopes[self.tree].names
        for name in sorted(self.needs.modules - {"_backend"}):
            here = self.root(name)
            if here != name:
                lines.append(f"import {name} as {here}")
            elif not any(_at_top(b, self.tree) for b in module_names.get(name, ())):
                lines.append(f"import {name}")
        if "_backend" in self.needs.modules:
            home, _, _ = self.options.backend.rpartition(".")
            here = self.root("_backend")
            alias = "" if here == "_backend" else f" as {here}"
            if here != "_backend" or not module_names.get("_backend"):
                lines.append(f"from {home} import _backend{alias}" if home else f"import _backend{alias}")
        return lines

    def member_row(self, receiver: ast.expr, name: str) -> Row | None:
        """The row of a method or attribute read from a receiver, None where it must be left alone."""
        owner = self.type_of(receiver)
        if owner is None:
            return self._unknown_row(receiver, name)
        if owner.foreign or (owner.head.startswith("class:") and self._defines(owner.head[6:], name)):
            return None
        return self.types.member(owner, name)

    def _unknown_row(self, receiver: ast.expr, name: str) -> Row | None:
        if isinstance(receiver, ast.Call) and ast.unparse(receiver.func) == "super":
            return None
        row = self.tables.unique.get(name)
        if row is not None or not self.names_mindspore:
            return row
        # An adapter hands a receiver that is none of these to the receiver's own method.
        for owner in ("mindspore.Parameter", "mindspore.Tensor", "mindspore.nn.Cell"):
            row = self.tables.method(owner, name)
            if row is not None and (row.to or "").startswith("_backend."):
                return row
        return None

    def _defines(self, full: str, name: str) -> bool:
        info = self.index.find_class(full)
        if info is None:
            return False
        chain = [info, *(c for b in self.index.ancestors(info) if (c := self.index.find_class(b)))]
        return any(name in c.methods for c in chain)

    def find(
        self, node: ast.AST, code: str, severity: Severity, message: str, name: str = "", state: str = ""
    ) -> None:
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


def _at_top(binding: Binding, tree: ast.Module) -> bool:
    return binding.kind == "import" and binding.node in tree.body
