"""Python's scopes read from an `ast` tree: which binding a name stands for, with no guess.

Only what renaming needs: where each name is bound and by what kind of statement. One pass collects the
bindings of every scope; `Scope.lookup` then follows Python's rules (class bodies are invisible to the
functions in them, `global` and `nonlocal` are honoured, comprehensions are scopes of their own).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
ScopeNode = (
    ast.Module | ast.ClassDef | FunctionNode | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, *COMPREHENSIONS)


@dataclass(eq=False, slots=True)
class Binding:
    """One place that gives a name its value.

    kind: "import" (`target` is the dotted name that was imported), "parameter", "assign" (`value` is the
    whole right side, `node` the target), "for" (`value` is the iterable), "with", "except", "def", "class",
    "other".
    """

    kind: str
    node: ast.AST
    target: str = ""
    value: ast.expr | None = None


@dataclass(eq=False, slots=True)
class Scope:
    """The names bound in one module, class, function or comprehension."""

    node: ScopeNode
    parent: Scope | None
    names: dict[str, list[Binding]] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)  # name -> "global" | "nonlocal"

    @property
    def is_class(self) -> bool:
        """Whether this is a class body."""
        return isinstance(self.node, ast.ClassDef)

    def bind(self, name: str, binding: Binding) -> None:
        """Note one binding; a comprehension's walrus and `global` names go where Python puts them."""
        self.home(name).names.setdefault(name, []).append(binding)

    def home(self, name: str) -> Scope:
        """The scope that a binding of this name, written here, belongs to."""
        where = self.elsewhere.get(name)
        if where == "global":
            return self.module()
        if where == "nonlocal":
            scope = self.parent
            while scope is not None and (scope.is_class or name not in scope.names):
                scope = scope.parent
            return scope or self
        return self

    def module(self) -> Scope:
        """The module's scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def lookup(self, name: str) -> tuple[Scope, list[Binding]] | None:
        """The scope and bindings that a name read here stands for; None for a builtin or unknown name."""
        scope: Scope | None = self.home(name) if name in self.elsewhere else self
        first = True
        while scope is not None:
            if name in scope.names and (first or not scope.is_class):
                return scope, scope.names[name]
            # A comprehension inside a class body sees nothing of it but its first iterable.
            first = False
            scope = scope.parent
        return None

    def functions(self) -> Iterator[Scope]:
        """This scope and its parents, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


class _Collector:
    """Fills `scopes` with the bindings of every scope of a module."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.scopes: dict[ast.AST, Scope] = {}
        self.reads: dict[ast.AST, Scope] = {}

    def scope(self, node: ScopeNode, parent: Scope | None) -> Scope:
        made = self.scopes[node] = Scope(node, parent)
        return made

    def visit(self, node: ast.AST, scope: Scope) -> None:
        method = getattr(self, "visit_" + type(node).__name__, None)
        if method is not None:
            method(node, scope)
            return
        for child in ast.iter_child_nodes(node):
            self.visit(child, scope)

    def each(self, nodes: list[ast.stmt] | list[ast.expr], scope: Scope) -> None:
        for node in nodes:
            self.visit(node, scope)

    def visit_Name(self, node: ast.Name, scope: Scope) -> None:
        self.reads[node] = scope

    def visit_Module(self, node: ast.Module, scope: Scope) -> None:
        self.each(node.body, scope)

    def visit_ClassDef(self, node: ast.ClassDef, scope: Scope) -> None:
        scope.bind(node.name, Binding("class", node))
        self.each(node.decorator_list, scope)
        self.each(node.bases, scope)
        for keyword in node.keywords:
            self.visit(keyword.value, scope)
        self.each(node.body, self.scope(node, scope))

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        scope.bind(node.name, Binding("def", node))
        self.each(node.decorator_list, scope)
        inner = self.arguments(node, node.args, scope)
        if node.returns:
            self.visit(node.returns, scope)
        self.declare(node.body, inner)
        self.each(node.body, inner)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda, scope: Scope) -> None:
        self.visit(node.body, self.arguments(node, node.args, scope))

    def arguments(self, node: FunctionNode, args: ast.arguments, scope: Scope) -> Scope:
        inner = self.scope(node, scope)
        self.each(args.defaults, scope)
        self.each([d for d in args.kw_defaults if d is not None], scope)
        for arg in _all_arguments(args):
            if arg.annotation:
                self.visit(arg.annotation, scope)
            inner.bind(arg.arg, Binding("parameter", arg))
        return inner

    def declare(self, body: list[ast.stmt], scope: Scope) -> None:
        """`global` and `nonlocal` hold for the whole function, wherever they stand in it."""
        stack: list[ast.AST] = list(body)
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Global | ast.Nonlocal):
                word = "global" if isinstance(node, ast.Global) else "nonlocal"
                scope.elsewhere.update(dict.fromkeys(node.names, word))
            elif isinstance(node, ast.stmt | ast.excepthandler | ast.match_case) and not isinstance(
                node, SCOPES
            ):
                stack.extend(ast.iter_child_nodes(node))

    def comprehension(self, node: ast.AST, scope: Scope) -> None:
        assert isinstance(node, COMPREHENSIONS)
        inner = self.scope(node, scope)
        for i, generator in enumerate(node.generators):
            self.visit(generator.iter, scope if i == 0 else inner)
            self.target(generator.target, inner, Binding("for", generator.target, value=generator.iter))
            self.each(generator.ifs, inner)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self.each(parts, inner)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension

    def visit_Import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            scope.bind(alias.asname or top, Binding("import", node, alias.name if alias.asname else top))

    def visit_ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        base = absolute(node, self.package)
        for alias in node.names:
            if alias.name != "*":
                scope.bind(alias.asname or alias.name, Binding("import", node, f"{base}.{alias.name}"))

    def visit_Assign(self, node: ast.Assign, scope: Scope) -> None:
        self.visit(node.value, scope)
        for target in node.targets:
            self.target(target, scope, Binding("assign", target, value=node.value))

    def visit_AnnAssign(self, node: ast.AnnAssign, scope: Scope) -> None:
        self.visit(node.annotation, scope)
        if node.value:
            self.visit(node.value, scope)
        self.target(node.target, scope, Binding("annotated", node, value=node.annotation))

    def visit_AugAssign(self, node: ast.AugAssign, scope: Scope) -> None:
        self.visit(node.value, scope)
        self.target(node.target, scope, Binding("augmented", node.target, value=node.value))

    def visit_NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> None:
        self.visit(node.value, scope)
        outer = scope
        while isinstance(outer.node, COMPREHENSIONS) and outer.parent is not None:
            outer = outer.parent
        self.target(node.target, outer, Binding("assign", node.target, value=node.value))

    def visit_For(self, node: ast.For | ast.AsyncFor, scope: Scope) -> None:
        self.visit(node.iter, scope)
        self.target(node.target, scope, Binding("for", node.target, value=node.iter))
        self.each(node.body, scope)
        self.each(node.orelse, scope)

    visit_AsyncFor = visit_For

    def visit_withitem(self, node: ast.withitem, scope: Scope) -> None:
        self.visit(node.context_expr, scope)
        if node.optional_vars:
            self.target(
                node.optional_vars, scope, Binding("with", node.optional_vars, value=node.context_expr)
            )

    def visit_ExceptHandler(self, node: ast.ExceptHandler, scope: Scope) -> None:
        if node.type:
            self.visit(node.type, scope)
        if node.name:
            scope.bind(node.name, Binding("except", node))
        self.each(node.body, scope)

    def visit_MatchAs(self, node: ast.MatchAs, scope: Scope) -> None:
        if node.pattern:
            self.visit(node.pattern, scope)
        if node.name:
            scope.bind(node.name, Binding("other", node))

    def visit_MatchStar(self, node: ast.MatchStar, scope: Scope) -> None:
        if node.name:
            scope.bind(node.name, Binding("other", node))

    def visit_MatchMapping(self, node: ast.MatchMapping, scope: Scope) -> None:
        for child in ast.iter_child_nodes(node):
            self.visit(child, scope)
        if node.rest:
            scope.bind(node.rest, Binding("other", node))

    def target(self, node: ast.expr, scope: Scope, binding: Binding) -> None:
        """Bind the names of an assignment target; the expressions inside it are visited as reads."""
        if isinstance(node, ast.Name):
            self.reads[node] = scope
            scope.bind(node.id, binding)
        elif isinstance(node, ast.Tuple | ast.List):
            for element in node.elts:
                self.target(element, scope, binding)
        elif isinstance(node, ast.Starred):
            self.target(node.value, scope, binding)
        else:
            for child in ast.iter_child_nodes(node):
                self.visit(child, scope)


def _all_arguments(args: ast.arguments) -> list[ast.arg]:
    more = [a for a in (args.vararg, args.kwarg) if a is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *more]


def absolute(node: ast.ImportFrom, package: str) -> str:
    """The absolute module of a `from … import`, `package` being the package that holds the file."""
    if not node.level:
        return node.module or ""
    parts = package.split(".") if package else []
    kept = parts[: len(parts) - (node.level - 1)] if node.level > 1 else parts
    return ".".join([*kept, *([node.module] if node.module else [])])


def collect(tree: ast.Module, package: str = "") -> tuple[dict[ast.AST, Scope], dict[ast.AST, Scope]]:
    """(scope of each scope node, scope that each Name stands in); `package` resolves relative imports."""
    collector = _Collector(package)
    collector.visit(tree, collector.scope(tree, None))
    return collector.scopes, collector.reads
