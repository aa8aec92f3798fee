"""Placements of a distributed tensor: torch's own, under hyper_parallel's names.

Source: hyper-parallel hyper_parallel/core/placement_types.py (Shard(dim), Replicate(),
Partial(reduce_op="sum")).
"""

from __future__ import annotations

from typing import Any

from .torch_dist import Partial, Placement, Replicate, Shard, StridedShard

__all__ = [
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "StridedShard",
    "normalize",
    "placements_of",
    "shard_dim_of",
]


def shard_dim_of(placement: Any) -> int:
    """The dimension a shard placement splits."""
    return int(placement.dim)


def normalize(placement: Placement, ndim: int) -> Placement:
    """``placement`` with a non-negative shard dimension, for a tensor of ``ndim`` dimensions.

    Raises ``ValueError`` when the dimension is out of range.
    """
    if not placement.is_shard():
        return placement
    dim = shard_dim_of(placement)
    if not -ndim <= dim < max(ndim, 1):
        raise ValueError(f"Shard dimension {dim} is out of bounds for a tensor of dimension {ndim}")
    if dim >= 0:
        return placement
    if isinstance(placement, StridedShard):
        return StridedShard(dim + ndim, split_factor=placement.split_factor)
    return Shard(dim + ndim)


def placements_of(placements: object, mesh_ndim: int, ndim: int) -> tuple[Placement, ...]:
    """A validated tuple of placements, one for each mesh dimension.

    Raises ``TypeError`` for anything but placements and ``ValueError`` for a wrong number of them.
    """
    if isinstance(placements, Placement):
        placements = (placements,)
    if not isinstance(placements, (list, tuple)):
        raise TypeError(f"placements must be a sequence of Placement, got {type(placements).__name__}")
    for item in placements:
        if not isinstance(item, Placement):
            raise TypeError(f"placements must hold Placement objects, got {item!r}")
    if len(placements) != mesh_ndim:
        raise ValueError(f"{len(placements)} placements for a mesh of {mesh_ndim} dimensions")
    return tuple(normalize(item, ndim) for item in placements)
