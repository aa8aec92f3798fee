"""``mindspore.communication``: the world group and named groups.

Source: MindSpore 2.10, mindspore.communication.management.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch.distributed as dist

from . import groups
from .groups import get_process_group_ranks as get_process_group_ranks
from .groups import get_rank as get_rank
from .groups import resolve_group


class _Live(type):
    @property
    def INITED(cls) -> bool:
        return groups.is_initialized()

    @property
    def WORLD_COMM_GROUP(cls) -> str:
        return groups.world_name()

    @property
    def BACKEND(cls) -> str:
        return groups.world_name().split("_")[0]


class GlobalComm(metaclass=_Live):
    """The world group's name, its library, and whether it exists (``mindspore.communication.GlobalComm``)."""


HCCL_WORLD_COMM_GROUP = "hccl_world_group"
NCCL_WORLD_COMM_GROUP = "nccl_world_group"
MCCL_WORLD_COMM_GROUP = "mccl_world_group"


def init(backend_name: str | None = None) -> None:
    """Starts the world group. Source: MindSpore 2.10, mindspore.communication.init."""
    groups.init_process_group(backend_name)


def release() -> None:
    """Ends every group. Source: MindSpore 2.10, mindspore.communication.release."""
    groups.destroy_process_group()


get_group_size = groups.get_world_size
get_local_rank_size = groups.get_local_world_size


def get_local_rank(group: Any = None) -> int:
    """This process's rank on its machine."""
    return groups.get_local_rank()


def create_group(group: str, rank_ids: Sequence[int], options: Any = None) -> None:
    """Makes a named group; only its members call. Raises ValueError if the name has other ranks already,
    RuntimeError outside the ranks. Source: MindSpore 2.10, mindspore.communication.create_group."""
    if options is not None:
        raise NotImplementedError("create_group: options configure HCCL's own groups")
    groups.create_named_group(group, rank_ids)


def destroy_group(group: str) -> None:
    """Ends a named group. Raises ValueError for the world's."""
    if resolve_group(group) is None:
        raise ValueError("The world_group does not support destruction.")
    groups.destroy_process_group(group)


def get_world_rank_from_group_rank(group: Any, group_rank_id: int) -> int:
    """The global rank of a rank in the group."""
    return groups.get_global_rank(group, group_rank_id)


def get_group_rank_from_world_rank(world_rank_id: int, group: Any) -> int:
    """The rank in the group of a global rank."""
    return groups.get_group_rank(group, world_rank_id)


def get_comm_name(group: Any = None) -> str:
    """The name torch knows the group by."""
    resolved: Any = resolve_group(group) or dist.group.WORLD
    return str(resolved.group_name)


_get_group_map = groups.group_ranks
_remove_group_info = groups.forget_group
_is_initialized = groups.is_initialized
