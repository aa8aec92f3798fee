"""Faults that the matrix must catch: what each does to the port's parts, in one rank's process."""

from __future__ import annotations

from collections.abc import Callable

FAULTS: dict[str, Callable[[], None]] = {}
