"""A DeepSeek-V3 small enough for many ranks on one processor: configuration, data, weights, one training run.

Weights are drawn from each parameter's own name, so every layout starts from the same model.
"""

from __future__ import annotations

import copy
import zlib
from typing import Any

import numpy as np
import torch

VOCABULARY, LENGTH = 256, 32

CONFIG: dict[str, dict[str, Any]] = {
    "checkpoint": {
        "enable_save": False,
        "save_path": "checkpoint",
        "save_max": 2,
        "save_interleaved_steps": 100,
        "load_path": "",
        "no_load_optim": False,
    },
    "training": {
        "steps": 3,
        "global_batch_size": 4,
        "local_batch_size": 4,
        "max_norm": 1.0,
        "seed": 42,
        "deterministic": True,
    },
    "optimizer": {"type": "AdamW", "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.01},
    "lr_scheduler": {"type": "ConstantWarmUpLR", "learning_rate": 1e-3, "warmup_ratio": 0},
    "parallelism": {
        "sequence_parallel": True,
        "disable_gradient_division": True,
        "pipeline_parallel_layers_per_stage": "auto",
    },
    "train_dataset": {
        "dataloader": {
            "type": "MindDataset",
            "dataset_files": "unused",
            "column_names": ["input_ids", "labels"],
            "shuffle": False,
        },
        "drop_remainder": True,
    },
    "model": {
        "model_type": "deepseek_v3",
        "architectures": "DeepseekV3ForCausalLM",
        "vocab_size": VOCABULARY,
        "seq_length": LENGTH,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 4,
        "max_position_embeddings": 4096,
        "hidden_act": "fusedswiglu",
        "num_attention_heads": 4,
        "rms_norm_eps": 1e-6,
        "add_bias_linear": False,
        "use_flash_attention": True,
        "multi_latent_attention": True,
        "mla_qkv_concat": True,
        "kv_lora_rank": 32,
        "q_lora_rank": 48,
        "qk_rope_head_dim": 16,
        "v_head_dim": 16,
        "qk_nope_head_dim": 16,
        "qk_layernorm": True,
        "attention_dropout": 0.0,
        "hidden_dropout": 0.0,
        "params_dtype": "float32",
        "compute_dtype": "float32",
        "layernorm_compute_dtype": "float32",
        "softmax_compute_dtype": "float32",
        "rotary_dtype": "float32",
        "initializer_range": 0.01,
        "num_nextn_predict_layers": 0,
        "position_embedding_type": "yarn",
        "rotary_scaling_factor": 40,
        "beta_fast": 32,
        "beta_slow": 1,
        "mscale": 1,
        "mscale_all_dim": 1,
        "rope_theta": 10000,
        "router_dense_type": "float32",
        "moe_grouped_gemm": True,
        "gated_linear_unit": True,
        "scoring_func": "sigmoid",
        "norm_topk_prob": True,
        "moe_intermediate_size": 32,
        "routed_scaling_factor": 2.5,
        "first_k_dense_replace": 1,
        "n_routed_experts": 8,
        "num_experts_per_tok": 2,
        "n_shared_experts": 1,
        "moe_shared_expert_intermediate_size": 32,
        "moe_router_load_balancing_type": "seq_aux_loss",
        # Large, so that statistics over the wrong group show.
        "moe_aux_loss_coeff": 0.05,
        "moe_router_enable_expert_bias": True,
        "moe_router_bias_update_rate": 0.001,
        "topk_group": 2,
        "n_group": 4,
    },
}


def config(overrides: dict[str, Any]) -> dict[str, Any]:
    """The configuration with ``{"section.key": value}`` put over it."""
    made = copy.deepcopy(CONFIG)
    for name, value in overrides.items():
        section, _, key = name.partition(".")
        made.setdefault(section, {})[key] = value
    return made


class Batches:
    """What the trainer asks of a data set: counting sequences, shared out over data-parallel ranks."""

    def __init__(self, batch: int, shards: int, shard: int, samples: int = 64) -> None:
        draw = np.random.RandomState(0)
        start, step = draw.randint(1, VOCABULARY, (samples, 1)), draw.randint(1, 4, (samples, 1))
        rows = ((start + step * np.arange(LENGTH + 1)) % (VOCABULARY - 1) + 1).astype(np.int32)[shard::shards]
        whole = len(rows) // batch
        self.rows = torch.tensor(rows[: whole * batch]).reshape(whole, batch, LENGTH + 1)
        self.skip = 0

    def get_dataset_size(self) -> int:
        return len(self.rows)

    __len__ = get_dataset_size

    def set_init_step(self, step: int) -> None:
        self.skip = step

    def get_col_names(self) -> list[str]:
        return ["input_ids", "labels"]

    def create_dict_iterator(self, **_: Any) -> Any:
        for rows in self.rows[self.skip :]:
            yield {"input_ids": rows[:, :-1].contiguous(), "labels": rows[:, 1:].contiguous()}

    __iter__ = create_dict_iterator


def fill(models: Any) -> None:
    """Give every weight values drawn from its name."""
    from torch.distributed.tensor import DTensor, distribute_tensor

    with torch.no_grad():
        for model in models:
            for name, param in model.named_parameters():
                name = name.replace("_checkpoint_wrapped_module.", "")
                if not param.is_floating_point() or "tokens_per_expert" in name or "expert_bias" in name:
                    continue
                drawn = torch.Generator().manual_seed(zlib.crc32(name.encode()))
                full = (
                    torch.ones(param.shape)
                    if "norm" in name
                    else torch.randn(param.shape, generator=drawn) * 0.02
                )
                if isinstance(param, DTensor):
                    full = distribute_tensor(full, param.device_mesh, param.placements, src_data_rank=None)
                    param._local_tensor.copy_(full._local_tensor)
                else:
                    param.copy_(full)


def trainer_for(given: dict[str, Any], rank: int, world: int, weights: bool = True) -> Any:
    """A trainer of the port on this rank; with seeded weights, or with a checkpoint's or initial ones."""
    from mindformers.pynative.trainer import Trainer

    given = dict(given)
    size = {axis: given.get(f"parallelism.{axis}_parallel", 1) for axis in ("pipeline", "tensor", "context")}
    shards = world // (size["pipeline"] * size["tensor"] * size["context"])
    whole = given.setdefault("training.global_batch_size", 4)
    batch = given.setdefault("training.local_batch_size", whole // shards)
    shard = rank % (world // size["pipeline"]) // (size["tensor"] * size["context"])
    trainer = Trainer(config=config(given), train_dataset=Batches(batch, shards, shard))
    if weights:
        fill(trainer.model)
        reload = getattr(trainer.optimizer, "reload_main_params_from_model", None)
        if reload:
            reload()
    return trainer


def number(value: Any) -> float:
    return float(torch.as_tensor(getattr(value, "full_tensor", lambda: value)()).float().mean())


def train(trainer: Any) -> list[list[float]]:
    """``[loss, gradient norm]`` of each step where this rank knows the loss."""
    steps = []
    name = "training_pp_step" if trainer.schedule is not None else "training_step"
    step = getattr(trainer, name)

    def spied(*args: Any, **kwargs: Any) -> Any:
        loss, norm = step(*args, **kwargs)
        if trainer.schedule is None or trainer.has_last:
            steps.append([number(loss), number(norm)])
        return loss, norm

    setattr(trainer, name, spied)
    trainer.train()
    return steps
