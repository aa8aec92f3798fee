"""Communication primitives: objects made once with their group and then called on tensors.

They are functional and differentiable whatever ``set_comm_ops_inplace`` says.
Source: MindSpore 2.10, mindspore.ops.operations.comm_ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import collectives, communication, p2p
from .collectives import ReduceOp
from .groups import get_rank, get_world_size


class _OnGroup:
    def __init__(self, group: Any = None) -> None:
        self.group = group

    def __repr__(self) -> str:
        return f"{type(self).__name__}(group={self.group!r})"


class AllReduce(_OnGroup):
    """``AllReduce(op, group)(x)``: the reduction, of ``x``'s shape."""

    def __init__(self, op: Any = ReduceOp.SUM, group: Any = None) -> None:
        super().__init__(group)
        self.op = op

    def __call__(self, input_x: torch.Tensor) -> torch.Tensor:
        return communication.reduced(input_x, self.op, self.group)[0]


class AllGather(_OnGroup):
    """``AllGather(group)(x)``: members' tensors one after another in dimension 0."""

    def __call__(self, input_x: torch.Tensor) -> torch.Tensor:
        return communication.gathered(input_x, self.group)[0]


class ReduceScatter(_OnGroup):
    """``ReduceScatter(op, group)(x)``: this member's rows of the reduction."""

    def __init__(self, op: Any = ReduceOp.SUM, group: Any = None) -> None:
        super().__init__(group)
        self.op = op

    def __call__(self, input_x: torch.Tensor) -> torch.Tensor:
        return communication.scattered(input_x, self.op, self.group)[0]


class AlltoAll(_OnGroup):
    """``AlltoAll(split_count, split_dim, concat_dim, group)(x)``: part i of ``split_dim`` goes to member i,
    what comes stands side by side in ``concat_dim``. ``split_count`` is the group's size."""

    def __init__(self, split_count: int, split_dim: int, concat_dim: int, group: Any = None) -> None:
        super().__init__(group)
        self.split_count, self.split_dim, self.concat_dim = split_count, split_dim, concat_dim

    def __call__(self, input_x: torch.Tensor) -> torch.Tensor:
        size = get_world_size(self.group)
        if self.split_count != size or input_x.shape[self.split_dim] % size:
            rows = input_x.shape[self.split_dim]
            raise ValueError(f"AlltoAll: {rows} in {self.split_count} parts over a group of {size}")
        parts = torch.stack(input_x.chunk(size, self.split_dim))
        received = communication.exchanged(parts, [1] * size, [1] * size, self.group)[0]
        return torch.cat(list(received.unbind(0)), self.concat_dim)


class AlltoAllV(_OnGroup):
    """``AlltoAllV(group, block_size)(x, send_numel_list, recv_numel_list)`` on flat tensors."""

    def __init__(self, group: Any = None, block_size: int = 1) -> None:
        super().__init__(group)
        self.block_size = block_size

    def __call__(
        self, input_x: torch.Tensor, send_numel_list: Sequence[int], recv_numel_list: Sequence[int]
    ) -> torch.Tensor:
        sends = [int(count) * self.block_size for count in send_numel_list]
        receives = [int(count) * self.block_size for count in recv_numel_list]
        return communication.exchanged(input_x.reshape(-1), sends, receives, self.group)[0]


class AlltoAllVC(_OnGroup):
    """``AlltoAllVC(group, block_size, transpose)(x, send_count_matrix)`` on flat tensors; entry (i, j) of the
    matrix is what member i sends to member j, or receives from it with ``transpose``."""

    def __init__(self, group: Any = None, block_size: int = 1, transpose: bool = False) -> None:
        super().__init__(group)
        self.block_size, self.transpose = block_size, transpose

    def __call__(self, input_x: torch.Tensor, send_count_matrix: Any) -> torch.Tensor:
        size, rank = get_world_size(self.group), get_rank(self.group)
        matrix = torch.as_tensor(send_count_matrix).reshape(size, size) * self.block_size
        if self.transpose:
            matrix = matrix.T
        sends, receives = matrix[rank].tolist(), matrix[:, rank].tolist()
        return communication.exchanged(input_x.reshape(-1), sends, receives, self.group)[0]


class Broadcast(_OnGroup):
    """``Broadcast(root_rank, group)((x, ...))``: the root's tensors, as a tuple. Gradients pass unchanged."""

    def __init__(self, root_rank: int, group: Any = None) -> None:
        super().__init__(group)
        self.root_rank = root_rank

    def __call__(self, input_x: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        if isinstance(input_x, torch.Tensor):
            raise TypeError("Broadcast: expected a tuple of tensors")
        return tuple(self._one(tensor) for tensor in input_x)

    def _one(self, tensor: torch.Tensor) -> torch.Tensor:
        def launch(x: torch.Tensor) -> tuple[torch.Tensor, Any]:
            output = x.clone(memory_format=torch.contiguous_format)
            return output, collectives.broadcast(output, self.root_rank, self.group, async_op=True)

        return communication.functional(tensor, launch, lambda grad, *_: grad, False)[0]


class Send(_OnGroup):
    """``Send(sr_tag, dest_rank, group)(x)``: sends to a rank of the group and returns ``x``. No gradient."""

    def __init__(self, sr_tag: int, dest_rank: int, group: Any = None, group_back: Any = None) -> None:
        super().__init__(group)
        self.sr_tag, self.rank = sr_tag, dest_rank

    def __call__(self, input_x: torch.Tensor) -> torch.Tensor:
        p2p.send(input_x, communication.get_global_rank(self.group, self.rank), self.group, self.sr_tag)
        return input_x


class Receive(_OnGroup):
    """``Receive(sr_tag, src_rank, shape, dtype, group)(x)``: a new tensor from a rank of the group; ``x``
    only orders the call. No gradient."""

    def __init__(
        self,
        sr_tag: int,
        src_rank: int,
        shape: Sequence[int],
        dtype: torch.dtype,
        group: Any = None,
        group_back: Any = None,
    ) -> None:
        super().__init__(group)
        self.sr_tag, self.rank, self.shape, self.dtype = sr_tag, src_rank, tuple(shape), dtype

    def __call__(self, input_x: torch.Tensor | None = None) -> torch.Tensor:
        from .device import current_device

        output = torch.empty(self.shape, dtype=self.dtype, device=current_device())
        p2p.recv(output, communication.get_global_rank(self.group, self.rank), self.group, self.sr_tag)
        return output


class Barrier(_OnGroup):
    """``Barrier(group)()``: returns once every member has called it."""

    def __call__(self) -> None:
        collectives.barrier(self.group)
