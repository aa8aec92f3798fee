"""The layouts that must give one process's losses, by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

P, T, M, R = "parallelism.", "training.", "model.", "recompute."
MTP = {M + "num_nextn_predict_layers": 1, M + "mtp_loss_scaling_factor": 0.3}
BF16 = {M + "params_dtype": "bfloat16", M + "compute_dtype": "bfloat16"}

# What one process computes; rows name one and add only how it is laid out.
REFERENCES: dict[str, dict[str, Any]] = {
    "plain": {},
    "mtp": MTP,
    "bf16": BF16,
    "mean": {P + "disable_gradient_division": False},
    "muon": {"optimizer.type": "Muon"},
    "uneven": {M + "hidden_size": 60, M + "vocab_size": 256},
    "dense": {M + "first_k_dense_replace": 4},
    "batch8": {T + "global_batch_size": 8},
}


@dataclass(frozen=True)
class Layout:
    """How many ranks, which overrides, whose numbers; largest differences of loss and (relative) norm."""

    ranks: int
    overrides: dict[str, Any] = field(default_factory=dict)
    reference: str = "plain"
    loss: float = 1e-4
    norm: float = 1e-3
    part: float = 1.0  # the norm is this part of the reference's
    refused: str = ""  # words of the one line that refuses it


def axes(tp: int = 1, pp: int = 1, cp: int = 1, ep: int = 1, **more: Any) -> dict[str, Any]:
    """Overrides for parallel degrees; further keyword arguments are keys of `parallelism`."""
    degrees = {"tensor_parallel": tp, "pipeline_parallel": pp, "context_parallel": cp, "expert_parallel": ep}
    made = {P + key: value for key, value in degrees.items() if value != 1}
    made |= {P + key: value for key, value in more.items()}
    if pp > 1:
        made.setdefault(T + "local_batch_size", 1)
    return made


LOOSE = {"loss": 2e-2, "norm": 5e-2}  # bfloat16 rounds at other places under another layout

LAYOUTS: dict[str, Layout] = {
    "world1": Layout(1),
    "accumulate2": Layout(1, {T + "local_batch_size": 2}),
    # Data parallel.
    "fsdp2": Layout(2),
    "fsdp4": Layout(4),
    "fsdp2-accumulate2": Layout(2, {T + "local_batch_size": 1}),
    "fsdp2-never-reshard": Layout(2, axes(reshard_after_forward_policy="never")),
    "fsdp2-always-reshard": Layout(2, axes(reshard_after_forward_policy="always")),
    "fsdp2-optimizer-only": Layout(2, axes(data_parallel_shard_strategy="optim")),
    "fsdp2-offload": Layout(2, axes(cpu_offload=True), refused="cpu_offload"),
    # The loss of a rank counts for the whole batch already: an average over two ranks is half of that.
    "fsdp2-mean": Layout(2, {}, "mean", part=0.5),
    "fsdp2-uneven": Layout(2, {}, "uneven"),
    "hsdp2x2": Layout(4, axes(data_parallel_shard=2)),
    "hsdp2x2-accumulate2": Layout(4, {**axes(data_parallel_shard=2), T + "local_batch_size": 1}, "batch8"),
    "replicate2": Layout(2, axes(data_parallel_shard=1)),
    "fsdp4-dense2": Layout(4, axes(dense_fsdp_shard_size=2)),
    "fsdp2-muon": Layout(2, {}, "muon"),
    "fsdp2-bf16": Layout(2, {}, "bf16", **LOOSE),
    # Tensor and expert parallel.
    "tp2": Layout(2, axes(tp=2)),
    "tp4": Layout(4, axes(tp=4)),
    "tp2-loss-parallel": Layout(2, axes(tp=2, enable_loss_parallel=True)),
    "tp2-mc2": Layout(2, axes(tp=2, enable_mc2=True)),
    "tp2-dense": Layout(2, axes(tp=2), "dense"),
    "tp2-bf16": Layout(2, axes(tp=2), "bf16", **LOOSE),
    "tp2-mtp": Layout(2, axes(tp=2), "mtp"),
    "tp2-muon": Layout(2, axes(tp=2), "muon"),
    "ep2": Layout(2, axes(ep=2)),
    "ep2-unsafe": Layout(2, axes(ep=2, expert_parallel_use_safe_tokens=False)),
    "ep2-async-counts": Layout(2, axes(ep=2, expert_parallel_async_d2h=True)),
    "ep4": Layout(4, axes(ep=4)),
    "ep4-deredundancy": Layout(
        4, axes(ep=4, moe_token_dispatcher_type="alltoall_deredundancy", npu_nums_per_device=2)
    ),
    "hsdp2x2-ep2": Layout(4, axes(ep=2, data_parallel_shard=2)),
    "tp2-ep2": Layout(2, axes(tp=2, ep=2)),
    "fsdp2-tp2": Layout(4, axes(tp=2)),
    "fsdp2-tp2-ep4": Layout(4, axes(tp=2, ep=4)),
    "fsdp2-tp2-ep2": Layout(4, axes(tp=2, ep=2)),
    # Pipelines.
    "pp2": Layout(2, axes(pp=2)),
    "pp2-gpipe": Layout(2, axes(pp=2, pipeline_parallel_schedule="gpipe")),
    "pp4": Layout(4, axes(pp=4)),
    "pp2-interleaved": Layout(2, axes(pp=2, pipeline_parallel_interleave_num=2)),
    "pp2-split-1-3": Layout(2, axes(pp=2, pipeline_parallel_layers_per_stage=["0", "1-3"])),
    "pp2-interleaved-uneven": Layout(
        2,
        axes(
            pp=2,
            pipeline_parallel_interleave_num=2,
            pipeline_parallel_layers_per_stage=["0,2", "1,3"],
        ),
    ),
    "pp2-mtp": Layout(2, axes(pp=2), "mtp"),
    "pp2-overlap-b-f": Layout(
        2,
        axes(pp=2, pipeline_parallel_interleave_num=2, pipeline_parallel_overlap_b_f=True),
        refused="overlap_b_f",
    ),
    "pp2-fsdp2": Layout(4, axes(pp=2)),
    "pp2-fsdp2-ep2": Layout(4, axes(pp=2, ep=2)),
    "pp2-tp2": Layout(4, axes(pp=2, tp=2)),
    "pp2-tp2-ep2": Layout(4, axes(pp=2, tp=2, ep=2)),
    "pp2-tp2-mtp": Layout(4, axes(pp=2, tp=2), "mtp"),
    # Context parallel.
    "cp2-colossal": Layout(2, axes(cp=2)),
    "cp2-ulysses": Layout(2, axes(cp=2, context_parallel_method="ulysses")),
    "cp4-hybrid": Layout(4, axes(cp=4, context_parallel_method="hybrid", ulysses_degree_in_cp=2)),
    "cp2-ulysses-async": Layout(
        2, axes(cp=2, context_parallel_method="ulysses", context_parallel_async=True)
    ),
    # MindFormers shifts the labels of the next tokens within each rank's part: a label a boundary is lost.
    "cp2-mtp": Layout(2, axes(cp=2), "mtp", loss=2e-3, norm=1e-2),
    "cp2-fsdp2": Layout(4, axes(cp=2)),
    "cp2-tp2": Layout(4, axes(cp=2, tp=2)),
    "cp2-tp2-ulysses": Layout(4, axes(cp=2, tp=2, context_parallel_method="ulysses")),
    "cp2-ep2": Layout(2, axes(cp=2, ep=2)),
    "cp2-pp2": Layout(4, axes(cp=2, pp=2)),
    # Recompute and swap.
    "fsdp2-recompute-full": Layout(2, {R + "mode": "full", R + "full_recompute_layer": ["0-3"]}),
    "fsdp2-recompute-select": Layout(
        2, {R + "mode": "select", R + "select_module": {"self_attention": ["0-3"], "mlp": ["1-2"]}}
    ),
    "tp2-recompute-full": Layout(2, {**axes(tp=2), R + "mode": "full", R + "full_recompute_layer": ["0-3"]}),
    "ep2-recompute-full": Layout(2, {**axes(ep=2), R + "mode": "full", R + "full_recompute_layer": ["0-3"]}),
    "cp2-recompute-full": Layout(2, {**axes(cp=2), R + "mode": "full", R + "full_recompute_layer": ["0-3"]}),
    "fsdp2-swap": Layout(2, {"swap.enable": True, "swap.layer_swap": [{"layers": ["0-2"]}]}),
}
