"""Overlapping a forward and a backward chunk of a pipeline: names that code is annotated with.

Making an orchestrator raises ``NotImplementedError`` when the run is configured
(``pipeline_parallel_overlap_b_f``). Source: hyper-parallel as MindFormers 2.1.0 uses it
(pynative/distributed/ep_overlap.py, pynative/base_models/gpt/parallelize.py).
"""

from __future__ import annotations

import enum
from typing import Any

__all__ = ["CommComputeOverlap", "HookCoordinator", "HookRole"]


class HookRole(enum.Enum):
    """What a synchronisation point stands before."""

    COMPUTE = "compute"
    COMM = "comm"


class HookCoordinator:
    """Keeps two threads in step."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("overlapped expert parallelism (HookCoordinator)")


class CommComputeOverlap:
    """Runs a forward and a backward chunk side by side."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "pipeline_parallel_overlap_b_f (CommComputeOverlap): set pipeline_parallel_overlap_b_f to False"
        )
