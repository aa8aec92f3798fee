"""Context parallelism: the classes models and parallel styles name.

They can be imported, annotated with and asked for by ``isinstance``; making one raises
``NotImplementedError``, when the run is configured rather than in the middle of it. Source: hyper-parallel as
MindFormers 2.1.0 uses it (pynative/distributed/style.py).
"""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "AsyncContextParallel",
    "AsyncDSAIndexerContextParallel",
    "AsyncDSAIndexerLossContextParallel",
    "AsyncDSASparseAttentionContextParallel",
    "ContextParallel",
    "DSAIndexerContextParallel",
    "DSAIndexerLossContextParallel",
    "DSASequenceReplicateCache",
    "DSASparseAttentionContextParallel",
]


class _ContextParallelStyle:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise NotImplementedError(f"context parallelism ({type(self).__name__}): set context_parallel to 1")


class ContextParallel(_ContextParallelStyle):
    """Sequence sharded over the ranks of an axis around attention."""


class AsyncContextParallel(ContextParallel):
    """``ContextParallel`` that overlaps communication with the projections."""


class DSAIndexerContextParallel(_ContextParallelStyle):
    """Boundary of the sparse-attention indexer."""


class DSAIndexerLossContextParallel(_ContextParallelStyle):
    """Boundary of the indexer's loss."""


class DSASparseAttentionContextParallel(_ContextParallelStyle):
    """Boundary of sparse attention."""


class DSASequenceReplicateCache(_ContextParallelStyle):
    """Gathered keys and values that sparse attention and the indexer's loss share."""


class AsyncDSAIndexerContextParallel(DSAIndexerContextParallel):
    """Overlapping form."""


class AsyncDSAIndexerLossContextParallel(DSAIndexerLossContextParallel):
    """Overlapping form."""


class AsyncDSASparseAttentionContextParallel(DSASparseAttentionContextParallel):
    """Overlapping form."""
