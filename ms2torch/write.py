"""Puts a result in place: staged beside OUT, then renamed, so that OUT is whole or not there at all."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ms2torch import manifest, rename
from ms2torch.errors import UserError
from ms2torch.model import Link, SourceFile, Tree

# The line that every changed file gains names the tool: a file that has one may be written over.
_OURS = re.compile(rb"(?m)^(?:\s*#|\"\"\").*\bms2torch\b")

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def check_out(tree: Tree, out: Path, force: bool) -> None:
    """Refuses, before any work, an OUT that is not ours to write; `force` allows foreign content, never SRC.

    Raises UserError where OUT is SRC, lies in it or around it, or holds what ms2torch did not write.
    """
    end = out.resolve()
    if tree.root is not None:
        if end == tree.root:
            raise UserError(f"{out} is SRC itself; name another place, or ask for --in-place")
        if tree.root in end.parents and tree.kind == "directory":
            raise UserError(f"{out} lies inside SRC; name a place outside of it")
        if end in tree.root.parents and tree.kind != "file":
            raise UserError(f"{out} contains SRC; name another place")
    if tree.kind == "file":
        _check_file(end, out, force)
    elif end.exists() or end.is_symlink():
        if not end.is_dir():
            raise UserError(f"{out} is a file and SRC is not; name a directory")
        if not force and any(end.iterdir()) and manifest.load(end) is None:
            raise UserError(
                f"{out} holds files that ms2torch did not write; name another place or add --force"
            )


def _check_file(end: Path, out: Path, force: bool) -> None:
    if end.is_dir():
        raise UserError(f"{out} is a directory and SRC is a file; name a file, such as {out / 'result.py'}")
    if end.exists() and not force and end.stat().st_size and not _OURS.search(end.read_bytes()[:8192]):
        raise UserError(f"{out} was not written by ms2torch; name another place or add --force")


def write(tree: Tree, files: Iterable[SourceFile], links: Iterable[Link], out: Path, force: bool) -> None:
    """Writes a result to OUT: a directory whole and with its manifest, a file with what stands beside it.

    Raises UserError where OUT is refused or the system does; in every case of failure nothing is left behind.
    """
    check_out(tree, out, force)
    end = out.resolve()
    files = tuple(file for file in files if file.path != manifest.PATH)
    made = _make_parents(end.parent)
    try:
        if tree.kind == "file":
            _write_file(tree, files, end, force)
        else:
            _replace_directory(end, (*files, manifest.build(tree, files)), links)
    except BaseException as error:
        for folder in reversed(made):
            if not any(folder.iterdir()):
                folder.rmdir()
        if isinstance(error, OSError):
            raise UserError(f"cannot write {out}: {error.strerror or error}") from error
        raise


def _write_file(tree: Tree, files: tuple[SourceFile, ...], end: Path, force: bool) -> None:
    """The one file at `end`, and each top folder of the others (`_backend`) beside it."""
    main = next(file for file in files if file.path == tree.files[0].path)
    for top, wanted in _beside(tree, files).items():
        folder = end.parent / top
        if folder.exists() and not force and any(folder.iterdir()) and manifest.load(folder) is None:
            raise UserError(f"{folder} was not written by ms2torch; name another OUT or add --force")
        if not _same(folder, wanted):
            _replace_directory(folder, wanted, ())
    _replace_files(end.parent, [SourceFile(end.name, main.data, main.mode)])


def _beside(tree: Tree, files: Iterable[SourceFile]) -> dict[str, list[SourceFile]]:
    """What stands beside a single result, by top folder, each with a manifest of its own."""
    beside: dict[str, list[SourceFile]] = {}
    for file in files:
        top, slash, inner = file.path.partition("/")
        if slash:
            beside.setdefault(top, []).append(SourceFile(inner, file.data, file.mode))
    for inner_files in beside.values():
        inner_files.append(manifest.build(tree, inner_files))
    return beside


def _same(folder: Path, files: Iterable[SourceFile]) -> bool:
    try:
        return all((folder / file.path).read_bytes() == file.data for file in files)
    except OSError:
        return False


def _replace_directory(end: Path, files: Iterable[SourceFile], links: Iterable[Link]) -> None:
    with _staging(end) as stage:
        for file in files:
            path = stage / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.data)
            path.chmod(stat.S_IMODE(file.mode))
        for link in links:
            path = stage / link.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(link.target)
        with uninterrupted():
            rename.into_place(stage, end)  # what stood at `end` now stands at `stage`


def write_in_place(tree: Tree, files: Iterable[SourceFile], force: bool) -> None:
    """Writes the changed and the new files over SRC; others are not touched, none is removed.

    Raises UserError where SRC cannot be written to, or is a git tree with changes and `force` is not given.
    """
    check_in_place(tree, force)
    assert tree.root is not None
    files = tuple(files)
    base = tree.root.parent if tree.kind == "file" else tree.root
    before = {file.path: file.data for file in tree.files}
    changed = [file for file in files if before.get(file.path) != file.data]
    if tree.kind == "file":
        for top, inner_files in _beside(tree, changed).items():
            changed.append(SourceFile(f"{top}/{manifest.PATH}", inner_files[-1].data))
    elif changed:
        changed.append(manifest.build(tree, files))
    try:
        _replace_files(base, changed)
    except OSError as error:
        raise UserError(f"cannot write {base}: {error.strerror or error}") from error


def check_in_place(tree: Tree, force: bool) -> None:
    """Refuses, before any work, an in-place run on a wheel or on a git tree that is not clean."""
    if tree.root is None or tree.kind not in ("directory", "file"):
        raise UserError(f"--in-place needs a directory or a file, not a {tree.kind}; name an OUT with -o")
    folder = tree.root if tree.root.is_dir() else tree.root.parent
    # fsmonitor off: it names a program that git would start, and SRC's settings are not to be trusted
    command = [
        "git",
        "-c",
        "core.fsmonitor=false",
        "-C",
        str(folder),
        "status",
        "--porcelain",
        "--",
        str(tree.root),
    ]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        return  # no git on this machine
    if done.returncode == 0 and done.stdout.strip() and not force:
        raise UserError(f"{folder} has changes that are not committed; commit them first or add --force")


def _replace_files(base: Path, files: list[SourceFile]) -> None:
    """Writes each file beside its place, then renames them all: an interruption falls before or after."""
    staged: list[tuple[str, Path]] = []
    made: list[Path] = []
    try:
        for file in files:
            path = base / file.path
            made += _make_parents(path.parent)
            handle, name = tempfile.mkstemp(
                prefix=f".{path.name[:100]}.", suffix=".ms2torch", dir=path.parent
            )
            staged.append((name, path))
            with os.fdopen(handle, "wb") as stream:
                stream.write(file.data)
            os.chmod(name, stat.S_IMODE(file.mode))
        with uninterrupted():
            while staged:
                name, path = staged[0]
                os.replace(name, path)
                del staged[0]
            made.clear()
    finally:
        for name, _ in staged:
            Path(name).unlink(missing_ok=True)
        for folder in reversed(made):
            folder.rmdir()


def _make_parents(folder: Path) -> list[Path]:
    missing = [path for path in (folder, *folder.parents) if not path.exists()][::-1]
    for path in missing:
        path.mkdir(exist_ok=True)
    return missing


@contextmanager
def _staging(end: Path) -> Iterator[Path]:
    _sweep(end)
    stage = end.parent / f"{_stage_prefix(end)}{os.getpid()}"
    stage.mkdir()
    try:
        yield stage
    finally:
        with uninterrupted():
            shutil.rmtree(stage, ignore_errors=True)


def _stage_prefix(end: Path) -> str:
    return f".{end.name[:100]}.ms2torch-{os.uname().nodename}-"


def _sweep(end: Path) -> None:
    """Removes the staging folders of runs that were killed outright: their process is gone."""
    prefix = _stage_prefix(end)
    for path in end.parent.iterdir():
        number = path.name[len(prefix) :] if path.name.startswith(prefix) else ""
        if number.isdecimal() and not _alive(int(number)):
            shutil.rmtree(path, ignore_errors=True)


def _alive(process: int) -> bool:
    if process == os.getpid():
        return False  # ours, from an earlier write of this process
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Holds signals that end the run back until the end of the block, and lets them act then.

    A thread's signal mask would not do: the system hands a signal to any thread that lets it through. Outside
    the main thread, where Python runs no handlers, there is nothing to hold.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) or signal.SIG_DFL for number in _ENDING}
    for number in _ENDING:
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in came:
            signal.raise_signal(late)
