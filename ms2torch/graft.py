"""Overlays: our own definitions in the place of upstream's where tables and rules cannot express a change.

An overlay file lies under `rules/overlays/<profile>/` at the path of the file that it changes. A file that
upstream does not have is added whole. In the others each definition is marked by a decorator comment:

    # ms2torch: replaces ParallelDims.build_mesh, written for 1f2e3d4c5b6a 0a9b8c7d6e5f
    def build_mesh(self): ...

`wraps` keeps upstream's function as `_upstream_NAME` for ours to call; `precedes` and `follows` put ours
beside it. The hexadecimal words are the fingerprints of the upstream definition, one for each version that
the overlay was written for; `absent` stands for a version without the definition. Where upstream's definition
has another fingerprint the run says so, and that definition is rewritten without the overlay.
"""

from __future__ import annotations

import ast
import hashlib
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import libcst as cst

from ms2torch import rewrite
from ms2torch.errors import UserError
from ms2torch.index import Index
from ms2torch.model import Finding, SourceFile

OVERLAYS = Path(__file__).parent / "rules" / "overlays"
STALE = "MS201"
MARK = re.compile(
    r"# ms2torch: (replaces|wraps|follows|precedes) ([\w.]+), written for((?: (?:[0-9a-f]{12}|absent))+)\s*$"
)
ADDED = "# ms2torch: new file"


@dataclass(frozen=True, slots=True)
class Graft:
    """One definition of an overlay: what it does to which definition of the source."""

    verb: str
    name: str
    fingerprints: frozenset[str]
    code: str


@dataclass(frozen=True, slots=True)
class Grafts:
    """All definitions for one file, and the imports that they bring."""

    grafts: tuple[Graft, ...] = ()
    imports: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Definitions of the source that are replaced."""
        return frozenset(g.name for g in self.grafts if g.verb == "replaces")

    def prints(self, result: str) -> tuple[tuple[str, str, str, str], ...]:
        """What `SourceFile.grafts` holds for a result with these definitions."""
        lines, there = result.splitlines(), definitions(ast.parse(result))
        found: list[tuple[str, str, str, str]] = []
        for one in self.grafts:
            owner, dot, _ = one.name.rpartition(".")
            own = next(iter(definitions(ast.parse(one.code))))
            node = there.get(f"{owner}{dot}{own}")
            if node is not None:
                text = hashlib.sha256(one.code.encode()).hexdigest()[:12]
                found.append((f"{owner}{dot}{own}", fingerprint(lines, node), text, min(one.fingerprints)))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Overlays:
    """A profile's overlay: files that are added, and grafts by path."""

    added: tuple[SourceFile, ...] = ()
    grafts: Mapping[str, Grafts] = field(default_factory=dict)


NONE = Overlays()


def fingerprint(lines: list[str], node: ast.AST) -> str:
    """Fingerprint of a definition: a hash of its text, whatever its indentation."""
    start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])  # type: ignore[attr-defined]
    text = textwrap.dedent("\n".join(line.rstrip() for line in lines[start - 1 : node.end_lineno]))  # type: ignore[attr-defined]
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def definitions(tree: ast.Module) -> dict[str, ast.AST]:
    """Top-level definitions and assignments by name, methods as `Class.method`."""
    found: dict[str, ast.AST] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[node.name] = node
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    found[f"{node.name}.{inner.name}"] = inner
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node
    return found


def read(profile: str) -> Overlays:
    """The overlay of a profile; raises UserError for a definition without a mark."""
    folder = OVERLAYS / profile
    added: list[SourceFile] = []
    grafts: dict[str, Grafts] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix not in (".pyc",)):
        name = path.relative_to(folder).as_posix()
        data = path.read_bytes()
        if path.suffix == ".py" and not data.lstrip().startswith(ADDED.encode()) and MARK_START in data:
            grafts[name] = parse(data.decode(), str(path))
        else:
            added.append(SourceFile(name, data, kind="overlay"))
    return Overlays(tuple(added), grafts)


MARK_START = b"# ms2torch: "


def parse(text: str, where: str) -> Grafts:
    """The grafts of one overlay file."""
    lines = text.splitlines()
    tree = ast.parse(text)
    found: list[Graft] = []
    imports: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.append("\n".join(lines[node.lineno - 1 : node.end_lineno]))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign):
            start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            mark = MARK.match(lines[start - 2]) if start > 1 else None
            if mark is None:
                raise UserError(
                    f"{where}:{start}: the definition has no line «# ms2torch: replaces NAME, written for …»"
                )
            code = "\n".join(lines[start - 1 : node.end_lineno]) + "\n"
            found.append(Graft(mark[1], mark[2], frozenset(mark[3].split()), code))
    return Grafts(tuple(found), tuple(imports))


def check(
    overlays: Overlays, files: Mapping[str, SourceFile], index: Index
) -> tuple[dict[str, Grafts], list[Finding]]:
    """Grafts whose upstream definitions are the ones they were written for, and findings for the others."""
    kept: dict[str, Grafts] = {}
    stale: list[Finding] = []
    for path, grafts in overlays.grafts.items():
        file = files.get(path)
        if file is None:
            stale.append(
                Finding(path, 0, 0, STALE, "error", "the source has no such file; its overlay is left out")
            )
            continue
        text, _, _ = rewrite.decode(file.data)
        lines = text.splitlines()
        here = definitions(ast.parse(text))
        good: list[Graft] = []
        for graft in grafts.grafts:
            node = here.get(graft.name)
            if node is None and "absent" in graft.fingerprints:
                continue
            if node is None:
                message = f"{graft.name}: the source has no such definition; its overlay is left out"
                stale.append(Finding(path, 0, 0, STALE, "error", message))
                continue
            print_ = fingerprint(lines, node)
            if print_ in graft.fingerprints:
                good.append(replace(graft, fingerprints=frozenset({print_})))
            else:
                message = (
                    f"{graft.name} (fingerprint {print_}) is not the definition its overlay was written for; "
                    "it is rewritten without the overlay"
                )
                line = getattr(node, "lineno", 0)
                stale.append(Finding(path, line, 1, STALE, "error", message))
        if good:
            kept[path] = Grafts(tuple(good), grafts.imports)
    return kept, stale


def apply(file: SourceFile, grafts: Grafts | None) -> SourceFile:
    """A rewritten file with its grafts."""
    if grafts is None:
        return file
    text, encoding, mark = rewrite.decode(file.data)
    module = cst.parse_module(text)
    planter = _Planter(grafts.grafts, module)
    made = module.visit(planter)
    body = list(made.body)
    spot = next((i for i, line in enumerate(body) if _is_plain_import(line)), 0)
    have = set(text.splitlines())
    new = [
        cst.parse_statement(code, module.config_for_parsing) for code in grafts.imports if code not in have
    ]
    if new and hasattr(body[spot], "leading_lines"):
        new[0] = new[0].with_changes(leading_lines=body[spot].leading_lines)
        body[spot] = body[spot].with_changes(leading_lines=())
    body[spot:spot] = new
    code = rewrite.marked(made.with_changes(body=body).code, module.default_newline)
    return replace(file, data=mark + code.encode(encoding), grafts=grafts.prints(code))


def _is_plain_import(line: cst.BaseStatement) -> bool:
    if not isinstance(line, cst.SimpleStatementLine):
        return False
    small = line.body[0]
    future = isinstance(small, cst.ImportFrom) and cst.Module([]).code_for_node(small).startswith(
        "from __future__"
    )
    return isinstance(small, cst.Import | cst.ImportFrom) and not future


class _Planter(cst.CSTTransformer):
    """Replaces definitions by qualified name, or puts others before or after them."""

    def __init__(self, grafts: Sequence[Graft], module: cst.Module) -> None:
        super().__init__()
        self.grafts: dict[tuple[str, str], list[Graft]] = {}
        for graft in grafts:
            self.grafts.setdefault((graft.name, graft.verb), []).append(graft)
        self.config = module.config_for_parsing
        self.stack: list[str] = []

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        self.stack.append(node.name.value)
        return len(self.stack) == 1

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.BaseStatement:
        name = ".".join(self.stack)
        self.stack.pop()
        return self._planted(name, updated_node)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        self.stack.append(node.name.value)
        return False

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement:
        name = ".".join(self.stack)
        self.stack.pop()
        return self._planted(name, updated_node)

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement:
        small = original_node.body[0] if original_node.body else None
        if (
            self.stack
            or not isinstance(small, cst.Assign)
            or not isinstance(small.targets[0].target, cst.Name)
        ):
            return updated_node
        return self._planted(small.targets[0].target.value, updated_node)

    def _planted(self, name: str, node: cst.BaseStatement) -> cst.BaseStatement:
        made = self._parsed(name, "precedes", node)
        replaced, wrapped = self._parsed(name, "replaces", node), self._parsed(name, "wraps", node)
        if wrapped:
            assert isinstance(node, cst.FunctionDef)
            inner = cst.Name(f"_upstream_{node.name.value.strip('_')}")
            made += [node.with_changes(name=inner), *wrapped]
        else:
            made += replaced or [node]
        made += self._parsed(name, "follows", node)
        return made[0] if len(made) == 1 else cst.FlattenSentinel(made)  # type: ignore[return-value]

    def _parsed(self, name: str, verb: str, node: cst.BaseStatement) -> list[cst.BaseStatement]:
        head = getattr(node, "leading_lines", ())
        made: list[cst.BaseStatement] = []
        for graft in self.grafts.get((name, verb), ()):
            code = cst.parse_statement(graft.code, self.config)
            made.append(code.with_changes(leading_lines=[line for line in head if line.comment is None]))
        return made
