"""`requirements-torch.txt`: what the source asks for, less what only MindSpore needs, plus torch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

PATH = "requirements-torch.txt"
TORCH = "torch>=2.4"

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_OPTIONAL = re.compile(r"\bextra\s*==")
_UPPER = re.compile(r"\s*,?\s*(?:<=?|~=|===?)\s*[A-Za-z0-9.!+*_-]+")

# Normalised names, with the reason that stands beside each in the port.
_REMOVED = {
    "mindspore": "the port runs on torch",
    "mindspore-dev": "the port runs on torch",
    "mindspore-ascend": "the port runs on torch",
    "mindspore-gpu": "the port runs on torch",
    "hyper-parallel": "needs MindSpore; the port has its names on torch.distributed",
    "mindpet": "imports MindSpore",
}

# Distributions that a source may import without asking for them, by the top name they are imported by.
# First what MindSpore 2.10 itself requires, then what came with the requirements of its neighbours.
_CAME_ALONG = {
    "PIL": "pillow",
    "asttokens": "asttokens",
    "astunparse": "astunparse",
    "dill": "dill",
    "google.protobuf": "protobuf",
    "numpy": "numpy",
    "packaging": "packaging",
    "psutil": "psutil",
    "safetensors": "safetensors",
    "scipy": "scipy",
    "requests": "requests",
    "urllib3": "urllib3",
}


def text(
    requires: Iterable[str], name: str = "", version: str = "", imports: Mapping[str, str] | None = None
) -> str:
    """The file's text from unparsed requirements (Requires-Dist or lines of a requirements.txt).

    Each removal stays as a comment with its reason; requirements of an extra are optional and left out.
    `imports` has the modules that the port imports, with one file that does: what only MindSpore's own
    requirements brought is asked for here.
    """
    source = " ".join(part for part in (name, version) if part) or "the source"
    lines = [f"# Written by ms2torch: what {source} asks for, on torch."]
    asked: set[str] = set()
    for requirement in requires:
        requirement = requirement.strip()
        if _OPTIONAL.search(requirement.partition(";")[2]):
            continue
        key = _normal(requirement)
        asked.add(key)
        if key in _REMOVED:
            lines.append(f"# {requirement}: left out: {_REMOVED[key]}")
        elif key == "numpy" and (kept := _without_upper_bound(requirement)) != requirement:
            lines.append(f"# {requirement}: without its upper bound, which is MindSpore's")
            lines.append(kept)
        else:
            lines.append(requirement)
    for module, distribution in _CAME_ALONG.items():
        path = next((p for m, p in (imports or {}).items() if f"{m}.".startswith(f"{module}.")), None)
        if path is not None and distribution not in asked and asked & _REMOVED.keys():
            lines.append(f"# came with what is left out; {path} imports it")
            lines.append(distribution)
    if "torch" not in asked:
        lines.append(TORCH)
    return "\n".join(lines) + "\n"


def _normal(requirement: str) -> str:
    match = _NAME.match(requirement)
    return re.sub(r"[-_.]+", "-", match[0]).lower() if match else ""


def _without_upper_bound(requirement: str) -> str:
    """`numpy<2,>=1.20; marker` without `<2`; lower bounds, exclusions and the marker stay."""
    match = _NAME.match(requirement)
    assert match is not None
    rest, semicolon, marker = requirement[match.end() :].partition(";")
    lower = [part.strip() for part in rest.strip(" ()").split(",") if not _UPPER.fullmatch(part)]
    return match[0] + ",".join(filter(None, lower)) + (f"; {marker.strip()}" if semicolon else "")
