"""Distributed tensors with hyper_parallel's meaning on torch's ``DTensor``.

Three things differ from torch and are why these functions exist (source: hyper-parallel
hyper_parallel/core/dtensor.py):

* ``to_local()`` of hyper_parallel hands out the shard itself. What flows back is this rank's contribution;
the
  framework that reduces gradients adds the contributions of the ranks that hold a replica. In torch that is
  ``grad_placements=Partial()`` on each replicated axis; without it the gradient of a replicated parameter
  under tensor parallelism is silently one rank's part.
* ``distribute_tensor`` slices what every rank already has, without communication.
* ``local_shape``, ``layout`` and ``reduce_partial`` have no counterpart.
"""

from __future__ import annotations

from typing import Any

import torch

from .placements import Partial, Placement, Replicate, placements_of, shard_dim_of
from .torch_dist import DeviceMesh, DTensor, from_local_exact

__all__ = [
    "DFunction",
    "DTensor",
    "distribute_tensor",
    "from_local",
    "is_dtensor",
    "local_shape",
    "make_dtensor",
    "redistribute",
    "reduce_partial",
    "to_local",
]


def is_dtensor(x: Any) -> bool:
    """Whether ``x`` is a distributed tensor (a Parameter that holds one included)."""
    return isinstance(x, DTensor)


def to_local(x: Any) -> Any:
    """This rank's shard of ``x``; a foreign object's own ``to_local()``.

    Differentiable: gradients of replicated axes are this rank's contribution (``Partial``), to be summed by
    whoever reduces gradients. In-place writes under ``no_grad`` reach the DTensor's storage.
    """
    if not isinstance(x, DTensor):
        return x.to_local()
    if not torch.is_grad_enabled() or not (x.requires_grad or x.grad_fn is not None):
        return x._local_tensor
    back = [Partial() if p.is_replicate() else p for p in x.placements]
    return x.to_local(grad_placements=back)


def from_local(local_tensor: torch.Tensor, device_mesh: DeviceMesh, placements: Any) -> DTensor:
    """The DTensor whose shard on this rank is ``local_tensor``; no check, no communication.

    The global shape is that of even shards (as in hyper_parallel). Differentiable.
    """
    if isinstance(local_tensor, DTensor):
        local_tensor = to_local(local_tensor)
    where = placements_of(placements, device_mesh.ndim, local_tensor.ndim)
    return DTensor.from_local(local_tensor, device_mesh, where, run_check=False)


def make_dtensor(local_tensor: torch.Tensor, device_mesh: Any = None, placements: Any = None) -> DTensor:
    """hyper_parallel's constructor ``DTensor(local, mesh, placements)``; a DTensor alone is passed on.

    ``ValueError`` when the mesh or the placements are missing.
    """
    if isinstance(local_tensor, DTensor) and device_mesh is None and placements is None:
        return local_tensor
    if device_mesh is None or placements is None:
        raise ValueError("DTensor needs a device_mesh and placements")
    return from_local(local_tensor, device_mesh, placements)


def _slice(tensor: torch.Tensor, mesh: DeviceMesh, placements: tuple[Placement, ...]) -> torch.Tensor:
    coordinate = mesh.get_coordinate()
    if coordinate is None:
        raise ValueError("this rank is not part of the device mesh")
    for axis, placement in enumerate(placements):
        if placement.is_shard():
            dim, parts = shard_dim_of(placement), int(mesh.size(axis))
            if tensor.shape[dim] % parts:
                raise ValueError(
                    f"dimension {dim} of size {tensor.shape[dim]} cannot be split evenly over {parts} ranks"
                )
            tensor = tensor.chunk(parts, dim)[coordinate[axis]]
    return tensor


def distribute_tensor(tensor: torch.Tensor, device_mesh: DeviceMesh, placements: Any) -> DTensor:
    """Slice the ``tensor`` that every rank has; each keeps its shard. No communication.

    A meta tensor stays on meta. ``ValueError`` when a dimension does not divide, ``NotImplementedError`` for
    a ``Partial`` placement.
    """
    where = placements_of(placements, device_mesh.ndim, tensor.ndim)
    if any(p.is_partial() for p in where):
        raise NotImplementedError("distribute_tensor to a Partial placement")
    if isinstance(tensor, DTensor):
        return redistribute(tensor, device_mesh, where)  # type: ignore[no-any-return]
    local = _slice(tensor.detach(), device_mesh, where)
    if any(p.is_shard() for p in where):
        local = local.clone()  # a view would keep the whole tensor alive
    return from_local_exact(local.contiguous(), device_mesh, where, tensor.shape, _row_major(tensor.shape))


def _row_major(shape: Any) -> tuple[int, ...]:
    stride, step = [], 1
    for size in reversed(tuple(shape)):
        stride.append(step)
        step *= max(int(size), 1)
    return tuple(reversed(stride))


def redistribute(x: Any, device_mesh: DeviceMesh, placements: Any) -> Any:
    """``x`` with other placements (collectives over the mesh); hyper_parallel gives the mesh first.

    A foreign object's own method is called. Between two meshes of different ranks: ``NotImplementedError``.
    """
    if not isinstance(x, DTensor):
        return x.redistribute(device_mesh, placements)
    where = placements_of(placements, device_mesh.ndim, x.ndim)
    if device_mesh != x.device_mesh:
        if mesh_key(device_mesh) != mesh_key(x.device_mesh):
            raise NotImplementedError(f"redistribute from mesh {x.device_mesh} to another mesh {device_mesh}")
        device_mesh = x.device_mesh
    return x.redistribute(device_mesh, where)


def mesh_key(mesh: DeviceMesh) -> tuple[Any, ...]:
    """What makes two meshes the same for a tensor: shape and ranks."""
    return (tuple(mesh.mesh.shape), tuple(mesh.mesh.flatten().tolist()))


def reduce_partial(x: Any) -> Any:
    """Sum (or reduce) the partial axes of ``x``; the other placements stay."""
    if not isinstance(x, DTensor):
        return x.reduce_partial()
    return redistribute(x, x.device_mesh, [Replicate() if p.is_partial() else p for p in x.placements])


def local_shape(x: Any) -> tuple[int, ...]:
    """The shape of this rank's shard; a foreign object's own ``local_shape``."""
    if isinstance(x, DTensor):
        return tuple(x._local_tensor.shape)
    return x.local_shape  # type: ignore[no-any-return]


class DFunction(torch.autograd.Function):
    """A custom function with a local view of its tensors.

    ``NotImplementedError`` when it is applied to a distributed tensor: its layout would have to be inferred.
    """

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(arg, DTensor) for arg in (*args, *kwargs.values())):
            raise NotImplementedError(f"{cls.__name__} (a DFunction) of a distributed tensor")
        return super().apply(*args, **kwargs)  # type: ignore[no-untyped-call]
