"""Gather and scatter along any dimension, as plain (not differentiable) collectives."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

__all__ = ["all_gather_dim", "reduce_scatter_dim"]

# The names of torch 2.13, then those before.
_all_gather = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
_reduce_scatter = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor


def all_gather_dim(shard: torch.Tensor, dim: int, group: Any) -> torch.Tensor:
    """The shards of the group's ranks joined along ``dim``, in rank order; a new tensor."""
    size = dist.get_world_size(group)
    shard = shard.contiguous()
    out = shard.new_empty((size * shard.shape[0], *shard.shape[1:]))
    _all_gather(out, shard, group=group)
    return out if dim == 0 else torch.cat(out.chunk(size, 0), dim)


def reduce_scatter_dim(whole: torch.Tensor, dim: int, group: Any) -> torch.Tensor:
    """This rank's piece along ``dim`` of the sum over the group. The dimension must divide."""
    size = dist.get_world_size(group)
    stacked = whole.contiguous() if dim == 0 else torch.cat(whole.chunk(size, dim), 0)
    out = stacked.new_empty((stacked.shape[0] // size, *stacked.shape[1:]))
    _reduce_scatter(out, stacked, group=group)
    return out
