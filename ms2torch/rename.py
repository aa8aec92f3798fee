"""Renames a folder over another one in a single step where the system can."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

_AT_FDCWD = -100
_EXCHANGE = 2
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


def into_place(stage: Path, end: Path) -> None:
    """Makes `stage` stand at `end`; what stood there before, if anything, is at `stage` afterwards."""
    if not end.exists() or not any(end.iterdir()):
        os.rename(stage, end)  # POSIX: over an empty folder too
    elif not _exchange(stage, end):
        aside = stage.with_name(stage.name + "-old")
        os.rename(end, aside)
        try:
            os.rename(stage, end)
        except OSError:
            os.rename(aside, end)
            raise
        os.rename(aside, stage)


def _exchange(one: Path, other: Path) -> bool:
    """Swaps two folders atomically with Linux's renameat2; False where libc or the file system lacks it."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(other))
