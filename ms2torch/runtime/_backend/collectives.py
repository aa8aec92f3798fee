"""Collectives of ``mindspore.mint.distributed`` on ``torch.distributed``: in place, outside autograd.

An op may be given as ``ReduceOp`` or as a string. Nothing here looks at the world size to skip a call.
Source: MindSpore 2.10, mindspore.mint.distributed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist

from . import compat
from .groups import get_global_rank, get_world_size, resolve_group

ReduceOp = dist.ReduceOp

_OPS = {
    "sum": ReduceOp.SUM,
    "prod": ReduceOp.PRODUCT,
    "min": ReduceOp.MIN,
    "max": ReduceOp.MAX,
    "avg": ReduceOp.AVG,
}


class Handle:
    """What an asynchronous call returns: waits for the work, then finishes what the call promised (copies a
    result back into a strided tensor, divides a sum into a mean)."""

    def __init__(self, works: Sequence[Any], then: Sequence[Callable[[], object]] = ()) -> None:
        self._works = [work for work in works if work is not None]
        self._then = list(then)

    def wait(self) -> bool:
        """Returns once results may be used; a second call does nothing."""
        works, then, self._works, self._then = self._works, self._then, [], []
        for work in works:
            work.wait()
        for step in then:
            step()
        return True

    def is_completed(self) -> bool:
        """Whether every part has run."""
        return all(work.is_completed() for work in self._works)


def _finish(works: Sequence[Any], then: Sequence[Callable[[], object]], async_op: bool) -> Handle | None:
    handle = Handle(works, then)
    if async_op:
        return handle
    handle.wait()
    return None


def _steps() -> list[Callable[[], object]]:
    return []


def to_send(tensor: torch.Tensor) -> torch.Tensor:
    """The plain, contiguous data of a tensor to send; collectives take no part in autograd here."""
    return compat.local_of(tensor).detach().contiguous()  # type: ignore[no-any-return]


def received_into(tensor: torch.Tensor, then: list[Callable[[], object]]) -> torch.Tensor:
    """A contiguous buffer that ends up in ``tensor``: itself, or one copied back by ``then``."""
    local: torch.Tensor = compat.local_of(tensor).detach()
    if local.is_contiguous():
        return local
    buffer = local.contiguous()
    then.append(lambda: local.copy_(buffer))
    return buffer


def reduce_op(op: Any) -> Any:
    """A torch ReduceOp of a string or ReduceOp. Raises TypeError for an unknown name."""
    if isinstance(op, str):
        if op.lower() not in _OPS:
            raise TypeError(f"the reduce op must be one of {', '.join(_OPS)}, got {op!r}")
        return _OPS[op.lower()]
    return op


def _is_gloo(group: Any, tensor: torch.Tensor) -> bool:
    if tensor.device.type != "cpu":
        return False
    return str(dist.get_backend(group)) != "fake"


def _native_op(op: Any, group: Any, data: torch.Tensor, then: list[Callable[[], object]]) -> Any:
    """The op to hand to torch: gloo knows no mean, so there it is a sum divided afterwards."""
    op = reduce_op(op)
    if op == ReduceOp.AVG and _is_gloo(group, data):
        size = dist.get_world_size(group)
        then.insert(0, lambda: data.div_(size))
        return ReduceOp.SUM
    return op


def all_reduce(
    tensor: torch.Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Handle | None:
    """Reduces ``tensor`` over the group in place; a handle if ``async_op``, else None."""
    group, then = resolve_group(group), _steps()
    data = received_into(tensor, then)
    work = dist.all_reduce(data, _native_op(op, group, data, then), group, async_op=True)
    return _finish([work], then, async_op)


def reduce(
    tensor: torch.Tensor, dst: int, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Handle | None:
    """Reduces onto global rank ``dst``, in place there; other ranks keep their tensors."""
    group, then = resolve_group(group), _steps()
    # What a library leaves on the other ranks is its own business; MindSpore leaves their tensors alone.
    data = received_into(tensor, then) if dist.get_rank() == dst else to_send(tensor).clone()
    work = dist.reduce(data, dst, _native_op(op, group, data, then), group, async_op=True)
    return _finish([work], then, async_op)


def broadcast(tensor: torch.Tensor, src: int, group: Any = None, async_op: bool = False) -> Handle | None:
    """Copies global rank ``src``'s tensor into every member's, in place."""
    group, then = resolve_group(group), _steps()
    work = dist.broadcast(received_into(tensor, then), src, group, async_op=True)
    return _finish([work], then, async_op)


def all_gather_into_tensor(
    output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: Any = None, async_op: bool = False
) -> Handle | None:
    """Fills ``output_tensor`` [size * n, ...] with every member's ``input_tensor`` [n, ...]."""
    group, then = resolve_group(group), _steps()
    work = compat.all_gather_single(
        received_into(output_tensor, then), to_send(input_tensor), group, async_op=True
    )
    return _finish([work], then, async_op)


def reduce_scatter_tensor(
    output: torch.Tensor,
    input: torch.Tensor,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Handle | None:
    """Fills ``output`` [n, ...] with this rank's part of the reduced ``input`` [size * n, ...]."""
    group, then = resolve_group(group), _steps()
    target, data = received_into(output, then), to_send(input)
    native = _native_op(op, group, target, then)
    try:
        work = compat.reduce_scatter_single(target, data, native, group, async_op=True)
    except RuntimeError as error:
        # gloo learnt it late. Every member gets here or none does.
        if not _is_gloo(group, data) or "support" not in str(error):
            raise
        whole = data.clone()
        work = dist.all_reduce(whole, native, group, async_op=True)
        rank, size = dist.get_rank(group), dist.get_world_size(group)
        then.insert(0, lambda: target.copy_(whole.view(size, -1)[rank].view_as(target)))
    return _finish([work], then, async_op)


def split_sizes(sizes: Sequence[int] | None, length: int, group: Any, what: str) -> list[int]:
    if sizes is not None and len(sizes):
        return [int(size) for size in sizes]
    size = dist.get_world_size(group)
    if length % size:
        raise ValueError(f"{what}: {length} rows do not divide by the group's {size}; give the split sizes")
    return [length // size] * size


def all_to_all_single(
    output: torch.Tensor,
    input: torch.Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Handle | None:
    """Sends rows of ``input`` to each member and fills ``output`` with what they sent, by rank."""
    group, then = resolve_group(group), _steps()
    work = dist.all_to_all_single(
        received_into(output, then),
        to_send(input),
        [int(size) for size in output_split_sizes] if output_split_sizes else None,
        [int(size) for size in input_split_sizes] if input_split_sizes else None,
        group,
        async_op=True,
    )
    return _finish([work], then, async_op)


def all_to_all(
    output_tensor_list: Sequence[torch.Tensor],
    input_tensor_list: Sequence[torch.Tensor],
    group: Any = None,
    async_op: bool = False,
) -> Handle | None:
    """Sends ``input_tensor_list[i]`` to member i and fills ``output_tensor_list[i]`` from it; shapes may
    differ. One flat all-to-all, since gloo has no list form."""
    group = resolve_group(group)
    send = [to_send(tensor).reshape(-1) for tensor in input_tensor_list]
    outputs = [compat.local_of(tensor).detach() for tensor in output_tensor_list]
    counts = [tensor.numel() for tensor in outputs]
    received = send[0].new_empty(sum(counts))
    work = dist.all_to_all_single(
        received, torch.cat(send), counts, [part.numel() for part in send], group, async_op=True
    )

    def unpack() -> None:
        for target, part in zip(outputs, torch.split(received, counts), strict=True):
            target.copy_(part.view(target.shape))

    return _finish([work], [unpack], async_op)


def all_gather(
    tensor_list: Sequence[torch.Tensor], tensor: torch.Tensor, group: Any = None, async_op: bool = False
) -> Handle | None:
    """Fills ``tensor_list[i]`` with member i's tensor; their shapes may differ."""
    group, then = resolve_group(group), _steps()
    outputs = [received_into(each, then) for each in tensor_list]
    data = to_send(tensor)
    if all(each.shape == outputs[0].shape for each in outputs):
        return _finish([dist.all_gather(outputs, data, group, async_op=True)], then, async_op)
    works = []
    for index, target in enumerate(outputs):
        if index == dist.get_rank(group):
            target.copy_(data)
        works.append(dist.broadcast(target, get_global_rank(group, index), group, async_op=True))
    return _finish(works, then, async_op)


def reduce_scatter(
    output: torch.Tensor,
    input_list: Sequence[torch.Tensor],
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Handle | None:
    """Fills ``output`` with the reduced ``input_list[rank]``; the list's shapes may differ."""
    group, then = resolve_group(group), _steps()
    inputs = [to_send(each) for each in input_list]
    if all(each.shape == inputs[0].shape for each in inputs):
        stacked = torch.stack(inputs)
        target = received_into(output, then)
        flat = reduce_scatter_tensor(target.view(1, *target.shape), stacked, op, group, async_op=True)
        return _finish([flat], then, async_op)
    target, works = compat.local_of(output).detach(), []
    for index, each in enumerate(inputs):
        part = each.clone()
        native = _native_op(op, group, part, then)
        works.append(dist.reduce(part, get_global_rank(group, index), native, group, async_op=True))
        if index == dist.get_rank(group):
            then.append(lambda part=part: target.copy_(part))  # type: ignore[misc]
    return _finish(works, then, async_op)


def all_gather_into_tensor_uneven(
    output: torch.Tensor,
    input: torch.Tensor,
    output_split_sizes: Sequence[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Handle | None:
    """Fills ``output`` with every member's rows, ``output_split_sizes[i]`` of them from member i."""
    sizes = split_sizes(
        output_split_sizes, output.shape[0], resolve_group(group), "all_gather_into_tensor_uneven"
    )
    return all_gather(compat.local_of(output).detach().split_with_sizes(sizes), input, group, async_op)


def reduce_scatter_tensor_uneven(
    output: torch.Tensor,
    input: torch.Tensor,
    input_split_sizes: Sequence[int] | None = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Handle | None:
    """Fills ``output`` with this rank's ``input_split_sizes[rank]`` rows of the reduced ``input``."""
    sizes = split_sizes(
        input_split_sizes, input.shape[0], resolve_group(group), "reduce_scatter_tensor_uneven"
    )
    return reduce_scatter(
        output, compat.local_of(input).detach().split_with_sizes(sizes), op, group, async_op
    )


def gather(
    tensor: torch.Tensor,
    gather_list: Sequence[torch.Tensor] | None,
    dst: int = 0,
    group: Any = None,
    async_op: bool = False,
) -> Handle | None:
    """Fills ``gather_list[i]`` on global rank ``dst`` with member i's tensor."""
    group, then = resolve_group(group), _steps()
    # MindSpore wants the list on every rank; torch refuses it anywhere but on dst.
    here = dist.get_rank() == dst
    outputs = [received_into(each, then) for each in gather_list or ()] if here else None
    return _finish([dist.gather(to_send(tensor), outputs, dst, group, async_op=True)], then, async_op)


def scatter(
    tensor: torch.Tensor,
    scatter_list: Sequence[torch.Tensor] | None,
    src: int = 0,
    group: Any = None,
    async_op: bool = False,
) -> Handle | None:
    """Fills ``tensor`` with global rank ``src``'s ``scatter_list[rank]``."""
    group, then = resolve_group(group), _steps()
    inputs = [to_send(each) for each in scatter_list or ()] if dist.get_rank() == src else None
    return _finish(
        [dist.scatter(received_into(tensor, then), inputs, src, group, async_op=True)], then, async_op
    )


def gather_into_tensor(
    output_tensor: torch.Tensor,
    input_tensor: torch.Tensor,
    dst: int = 0,
    group: Any = None,
    async_op: bool = False,
) -> Handle | None:
    """Fills ``output_tensor`` [size * n, ...] on global rank ``dst`` with every member's [n, ...]."""
    parts = compat.local_of(output_tensor).detach().chunk(get_world_size(group))
    return gather(input_tensor, parts, dst, group, async_op)


def scatter_tensor(
    output_tensor: torch.Tensor,
    input_tensor: torch.Tensor,
    src: int = 0,
    group: Any = None,
    async_op: bool = False,
) -> Handle | None:
    """Fills ``output_tensor`` [n, ...] with this rank's rows of global rank ``src``'s [size * n, ...]."""
    parts = compat.local_of(input_tensor).detach().chunk(get_world_size(group))
    return scatter(output_tensor, parts, src, group, async_op)


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Handle | None:
    """Returns once every member has called it."""
    work = dist.barrier(resolve_group(group), async_op=True, device_ids=device_ids)
    return _finish([work], [], async_op)
