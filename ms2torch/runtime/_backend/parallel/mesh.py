"""Device meshes: torch's ``DeviceMesh`` plus what hyper_parallel's has beside it, as functions.

Every axis of every mesh gets a real process group, also an axis of size 1: one card is the special case
``world_size == 1`` of many. Source: hyper-parallel hyper_parallel/core/device_mesh.py.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.distributed as dist

from .. import communication, compat
from ..device import device_type as _running_on
from .torch_dist import DeviceMesh

__all__ = [
    "DeviceMesh",
    "axis_ranks",
    "common_mesh",
    "flatten",
    "get_comm_group_by_axis",
    "get_device_num_along_axis",
    "get_devices_for_axis",
    "get_rank_list_along_axis",
    "init_device_mesh",
    "mesh_shape",
    "rank_list",
    "root_mesh",
    "unflatten",
]

# Meshes that others are sliced from. A parameter that two styles shard along two axes lives on the slice of
# one of these that has both axes.
_ROOTS: list[DeviceMesh] = []


def _device_type(device_type: Any) -> str:
    """MindSpore code names its accelerator; the port runs on whatever ``MF_DEVICE_TYPE`` says or is there."""
    name = str(getattr(device_type, "type", device_type)).lower()
    return _running_on() if name in ("npu", "ascend", "gpu", "") else name


def _remember(mesh: DeviceMesh) -> DeviceMesh:
    _ROOTS.append(mesh)
    return mesh


def init_device_mesh(
    device_type: Any = "npu",
    mesh_shape: tuple[int, ...] = (),
    *,
    mesh_dim_names: tuple[str, ...] | None = None,
    rank_list: Any = None,
    init_backend: bool = True,
) -> DeviceMesh:
    """A mesh of all ranks (or of ``rank_list``) in the given shape, with a process group for each axis.

    ``npu``/``Ascend`` mean the accelerator and become the device the port runs on. The process group must
    have been initialised (``RuntimeError`` otherwise: torch would pick a backend by itself, and a wrong one).
    ``ValueError`` when the shape does not hold the ranks; ``NotImplementedError`` for ``init_backend=False``.
    """
    if not init_backend:
        raise NotImplementedError("init_device_mesh(init_backend=False): a mesh without process groups")
    if not (dist.is_available() and dist.is_initialized()):
        raise RuntimeError(
            "init_device_mesh needs an initialised process group: call init_process_group() first"
        )
    # Importing hyper_parallel turns MindSpore's functional collectives on; a mesh is the first that uses it.
    communication.set_comm_ops_inplace(False)
    shape = tuple(int(n) for n in mesh_shape)
    names = None if mesh_dim_names is None else tuple(mesh_dim_names)
    kind = _device_type(device_type)
    world = dist.get_world_size()
    if rank_list is None and math.prod(shape) == world:
        return _remember(compat.raw_init_device_mesh(kind, shape, mesh_dim_names=names))
    ranks = list(range(math.prod(shape))) if rank_list is None else [int(r) for r in rank_list]
    if math.prod(shape) != len(ranks):
        raise ValueError(f"mesh shape {shape} does not hold {len(ranks)} ranks")
    return _remember(DeviceMesh(kind, torch.tensor(ranks, dtype=torch.int).view(shape), mesh_dim_names=names))


def unflatten(
    mesh: Any,
    dim: int | str,
    mesh_sizes: tuple[int, ...],
    mesh_dim_names: tuple[str, ...],
    backend_override: Any = None,
) -> DeviceMesh:
    """The ranks of a one-dimensional ``mesh`` in more dimensions, e.g. world(8) -> pp 2, fsdp 2, tp 2.

    ``backend_override`` says which axes get a "fake" group in MindSpore; here each axis gets a real one, so
    that a collective over an axis of size 1 is the same code as over many. ``NotImplementedError`` for
    another override and for a mesh of several dimensions.
    """
    if not isinstance(mesh, DeviceMesh):
        return mesh._unflatten(dim, mesh_sizes, mesh_dim_names, backend_override=backend_override)  # type: ignore[no-any-return]
    overrides = set((backend_override or {}).values())
    if overrides - {"fake"}:
        raise NotImplementedError(f"DeviceMesh._unflatten: backend_override {sorted(map(str, overrides))}")
    names = mesh.mesh_dim_names or ()
    index = names.index(dim) if isinstance(dim, str) else int(dim)
    if mesh.ndim != 1 or index not in (0, -1):
        raise NotImplementedError("DeviceMesh._unflatten of a mesh with several dimensions")
    return init_device_mesh(
        mesh.device_type, tuple(mesh_sizes), mesh_dim_names=tuple(mesh_dim_names), rank_list=rank_list(mesh)
    )


def flatten(mesh: Any, mesh_dim_name: str | None = None) -> DeviceMesh:
    """The axes of ``mesh`` folded into one axis named ``mesh_dim_name`` (default: the names joined by
    ``_``)."""
    if not isinstance(mesh, DeviceMesh):
        return mesh._flatten(mesh_dim_name)  # type: ignore[no-any-return]
    names = tuple(mesh.mesh_dim_names or ())
    name = mesh_dim_name or "_".join(names)
    root = root_mesh(mesh) or mesh
    kept = [axis for axis, n in enumerate(root.mesh_dim_names or ()) if n not in names]
    folded = [_axis(root, n) for n in names] if names else list(range(mesh.ndim))
    # Every rank makes the groups of all lines, in the same order: making groups is a collective of the world.
    lines = root.mesh.permute(*kept, *folded).reshape(-1, mesh.size())
    return DeviceMesh(mesh.device_type, lines, mesh_dim_names=(f"_rest_of_{name}", name))[name]


def mesh_shape(mesh: Any) -> tuple[int, ...]:
    """The sizes of the axes (hyper_parallel's ``DeviceMesh.mesh_shape``)."""
    if isinstance(mesh, DeviceMesh):
        return tuple(int(n) for n in mesh.mesh.shape)
    return mesh.mesh_shape  # type: ignore[no-any-return]


def rank_list(mesh: Any) -> tuple[int, ...]:
    """The global ranks of the mesh in row-major order (hyper_parallel's ``DeviceMesh.rank_list``)."""
    if isinstance(mesh, DeviceMesh):
        return tuple(int(r) for r in mesh.mesh.flatten().tolist())
    return mesh.rank_list  # type: ignore[no-any-return]


def root_mesh(mesh: Any) -> DeviceMesh | None:
    """The mesh this one was sliced from, or ``None`` when it was not (hyper_parallel's ``root_mesh``)."""
    if not isinstance(mesh, DeviceMesh):
        return mesh.root_mesh  # type: ignore[no-any-return]
    names = set(mesh.mesh_dim_names or ())
    for candidate in _ROOTS:
        if (
            candidate is not mesh
            and names < set(candidate.mesh_dim_names or ())
            and _is_slice(mesh, candidate)
        ):
            return candidate
    return None


def _axis(mesh: DeviceMesh, axis: int | str) -> int:
    if isinstance(axis, int):
        if not -mesh.ndim <= axis < mesh.ndim:
            raise ValueError(f"mesh axis {axis} is out of range for {mesh.ndim} dimensions")
        return axis % mesh.ndim
    names = mesh.mesh_dim_names or ()
    if axis not in names:
        raise ValueError(f"mesh axis {axis!r} not found in {names}")
    return names.index(axis)


def axis_ranks(mesh: DeviceMesh, axis: int | str, of_rank: int) -> list[int]:
    """The ranks of the line along ``axis`` that goes through ``of_rank``. ``ValueError`` if it is not
    there."""
    dim = _axis(mesh, axis)
    where = (mesh.mesh == of_rank).nonzero()
    if len(where) != 1:
        raise ValueError(f"rank {of_rank} is not in the mesh {mesh}")
    index: list[Any] = [int(i) for i in where[0]]
    index[dim] = slice(None)
    return [int(r) for r in mesh.mesh[tuple(index)].tolist()]


def get_rank_list_along_axis(mesh: Any, mesh_dim: int | str) -> list[int]:
    """The ranks that share every other coordinate with this process."""
    if not isinstance(mesh, DeviceMesh):
        return mesh.get_rank_list_along_axis(mesh_dim)  # type: ignore[no-any-return]
    return axis_ranks(mesh, mesh_dim, dist.get_rank())


def get_devices_for_axis(mesh: DeviceMesh, mesh_dim: int | str, rank: int) -> list[int]:
    """The ranks along ``mesh_dim`` through ``rank``."""
    return axis_ranks(mesh, mesh_dim, rank)


def get_device_num_along_axis(mesh: DeviceMesh, axis: int | str) -> int:
    """The size of an axis."""
    return int(mesh.size(_axis(mesh, axis)))


def get_comm_group_by_axis(mesh: DeviceMesh, mesh_dim: int | str) -> Any:
    """The process group of an axis."""
    return mesh.get_group(_axis(mesh, mesh_dim))


def _is_slice(mesh: DeviceMesh, root: DeviceMesh) -> bool:
    names = tuple(n for n in root.mesh_dim_names or () if n in (mesh.mesh_dim_names or ()))
    me = dist.get_rank()
    if names != tuple(mesh.mesh_dim_names or ()) or not bool((root.mesh == me).any()):
        return False
    return all(axis_ranks(root, n, me) == axis_ranks(mesh, n, me) for n in names)


def common_mesh(outer: DeviceMesh, inner: DeviceMesh) -> DeviceMesh:
    """The mesh that has the axes of ``outer`` (data parallel) before those of ``inner`` (tensor or expert
    parallel), both slices of one mesh.

    ``ValueError`` when no known mesh has both, as when they were made apart.
    """
    names = (*(outer.mesh_dim_names or ()), *(inner.mesh_dim_names or ()))
    for root in _ROOTS:
        have = tuple(n for n in root.mesh_dim_names or () if n in names)
        if have == names and _is_slice(outer, root) and _is_slice(inner, root):
            return root if root.mesh_dim_names == names else root[names]
    raise ValueError(
        f"no common mesh for the axes {outer.mesh_dim_names} "
        f"and {inner.mesh_dim_names}: slice both from one mesh"
    )
