"""Counts a source's MindSpore references by another way than the engine's, so that the two can be compared.

A reference is an imported alias, a longest dotted chain rooted at an imported MindSpore name, or a string that
names such a module or object. Scopes are worked out here again, name by name, without the engine's collector.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

PACKAGES = ("mindspore", "hyper_parallel")
DOTTED = re.compile(r"(mindspore|hyper_parallel)(\.[A-Za-z_]\w*)+")
PLAIN = re.compile(r"(mindspore|hyper_parallel)(\.[A-Za-z_]\w*)*")
LOOKUPS = ("import_module", "__import__", "find_spec", "patch", "setattr", "importorskip", "locate")


def ours(name: str) -> bool:
    """Whether a dotted name lies in one of the packages."""
    return name.partition(".")[0] in PACKAGES


def count(files: Mapping[str, str]) -> int:
    """References of all files."""
    return sum(len(found(text)) for path, text in files.items() if path.endswith(".py"))


def found(text: str) -> list[tuple[int, int, str]]:
    """(line, column, kind) of each reference of one file."""
    tree = ast.parse(text)
    return sorted(_Counter(tree).places)


class _Counter(ast.NodeVisitor):
    """Walks the tree; a name is ours if the innermost scope that binds it imports it."""

    def __init__(self, tree: ast.Module) -> None:
        self.places: list[tuple[int, int, str]] = []
        self.imported: dict[int, set[str]] = {}
        self.parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self._imports(tree)
        self.visit(tree)

    def _imports(self, tree: ast.Module) -> None:
        """Names that each scope imports from the packages, by scope."""

        def walk(node: ast.AST, scope: tuple[ast.AST, ...]) -> None:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    full = alias.name if isinstance(node, ast.Import) else (node.module or "")
                    if ours(full) and not getattr(node, "level", 0):
                        local = alias.asname or (
                            alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name
                        )
                        home = scope[-1]
                        declared = [
                            g for g in ast.walk(home) if isinstance(g, ast.Global) and local in g.names
                        ]
                        self.imported.setdefault(id(tree if declared else home), set()).add(local)
            inner = (
                (*scope, node)
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda)
                else scope
            )
            for child in ast.iter_child_nodes(node):
                walk(child, inner)

        walk(tree, (tree,))

    def is_ours(self, name: ast.Name) -> bool:
        """Whether a name read here is one that the packages gave."""
        scopes = [node for node in self._around(name)]
        at_first = True
        for scope in scopes:
            bound = self._binds(scope, name.id)
            if bound and (at_first or not isinstance(scope, ast.ClassDef)):
                return name.id in self.imported.get(id(scope), ())
            at_first = False
        return False

    def _around(self, node: ast.AST) -> Iterator[ast.AST]:
        child, parent = node, self.parents.get(node)
        while parent is not None:
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
                if child in parent.body:
                    yield parent
                elif child is parent.args and isinstance(node, ast.arg):
                    yield parent
            elif isinstance(parent, ast.Lambda):
                if child is parent.body:
                    yield parent
            elif isinstance(parent, ast.ClassDef):
                if child in parent.body:
                    yield parent
            elif isinstance(parent, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
                if child is not parent.generators[0] or node not in ast.walk(parent.generators[0].iter):
                    yield parent
            elif isinstance(parent, ast.Module):
                yield parent
            child, parent = parent, self.parents.get(parent)

    def _binds(self, scope: ast.AST, name: str) -> bool:
        if isinstance(scope, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            return any(
                isinstance(n, ast.Name) and n.id == name for g in scope.generators for n in ast.walk(g.target)
            )
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            args = scope.args
            every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
            if any(a is not None and a.arg == name for a in every):
                return True
        if isinstance(scope, ast.Lambda):
            return False
        declared = [
            n for n in self._own(scope) if isinstance(n, ast.Global | ast.Nonlocal) and name in n.names
        ]
        if declared:
            return False
        if name in self.imported.get(id(scope), ()):
            return True
        for node in self._own(scope):
            if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
                return True
            if isinstance(node, ast.Import | ast.ImportFrom):
                if any((a.asname or a.name.partition(".")[0]) == name for a in node.names):
                    return True
            if getattr(node, "name", None) == name or getattr(node, "rest", None) == name:
                return True
        return False

    def _own(self, scope: ast.AST) -> Iterator[ast.AST]:
        """The nodes of a scope that lie in no inner one; the inner definitions themselves are among them."""
        stack = list(getattr(scope, "body", ()))
        while stack:
            node = stack.pop()
            yield node
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
                continue
            if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
                stack += [n for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
                continue
            stack.extend(ast.iter_child_nodes(node))

    def note(self, node: ast.AST, kind: str) -> None:
        self.places.append((node.lineno, node.col_offset, kind))  # type: ignore[attr-defined]

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if ours(alias.name):
                self.note(alias, "alias")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if ours(node.module or "") and not node.level:
                self.note(alias, "alias")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name):
            if self.is_ours(root):
                self.note(node, "chain")
        else:
            self.visit(root)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and self.is_ours(node):
            self.note(node, "chain")

    def visit_Constant(self, node: ast.Constant) -> None:
        parent = self.parents[node]
        if not isinstance(node.value, str) or isinstance(parent, ast.Expr | ast.JoinedStr):
            return
        looked_up = isinstance(parent, ast.Call) and ast.unparse(parent.func).rpartition(".")[2] in LOOKUPS
        if (PLAIN if looked_up else DOTTED).fullmatch(node.value):
            self.note(node, "string")
