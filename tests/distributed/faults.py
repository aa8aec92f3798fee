"""Faults that the matrix must catch: what each does to the port's parts, in one rank's process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FAULTS: dict[str, Callable[[], None]] = {}
# Layouts that each fault must show in.
SHOWS_IN = {
    "averaged": ("fsdp2", "hsdp2x2"),
    "grad-placements": ("tp2", "pp2-tp2"),
    "aux-loss-group": ("tp2", "cp2-colossal"),
    "embedding-gradient": ("pp2-mtp", "pp2-tp2-mtp"),
    "whole-causal-mask": ("cp2-colossal",),
}


def fault(name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def keep(plant: Callable[[], None]) -> Callable[[], None]:
        FAULTS[name] = plant
        return plant

    return keep


@fault("averaged")
def averaged() -> None:
    """Gradients are averaged over data-parallel ranks instead of summed."""
    from mindformers.pynative import _backend

    _backend.parallel.HSDPModule.set_reduce_op_type = lambda self, kind: None


@fault("grad-placements")
def grad_placements() -> None:
    """The gradient of a replicated parameter's shard stays one rank's part."""
    from mindformers.pynative import _backend, dtensor_compat

    def bare(x: Any) -> Any:
        return x.to_local() if hasattr(x, "to_local") else x

    _backend.parallel.to_local = bare
    _backend.parallel.dtensor.to_local = bare
    dtensor_compat.to_local = bare


@fault("aux-loss-group")
def aux_loss_group() -> None:
    """Statistics of the auxiliary loss stay one rank's own."""
    from mindformers.pynative.transformers.moe import router

    class Alone:
        def differentiable_all_reduce(self, value: Any, *_: Any) -> Any:
            return value

    router.get_platform = Alone


@fault("embedding-gradient")
def embedding_gradient() -> None:
    """Copies of the embedding on two pipeline stages keep their own gradients."""
    from mindformers.pynative.trainer import utils

    utils._maybe_sync_embedding_grad = lambda param, grad: None


@fault("whole-causal-mask")
def whole_causal_mask() -> None:
    """Sharded queries are masked as if they were the sequence's first."""
    from mindformers.pynative.distributed import context_parallel

    kept = context_parallel.prepare_context_parallel_input

    def shifted(inputs: Any, *args: Any, **kwargs: Any) -> Any:
        made = kept(inputs, *args, **kwargs)
        mask = made["attention_mask"]
        made["attention_mask"] = mask.new_ones(mask.shape).triu(1)
        return made

    context_parallel.prepare_context_parallel_input = shifted
