"""Gather and scatter along any dimension, as plain (not differentiable) collectives."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from .. import compat

__all__ = ["all_gather_dim", "reduce_scatter_dim"]


def all_gather_dim(shard: torch.Tensor, dim: int, group: Any) -> torch.Tensor:
    """The shards of the group's ranks joined along ``dim``, in rank order; a new tensor."""
    size = dist.get_world_size(group)
    shard = shard.contiguous()
    out = shard.new_empty((size * shard.shape[0], *shard.shape[1:]))
    compat.all_gather_single(out, shard, group=group)
    return out if dim == 0 else torch.cat(out.chunk(size, 0), dim)


def reduce_scatter_dim(whole: torch.Tensor, dim: int, group: Any) -> torch.Tensor:
    """This rank's piece along ``dim`` of the sum over the group. The dimension must divide."""
    size = dist.get_world_size(group)
    stacked = whole.contiguous() if dim == 0 else torch.cat(whole.chunk(size, dim), 0)
    out = stacked.new_empty((stacked.shape[0] // size, *stacked.shape[1:]))
    compat.reduce_scatter_single(out, stacked, group=group)
    return out
