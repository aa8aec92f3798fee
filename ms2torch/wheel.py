"""Reads a wheel without unpacking it to disk; refuses archives that are not safe to unpack."""

from __future__ import annotations

import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from ms2torch import metadata
from ms2torch.errors import UserError
from ms2torch.model import SourceFile, Tree, TreeKind

MAX_FILES = 100_000
MAX_BYTES = 1 << 30  # all files together, unpacked
MAX_RATIO = 200  # unpacked to packed size of one large file; source text reaches about 10
RATIO_FROM = 10 << 20  # files up to this size may have any ratio

# PEP 427: where an installer puts the folders of `NAME-VERSION.data`, relative to the port.
DATA_FOLDERS = {"purelib": "", "platlib": "", "data": "", "scripts": "bin", "headers": "include"}


def read(path: Path, kind: TreeKind) -> Tree:
    """The files of the wheel at `path`, its licences at top level and its other install records left out.

    Raises UserError for a damaged archive, a name that leads out of it, a link, or a zip bomb.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            found = _files(path, archive)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise UserError(f"{path} is not a sound wheel: {error}") from error
    about = metadata.of_directory(found)
    if not about.name:
        raise UserError(f"{path} is not a wheel: it has no NAME-VERSION.dist-info/METADATA")
    files: dict[str, SourceFile] = {}
    for file in metadata.without_install_records(found):
        placed = _placed(file.path)
        if placed in files:
            raise UserError(f"{path} holds {placed} twice")
        files[placed] = SourceFile(placed, file.data, file.mode)
    ordered = tuple(files[name] for name in sorted(files))
    return Tree(ordered, kind, about.name, about.version, about.requires, root=path.resolve())


def _files(path: Path, archive: zipfile.ZipFile) -> list[SourceFile]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MAX_FILES:
        raise UserError(f"{path} holds {len(entries)} files; more than {MAX_FILES} are refused")
    total = sum(entry.file_size for entry in entries)
    if total > MAX_BYTES:
        raise UserError(f"{path} unpacks to {total >> 20} MB; more than {MAX_BYTES >> 20} MB are refused")
    return [_file(path, archive, entry) for entry in entries]


def _file(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> SourceFile:
    name = entry.filename
    parts = PurePosixPath(name).parts
    # `orig_filename` too: zipfile cuts a name at a NUL byte.
    unsafe = not parts or name.startswith("/") or ".." in parts or "\\" in name or ":" in parts[0]
    if unsafe or "\0" in entry.orig_filename:
        raise UserError(f"{path} holds a file whose name leads out of it: {entry.orig_filename!r}")
    mode = entry.external_attr >> 16
    if stat.S_ISLNK(mode):
        raise UserError(f"{path} holds a link, {name}; a wheel may not")
    if entry.file_size > RATIO_FROM and entry.file_size > MAX_RATIO * max(entry.compress_size, 1):
        raise UserError(f"{path} looks like a zip bomb: {name} unpacks to {entry.file_size >> 20} MB")
    executable = 0o111 if mode & 0o111 else 0  # what an installer keeps of the permissions
    # zipfile hands out no more than `file_size` bytes and checks the CRC.
    return SourceFile(PurePosixPath(*parts).as_posix(), archive.read(entry), 0o644 | executable)


def _placed(path: str) -> str:
    first, _, rest = path.partition("/")
    kind, _, inner = rest.partition("/")
    if not first.endswith(".data") or kind not in DATA_FOLDERS or not inner:
        return path
    return f"{DATA_FOLDERS[kind]}/{inner}".lstrip("/")
