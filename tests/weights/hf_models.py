"""Small models of Hugging Face with random weights, and MindFormers' YAML for them."""

import copy
from pathlib import Path
from typing import Any

import torch
import yaml
from safetensors.torch import save_file
from transformers import DeepseekV3Config, DeepseekV3ForCausalLM, Qwen3Config, Qwen3ForCausalLM

TYPES = dict.fromkeys(
    ("params_dtype", "compute_dtype", "layernorm_compute_dtype", "softmax_compute_dtype", "rotary_dtype"),
    "float32",
)
DEEPSEEK: dict[str, Any] = {
    "vocab_size": 256,
    "hidden_size": 64,
    "intermediate_size": 96,
    "moe_intermediate_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "n_shared_experts": 1,
    "n_routed_experts": 8,
    "routed_scaling_factor": 2.5,
    "kv_lora_rank": 32,
    "q_lora_rank": 48,
    "qk_rope_head_dim": 16,
    "v_head_dim": 32,
    "qk_nope_head_dim": 32,
    "n_group": 4,
    "topk_group": 2,
    "num_experts_per_tok": 2,
    "first_k_dense_replace": 1,
    "norm_topk_prob": True,
    "rms_norm_eps": 1e-6,
    "tie_word_embeddings": False,
    "attention_bias": False,
}
QWEN: dict[str, Any] = {
    "vocab_size": 250,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-6,
    "attention_bias": False,
}
ROPE = {"factor": 40.0, "beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0}


def _randomised(model: Any) -> Any:
    with torch.no_grad():
        for param in model.parameters():
            param.normal_(0, 0.1) if param.ndim > 1 else param.uniform_(0.5, 1.5)
        for name, buffer in model.named_buffers():
            if "correction_bias" in name:
                buffer.uniform_(-0.1, 0.1)
    return model.float().eval()


def deepseek(folder: Path, **more: Any) -> Any:
    """A DeepSeek-V3 saved to ``folder``, with the YAML beside it as `model.yaml` and logits as `logits`."""
    torch.manual_seed(0)
    rope = {"rope_type": "yarn", "rope_theta": 10000.0, "original_max_position_embeddings": 4096, **ROPE}
    config = DeepseekV3Config(
        **DEEPSEEK,
        num_key_value_heads=4,
        max_position_embeddings=163840,
        attn_implementation="eager",
        pad_token_id=0,
        rope_parameters=rope,
        num_nextn_predict_layers=0,
    )
    made = {
        **DEEPSEEK,
        "model_type": "deepseek_v3",
        "architectures": "DeepseekV3ForCausalLM",
        "seq_length": 32,
        "max_position_embeddings": 4096,
        "hidden_act": "fusedswiglu",
        "add_bias_linear": False,
        "use_flash_attention": True,
        "multi_latent_attention": True,
        "mla_qkv_concat": True,
        "qk_layernorm": True,
        "attention_dropout": 0.0,
        "hidden_dropout": 0.0,
        "num_nextn_predict_layers": 0,
        **TYPES,
        "position_embedding_type": "yarn",
        "rotary_scaling_factor": 40,
        "beta_fast": 32,
        "beta_slow": 1,
        "mscale": 1,
        "mscale_all_dim": 1,
        "rope_theta": 10000,
        "router_dense_type": "float32",
        "gated_linear_unit": True,
        "moe_grouped_gemm": True,
        "moe_shared_expert_intermediate_size": 32,
        "scoring_func": "sigmoid",
        "moe_router_load_balancing_type": "seq_aux_loss",
        "moe_aux_loss_coeff": 0.0,
        "moe_router_enable_expert_bias": True,
        "moe_router_bias_update_rate": 0.001,
    }
    return _saved(_randomised(DeepseekV3ForCausalLM(config)), folder, made | more, 256)


def qwen(folder: Path, tie: bool = False, **more: Any) -> Any:
    """A Qwen3 with grouped heads and a head size of its own, saved as ``deepseek`` does."""
    torch.manual_seed(1)
    rope = {"rope_type": "default", "rope_theta": 1e6}
    config = Qwen3Config(**QWEN, tie_word_embeddings=tie, rope_parameters=rope, attn_implementation="eager")
    made = {
        **QWEN,
        "model_type": "qwen3",
        "architectures": "Qwen3ForCausalLM",
        "seq_length": 32,
        "hidden_act": "silu",
        "add_bias_linear": False,
        "use_flash_attention": True,
        "rope_theta": 1000000.0,
        "tie_word_embeddings": tie,
        "position_embedding_type": "rope",
        **TYPES,
    }
    return _saved(_randomised(Qwen3ForCausalLM(config)), folder, made | more, 250)


def _saved(model: Any, folder: Path, made: dict[str, Any], vocabulary: int) -> Any:
    model.save_pretrained(folder, max_shard_size="100KB")
    sections = copy.deepcopy(SECTIONS) | {"model": made}
    (folder / "model.yaml").write_text(yaml.safe_dump(sections), encoding="utf-8")
    ids = torch.randint(1, vocabulary, (2, 32))
    with torch.no_grad():
        save_file(
            {"ids": ids, "logits": model(ids).logits.contiguous()}, folder.parent / f"{folder.name}.logits"
        )
    return model


SECTIONS: dict[str, Any] = {
    "checkpoint": {
        "enable_save": False,
        "save_path": "ckpt",
        "save_max": 1,
        "save_interleaved_steps": 100,
        "no_save_optim": False,
        "async_save": False,
        "prefix": "custom",
        "remove_redundancy": False,
        "load_path": "",
        "load_balanced": False,
        "no_load_optim": True,
        "load_worker_number": 1,
    },
    "training": {
        "steps": 3,
        "local_batch_size": 2,
        "global_batch_size": 2,
        "max_norm": 1.0,
        "seed": 42,
        "deterministic": True,
    },
    "optimizer": {"type": "AdamW", "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.01},
    "lr_scheduler": {"type": "ConstantWarmUpLR", "learning_rate": 1e-3, "warmup_ratio": 0},
    "parallelism": {
        "data_parallel_shard": -1,
        "data_parallel_shard_strategy": "optim_grads_params",
        "disable_gradient_division": True,
        "expert_parallel": 1,
        "tensor_parallel": 1,
        "context_parallel": 1,
        "context_parallel_method": "colossal",
        "pipeline_parallel": 1,
        "pipeline_parallel_schedule": "1f1b",
        "pipeline_parallel_microbatch_size": 1,
        "pipeline_parallel_interleave_num": 1,
        "pipeline_parallel_layers_per_stage": None,
        "sequence_parallel": True,
    },
    "train_dataset": {
        "dataloader": {
            "type": "MindDataset",
            "dataset_files": "unused",
            "column_names": ["input_ids", "labels"],
            "shuffle": False,
        },
        "drop_remainder": True,
        "num_parallel_workers": 1,
        "prefetch_size": 1,
        "numa_enable": False,
    },
}
