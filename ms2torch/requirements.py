"""`requirements-torch.txt`: what the source asks for, less what only MindSpore needs, plus torch."""

from __future__ import annotations

import re
from collections.abc import Iterable

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


def text(requires: Iterable[str], name: str = "", version: str = "") -> str:
    """The file's text from unparsed requirements (Requires-Dist or lines of a requirements.txt).

    Each removal stays as a comment with its reason; requirements of an extra are optional and left out.
    """
    source = " ".join(part for part in (name, version) if part) or "the source"
    lines = [f"# Written by ms2torch: what {source} asks for, on torch."]
    has_torch = False
    for requirement in requires:
        requirement = requirement.strip()
        if _OPTIONAL.search(requirement.partition(";")[2]):
            continue
        key = _normal(requirement)
        has_torch = has_torch or key == "torch"
        if key in _REMOVED:
            lines.append(f"# {requirement}: left out: {_REMOVED[key]}")
        elif key == "numpy" and (kept := _without_upper_bound(requirement)) != requirement:
            lines.append(f"# {requirement}: without its upper bound, which is MindSpore's")
            lines.append(kept)
        else:
            lines.append(requirement)
    if not has_torch:
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
