"""One stage of a pipeline: its part of the model, what it keeps between forward and backward, its transfers.

Source: hyper-parallel hyper_parallel/core/pipeline_parallel/stage.py (interface, gradient of the last stage).
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from ..dtensor import is_dtensor, to_local
from ..layout import layout_of

__all__ = ["PipelineStage"]


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


class PipelineStage:
    """A stage of ``stage_num``; stage ``s`` lives on rank ``s % size`` of ``group``.

    A later stage is called with the tensors it received, then the micro-batch's keyword arguments.
    ``NotImplementedError`` for shared parameters and explicit source or destination stages.
    """

    def __init__(
        self,
        submodule: nn.Module,
        stage_index: int,
        stage_num: int,
        device: Any = None,
        group: Any = None,
        src_stage: int | None = None,
        dst_stage: int | None = None,
        dyn_shape: bool = False,
        has_backward: bool = True,
        shared_parameters: Any = None,
        mesh: Any = None,
    ) -> None:
        if shared_parameters is not None:
            raise NotImplementedError("PipelineStage(shared_parameters=...)")
        if src_stage is not None or dst_stage is not None:
            raise NotImplementedError("PipelineStage(src_stage=..., dst_stage=...)")
        self.submodule = submodule
        self.stage_index = stage_index
        self.stage_num = stage_num
        self.device = device
        self.mesh = mesh
        self.pp_group: Any = (
            group if group is not None else (mesh.get_group() if mesh is not None else dist.group.WORLD)
        )
        self._has_backward = has_backward
        self._dyn_shape = dyn_shape
        self._recv_meta: list[Any] | None = None
        self._sent_meta = False
        self.clear_cache()

    def clear_cache(self) -> None:
        """Forget every micro-batch; the schedule calls it before a run."""
        self.fwd_outputs_cache: dict[int, tuple[Any, ...]] = {}
        self.args_recv_info: dict[int, list[torch.Tensor]] = {}
        self.grad_recv_info: dict[int, list[torch.Tensor]] = {}
        self.bwd_cache: dict[int, list[torch.Tensor]] = {}
        self._unsent: dict[int, tuple[Any, ...]] = {}

    @property
    def is_first_stage(self) -> bool:
        return self.stage_index == 0

    @property
    def is_last_stage(self) -> bool:
        return self.stage_index == self.stage_num - 1

    def global_rank(self, stage_index: int) -> int:
        """The global rank that holds a stage."""
        return dist.get_global_rank(self.pp_group, stage_index % dist.get_world_size(self.pp_group))

    def _get_layout_rank_list(self, layout: Any, sender_rank: int | None = None) -> tuple[int, ...]:
        raise NotImplementedError("distributed tensors between pipeline stages")

    # Compute.
    def forward_one_chunk(self, micro_index: int, args: Any = None, kwargs: Any = None) -> Any:
        """Run a micro-batch forward and keep what backward needs. ``RuntimeError`` before its receive."""
        kwargs = dict(kwargs or {})
        if self.is_first_stage:
            output = self.submodule(*(args or ()), **kwargs)
        else:
            if micro_index not in self.args_recv_info:
                raise RuntimeError(
                    f"micro-batch {micro_index} of stage {self.stage_index} was not received yet"
                )
            received = self.args_recv_info[micro_index]
            output = self.submodule(*received, **kwargs)
        outputs = _tuple(output)
        self.fwd_outputs_cache[micro_index] = outputs
        self._unsent[micro_index] = outputs
        return output

    def get_last_stage_sens(self, last_stage_outputs: Any) -> Any:
        """The gradient backward starts from: ones, shared among the ranks that hold a copy of the output."""

        def ones(output: Any) -> torch.Tensor:
            if is_dtensor(output):
                return torch.full_like(to_local(output).detach(), 1.0 / layout_of(output).repeat_num())
            return torch.ones_like(output)

        if isinstance(last_stage_outputs, (list, tuple)):
            return [ones(output) for output in last_stage_outputs]
        return ones(last_stage_outputs)

    def backward_one_chunk(self, micro_index: int, last_backward: bool = False) -> None:
        """Run a micro-batch backward; nothing on a forward-only stage."""
        outputs = self.fwd_outputs_cache.pop(micro_index)
        if not self._has_backward:
            return
        if self.is_last_stage:
            grads = _tuple(self.get_last_stage_sens(outputs))
        else:
            grads = tuple(self.grad_recv_info.pop(micro_index))
        pairs = [
            (to_local(o) if is_dtensor(o) else o, g)
            for o, g in zip((o for o in outputs if isinstance(o, torch.Tensor)), grads, strict=True)
        ]
        pairs = [(o, g.to(o.dtype)) for o, g in pairs if o.requires_grad]
        torch.autograd.backward([o for o, _ in pairs], [g for _, g in pairs])
        if not self.is_first_stage:
            self.bwd_cache[micro_index] = [
                torch.zeros_like(t) if t.grad is None else t.grad for t in self.args_recv_info[micro_index]
            ]

    def recompute_one_chunk(self, micro_index: int) -> None:
        raise NotImplementedError("recomputing a chunk ahead of its backward (pipeline_parallel_overlap_b_f)")

    # Transfers. Each returns the handles to wait for, with the tensors they use.
    def exec_fwd_send_ops(self, micro_index: int) -> list[Any]:
        """Send a micro-batch's outputs to the next stage."""
        outputs = [o for o in self._unsent.pop(micro_index) if isinstance(o, torch.Tensor)]
        if any(is_dtensor(o) for o in outputs):
            raise NotImplementedError("distributed tensors between pipeline stages")
        to = self.global_rank(self.stage_index + 1)
        if self._dyn_shape or not self._sent_meta:
            meta = [(tuple(o.shape), o.dtype, o.requires_grad) for o in outputs]
            dist.send_object_list([meta], to, group=self.pp_group)
            self._sent_meta = True
        if self._has_backward:
            self.grad_recv_info[micro_index] = [
                torch.empty_like(o, memory_format=torch.contiguous_format) for o in outputs
            ]
        return [self._isend(o.detach(), to) for o in outputs]

    def exec_fwd_recv_ops(self, micro_index: int) -> list[Any]:
        """Receive a micro-batch's inputs from the stage before."""
        source = self.global_rank(self.stage_index - 1)
        if self._dyn_shape or self._recv_meta is None:
            found: list[Any] = [None]
            dist.recv_object_list(found, source, group=self.pp_group)
            self._recv_meta = found[0]
        assert self._recv_meta is not None
        kind = self._device()
        buffers = [torch.empty(shape, dtype=dtype, device=kind) for shape, dtype, _ in self._recv_meta]
        handles = [dist.irecv(b, source, group=self.pp_group) for b in buffers]
        for buffer, (_, dtype, needs) in zip(buffers, self._recv_meta, strict=True):
            if self._has_backward and needs and dtype.is_floating_point:
                buffer.requires_grad_(True)
        self.args_recv_info[micro_index] = buffers
        return handles

    def bwd_send_specs(self, micro_index: int) -> list[tuple[torch.Tensor, int]]:
        """The gradients to send and the rank they go to."""
        self.args_recv_info.pop(micro_index, None)
        to = self.global_rank(self.stage_index - 1)
        return [(grad, to) for grad in self.bwd_cache.pop(micro_index)]

    def exec_bwd_send_ops(self, micro_index: int) -> list[Any]:
        """Send the gradients of a micro-batch's inputs to the stage before."""
        return [self._isend(grad, to) for grad, to in self.bwd_send_specs(micro_index)]

    def exec_bwd_recv_ops(self, micro_index: int) -> list[Any]:
        """Receive the gradients of a micro-batch's outputs from the next stage."""
        if not self._has_backward:
            return []
        source = self.global_rank(self.stage_index + 1)
        return [dist.irecv(g, source, group=self.pp_group) for g in self.grad_recv_info[micro_index]]

    def _device(self) -> torch.device:
        for tensor in (*self.submodule.parameters(), *self.submodule.buffers()):
            return tensor.device
        return torch.device(self.device or "cpu")

    def _isend(self, tensor: torch.Tensor, to: int) -> Any:
        data = tensor.contiguous()
        return _Sent(dist.isend(data, to, group=self.pp_group), data)


class _Sent:
    """A send under way with the tensor it reads."""

    def __init__(self, handle: Any, data: torch.Tensor) -> None:
        self.handle = handle
        self.data = data

    def wait(self) -> None:
        self.handle.wait()
