"""What a run tells its user: the JSON report, and a summary on the terminal."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from ms2torch.errors import UserError
from ms2torch.model import Finding, RunResult, Severity, Tree

STATES = ("converted", "adapted", "grafted", "guarded", "unresolved")
_HEAD = b'{\n "summary": {'
_SHOWN = 20  # kinds of finding printed; the report has all places


def summary(tree: Tree, result: RunResult) -> dict[str, Any]:
    """The run's totals: what the engine counted, and what can be told from the files and findings."""
    before = {file.path: file.data for file in tree.files}
    after = {file.path: file.data for file in result.files}
    totals: dict[str, Any] = {
        "source": {"kind": tree.kind, "name": tree.name, "version": tree.version},
        "files": {
            "read": len(before),
            "written": len(after),
            "changed": sum(path in before and before[path] != data for path, data in after.items()),
            "added": len(after.keys() - before.keys()),
            "left_out": len(before.keys() - after.keys()),
        },
        "findings": dict(sorted(Counter(finding.severity for finding in result.findings).items())),
    }
    return totals | dict(result.summary)


def as_json(totals: Mapping[str, Any], findings: Iterable[Finding]) -> bytes:
    """The report, findings by place; the same bytes for the same run."""
    content = {"summary": totals, "findings": [finding.to_json() for finding in sorted(findings)]}
    return (json.dumps(content, indent=1, ensure_ascii=True) + "\n").encode("ascii")


def check(path: Path, force: bool) -> None:
    """Refuses, before any work, a place that cannot hold a report, or without `force` a foreign file."""
    if path.is_dir() or not path.parent.is_dir():
        raise UserError(f"cannot write the report {path}: name a file in a folder that exists")
    if path.is_file() and not force and path.stat().st_size and not path.read_bytes().startswith(_HEAD):
        raise UserError(f"{path} is no report of ms2torch; name another file or add --force")


def save(path: Path, data: bytes) -> None:
    """Writes a report whole or not at all; a device such as /dev/stdout is written to as it is."""
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def show(console: Console, totals: Mapping[str, Any], findings: Iterable[Finding], done: str) -> None:
    """Prints the summary: files, references by state, and the findings that ask for something."""
    files = totals["files"]
    console.print(
        f"{done}: {files['read']} files read, {files['changed']} changed, {files['added']} added, "
        f"{files['left_out']} left out",
        highlight=False,
        soft_wrap=True,
    )
    for kind in ("references", "sites"):
        counts = totals.get(kind)
        if isinstance(counts, Mapping) and counts:
            console.print(_states(kind, counts), highlight=False, soft_wrap=True)
    grouped: dict[tuple[Severity, str, str], list[Finding]] = {}
    for finding in sorted(findings):
        if finding.severity != "note":
            grouped.setdefault((finding.severity, finding.code, finding.message), []).append(finding)
    groups = sorted(grouped.values(), key=lambda group: (group[0].severity, -len(group)))
    for group in groups[:_SHOWN]:
        console.print(_line(group), soft_wrap=True)
    if len(groups) > _SHOWN:
        rest = f"… and {len(groups) - _SHOWN} more kinds of finding"
        console.print(f"{rest}; --report FILE.json has each place", highlight=False, soft_wrap=True)


def _states(kind: str, counts: Mapping[str, int]) -> str:
    """`references: 7 = 4 converted + 3 adapted`; a sum that is off is our own mistake, and said."""
    states = {state: number for state, number in counts.items() if state != "total" and number}
    order = [state for state in STATES if state in states] + sorted(states.keys() - set(STATES))
    text = " + ".join(f"{states[state]} {state}" for state in order)
    total = counts.get("total", sum(states.values()))
    known = sum(states.values())
    missing = "" if known == total else f" ({total - known} in no state: a bug of ms2torch, please report it)"
    return f"{kind}: {total}" + (f" = {text}" if text else "") + missing


def _line(group: Sequence[Finding]) -> Text:
    """The first place of findings that say the same, and how many there are."""
    first = group[0]
    place = f"{first.path}:{first.line}" if first.line else first.path
    style = "red" if first.severity == "error" else "yellow"
    more = f" ({len(group)} places)" if len(group) > 1 else ""
    return Text.assemble(f"{printable(place)}: ", (first.code, style), f" {first.message}{more}")


def printable(text: str) -> str:
    """A path as text that any terminal can show: bytes that are no UTF-8 and control characters escaped."""
    encoded = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in encoded)
