"""Work done in a thread while training goes on: writing checkpoint files.

There is one thread at a time, under the name that MindSpore gives its own: who waits for it by that name has
waited for all files.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

THREAD_NAME = "asyn_save_ckpt"


class SaveFailed(Exception):
    """A checkpoint could not be written. No RuntimeError: callbacks log those and train on."""


_lock = threading.Lock()
_jobs: deque[tuple[str, Callable[[], None]]] = deque()
_thread: threading.Thread | None = None
_failed: list[tuple[str, Exception]] = []


def submit(what: str, job: Callable[[], None]) -> None:
    """Runs the job after those before it. Raises SaveFailed for an earlier job that failed."""
    global _thread
    raise_failures()
    with _lock:
        _jobs.append((what, job))
        if _thread is None:
            # No daemon: the interpreter's end waits for the files.
            _thread = threading.Thread(target=_run, name=THREAD_NAME)
            _thread.start()


def _run() -> None:
    global _thread
    while True:
        with _lock:
            if not _jobs:
                _thread = None
                return
            what, job = _jobs.popleft()
        try:
            job()
        except Exception as error:  # handed to the caller's thread, which raises it
            with _lock:
                _failed.append((what, error))


def busy() -> bool:
    """Whether a job runs or waits."""
    with _lock:
        return _thread is not None


def wait() -> None:
    """Returns when all jobs are done. Raises SaveFailed for one that failed."""
    thread = _thread
    if thread is not None:
        thread.join()
    raise_failures()


def raise_failures() -> None:
    """Raises SaveFailed for the first job that failed since the last call, from its error."""
    with _lock:
        failures, _failed[:] = list(_failed), []
    if failures:
        what, error = failures[0]
        raise SaveFailed(f"{what} was not written: {error}") from error
