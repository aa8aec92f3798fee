"""Point-to-point calls and collectives of Python objects of ``mindspore.mint.distributed``.

Source: MindSpore 2.10, mindspore.mint.distributed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from .collectives import Handle, received_into, to_send
from .groups import resolve_group


def _check_peer(name: str, peer: int) -> None:
    if not isinstance(peer, int):
        raise TypeError(f"{name}: the rank must be an int, not {type(peer).__name__}")
    if name.endswith("send") and dist.get_rank() == peer:
        raise ValueError(f"{name}: a rank cannot send to itself ({peer})")


def isend(tensor: torch.Tensor, dst: int = 0, group: Any = None, tag: int = 0) -> Handle:
    """Starts sending ``tensor`` to global rank ``dst``."""
    _check_peer("isend", dst)
    return Handle([dist.isend(to_send(tensor), dst, resolve_group(group), tag)])


def irecv(tensor: torch.Tensor, src: int = 0, group: Any = None, tag: int = 0) -> Handle:
    """Starts receiving into ``tensor`` from global rank ``src``."""
    _check_peer("irecv", src)
    then: list[Callable[[], object]] = []
    return Handle([dist.irecv(received_into(tensor, then), src, resolve_group(group), tag)], then)


def send(tensor: torch.Tensor, dst: int = 0, group: Any = None, tag: int = 0) -> None:
    """Sends ``tensor`` to global rank ``dst``."""
    _check_peer("send", dst)
    dist.send(to_send(tensor), dst, resolve_group(group), tag)


def recv(tensor: torch.Tensor, src: int = 0, group: Any = None, tag: int = 0) -> int:
    """Receives into ``tensor`` from global rank ``src``; returns 0, as MindSpore does."""
    irecv(tensor, src, group, tag).wait()
    return 0


class P2POp:
    """One send or receive of :func:`batch_isend_irecv`; ``op`` is ``isend``, ``irecv`` or its name.
    Raises TypeError for another op, NotImplementedError for a tag."""

    def __init__(self, op: Any, tensor: torch.Tensor, peer: int, group: Any = None, tag: int = 0) -> None:
        name = op if isinstance(op, str) else getattr(op, "__name__", "")
        if name not in ("isend", "irecv"):
            raise TypeError(f"P2POp: op must be isend or irecv, got {op!r}")
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"P2POp: expected a tensor, got {type(tensor).__name__}")
        _check_peer(name, peer)
        if tag != 0:
            raise NotImplementedError("P2POp: tags are not supported")
        self.op, self.tensor, self.peer, self.group, self.tag = op, tensor, peer, group, tag
        self.name = name


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Handle]:
    """Starts all of them together. Returns a list of one handle that covers them all, as MindSpore does."""
    if not p2p_op_list or not all(isinstance(op, P2POp) for op in p2p_op_list):
        raise TypeError("batch_isend_irecv: expected a list of P2POp that is not empty")
    if any(op.group != p2p_op_list[0].group for op in p2p_op_list):
        raise TypeError("batch_isend_irecv: all operations must be in one group")
    group = resolve_group(p2p_op_list[0].group)
    then: list[Callable[[], object]] = []
    batch = [
        dist.P2POp(dist.isend, to_send(op.tensor), op.peer, group)
        if op.name == "isend"
        else dist.P2POp(dist.irecv, received_into(op.tensor, then), op.peer, group)
        for op in p2p_op_list
    ]
    return [Handle(dist.batch_isend_irecv(batch), then)]


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Fills ``object_list[i]`` with member i's object."""
    dist.all_gather_object(object_list, obj, resolve_group(group))


def broadcast_object_list(
    object_list: list[Any], src: int = 0, group: Any = None, device: Any = None
) -> None:
    """Replaces the objects of the list by global rank ``src``'s."""
    if not isinstance(object_list, list) or not object_list:
        raise TypeError("broadcast_object_list: expected a list that is not empty")
    dist.broadcast_object_list(object_list, src, resolve_group(group), device)


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0, group: Any = None
) -> None:
    """Fills ``object_gather_list`` on global rank ``dst``; elsewhere the list is left alone."""
    # MindSpore lets every rank pass a list; torch refuses one anywhere but on dst.
    dist.gather_object(obj, object_gather_list if dist.get_rank() == dst else None, dst, resolve_group(group))


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None,
    src: int = 0,
    group: Any = None,
) -> None:
    """Puts this rank's object of global rank ``src``'s list into ``scatter_object_output_list[0]``."""
    inputs = scatter_object_input_list if dist.get_rank() == src else None
    dist.scatter_object_list(scatter_object_output_list, inputs, src, resolve_group(group))


def send_object_list(object_list: list[Any], dst: int, group: Any = None, device: Any = None) -> None:
    """Sends the objects to global rank ``dst``."""
    _check_peer("send", dst)
    dist.send_object_list(object_list, dst, resolve_group(group), device)


def recv_object_list(object_list: list[Any], src: int = 0, group: Any = None, device: Any = None) -> int:
    """Fills the list with objects from global rank ``src``; returns its rank."""
    return int(dist.recv_object_list(object_list, src, resolve_group(group), device))
