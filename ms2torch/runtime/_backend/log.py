"""``mindspore.log`` on the standard library's logging. Source: MindSpore 2.10.

``GLOG_v`` (0 debug, 1 info, 2 warning, 3 error, 4 critical; default 2) sets the level. Messages go to the
standard error stream unless the root logger has handlers of its own.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from typing import Any

_LEVELS = {
    "0": logging.DEBUG,
    "1": logging.INFO,
    "2": logging.WARNING,
    "3": logging.ERROR,
    "4": logging.CRITICAL,
}
_lock = threading.Lock()
_logger: logging.Logger | None = None


def _get_logger() -> logging.Logger:
    """The logger behind the functions of this module. Raises ValueError for a ``GLOG_v`` that is no level."""
    global _logger
    with _lock:
        if _logger is None:
            level = _LEVELS.get(get_level())
            if level is None:
                raise ValueError(f"GLOG_v is {get_level()!r}; it must be one of {', '.join(_LEVELS)}")
            made = logging.getLogger(__name__)
            made.setLevel(level)
            if not logging.getLogger().handlers:
                handler = logging.StreamHandler(sys.stderr)
                origin = "ME(%(process)d,%(processName)s):%(asctime)s [%(pathname)s:%(lineno)d]"
                form = f"[%(levelname)s] {origin} %(message)s"
                handler.setFormatter(logging.Formatter(form))
                made.addHandler(handler)
                made.propagate = False
            _logger = made
        return _logger


def get_level() -> str:
    """The level as ``GLOG_v`` has it: '0' to '4'."""
    return os.environ.get("GLOG_v", "2")  # noqa: SIM112  (its name)


def get_log_config() -> dict[str, str]:
    """The settings of MindSpore's log that are in force here."""
    return {"GLOG_v": get_level(), "GLOG_logtostderr": "1"}


def _emit(level: int, msg: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    kwargs.setdefault("stacklevel", 1)
    kwargs["stacklevel"] += 2
    _get_logger().log(level, msg, *args, **kwargs)


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    _emit(logging.DEBUG, msg, args, kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    _emit(logging.INFO, msg, args, kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    _emit(logging.WARNING, msg, args, kwargs)


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    _emit(logging.ERROR, msg, args, kwargs)


def critical(msg: str, *args: Any, **kwargs: Any) -> None:
    _emit(logging.CRITICAL, msg, args, kwargs)
