"""Counts a source's MindSpore references by another way than the engine's, so that the two can be compared.

A reference is an imported alias, a longest dotted chain rooted at a name that was imported from MindSpore or
hyper_parallel (through the project's own modules or not), or a string that names such a module or object.
Scopes and re-exports are worked out here again, without the engine's collector and index.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

PACKAGES = ("mindspore", "hyper_parallel")
DOTTED = re.compile(r"(mindspore|hyper_parallel)(\.[A-Za-z_]\w*)+")
PLAIN = re.compile(r"(mindspore|hyper_parallel)(\.[A-Za-z_]\w*)*")
LOOKUPS = ("import_module", "__import__", "find_spec", "patch", "setattr", "importorskip", "locate")
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def ours(name: str) -> bool:
    """Whether a dotted name lies in one of the packages."""
    return name.partition(".")[0] in PACKAGES


def count(files: Mapping[str, str]) -> int:
    """References of all files."""
    project = Project(files)
    return sum(len(project.places(path)) for path in project.trees)


class Project:
    """The modules of a source, by path and by name."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.trees = {path: ast.parse(text) for path, text in files.items() if path.endswith(".py")}
        self.paths = {
            path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in self.trees
        }

    def places(self, path: str) -> list[tuple[int, int, str]]:
        """(line, column, kind) of each reference of one file."""
        return sorted(_Counter(self, path).found)

    def source(self, node: ast.ImportFrom, path: str) -> str:
        """The absolute module that a statement of a file names."""
        if not node.level:
            return node.module or ""
        folders = path.split("/")[: -node.level]
        return ".".join([*folders, *([node.module] if node.module else [])])

    def exported(self, module: str, seen: tuple[str, ...] = ()) -> dict[str, str]:
        """What a project module's top level imports: local name -> dotted name."""
        path = self.paths.get(module)
        if path is None or module in seen:
            return {}
        names: dict[str, str] = {}
        stack: list[ast.AST] = [self.trees[path]]
        while stack:
            node = stack.pop(0)
            if isinstance(node, ast.Import):
                for alias in node.names:
                    local = alias.asname or alias.name.partition(".")[0]
                    names[local] = alias.name if alias.asname else local
            elif isinstance(node, ast.ImportFrom):
                base = self.source(node, path)
                for alias in node.names:
                    if alias.name == "*":
                        names = self.exported(base, (*seen, module)) | names
                    else:
                        names[alias.asname or alias.name] = f"{base}.{alias.name}"
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                text = ast.unparse(node.value)
                if text.partition(".")[0] in names and re.fullmatch(r"[\w.]+", text):
                    head, dot, tail = text.partition(".")
                    names.setdefault(node.targets[0].id, names[head] + dot + tail)
            if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                stack[:0] = ast.iter_child_nodes(node)
        return names

    def leads_out(self, name: str, depth: int = 0) -> bool:
        """Whether a dotted name ends in one of the packages."""
        if ours(name):
            return True
        parts = name.split(".")
        for end in range(len(parts), 0, -1):
            module = ".".join(parts[:end])
            if module in self.paths:
                if end == len(parts) or depth > 20:
                    return False
                target = self.exported(module).get(parts[end])
                return target is not None and self.leads_out(".".join([target, *parts[end + 1 :]]), depth + 1)
        return False


class _Counter(ast.NodeVisitor):
    """Walks one file; a name is what the innermost scope that binds it imports it as."""

    def __init__(self, project: Project, path: str) -> None:
        self.project, self.path = project, path
        tree = project.trees[path]
        self.found: list[tuple[int, int, str]] = []
        self.imported: dict[int, dict[str, str]] = {}
        self.parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self._imports(tree, (tree,))
        self.visit(tree)

    def _imports(self, node: ast.AST, scope: tuple[ast.AST, ...]) -> None:
        """Names that each scope imports."""
        given: dict[str, str] = {}
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                given[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            base = self.project.source(node, self.path)
            for alias in node.names:
                if alias.name == "*":
                    given |= self.project.exported(base)
                else:
                    given[alias.asname or alias.name] = f"{base}.{alias.name}"
        elif isinstance(node, ast.Assign):
            # A second name of a module, as `P = ms.ops`: what is read from it is read from the framework.
            for target in node.targets:
                source = ast.unparse(node.value)
                head, dot, tail = source.partition(".")
                known = next(
                    (i[head] for s in reversed(scope) if head in (i := self.imported.get(id(s), {}))), ""
                )
                if (
                    isinstance(target, ast.Name)
                    and ours(known)
                    and re.fullmatch(r"[a-z_.]+", known + dot + tail)
                ):
                    given[target.id] = known + dot + tail
        for local, target in given.items():
            declared = any(isinstance(n, ast.Global) and local in n.names for n in ast.walk(scope[-1]))
            names = self.imported.setdefault(id(scope[0] if declared else scope[-1]), {})
            if not ours(names.get(local, "")):
                names[local] = target
        inner = (*scope, node) if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else scope
        for child in ast.iter_child_nodes(node):
            self._imports(child, inner)

    def imported_as(self, name: ast.Name) -> str | None:
        """The dotted name that a name was imported as."""
        innermost = True
        for scope in self._around(name):
            if self._binds(scope, name.id) and (innermost or not isinstance(scope, ast.ClassDef)):
                return self.imported.get(id(scope), {}).get(name.id)
            innermost = False
        return None

    def _around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The scopes around a node, innermost first; what stands in a definition's head is outside of it."""
        child, parent = node, self.parents.get(node)
        while parent is not None:
            if isinstance(parent, COMPREHENSIONS):
                first = parent.generators[0]
                if child is not first or node not in set(ast.walk(first.iter)):
                    yield parent
            elif isinstance(parent, ast.Module):
                yield parent
            elif isinstance(parent, (*FUNCTIONS, ast.ClassDef)):
                body = parent.body if isinstance(parent.body, list) else [parent.body]
                if child in body:
                    yield parent
            child, parent = parent, self.parents.get(parent)

    def _binds(self, scope: ast.AST, name: str) -> bool:
        if isinstance(scope, COMPREHENSIONS):
            targets = [n for g in scope.generators for n in ast.walk(g.target)]
            return any(isinstance(n, ast.Name) and n.id == name for n in targets)
        if isinstance(scope, FUNCTIONS):
            args = scope.args
            every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
            if any(a is not None and a.arg == name for a in every):
                return True
        own = list(self._own(scope))
        if any(isinstance(n, ast.Global | ast.Nonlocal) and name in n.names for n in own):
            return False
        if name in self.imported.get(id(scope), ()):
            return True
        for node in own:
            if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
                return True
            if name in (getattr(node, "name", None), getattr(node, "rest", None)):
                return True
        return False

    def _own(self, scope: ast.AST) -> Iterator[ast.AST]:
        """The nodes of a scope that lie in no inner one; the inner definitions themselves are among them."""
        body = getattr(scope, "body", [])
        stack = list(body) if isinstance(body, list) else [body]
        while stack:
            node = stack.pop()
            yield node
            if isinstance(node, COMPREHENSIONS):
                stack += [n for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
            elif not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                stack.extend(ast.iter_child_nodes(node))

    def note(self, node: ast.AST, kind: str) -> None:
        """One reference."""
        self.found.append((node.lineno, node.col_offset, kind))  # type: ignore[attr-defined]

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if ours(alias.name):
                self.note(alias, "alias")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if ours(node.module or "") and not node.level:
                self.note(alias, "alias")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        parts: list[str] = []
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            parts.insert(0, root.attr)
            root = root.value
        if not isinstance(root, ast.Name):
            self.visit(root)
            return
        target = self.imported_as(root)
        if target is not None and self.project.leads_out(".".join([target, *parts])):
            self.note(node, "chain")

    def visit_Name(self, node: ast.Name) -> None:
        target = self.imported_as(node) if isinstance(node.ctx, ast.Load) else None
        if target is not None and self.project.leads_out(target):
            self.note(node, "chain")

    def visit_Constant(self, node: ast.Constant) -> None:
        parent = self.parents[node]
        if not isinstance(node.value, str) or isinstance(parent, ast.Expr | ast.JoinedStr):
            return
        looked_up = isinstance(parent, ast.Call) and ast.unparse(parent.func).rpartition(".")[2] in LOOKUPS
        if (PLAIN if looked_up else DOTTED).fullmatch(node.value):
            self.note(node, "string")
