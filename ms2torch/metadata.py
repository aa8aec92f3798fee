"""What a source tree says about itself (name, version, requirements), read as text and never run."""

from __future__ import annotations

import ast
import email.parser
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ms2torch.model import SourceFile

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_DIST_INFO = re.compile(r"[^/]+\.(dist-info|egg-info)/")
_LICENCES = re.compile(r"[^/]+\.dist-info/(?:licenses/)?((?:LICEN[CS]E|NOTICE|COPYING)[^/]*)")


@dataclass(frozen=True, slots=True)
class About:
    """Name, version and unparsed requirements; empty where the tree does not say."""

    name: str = ""
    version: str = ""
    requires: tuple[str, ...] = ()


def of_directory(files: Iterable[SourceFile]) -> About:
    """What the tree's top level says: dist-info first, then pyproject.toml, setup.py and requirements.txt."""
    top = {
        file.path: file.data.decode("utf-8", errors="replace")
        for file in files
        if "/" not in file.path or file.path.endswith(".dist-info/METADATA")
    }
    for path, text in sorted(top.items()):
        if path.count("/") == 1 and path.endswith("/METADATA"):
            return _from_metadata(text)
    about = About()
    for found in (_from_pyproject(top.get("pyproject.toml", "")), _from_setup(top.get("setup.py", ""))):
        about = About(
            about.name or found.name, about.version or found.version, about.requires or found.requires
        )
    return replace(about, requires=about.requires or requirement_lines(top.get("requirements.txt", "")))


def without_install_records(files: Iterable[SourceFile]) -> list[SourceFile]:
    """The tree without dist-info: a port is another package. Its licence texts move to the top level."""
    kept = [file for file in files if not _DIST_INFO.match(file.path)]
    names = {file.path for file in kept}
    for file in files:
        licence = _LICENCES.fullmatch(file.path)
        if licence and licence[1] not in names:
            names.add(licence[1])
            kept.append(SourceFile(licence[1], file.data, file.mode))
    return kept


def requirement_lines(text: str) -> tuple[str, ...]:
    """The requirements of a requirements.txt, without comments, options and blank lines."""
    text = re.sub(r"\\\r?\n", "", text)
    lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("-"))


def _from_metadata(text: str) -> About:
    message = email.parser.HeaderParser().parsestr(text)
    requires = tuple(str(line) for line in message.get_all("Requires-Dist", []))
    return About(str(message["Name"] or ""), str(message["Version"] or ""), requires)


def _from_pyproject(text: str) -> About:
    try:
        project: Any = tomllib.loads(text).get("project", {})
    except tomllib.TOMLDecodeError:
        return About()  # a broken pyproject.toml says nothing; the port copies it as it is
    if not isinstance(project, dict):
        return About()
    requires = project.get("dependencies", [])
    lines = tuple(line for line in requires if isinstance(line, str)) if isinstance(requires, list) else ()
    return About(str(project.get("name", "")), str(project.get("version", "")), lines)


def _from_setup(text: str) -> About:
    """The literal arguments of a `setup(…)` call; anything computed is left out."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError):
        return About()
    for node in ast.walk(module):
        if (
            isinstance(node, ast.Call)
            and (getattr(node.func, "id", "") or getattr(node.func, "attr", "")) == "setup"
        ):
            given = {word.arg: _literal(word.value) for word in node.keywords if word.arg}
            requires = given.get("install_requires")
            lines = (
                tuple(line for line in requires if isinstance(line, str))
                if isinstance(requires, list)
                else ()
            )
            return About(str(given.get("name") or ""), str(given.get("version") or ""), lines)
    return About()


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None
