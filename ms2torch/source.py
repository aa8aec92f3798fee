"""Reads what is to be ported: a directory, one Python file, a wheel or a requirement. Never runs it."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath

from ms2torch import fetch, metadata, wheel
from ms2torch.errors import UserError
from ms2torch.model import Finding, Link, Severity, SourceFile, Tree

# What tools leave behind in a checkout: none of it is source, and some of it is large.
SKIPPED_DIRECTORIES = frozenset(
    {
        ".git", ".hg", ".svn", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox", ".nox",
        ".hypothesis", ".ipynb_checkpoints", "node_modules",
    }
)  # fmt: skip
SKIPPED_SUFFIXES = (".pyc", ".pyo")


def read(spec: str, cache: Path) -> Tree:
    """The tree that `spec` names; a requirement is fetched as a wheel into `cache` first.

    Raises UserError where `spec` is none of the four kinds, cannot be read, or is not safe to unpack.
    """
    path = Path(spec)
    try:
        if path.is_dir():
            return _directory(path)
        if path.is_file():
            return _one_file(path)
    except OSError as error:
        raise UserError(f"cannot read {spec}: {error.strerror or error}") from error
    if fetch.is_requirement(spec):
        return wheel.read(fetch.wheel_for(spec, cache), kind="requirement")
    if os.path.lexists(path):
        raise UserError(
            f"{spec} is neither a file nor a directory; name one, or a requirement as NAME==VERSION"
        )
    raise UserError(f"no such file or directory: {spec} (a package to download is written NAME==VERSION)")


def _one_file(path: Path) -> Tree:
    if path.suffix == ".whl":
        return wheel.read(path, kind="wheel")
    if path.suffix != ".py":
        raise UserError(f"{path} is not a Python file, a wheel or a directory")
    path = path.resolve()
    file = SourceFile(path.name, path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
    return Tree((file,), "file", name=path.stem, root=path)


def _directory(given: Path) -> Tree:
    root = given.resolve()
    walk = _Walk(root)
    walk.enter("")
    files = metadata.without_install_records(walk.files)
    if not files:
        raise UserError(f"{given} holds no files to port")
    about = metadata.of_directory(walk.files)
    return Tree(
        files=tuple(sorted(files, key=lambda file: file.path)),
        kind="directory",
        name=about.name or root.name,
        version=about.version,
        requires=about.requires,
        links=tuple(sorted(walk.links, key=lambda link: link.path)),
        findings=tuple(sorted(walk.findings)),
        root=root,
    )


class _Walk:
    """One pass over a directory; what cannot be read becomes a finding and stops nothing else."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: list[SourceFile] = []
        self.links: list[Link] = []
        self.findings: list[Finding] = []

    def enter(self, folder: str) -> None:
        """Takes in everything below `folder` ("" is the root)."""
        pending = [folder]
        while pending:  # a stack: the depth of a tree is not bounded by Python's
            here = pending.pop()
            try:
                with os.scandir(self.root / here) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self._report(here, "MS901", "error", f"the folder cannot be read: {error.strerror}")
                continue
            for entry in found:
                path = f"{here}/{entry.name}" if here else entry.name
                if entry.is_symlink():
                    self._link(path)
                elif entry.is_dir(follow_symlinks=False):
                    if not self._skipped(path, entry.name):
                        pending.append(path)
                elif entry.is_file(follow_symlinks=False):
                    self._file(path)
                else:
                    self._report(
                        path, "MS903", "warning", "not a regular file (a pipe, socket or device): left out"
                    )

    def _skipped(self, path: str, name: str) -> bool:
        return name in SKIPPED_DIRECTORIES or (self.root / path / "pyvenv.cfg").exists()

    def _file(self, path: str) -> None:
        if path.endswith(SKIPPED_SUFFIXES):
            return
        full = self.root / path
        try:
            self.files.append(SourceFile(path, full.read_bytes(), stat.S_IMODE(full.lstat().st_mode)))
        except OSError as error:
            self._report(
                path, "MS901", "error", f"the file cannot be read and is not in the result: {error.strerror}"
            )

    def _link(self, path: str) -> None:
        target = os.readlink(self.root / path)
        end = Path(os.path.realpath(self.root / path))
        inside = not os.path.isabs(target) and self.root in end.parents
        if inside and end.exists() and not SKIPPED_DIRECTORIES.intersection(end.relative_to(self.root).parts):
            self.links.append(Link(path, PurePosixPath(target).as_posix()))
            return
        reason = "leads out of the tree" if not inside else "leads nowhere"
        self._report(path, "MS902", "warning", f"the link to {target} {reason}: left out")

    def _report(self, path: str, code: str, severity: Severity, message: str) -> None:
        self.findings.append(Finding(path or ".", 0, 0, code, severity, message))
