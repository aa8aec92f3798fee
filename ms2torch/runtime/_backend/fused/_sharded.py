"""Attention on DTensors: heads and batches are independent, so each rank attends to its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_BATCH = {"BSH": 0, "SBH": 1, "BNSD": 0, "BSND": 0, "TND": None}
_HEAD = {"BSH": 2, "SBH": 2, "BNSD": 1, "BSND": 2, "TND": 1}

Run = Callable[..., tuple[torch.Tensor, torch.Tensor, torch.Tensor]]


def is_dtensor(value: Any) -> bool:
    """Whether the value is a DTensor of any torch version (their module moved in 2.5)."""
    return isinstance(value, torch.Tensor) and hasattr(value, "placements") and hasattr(value, "device_mesh")


def run_on_shards(
    run: Run,
    query: Any,
    key: Any,
    value: Any,
    shift: Any,
    mask: Any,
    layout: str,
    heads: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """``run(q, k, v, shift, mask, heads)`` on plain tensors; on DTensors, on each rank's shard.

    Raises NotImplementedError if the three are not placed alike or are sharded along the sequence (that is
    context parallelism, which exchanges keys and values first), TypeError if only some are DTensors.
    """
    given = [is_dtensor(t) for t in (query, key, value)]
    if not any(given):
        return run(query, key, value, shift, mask, heads)
    if not all(given):
        raise TypeError("FlashAttentionScore: query, key and value must all be DTensors or all plain tensors")
    placements = tuple(query.placements)
    if tuple(key.placements) != placements or tuple(value.placements) != placements:
        raise NotImplementedError("FlashAttentionScore: query, key and value are placed differently")
    batch, head = _BATCH[layout], _HEAD[layout]
    mesh = query.device_mesh
    local_heads = heads
    stats = []
    for size, place in zip(mesh.shape, placements, strict=True):
        if place.is_replicate():
            stats.append(place)
        elif place.is_shard(head):
            local_heads //= size
            stats.append(type(place)(1))
        elif batch is not None and place.is_shard(batch):
            stats.append(type(place)(0))
            if any(isinstance(t, torch.Tensor) and not is_dtensor(t) and _batched(t) for t in (shift, mask)):
                raise TypeError("FlashAttentionScore: a mask with a batch must be a DTensor like the query")
        else:
            raise NotImplementedError(f"FlashAttentionScore: query placed {placements} for layout {layout}")
    local = [t.to_local() if is_dtensor(t) else t for t in (query, key, value, shift, mask)]
    biggest, total, out = run(*local, local_heads)
    wrap = type(query).from_local
    return (
        wrap(biggest + 0, mesh, stats, run_check=False),
        wrap(total + 0, mesh, stats, run_check=False),
        wrap(out, mesh, placements, run_check=False),
    )


def _batched(t: torch.Tensor) -> bool:
    return t.ndim == 4 and t.shape[0] > 1
