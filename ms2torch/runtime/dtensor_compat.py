"""Distributed tensors for business code, whatever torch calls them in this version.

Names come from ``_backend`` alone.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from ._backend.compat import (
    DTensor,
    Partial,
    Placement,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
    local_of,
)
from ._backend.tensor import copy_

__all__ = [
    "DTensor",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "SkipDTensorDispatch",
    "distribute_module",
    "distribute_tensor",
    "inplace_copy",
    "local_shard",
    "to_local",
]


def to_local(tensor: Any) -> Any:
    """The local shard of a DTensor; anything else as it is.

    Where autograd follows, the gradient of a replicated dimension is the sum over the mesh: each rank used
    its copy on its own data. torch's default would keep the local part alone, without an error.
    """
    if not isinstance(tensor, DTensor):
        return tensor
    if not (tensor.requires_grad and torch.is_grad_enabled()):
        return tensor.to_local()
    grads = [Partial() if placement.is_replicate() else placement for placement in tensor.placements]
    return tensor.to_local(grad_placements=grads)


def local_shard(tensor: Any, dim: int, shards: int) -> int:
    """Which of the ``shards`` pieces of ``dim`` this rank's local shard is; 0 for a plain tensor.

    Mesh dimensions count from the outermost; one that splits what another has already split (torch's strided
    shards: FSDP over tensor parallel) comes after it.
    """
    if not isinstance(tensor, DTensor):
        return 0
    dim %= tensor.dim()
    splits = [
        (hasattr(placement, "split_factor"), mesh_dim)
        for mesh_dim, placement in enumerate(tensor.placements)
        if getattr(placement, "dim", None) == dim
    ]
    mesh, index = tensor.device_mesh, 0
    for _, mesh_dim in sorted(splits):
        index = index * mesh.size(mesh_dim) + mesh.get_local_rank(mesh_dim)
    return index % shards


def inplace_copy(dst: Any, src: Any) -> Any:
    """Copies ``src`` into ``dst`` and returns ``dst``; of a DTensor on either side the local shard counts."""
    copy_(local_of(dst), local_of(src))
    return dst


# Reads and writes of attributes (shape, grad, requires_grad, ...) belong to the distributed tensor itself.
_ABOUT_THE_TENSOR = ("__get__", "__set__", "__delete__")


class SkipDTensorDispatch(TorchFunctionMode):
    """Inside, operations take DTensors for their local shards and give plain tensors; in-place ones return
    the DTensor whose shard they changed. Nothing is communicated. Source: hyper_parallel's class."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Runs ``func`` on local shards."""
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") in _ABOUT_THE_TENSOR:
            return func(*args, **kwargs)
        owners: dict[int, Any] = {}

        def shard(value: Any) -> Any:
            if not isinstance(value, DTensor):
                return value
            follow = value.requires_grad and torch.is_grad_enabled()
            local = value.to_local() if follow else value._local_tensor
            owners[id(local)] = value
            return local

        result = func(*tree_map(shard, args), **tree_map(shard, kwargs))
        return owners.get(id(result), result)
