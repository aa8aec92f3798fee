"""Process groups: starting the world, making groups, asking who is in them.

A group may be given as None (the world), a name (MindSpore's groups are strings), a ProcessGroup or a mesh of
one dimension. One process is a real group of one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import torch.distributed as dist

from . import compat, device

_WORLD_NAMES = ("", "hccl_world_group", "nccl_world_group", "mccl_world_group", "gloo_world_group")
TCPStore: Any = dist.TCPStore  # type: ignore[attr-defined]  # torch does not list it in __all__
_VENDOR_BACKENDS = ("hccl", "nccl", "mccl")

# name -> (group, its global ranks), for create_group; and sorted ranks -> group, for new_group, which in
# MindSpore gives one and the same group for the same ranks.
_named: dict[str, tuple[Any, list[int]]] = {}
_by_ranks: dict[tuple[int, ...], Any] = {}


# --- process group ------------------------------------------------------------------------------------------


def is_available() -> bool:
    """Whether this torch was built with torch.distributed."""
    return dist.is_available()


def is_initialized() -> bool:
    """Whether the world group exists."""
    return dist.is_available() and dist.is_initialized()


def _lone_store() -> tuple[Any, int, int]:
    """The store of a process that no launcher started. The store picks its port itself, so no other process
    can take it in between; the variables tell child processes and libraries what a launcher would have."""
    store = TCPStore("127.0.0.1", 0, 1, True)
    for name, value in (
        ("RANK", "0"),
        ("WORLD_SIZE", "1"),
        ("LOCAL_RANK", "0"),
        ("LOCAL_WORLD_SIZE", "1"),
        ("MASTER_ADDR", "127.0.0.1"),
        ("MASTER_PORT", str(store.port)),
    ):
        os.environ.setdefault(name, value)
    return store, 0, 1


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Starts the world group; does nothing if there is one.

    ``backend`` None or a vendor's (hccl, nccl, mccl) means the library of this process's device, with gloo
    beside it for CPU tensors; any other name (gloo, fake, ...) is taken as it is. Without a launcher
    (``WORLD_SIZE`` unset or 1) the process becomes a real group of one. Source: MindSpore 2.10,
    mint.distributed.init_process_group.
    """
    if dist.is_initialized():
        return
    if init_method is not None and store is not None:
        raise ValueError("init_process_group: only one of init_method and store may be given")
    if backend is None or backend in _VENDOR_BACKENDS:
        kind = device.device_type()
        backend = "gloo" if kind == "cpu" else f"cpu:gloo,{kind}:{device.backend_name()}"
    if device.accelerator() is not None:
        device.set_device()
    given = {"timeout": timeout, "group_name": group_name, "pg_options": pg_options, "device_id": device_id}
    options: dict[str, Any] = {"backend": backend, **{name: value for name, value in given.items() if value}}
    alone = os.environ.get("WORLD_SIZE", "1") == "1" and "TORCHELASTIC_RUN_ID" not in os.environ
    if init_method is None and store is None and alone and world_size in (-1, 1) and rank in (-1, 0):
        store, rank, world_size = _lone_store()
    if init_method is not None:
        options["init_method"] = init_method
    if store is not None:
        options["store"] = store
    if rank >= 0:
        options["rank"] = rank
    if world_size > 0:
        options["world_size"] = world_size
    dist.init_process_group(**options)


def destroy_process_group(group: Any = None) -> None:
    """Ends one group, or with None or the world's name all of them; does nothing if there is none."""
    resolved = resolve_group(group)
    if resolved is None:
        _named.clear()
        _by_ranks.clear()
        if dist.is_initialized():
            dist.destroy_process_group()
        return
    forget_group(resolved)
    dist.destroy_process_group(resolved)


def forget_group(group: Any) -> None:
    """Drops a group (or the name of one) from the registry."""
    for name in [n for n, (known, _) in _named.items() if n == group or known is group]:
        del _named[name]
    for ranks in [r for r, known in _by_ranks.items() if known is group]:
        del _by_ranks[ranks]


def resolve_group(group: Any) -> Any:
    """The ProcessGroup of a name, handle or one-dimensional mesh; None for the world.
    Raises ValueError for a name that no group has."""
    if group is None or (isinstance(group, str) and group in _WORLD_NAMES):
        return None
    if isinstance(group, str):
        if group in _named:
            return _named[group][0]
        if dist.is_initialized():
            for known, name in dist.distributed_c10d._world.pg_names.items():
                if name == group:
                    return known
        raise ValueError(f"there is no process group named {group!r}; create_group and new_group make them")
    if isinstance(group, compat.DeviceMesh):
        return group.get_group()
    return group


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = True,
    group_desc: str | None = None,
) -> Any:
    """A group of these global ranks; only its members call it. None means every rank.

    The same ranks give the same group. Returns a ProcessGroup (MindSpore: its name); every function here
    takes it. Source: MindSpore 2.10, mint.distributed.new_group.
    """
    if ranks is None:
        return dist.group.WORLD
    members = sorted(int(rank) for rank in ranks)
    if not members or len(set(members)) != len(members):
        raise ValueError(f"new_group: ranks must be distinct and not empty, got {list(ranks)}")
    key = tuple(members)
    plain = timeout is None and pg_options is None and backend in (None, *_VENDOR_BACKENDS)
    if plain and key in _by_ranks:
        return _by_ranks[key]
    options: dict[str, Any] = {"timeout": timeout, "pg_options": pg_options}
    if backend is not None and backend not in _VENDOR_BACKENDS:
        options["backend"] = backend
    # Without it every rank of the world would have to call, and MindSpore programs call from members only.
    group = dist.new_group(members, use_local_synchronization=True, **options)
    if plain and group is not dist.GroupMember.NON_GROUP_MEMBER:
        _by_ranks[key] = group
    return group


def create_named_group(name: str, ranks: Sequence[int]) -> None:
    """Makes the group ``name`` of these ranks, unless it exists with the same ones."""
    members = [int(rank) for rank in ranks]
    if name in _named:
        if _named[name][1] != members:
            raise ValueError(f"the group {name} has been created with ranks {_named[name][1]}, not {members}")
        return
    if dist.get_rank() not in members:
        raise RuntimeError(f"create_group({name!r}, {members}): rank {dist.get_rank()} is not one of them")
    _named[name] = (new_group(members), members)


def group_ranks() -> dict[str, list[int]]:
    """Named groups and their global ranks, the world included."""
    world = {world_name(): list(range(dist.get_world_size()))} if dist.is_initialized() else {}
    return {**world, **{name: list(ranks) for name, (_, ranks) in _named.items()}}


def world_name() -> str:
    """MindSpore's name of the world group on this device."""
    return {"npu": "hccl", "cuda": "nccl", "cpu": "mccl"}[device.device_type()] + "_world_group"


def _environment(*names: str, default: int) -> int:
    for name in names:
        value = os.environ.get(name)
        if value:
            return int(value)
    return default


def get_rank(group: Any = None) -> int:
    """This process's rank in the group, -1 outside it; before initialisation what the environment says."""
    if not is_initialized():
        return _environment("RANK", "RANK_ID", default=0)
    return int(dist.get_rank(resolve_group(group)))


def get_world_size(group: Any = None) -> int:
    """The size of the group, -1 outside it; before initialisation what the environment says."""
    if not is_initialized():
        return _environment("WORLD_SIZE", "RANK_SIZE", default=1)
    return int(dist.get_world_size(resolve_group(group)))


def get_local_rank() -> int:
    """This process's rank on its machine."""
    return _environment("LOCAL_RANK", default=get_rank() % get_local_world_size())


def get_local_world_size() -> int:
    """How many processes of this run are on this machine: ``LOCAL_WORLD_SIZE``, else all."""
    return _environment("LOCAL_WORLD_SIZE", default=get_world_size())


def get_backend(group: Any = None) -> str:
    """The collective library of the group."""
    return str(dist.get_backend(resolve_group(group)))


def get_global_rank(group: Any, group_rank: int) -> int:
    """The global rank of a rank in the group."""
    resolved = resolve_group(group)
    return group_rank if resolved is None else int(dist.get_global_rank(resolved, group_rank))


def get_group_rank(group: Any, global_rank: int) -> int:
    """The rank in the group of a global rank."""
    resolved = resolve_group(group)
    return global_rank if resolved is None else int(dist.get_group_rank(resolved, global_rank))


def get_process_group_ranks(group: Any = None) -> list[int]:
    """The global ranks of the group, in group order."""
    resolved = resolve_group(group)
    return (
        list(range(dist.get_world_size()))
        if resolved is None
        else list(dist.get_process_group_ranks(resolved))
    )


def init_device_mesh(
    device_type: str | None = None,
    mesh_shape: Sequence[int] = (1,),
    *,
    mesh_dim_names: Sequence[str] | None = None,
    **options: Any,
) -> Any:
    """A DeviceMesh over all ranks; starts the world group if there is none. ``device_type`` None or another
    vendor's name means this process's device."""
    init_process_group()
    names = tuple(mesh_dim_names) if mesh_dim_names is not None else None
    known = device_type in ("meta", "cpu", "cuda", "npu") and device_type == device.device_type()
    kind = device_type if known else device.device_type()
    return compat.raw_init_device_mesh(kind, tuple(mesh_shape), mesh_dim_names=names, **options)
