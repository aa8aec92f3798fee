"""``mindspore.ops.communication``: functional or in place.

``set_comm_ops_inplace`` decides the shape of a call. In place (MindSpore's default) a function fills its
output and returns a handle or None; functional it returns ``(tensor, handle)``, and gradients flow. Where the
output is None a call can only be functional, and is. Source: MindSpore 2.10, mindspore.ops.communication.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import collectives, p2p
from .collectives import Handle, ReduceOp, reduce_op
from .distributed import P2POp as P2POp
from .distributed import TCPStore as TCPStore
from .distributed import all_gather_object as all_gather_object
from .distributed import barrier as barrier
from .distributed import broadcast_object_list as broadcast_object_list
from .distributed import destroy_process_group as destroy_process_group
from .distributed import gather_object as gather_object
from .distributed import get_backend as get_backend
from .distributed import get_global_rank as get_global_rank
from .distributed import get_group_rank as get_group_rank
from .distributed import get_process_group_ranks as get_process_group_ranks
from .distributed import get_rank as get_rank
from .distributed import get_world_size as get_world_size
from .distributed import init_process_group as init_process_group
from .distributed import is_available as is_available
from .distributed import is_initialized as is_initialized
from .distributed import isend as isend
from .distributed import new_group as new_group
from .distributed import recv_object_list as recv_object_list
from .distributed import scatter_object_list as scatter_object_list
from .distributed import send as send
from .distributed import send_object_list as send_object_list
from .groups import resolve_group

# --- which form ---------------------------------------------------------------------------------------------

# Functions that have both forms, and those that only work in place.
_BOTH = (
    "all_reduce",
    "all_gather_into_tensor",
    "all_to_all",
    "all_to_all_single",
    "reduce_scatter_tensor",
    "irecv",
    "recv",
)
_ONLY_INPLACE = (
    "all_gather",
    "all_gather_into_tensor_uneven",
    "reduce_scatter_tensor_uneven",
    "gather",
    "scatter",
    "reduce_scatter",
    "broadcast",
    "reduce",
    "batch_isend_irecv",
    "gather_into_tensor",
    "scatter_tensor",
    "all_to_all_v_c",
)
_SAME_EITHER_WAY = (
    "isend",
    "send",
    "barrier",
    "all_gather_object",
    "broadcast_object_list",
    "gather_object",
    "scatter_object_list",
    "send_object_list",
    "recv_object_list",
)
_inplace = dict.fromkeys((*_BOTH, *_ONLY_INPLACE, *_SAME_EITHER_WAY), True)


def set_comm_ops_inplace(is_enable: bool, func_list: Sequence[str] | None = None) -> None:
    """Chooses the in-place form (True) or the functional one (False) for all functions or those named.
    Raises TypeError for a flag that is no bool, ValueError for an unknown name."""
    if not isinstance(is_enable, bool):
        raise TypeError(f"set_comm_ops_inplace: is_enable must be a bool, not {type(is_enable).__name__}")
    names = _inplace if func_list is None else func_list
    if not isinstance(names, (dict, list, tuple)):
        raise TypeError(f"set_comm_ops_inplace: func_list must be a list, not {type(func_list).__name__}")
    for name in names:
        if name not in _inplace:
            raise ValueError(f"set_comm_ops_inplace: there is no function {name!r}")
    for name in list(names):
        _inplace[name] = is_enable


# --- differentiable forms -----------------------------------------------------------------------------------


class _Started(torch.autograd.Function):
    """Runs ``launch`` now and ``backward_of`` on the gradient; the work goes into ``works``, since autograd
    functions return tensors only. MindSpore's communication primitives have these gradients."""

    @staticmethod
    def forward(
        ctx: Any,
        tensor: torch.Tensor,
        launch: Callable[[torch.Tensor], tuple[torch.Tensor, Handle | None]],
        backward_of: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor],
        works: list[Handle | None],
        keep: bool,
    ) -> torch.Tensor:
        output, work = launch(tensor.detach())
        works.append(work)
        ctx.backward_of = backward_of
        if keep:
            ctx.save_for_backward(tensor, output)
        ctx.kept = keep
        return output

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        saved = ctx.saved_tensors if ctx.kept else (None, None)
        return ctx.backward_of(grads[0].contiguous(), *saved), None, None, None, None


def functional(
    tensor: torch.Tensor, launch: Any, backward_of: Any, async_op: bool, keep: bool = False
) -> tuple[torch.Tensor, Handle | None]:
    """``launch(tensor)`` as a differentiable ``(output, handle)``; with ``keep`` the gradient function also
    gets input and output."""
    works: list[Handle | None] = []
    output = _Started.apply(tensor, launch, backward_of, works, keep)  # type: ignore[no-untyped-call]
    handle = works[0]
    if not async_op and handle is not None:
        handle.wait()
        handle = None
    return output, handle


def _reduced(tensor: torch.Tensor, op: Any, group: Any) -> tuple[torch.Tensor, Handle | None]:
    output = tensor.clone(memory_format=torch.contiguous_format)
    return output, collectives.all_reduce(output, op, group, async_op=True)


def _gathered(tensor: torch.Tensor, group: Any) -> tuple[torch.Tensor, Handle | None]:
    shape = list(tensor.shape) or [1]
    output = tensor.new_empty([shape[0] * get_world_size(group), *shape[1:]])
    return output, collectives.all_gather_into_tensor(output, tensor.reshape(shape), group, async_op=True)


def _scattered(tensor: torch.Tensor, op: Any, group: Any) -> tuple[torch.Tensor, Handle | None]:
    size = get_world_size(group)
    if tensor.shape[0] % size:
        raise ValueError(f"reduce_scatter_tensor: {tensor.shape[0]} rows do not divide by the group's {size}")
    output = tensor.new_empty([tensor.shape[0] // size, *tensor.shape[1:]])
    return output, collectives.reduce_scatter_tensor(output, tensor, op, group, async_op=True)


def _exchanged(
    tensor: torch.Tensor, sends: Sequence[int], receives: Sequence[int], group: Any
) -> tuple[torch.Tensor, Handle | None]:
    output = tensor.new_empty([sum(receives), *tensor.shape[1:]])
    return output, collectives.all_to_all_single(output, tensor, receives, sends, group, async_op=True)


def _waited(started: tuple[torch.Tensor, Handle | None]) -> torch.Tensor:
    output, handle = started
    if handle is not None:
        handle.wait()
    return output


def reduced(
    tensor: torch.Tensor, op: Any, group: Any, async_op: bool = False
) -> tuple[torch.Tensor, Handle | None]:
    """The functional form of :func:`all_reduce`."""
    op = reduce_op(op)

    def backward(grad: torch.Tensor, x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        if op == ReduceOp.PRODUCT:
            return _waited(_reduced(grad * out, ReduceOp.SUM, group)) / x
        total = _waited(_reduced(grad, ReduceOp.AVG if op == ReduceOp.AVG else ReduceOp.SUM, group))
        return total * (x == out) if op in (ReduceOp.MAX, ReduceOp.MIN) else total

    keep = op in (ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PRODUCT)
    return functional(tensor, lambda x: _reduced(x, op, group), backward, async_op, keep)


def gathered(tensor: torch.Tensor, group: Any, async_op: bool = False) -> tuple[torch.Tensor, Handle | None]:
    """The functional form of :func:`all_gather_into_tensor`."""
    shape = tensor.shape

    def backward(grad: torch.Tensor, *_: Any) -> torch.Tensor:
        return _waited(_scattered(grad, ReduceOp.SUM, group)).reshape(shape)

    return functional(tensor, lambda x: _gathered(x, group), backward, async_op)


def scattered(
    tensor: torch.Tensor, op: Any, group: Any, async_op: bool = False
) -> tuple[torch.Tensor, Handle | None]:
    """The functional form of :func:`reduce_scatter_tensor`."""
    op = reduce_op(op)

    def backward(grad: torch.Tensor, *_: Any) -> torch.Tensor:
        if op not in (ReduceOp.SUM, ReduceOp.AVG):
            raise NotImplementedError("reduce_scatter_tensor has a gradient for sum and avg only")
        whole = _waited(_gathered(grad, group))
        return whole / get_world_size(group) if op == ReduceOp.AVG else whole

    return functional(tensor, lambda x: _scattered(x, op, group), backward, async_op)


def exchanged(
    tensor: torch.Tensor, sends: Sequence[int], receives: Sequence[int], group: Any, async_op: bool = False
) -> tuple[torch.Tensor, Handle | None]:
    """The functional form of :func:`all_to_all_single`: ``sends[i]`` rows go to member i."""

    def backward(grad: torch.Tensor, *_: Any) -> torch.Tensor:
        return _waited(_exchanged(grad, receives, sends, group))

    return functional(tensor, lambda x: _exchanged(x, sends, receives, group), backward, async_op)


# --- mindspore.ops.communication ----------------------------------------------------------------------------


def all_reduce(
    tensor: torch.Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    """The reduction over the group. The gradient is the sum of the members' gradients: for ``avg`` their
    mean, for ``max`` and ``min`` where this member had the extremum, for ``prod`` times out / in."""
    if _inplace["all_reduce"]:
        return collectives.all_reduce(tensor, op, group, async_op)
    return reduced(tensor, op, group, async_op)


def all_gather_into_tensor(
    output_tensor: torch.Tensor | None, input_tensor: torch.Tensor, group: Any = None, async_op: bool = False
) -> Any:
    """Members' tensors, one after another in dimension 0. The gradient is reduce-scattered."""
    if _inplace["all_gather_into_tensor"] and output_tensor is not None:
        return collectives.all_gather_into_tensor(output_tensor, input_tensor, group, async_op)
    return gathered(input_tensor, group, async_op)


def reduce_scatter_tensor(
    output: torch.Tensor | None,
    input: torch.Tensor,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Any:
    """This member's rows of the reduction. The gradient is all-gathered; of sums and means only (MindSpore
    has none for the others): NotImplementedError in backward."""
    if _inplace["reduce_scatter_tensor"] and output is not None:
        return collectives.reduce_scatter_tensor(output, input, op, group, async_op)
    return scattered(input, op, group, async_op)


def all_to_all_single(
    output: torch.Tensor | None,
    input: torch.Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Any:
    """Rows exchanged by rank; sizes not given are equal parts. The gradient goes back the same way."""
    if _inplace["all_to_all_single"] and output is not None:
        return collectives.all_to_all_single(
            output, input, output_split_sizes, input_split_sizes, group, async_op
        )
    resolved, rows = resolve_group(group), input.shape[0]
    sends = collectives.split_sizes(input_split_sizes, rows, resolved, "all_to_all_single")
    receives = collectives.split_sizes(output_split_sizes, rows, resolved, "all_to_all_single")
    return exchanged(input, sends, receives, group, async_op)


def all_to_all(
    output_tensor_list: Sequence[Any],
    input_tensor_list: Sequence[torch.Tensor],
    group: Any = None,
    async_op: bool = False,
) -> Any:
    """``input_tensor_list[i]`` goes to member i. Functional: ``output_tensor_list`` holds tensors or shapes
    and says what comes; returns a tuple of tensors."""
    if _inplace["all_to_all"]:
        return collectives.all_to_all(output_tensor_list, input_tensor_list, group, async_op)
    shapes = [
        tuple(each.shape) if isinstance(each, torch.Tensor) else tuple(each) for each in output_tensor_list
    ]
    flat = torch.cat([each.reshape(-1) for each in input_tensor_list])
    receives = [torch.Size(shape).numel() for shape in shapes]
    output, handle = exchanged(flat, [each.numel() for each in input_tensor_list], receives, group, async_op)
    parts = torch.split(output, receives)
    return tuple(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)), handle


def irecv(tensor: torch.Tensor, src: int = 0, group: Any = None, tag: int = 0) -> Any:
    """Starts receiving into ``tensor``, or functionally into a new tensor like it."""
    if _inplace["irecv"]:
        return p2p.irecv(tensor, src, group, tag)
    output = torch.empty_like(tensor)
    return output, p2p.irecv(output, src, group, tag)


def recv(tensor: torch.Tensor, src: int = 0, group: Any = None, tag: int = 0) -> Any:
    """Receives into ``tensor`` and returns 0, or functionally returns a new tensor like it."""
    if _inplace["recv"]:
        return p2p.recv(tensor, src, group, tag)
    output = torch.empty_like(tensor)
    p2p.recv(output, src, group, tag)
    return output


def _inplace_only(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not _inplace[function.__name__]:
            raise ValueError(f"{function.__name__}: non-inplace mode is not supported (set_comm_ops_inplace)")
        return function(*args, **kwargs)

    return call


all_gather = _inplace_only(collectives.all_gather)
all_gather_into_tensor_uneven = _inplace_only(collectives.all_gather_into_tensor_uneven)
reduce_scatter_tensor_uneven = _inplace_only(collectives.reduce_scatter_tensor_uneven)
gather = _inplace_only(collectives.gather)
scatter = _inplace_only(collectives.scatter)
reduce_scatter = _inplace_only(collectives.reduce_scatter)
broadcast = _inplace_only(collectives.broadcast)
reduce = _inplace_only(collectives.reduce)
batch_isend_irecv = _inplace_only(p2p.batch_isend_irecv)
gather_into_tensor = _inplace_only(collectives.gather_into_tensor)
scatter_tensor = _inplace_only(collectives.scatter_tensor)


@_inplace_only
def all_to_all_v_c(
    output: torch.Tensor,
    input: torch.Tensor,
    send_count_matrix: Sequence[int],
    group: Any = None,
    async_op: bool = False,
) -> Handle | None:
    """:func:`all_to_all_single` with the whole matrix of row counts, flattened: entry i * size + j is what
    member i sends to member j."""
    size, rank = get_world_size(group), get_rank(group)
    counts = [int(count) for count in send_count_matrix]
    if len(counts) != size * size:
        raise TypeError(f"all_to_all_v_c: expected {size * size} counts, got {len(counts)}")
    sends, receives = counts[rank * size : (rank + 1) * size], counts[rank::size]
    return collectives.all_to_all_single(output, input, receives, sends, group, async_op)
