"""Pipeline schedules: GPipe, 1F1B, interleaved 1F1B.

Source: hyper-parallel hyper_parallel/core/pipeline_parallel/scheduler.py (interface; ``run`` gives the last
stage's outputs, one a micro-batch).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from . import orders
from .orders import MetaStep, MetaStepType
from .stage import PipelineStage

__all__ = ["MicroBatch", "Schedule1F1B", "ScheduleGPipe", "ScheduleInterleaved1F1B"]


class MicroBatch:
    """Splits arguments evenly into micro-batches along a dimension (0 unless said, -1: not split)."""

    def __init__(
        self, micro_batch_num: int, args_batch_dim: Any = None, kwargs_batch_dim: Any = None
    ) -> None:
        self.micro_batch_num = micro_batch_num
        self.args_batch_dim = args_batch_dim
        self.kwargs_batch_dim = kwargs_batch_dim

    def __call__(self, args: Any, kwargs: dict[str, Any]) -> tuple[list[list[Any]], list[dict[str, Any]]]:
        """Arguments and keyword arguments of each micro-batch. ``ValueError`` when a size does not divide."""
        dims = [self._dim(self.args_batch_dim[i] if self.args_batch_dim else None) for i in range(len(args))]
        parts = [self._split(a, d) for a, d in zip(args, dims, strict=True)]
        named = {
            k: self._split(v, self._dim((self.kwargs_batch_dim or {}).get(k))) for k, v in kwargs.items()
        }
        count = range(self.micro_batch_num)
        return [[p[i] for p in parts] for i in count], [{k: p[i] for k, p in named.items()} for i in count]

    @staticmethod
    def _dim(spec: Any) -> int:
        return 0 if spec is None else int(getattr(spec, "batch_dim", spec))

    def _split(self, value: Any, dim: int) -> list[Any]:
        if dim == -1 or not isinstance(value, (torch.Tensor, np.ndarray)) or value.ndim == 0:
            return [value] * self.micro_batch_num
        if value.shape[dim] % self.micro_batch_num:
            raise ValueError(
                f"dimension {dim} of size {value.shape[dim]} does not split into "
                f"{self.micro_batch_num} micro-batches"
            )
        if isinstance(value, np.ndarray):
            return np.split(value, self.micro_batch_num, dim)
        return list(value.chunk(self.micro_batch_num, dim))


class _Schedule:
    """Runs this rank's steps in order."""

    def __init__(
        self,
        stages: Any,
        micro_batch_num: int,
        args_batch_dim: Any = None,
        kwargs_batch_dim: Any = None,
        output_concat_dim: Any = None,
        overlap_p2p: bool = False,
        overlap_b_f: bool = False,
        enable_dxdw_split: bool = False,
        p2p_transport: str = "plain",
        swap: bool = False,
    ) -> None:
        self.stages = [stages] if isinstance(stages, PipelineStage) else list(stages)
        if not self.stages or not all(isinstance(s, PipelineStage) for s in self.stages):
            raise TypeError("a schedule needs a PipelineStage or a list of them")
        for name, on in (("overlap_b_f", overlap_b_f), ("enable_dxdw_split", enable_dxdw_split)):
            if on:
                raise NotImplementedError(f"pipeline schedule option {name}")
        if p2p_transport != "plain":
            raise NotImplementedError(f"pipeline p2p_transport {p2p_transport!r}")
        if output_concat_dim is not None:
            raise NotImplementedError("pipeline schedule option output_concat_dim")
        # overlap_p2p and swap are about speed and memory; transfers and swaps are waited for in place.
        self.micro_batch_num = micro_batch_num
        self._args_batch_dim = args_batch_dim
        self._kwargs_batch_dim = kwargs_batch_dim
        self.split_micro_batch: Callable[..., Any] = MicroBatch(
            micro_batch_num, args_batch_dim, kwargs_batch_dim
        )
        self.n_local_stages = len(self.stages)
        self._stage_dict = {stage.stage_index: stage for stage in self.stages}
        self._stage_num = self.stages[0].stage_num
        self.real_stage_num = self._stage_num // self.n_local_stages
        self.exec_order: dict[int, list[MetaStep]] = {}
        self._custom: dict[MetaStepType, Callable[..., Any]] = {}
        self.build_exec_order()

    def _compute_order(self) -> dict[int, list[MetaStep]]:
        raise NotImplementedError

    def build_exec_order(self) -> None:
        """Lay out the steps of every rank for the present ``micro_batch_num``."""
        self.exec_order = orders.with_transfers(self._compute_order(), self._stage_num)

    def register_custom_function(self, step_type: MetaStepType, function: Callable[..., Any]) -> None:
        raise NotImplementedError(f"pipeline step {step_type.name} with a function of its own")

    def run(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Forward and backward of all micro-batches; the outputs of the last stage if it is here, else []."""
        if args or kwargs:
            split_args, split_kwargs = self.split_micro_batch(args, kwargs)
        else:
            split_args, split_kwargs = [[]] * self.micro_batch_num, [{}] * self.micro_batch_num
        losses: list[Any] = []
        self.run_microbatches(split_args, split_kwargs, losses)
        return losses

    def update_losses(self, stage: PipelineStage, loss: Any, losses: list[Any]) -> None:
        """Keep an output of the last stage."""
        if stage.is_last_stage:
            losses.append(loss)

    def run_microbatches(self, arg_mbs: Any, kwarg_mbs: Any, losses: list[Any]) -> None:
        """Run this rank's steps; sends are waited for at the end."""
        for stage in self.stages:
            stage.clear_cache()
        sends: list[Any] = []
        for step in self.exec_order[self.stages[0].stage_index % self.real_stage_num]:
            stage, micro = self._stage_dict[step.stage_index], step.micro_index
            if step.type is MetaStepType.FWD:
                self.update_losses(
                    stage, stage.forward_one_chunk(micro, arg_mbs[micro], kwarg_mbs[micro]), losses
                )
            elif step.type is MetaStepType.BWD:
                stage.backward_one_chunk(micro, micro == self.micro_batch_num - 1)
            elif step.type is MetaStepType.FWD_SEND:
                sends += stage.exec_fwd_send_ops(micro)
            elif step.type is MetaStepType.BWD_SEND:
                sends += stage.exec_bwd_send_ops(micro)
            else:
                receive = (
                    stage.exec_fwd_recv_ops if step.type is MetaStepType.FWD_RECV else stage.exec_bwd_recv_ops
                )
                for handle in receive(micro):
                    handle.wait()
        for handle in sends:
            handle.wait()


class ScheduleGPipe(_Schedule):
    """All forwards, then all backwards. One stage a rank."""

    def _compute_order(self) -> dict[int, list[MetaStep]]:
        _one_stage(self)
        return orders.gpipe(self.real_stage_num, self.micro_batch_num)


class Schedule1F1B(_Schedule):
    """One forward and one backward in turn. One stage a rank."""

    def _compute_order(self) -> dict[int, list[MetaStep]]:
        _one_stage(self)
        return orders.one_f_one_b(self.real_stage_num, self.micro_batch_num)


class ScheduleInterleaved1F1B(_Schedule):
    """1F1B with several stages a rank."""

    def _compute_order(self) -> dict[int, list[MetaStep]]:
        if self.real_stage_num == 1:
            raise NotImplementedError("an interleaved pipeline on one rank")
        return orders.interleaved(self.real_stage_num, self.micro_batch_num, self.n_local_stages)


def _one_stage(schedule: _Schedule) -> None:
    if schedule.n_local_stages != 1:
        raise ValueError(f"{type(schedule).__name__} takes one stage a rank, got {schedule.n_local_stages}")
