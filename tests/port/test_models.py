"""MindFormers' other PyNative models and attention variants train on the port, each at a tiny size."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.port.conftest import Case, put

Results = dict[str, Case]

QWEN3 = {
    "model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "vocab_size": 128, "seq_length": 32,
    "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "hidden_act": "silu", "max_position_embeddings": 64,
    "initializer_range": 0.02, "rms_norm_eps": 1e-6, "use_cache": True, "tie_word_embeddings": False,
    "rope_theta": 10000.0, "attention_bias": False, "attention_dropout": 0.0, "pad_token_id": -1,
    "compute_dtype": "float32",
}  # fmt: skip
DEEPSEEK4 = {
    "model_type": "deepseek_v4", "architectures": "DeepseekV4ForCausalLM", "pad_token_id": -1, "vocab_size": 128,
    "seq_length": 32, "hidden_size": 64, "num_hidden_layers": 3, "max_position_embeddings": 4096,
    "hidden_act": "silu", "num_attention_heads": 4, "rms_norm_eps": 1e-6, "add_bias_linear": False,
    "activation_func_clamp_value": 10.0, "multi_latent_attention": True, "o_groups": 2, "o_lora_rank": 16,
    "q_lora_rank": 24, "qk_rope_head_dim": 8, "qk_nope_head_dim": 24, "qk_layernorm": True, "v_head_dim": 32,
    "compute_dtype": "float32", "params_dtype": "float32", "num_nextn_predict_layers": 1, "mtp_loss_factor": 0.3,
    "position_embedding_type": "yarn", "rotary_scaling_factor": 16, "gated_linear_unit": True,
    "moe_intermediate_size": 32, "routed_scaling_factor": 1.5, "num_hash_layers": 1, "n_routed_experts": 8,
    "num_experts_per_tok": 2, "n_shared_experts": 1, "moe_router_group_topk": 0, "n_group": 0,
    "moe_router_score_function": "sqrtsoftplus", "moe_router_load_balancing_type": "seq_aux_loss",
    "moe_aux_loss_coeff": 0.0001, "moe_router_enable_expert_bias": True, "enable_hyper_connections": True,
    "num_residual_streams": 4, "mhc_sinkhorn_iterations": 20, "mhc_init_gating_factor": 0.01,
    "index_n_heads": 4, "index_head_dim": 16, "index_topk": 8, "dsa_indexer_loss_coeff": 1.0,
    "dsa_indexer_use_sparse_loss": True, "experimental_attention_variant": "dsv4_hybrid",
    "compress_ratios": [0, 4, 4, 0], "sliding_window": 8, "compress_rope_theta": 160000,
    "apply_dsa_kernel_fusion": False,
}  # fmt: skip
SPARSE = {  # sizes that upstream insists on
    "model.kv_lora_rank": 512, "model.qk_rope_head_dim": 64, "model.experimental_attention_variant": "dsa",
    "model.dsa_indexer_n_heads": 64, "model.dsa_indexer_head_dim": 128, "model.dsa_indexer_topk": 8,
    "model.dsa_indexer_loss_coeff": 1.0, "model.dsa_indexer_use_sparse_loss": True,
}  # fmt: skip
FULL = {"recompute": {"mode": "full", "full_recompute_layer": ["0-1"]}}


def cases(tiny: Case) -> list[Case]:
    """The cases: a base, its model section, changes."""
    qwen, four = tiny | {"model": QWEN3}, tiny | {"model": DEEPSEEK4}
    heads = {"model.num_key_value_heads": 4}
    changed: dict[str, Case] = {
        "qwen3": qwen,
        "qwen3 tied": put(qwen, {"model.tie_word_embeddings": True}),
        "qwen3 heads": put(qwen, heads),
        "qwen3 heads unfused": put(qwen, heads | {"model.use_flash_attention": False}),
        "qwen3 unfused": put(qwen, {"model.use_flash_attention": False}),
        "deepseek4": four,
        "deepseek4 recompute": put(four, FULL),
        "deepseek4 dense": put(four, {"model.csa_dense_mode": True}),
        "deepseek4 single stream": put(four, {"model.enable_hyper_connections": False}),
        "deepseek4 muon": put(four, {"optimizer.type": "Muon"}),
        "deepseek4 bf16": put(four, {"model.params_dtype": "bfloat16", "model.compute_dtype": "bfloat16"}),
        "deepseek4 kernels": put(four, {"model.apply_dsa_kernel_fusion": True, "model.sliding_window": 128}),
        "sparse": put(tiny, SPARSE),
        "sparse recompute": put(tiny, SPARSE | FULL),
        "sparse warm-up": put(tiny, SPARSE | {"model.dsa_indexer_use_sparse_loss": False}),
        "graph mode only": put(qwen, {"model.model_type": "qwen3_moe",
                                      "model.architectures": ["Qwen3MoeForCausalLM"]}),
    }  # fmt: skip
    return [{"name": name, "config": config} for name, config in changed.items()]


@pytest.fixture(scope="module")
def results(train: Callable[[str, list[Case]], Results], tiny: Case) -> Results:
    """What every case gave."""
    return train("models", cases(tiny))


def curve(results: Results, name: str) -> tuple[Any, Any]:
    """Losses and gradient norms of a case that trained."""
    assert "error" not in results[name], results[name]["traceback"]
    return results[name]["losses"], results[name]["norms"]


TRAINED = ("qwen3", "qwen3 tied", "qwen3 heads", "deepseek4", "deepseek4 dense", "deepseek4 single stream",
           "deepseek4 muon", "deepseek4 bf16", "sparse")  # fmt: skip


def test_losses_fall(results: Results) -> None:
    for name in TRAINED:
        losses, norms = curve(results, name)
        assert losses[0] == pytest.approx(math.log(128), rel=0.01), name
        assert min(losses[1:]) < losses[0] - 0.05, name
        assert all(map(math.isfinite, norms)), name


def test_variants_differ_and_recomputing_does_not(results: Results) -> None:
    assert len({tuple(curve(results, name)[0]) for name in TRAINED}) == len(TRAINED)
    for name in ("deepseek4", "sparse"):
        assert curve(results, f"{name} recompute") == curve(results, name)
        assert results[f"{name} recompute"]["sum"] == results[name]["sum"]


def test_half_precision_attention_is_close_to_the_full_one(results: Results) -> None:
    # Flash attention of float32 runs in float16, as upstream has it.
    losses, _ = curve(results, "qwen3 heads")
    assert losses == pytest.approx(curve(results, "qwen3 heads unfused")[0], rel=1e-3)
    losses, _ = curve(results, "deepseek4 bf16")
    assert losses == pytest.approx(curve(results, "deepseek4")[0], rel=5e-3)


def test_warm_up_moves_the_indexer_alone(results: Results) -> None:
    losses, norms = curve(results, "sparse warm-up")
    assert all(map(math.isfinite, losses)) and max(norms) > 0
    assert all("indexer" in name for name in results["sparse warm-up"]["trained"])


REFUSED = {
    "qwen3 unfused": "model.use_flash_attention=False with grouped queries",
    "deepseek4 kernels": "set apply_dsa_kernel_fusion=False",
    "graph mode only": "'Qwen3MoeForCausalLM' has no PyNative form in MindFormers",
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_not_there_is_named(results: Results, name: str) -> None:
    assert REFUSED[name] in results[name]["error"] and "\n" not in results[name]["error"]
    assert results[name]["losses"] == []
