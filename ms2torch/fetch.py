"""Fetches a requirement as a wheel with pip. No build step: a source distribution would run its own code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from ms2torch.errors import UserError

_VERSION = r"[A-Za-z0-9.!+*_-]+"
_REQUIREMENT = re.compile(
    rf"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*"
    rf"(?P<specifiers>(?:===|==|~=|!=|<=|>=|<|>)\s*{_VERSION}(?:\s*,\s*(?:===|==|~=|!=|<=|>=|<|>)\s*{_VERSION})*)"
)
_PIP_NOISE = re.compile(r"^(ERROR|WARNING|DEPRECATION|\[notice\])[: ]*")


def is_requirement(spec: str) -> bool:
    """Whether `spec` is a name with a version. A URL is not: pip would build what it finds there."""
    return _REQUIREMENT.fullmatch(spec.strip()) is not None


def cache_directory() -> Path:
    """Where downloads are kept: `ms2torch` in XDG_CACHE_HOME or ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "ms2torch"


def wheel_for(spec: str, cache: Path) -> Path:
    """The wheel of a requirement, from `cache` where an exact version lies there already, else downloaded.

    Raises UserError with pip's own reason where it cannot be had as a wheel.
    """
    match = _REQUIREMENT.fullmatch(spec.strip())
    if match is None:
        raise UserError(f"{spec} is not a requirement; write NAME==VERSION")
    wheels = cache / "wheels"
    known = _cached(match, wheels)
    if known:
        return known
    try:
        wheels.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=wheels, prefix=".download-") as folder:
            got = _download(spec.strip(), Path(folder))
            return got.replace(wheels / got.name)
    except OSError as error:
        raise UserError(f"cannot keep {spec} in {wheels}: {error.strerror or error}") from error


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _cached(match: re.Match[str], wheels: Path) -> Path | None:
    exact = re.fullmatch(r"==\s*([^*,\s]+)", match["specifiers"])
    if exact is None or not wheels.is_dir():
        return None  # only the index knows which version a range asks for
    for path in sorted(wheels.glob("*.whl")):
        name, _, rest = path.name.partition("-")
        same = _normal(name) == _normal(match["name"]) and rest.partition("-")[0] == exact[1]
        if same and zipfile.is_zipfile(path):
            return path
    return None


def _download(spec: str, folder: Path) -> Path:
    command = [
        sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input", "--quiet",
        "--disable-pip-version-check", "--dest", str(folder), spec,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise UserError(f"cannot fetch {spec} as a wheel: {_reason(done.stderr)}")
    found = sorted(folder.glob("*.whl"))
    if len(found) != 1:
        raise UserError(f"cannot fetch {spec} as a wheel: pip left {len(found)} wheels")
    return found[0]


def _reason(stderr: str) -> str:
    """pip's most telling line: its last error, since those before it only list candidates."""
    if "No module named pip" in stderr:
        return f"{sys.executable} has no pip; install it, or download the wheel and name the file"
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines or ["pip gave no reason"]
    return _PIP_NOISE.sub("", errors[-1])
