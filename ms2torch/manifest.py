"""`.ms2torch/manifest.json`: what made an output, and a hash of each file that went in and came out."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from ms2torch import __version__
from ms2torch.model import SourceFile, Tree

PATH = ".ms2torch/manifest.json"
FORMAT = 1
_PARTS = {"tables": "mapping_tables", "rules": "rules", "runtime": "runtime"}


def build(tree: Tree, files: Iterable[SourceFile]) -> SourceFile:
    """The manifest of `files` made from `tree`; it holds no time and no place.

    A source that is a port keeps the manifest it has: a second run changes nothing.
    """
    for file in tree.files:
        if file.path == PATH and parse(file.data) is not None:
            return file
    before = {file.path: digest(file.data) for file in tree.files}
    after = {file.path: _entry(file) for file in files if file.path != PATH}
    content = {
        "format": FORMAT,
        "tool": {"version": __version__, **tool_hashes()},
        "source": {"kind": tree.kind, "name": tree.name, "version": tree.version},
        "files": {
            path: {"in": before[path], **after[path]} if path in before else after[path]
            for path in sorted(after)
        },
    }
    text = json.dumps(content, indent=1, ensure_ascii=True) + "\n"
    return SourceFile(PATH, text.encode("ascii"))


def _entry(file: SourceFile) -> dict[str, Any]:
    entry: dict[str, Any] = {"out": digest(file.data)}
    if file.kind:
        entry["kind"] = file.kind
    if file.grafts:
        entry["grafts"] = {name: prints for name, *prints in sorted(file.grafts)}
    return entry


def load(folder: Path) -> dict[str, Any] | None:
    """The manifest of an earlier output in `folder`; None where there is none that can be read as one."""
    try:
        return parse((folder / PATH).read_bytes())
    except OSError:
        return None


def parse(data: bytes) -> dict[str, Any] | None:
    """A manifest's content; None where `data` is not one of a known format."""
    try:
        content = json.loads(data)
    except ValueError:
        return None
    known = (
        isinstance(content, dict)
        and content.get("format") == FORMAT
        and isinstance(content.get("files"), dict)
    )
    return content if known else None


def digest(data: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


@cache
def tool_hashes() -> dict[str, str]:
    """One hash each for the mapping tables, the rules and the runtime: what decides how a result looks."""
    package = Path(__file__).parent
    return {part: _tree_hash(package / folder) for part, folder in _PARTS.items()}


def _tree_hash(folder: Path) -> str:
    total = hashlib.sha256()
    paths = []
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        paths += [Path(here, name) for name in names if not name.endswith((".pyc", ".pyo"))]
    for path in sorted(paths, key=lambda path: path.relative_to(folder).as_posix()):
        data = path.read_bytes()
        total.update(f"{path.relative_to(folder).as_posix()}\0{len(data)}\0".encode())
        total.update(data)
    return total.hexdigest()
