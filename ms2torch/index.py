"""The project index: every module's imports, classes and re-exports, from one quick `ast` scan of all files.

It answers what one file cannot know alone: where a project name comes from, which classes a class descends
from across files, which modules import which. Function bodies are read for imports only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ms2torch.model import SourceFile
from ms2torch.scopes import absolute


@dataclass(frozen=True, slots=True)
class ImportSite:
    """One name that an import statement asks for; `name` is None for `import module`, "*" for a star."""

    module: str
    name: str | None
    line: int
    nested: bool


@dataclass(slots=True)
class ClassInfo:
    """A class: its bases as they are written, and the methods that its body defines."""

    module: str
    name: str
    bases: tuple[str, ...]
    methods: frozenset[str]
    line: int

    @property
    def full(self) -> str:
        """Dotted name."""
        return f"{self.module}.{self.name}"


@dataclass(slots=True)
class ModuleInfo:
    """What the index knows of one module."""

    name: str
    path: str
    is_package: bool
    imports: list[ImportSite] = field(default_factory=list)
    bound: dict[str, str] = field(default_factory=dict)  # module-level name -> what it was imported as
    classes: dict[str, ClassInfo] = field(default_factory=dict)
    functions: dict[str, str | None] = field(default_factory=dict)  # name -> dotted return annotation
    aliases: dict[str, str] = field(default_factory=dict)  # X = a.b.c
    assigned: set[str] = field(default_factory=set)
    stars: list[str] = field(default_factory=list)
    exports: tuple[str, ...] | None = None  # __all__, where it is a plain list

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    def public(self) -> list[str]:
        """Names that a star import takes."""
        if self.exports is not None:
            return list(self.exports)
        names = {*self.bound, *self.classes, *self.functions, *self.aliases, *self.assigned}
        return sorted(name for name in names if not name.startswith("_"))


def dotted(node: ast.AST | None) -> str | None:
    """`a.b.c` for a chain of attributes rooted at a name, else None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def module_name(path: str) -> str:
    """Dotted name of the module in a file, its path being relative to the import root."""
    name = path.removesuffix(".py").replace("/", ".")
    return name.removesuffix(".__init__") if name.endswith(".__init__") or name == "__init__" else name


def scan(name: str, path: str, tree: ast.Module) -> ModuleInfo:
    """What one parsed module offers and asks for."""
    info = ModuleInfo(name, path, path.endswith("__init__.py"))
    _statements(tree.body, info, nested=False)
    return info


def _statements(body: Iterable[ast.AST], info: ModuleInfo, nested: bool) -> None:
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                info.imports.append(ImportSite(alias.name, None, node.lineno, nested))
                if not nested:
                    top = alias.name.partition(".")[0]
                    info.bound[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node, info.package)
            for alias in node.names:
                info.imports.append(ImportSite(base, alias.name, node.lineno, nested))
                if alias.name == "*":
                    info.stars.append(base)
                elif not nested:
                    info.bound[alias.asname or alias.name] = f"{base}.{alias.name}"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not nested:
                info.functions[node.name] = dotted(node.returns)
            _statements(node.body, info, nested=True)
        elif isinstance(node, ast.ClassDef):
            if not nested:
                methods = frozenset(
                    n.name for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
                )
                bases = tuple(name for base in node.bases if (name := dotted(base)))
                info.classes[node.name] = ClassInfo(info.name, node.name, bases, methods, node.lineno)
            _statements(node.body, info, nested=True)
        elif isinstance(node, ast.Assign):
            if not nested:
                _assign(node, info)
        elif isinstance(node, ast.AnnAssign):
            if not nested and isinstance(node.target, ast.Name):
                info.assigned.add(node.target.id)
        elif isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            _statements(_suites(node), info, nested)


def _suites(node: ast.AST) -> Iterator[ast.AST]:
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        yield from getattr(node, name, ())


def _assign(node: ast.Assign, info: ModuleInfo) -> None:
    for target in node.targets:
        for name in target.elts if isinstance(target, ast.Tuple) else [target]:
            if not isinstance(name, ast.Name):
                continue
            info.assigned.add(name.id)
            source = dotted(node.value)
            if source and target is name:
                info.aliases[name.id] = source
            if name.id == "__all__" and isinstance(node.value, ast.List | ast.Tuple):
                values = [e.value for e in node.value.elts if isinstance(e, ast.Constant)]
                if len(values) == len(node.value.elts):
                    info.exports = tuple(str(v) for v in values)


@dataclass(slots=True)
class Index:
    """All modules of a tree, and questions across them."""

    modules: Mapping[str, ModuleInfo]
    by_path: Mapping[str, ModuleInfo]
    _resolved: dict[str, str] = field(default_factory=dict)
    _mixins: dict[str, set[str]] | None = None

    def split(self, name: str) -> tuple[ModuleInfo, str] | None:
        """The module that a dotted project name lies in, and the rest of the name."""
        end = len(name)
        while end > 0:
            info = self.modules.get(name[:end])
            if info is not None:
                return info, name[end + 1 :]
            end = name.rfind(".", 0, end)
        return None

    def resolve(self, name: str, _seen: frozenset[str] = frozenset()) -> str:
        """Follow imports and re-exports of a dotted name to where it is defined, or out of the project."""
        known = self._resolved.get(name)
        if known is not None:
            return known
        if name in _seen:
            return name
        found = self._step(name, _seen | {name})
        if not _seen:
            self._resolved[name] = found
        return found

    def _step(self, name: str, seen: frozenset[str]) -> str:
        place = self.split(name)
        if place is None:
            return name
        info, rest = place
        if not rest:
            return name
        head, _, tail = rest.partition(".")
        tail = f".{tail}" if tail else ""
        if head in info.classes or head in info.functions:
            return name
        if head in info.bound:
            return self.resolve(info.bound[head] + tail, seen)
        if head in info.aliases:
            return self.resolve(self.absolute(info, info.aliases[head]) + tail, seen)
        for star in info.stars:
            source = self.modules.get(star)
            if source is not None and (head in source.public() or (head in source.bound)):
                return self.resolve(f"{star}.{head}{tail}", seen)
        return name

    def absolute(self, info: ModuleInfo, written: str) -> str:
        """What a dotted name at the top level of a module stands for, before re-exports are followed."""
        head, _, tail = written.partition(".")
        tail = f".{tail}" if tail else ""
        if head in info.bound:
            return info.bound[head] + tail
        return f"{info.name}.{written}"

    def takes(self, info: ModuleInfo, packages: tuple[str, ...]) -> bool:
        """Whether a module gets a name of foreign packages, or a class built on one, from a project module."""
        for site in info.imports:
            source = self.modules.get(site.module)
            if source is None:
                continue
            names = source.public() if site.name == "*" else [site.name] if site.name else []
            # `from . import base` and `import pkg.base`: `base.ops` may be one.
            whole = source if site.name is None else self.modules.get(f"{site.module}.{site.name}")
            if whole is not None:
                names = []
                if any(target.partition(".")[0] in packages for target in whole.bound.values()):
                    return True
            for name in names:
                full = self.resolve(f"{site.module}.{name}")
                found = self.find_class(full)
                family = [full, *(self.ancestors(found) if found is not None else ())]
                if any(member.partition(".")[0] in packages for member in family):
                    return True
        return False

    def find_class(self, name: str) -> ClassInfo | None:
        """The project class of a resolved dotted name."""
        place = self.split(name)
        if place is None or not place[1]:
            return None
        return place[0].classes.get(place[1])

    def bases(self, info: ClassInfo) -> list[str]:
        """Resolved dotted names of a class' direct bases, project or foreign."""
        module = self.modules[info.module]
        return [self.resolve(self.absolute(module, base)) for base in info.bases]

    def ancestors(self, info: ClassInfo) -> Iterator[str]:
        """Every base of a class, through project classes, nearest first, each once."""
        queue, seen = [info], {info.full}
        while queue:
            for base in self.bases(queue.pop(0)):
                if base in seen:
                    continue
                seen.add(base)
                yield base
                inner = self.find_class(base)
                if inner is not None:
                    queue.append(inner)

    def heirs(self, full: str) -> set[str]:
        """Project classes that inherit from a project class, at any depth."""
        if self._mixins is None:
            self._mixins = {}
            for module in self.modules.values():
                for info in module.classes.values():
                    for base in self.ancestors(info):
                        self._mixins.setdefault(base, set()).add(info.full)
        return self._mixins.get(full, set())


def build(files: Iterable[tuple[SourceFile, ast.Module, str]]) -> Index:
    """The index of parsed files, each with its module's name."""
    modules: dict[str, ModuleInfo] = {}
    by_path: dict[str, ModuleInfo] = {}
    for file, tree, name in files:
        info = scan(name, file.path, tree)
        modules[name] = by_path[file.path] = info
    return Index(modules, by_path)
