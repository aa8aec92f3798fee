"""The values that the steps of a run hand to each other: immutable, without behaviour of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

Severity = Literal["error", "warning", "note"]
TreeKind = Literal["file", "directory", "wheel", "requirement"]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file as bytes, so that encoding, BOM and newlines survive; `mode` holds its permission bits.

    What the run knows of a file of its result goes into the manifest: `kind` is "" for code that is held to be
    free of MindSpore, "legacy" for graph-mode code that is kept, "outside" for code that the port never reaches,
    "runtime" and "overlay" for whole files of ours. `grafts` are overlay definitions in it: each its name, and
    the fingerprints of the definition as it stands there, of the overlay's text and of upstream's definition.
    """

    path: str  # relative to the tree's root, with "/"
    data: bytes
    mode: int = 0o644
    kind: str = ""
    grafts: tuple[tuple[str, str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link whose target lies inside the tree: written again as a link, never followed."""

    path: str
    target: str


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Something a user should know, at a place of the source (line and column from 1; 0: the whole file)."""

    path: str
    line: int
    column: int
    code: str
    severity: Severity
    message: str
    name: str = ""  # the canonical API name, where the finding is about one
    state: str = ""  # the state of the reference or site: "unresolved", "guarded", …; empty: not about one

    def to_json(self) -> dict[str, Any]:
        """The finding as the report writes it: empty optional fields are left out."""
        fields: dict[str, Any] = {
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
        }
        return fields | {key: value for key in ("name", "state") if (value := getattr(self, key))}


@dataclass(frozen=True, slots=True)
class Tree:
    """What a run reads. A file's tree has one entry; `requires` is upstream's Requires-Dist, unparsed."""

    files: tuple[SourceFile, ...]
    kind: TreeKind
    name: str = ""
    version: str = ""
    requires: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    findings: tuple[Finding, ...] = ()  # what could not be read, and links that lead out of the tree
    root: Path | None = None  # the directory, file or wheel on disk, which no output may touch


@dataclass(frozen=True, slots=True)
class FileResult:
    """What one file became: `data` is None where the file is not part of the result."""

    path: str
    data: bytes | None
    findings: tuple[Finding, ...] = ()
    changed: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)  # state → number of references


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a whole run made: every file of OUT (runtime and overlays included), findings and totals."""

    files: tuple[SourceFile, ...]
    findings: tuple[Finding, ...] = ()
    summary: Mapping[str, Any] = field(default_factory=dict)
    links: tuple[Link, ...] = ()


class Progress(Protocol):
    """Told how far a step is; the command draws it, tests leave it out."""

    def __call__(self, step: str, done: int, total: int) -> None:
        """`done` of `total` files of `step` are through."""


# `rewrite_tree` of the pipeline: (tree, profile by name or file, processes, progress)
Engine = Callable[[Tree, "str | Path | None", int, Progress], RunResult]
