"""Every single-card training option, on the port: what an option must not change, it does not; what it must, it does.

All cases are trained in one process; a case is a name and changes of the tiny configuration.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.port.conftest import Case, put

Results = dict[str, Case]

LAYERS = ["0-1"]
LONG = {
    "model.seq_length": 2048,  # the least for compressed masks
    "train_dataset.dataloader.seq_length": 2048,
    "training.local_batch_size": 1,
    "training.global_batch_size": 1,
    "training.steps": 1,
}
BF16 = {"model.params_dtype": "bfloat16", "model.compute_dtype": "bfloat16"}
MTP = {"model.num_nextn_predict_layers": 1, "model.mtp_loss_scaling_factor": 0.3}
MUON = {"optimizer.type": "Muon"}
CHANGES: dict[str, Case] = {
    "base": {},
    "accumulation": {"training.local_batch_size": 1},
    "mtp": MTP,
    "mtp accumulation": MTP | {"training.local_batch_size": 2},
    "mtp without factor": {"model.num_nextn_predict_layers": 1},
    "fused": {"optimizer.enable_fused_opt": True},
    "amsgrad": {"optimizer.enable_fused_opt": True, "optimizer.amsgrad": True},
    "amsgrad unfused": {"optimizer.amsgrad": True},
    "optimizer typo": {"optimizer.enable_fuse_opt": True},
    "no decay": {"optimizer.weight_decay": 0.0},
    "decay": {"optimizer.weight_decay": 5.0},
    "decay excluded": {"optimizer.weight_decay": 5.0, "optimizer.weight_decay_exclude": ["*"]},
    "decay of norms": {"optimizer.weight_decay": 5.0, "optimizer.weight_decay_include": ["layernorm"]},
    "muon": MUON,
    "muon accumulation": MUON | {"training.local_batch_size": 1},
    "muon fused": MUON | {"optimizer.use_fused_adamw": True},
    "muon bf16": MUON | BF16,
    "muon clipped": MUON | {"optimizer.qk_clip_threshold": 0.001, "model.track_max_attention_logit": True},
    "bf16": BF16,
    "bf16 fused": BF16 | {"optimizer.enable_fused_opt": True},
    "no flash attention": {"model.use_flash_attention": False},
    "rope fused": {"model.apply_rope_fusion": True},
    "permutation fused": {"model.moe_permute_fusion": True},
    "probabilities on inputs": {"model.moe_apply_probs_on_input": True},
    "unfused activation": {"model.hidden_act": "silu"},
    "aux_loss": {"model.moe_router_load_balancing_type": "aux_loss"},
    "global_aux_loss": {"model.moe_router_load_balancing_type": "global_aux_loss"},
    "gbs_aux_loss": {"model.moe_router_load_balancing_type": "gbs_aux_loss"},
    "no auxiliary loss": {
        "model.moe_router_load_balancing_type": "none",
        "model.moe_aux_loss_coeff": 0.0,
    },
    "no expert bias": {"model.moe_router_enable_expert_bias": False},
    "ungrouped": {"model.moe_grouped_gemm": False},
    "chunk loss": {"model.chunk_loss_num": 2},
    "per token": {"model.calculate_per_token_loss": True},
    "full recompute": {"recompute": {"mode": "full", "full_recompute_layer": LAYERS}},
    "one layer": {"recompute": {"mode": "full", "full_recompute_layer": ["1"]}},
    "selected": {"recompute": {"mode": "select", "select_module": {"self_attention": LAYERS, "mlp": ["1"]}}},
    "excluded": {
        "recompute": {
            "mode": "full",
            "full_recompute_layer": LAYERS,
            "exclude_op": {"self_attention.core_attention": LAYERS},
        }
    },
    "mtp recompute": MTP | {"recompute": {"mode": "full", "full_recompute_layer": ["0-2"]}},
    "communication": {"recompute_comm": {"enable": True, "select_module": {"self_attention": LAYERS}}},
    "layer swap": {"swap": {"enable": True, "layer_swap": [{"layers": ["0"]}]}},
    "op swap": {"swap": {"enable": True, "op_swap": [{"op_name": "self_attention", "layers": ["0"]}]}},
    "rampup": {"training.rampup_batch_size": [4, 4, 8], "training.global_batch_size": 12},
    "no clipping": {"training.max_norm": 1e9},
    "skip": {
        "training.use_skip_step_on_nan": True,
        "training.max_consecutive_skipped_steps": 2,
        "model.routed_scaling_factor": math.inf,
    },
    "monitors": {
        "monitor": {
            "train_state": {"local_norm": True, "local_loss": True, "device_norm": True, "device_loss": True},
            "tensorboard": {"output_dir": "tensorboard", "log_interval": 1},
            "moe_monitor": {"save_tokens_per_expert_interval": 1},
        }
    },
    "profiler": {
        "profiler": {"enable_profiling": True, "start_step": 1, "end_step": 2, "output_path": "profile"}
    },
    "lora": {"lora_config": {"target_modules": ".*linear_proj.*|.*experts.*", "lora_rank": 4}},
    "offload": {"parallelism.cpu_offload": True, "context": {"mode": 0}},
    "without effect": {
        "context": {"max_device_memory": "10GB", "device_target": "Ascend"},
        "train_dataset.numa_enable": True,
        "checkpoint.load_worker_number": 3,
        "model.moe_z_loss_coeff": 0.1,
        "modle": {"vocab_size": 5},
    },
    "long": LONG,
    "compressed mask": LONG | {"model.use_attn_mask_compression": True},
}
WITH_COLUMNS: dict[str, tuple[list[str], Case]] = {
    "rows": (["input_ids", "labels"], {}),
    "loss mask": (["input_ids", "labels", "loss_mask"], {}),
    "position ids": (["input_ids", "labels", "position_ids"], {"model.use_rotary_position_ids": True}),
    "documents": (["input_ids", "labels", "attention_mask"], LONG),
    "documents compressed": (
        ["input_ids", "labels", "actual_seq_len"],
        LONG | {"model.use_eod_attn_mask_compression": True},
    ),
}
HUGGING_FACE = {
    "architectures": ["DeepseekV3ForCausalLM"], "attention_bias": False, "attention_dropout": 0.0,
    "bos_token_id": 0, "eos_token_id": 1, "ep_size": 1, "first_k_dense_replace": 1, "hidden_act": "silu",
    "hidden_size": 64, "initializer_range": 0.02, "intermediate_size": 96, "kv_lora_rank": 16,
    "max_position_embeddings": 1280, "model_type": "deepseek_v3", "moe_intermediate_size": 32,
    "moe_layer_freq": 1, "n_group": 4, "n_routed_experts": 8, "n_shared_experts": 1, "norm_topk_prob": True,
    "num_attention_heads": 2, "num_experts_per_tok": 2, "num_hidden_layers": 2, "num_key_value_heads": 2,
    "q_lora_rank": 24, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "rms_norm_eps": 1e-6,
    "rope_scaling": {"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0,
                     "original_max_position_embeddings": 32, "type": "yarn"},
    "rope_theta": 10000, "routed_scaling_factor": 2.5, "scoring_func": "sigmoid", "tie_word_embeddings": False,
    "topk_group": 2, "topk_method": "noaux_tc", "torch_dtype": "bfloat16", "transformers_version": "4.33.1",
    "use_cache": True, "v_head_dim": 16, "vocab_size": 128,
}  # fmt: skip


def cases(tiny: Case) -> list[Case]:
    """All cases, the configuration of each complete."""
    made: list[Case] = [{"name": n, "config": put(tiny, changes)} for n, changes in CHANGES.items()]
    for name, (columns, changes) in WITH_COLUMNS.items():
        made.append({"name": name, "config": put(tiny, changes), "columns": columns})
    new = {k: v for k, v in HUGGING_FACE.items() if k not in ("rope_scaling", "rope_theta", "torch_dtype")}
    new |= {"qk_head_dim": 24, "head_dim": 8, "id2label": {"0": "LABEL_0"}, "dtype": None}
    new["rope_parameters"] = HUGGING_FACE["rope_scaling"] | {"rope_type": "yarn", "rope_theta": 10000}  # type: ignore[operator]
    made.append({"name": "Hugging Face", "config": tiny | {"model": HUGGING_FACE}})
    made.append({"name": "Hugging Face 5", "config": tiny | {"model": new}})
    return made


@pytest.fixture(scope="module")
def results(train: Callable[[str, list[Case]], Results], tiny: Case) -> Results:
    """What every case gave; a case that no test expects to fail has trained."""
    return train("options", cases(tiny))


def curve(results: Results, name: str) -> tuple[list[float], list[float]]:
    """Losses and gradient norms of a case that trained."""
    assert "error" not in results[name], results[name]["traceback"]
    return results[name]["losses"], results[name]["norms"]


def close(results: Results, one: str, other: str, loss: float = 1e-6, norm: float = 1e-4) -> None:
    """Two cases give the same curve."""
    (losses, norms), (wanted, wanted_norms) = curve(results, one), curve(results, other)
    assert losses == pytest.approx(wanted, rel=loss), one
    assert norms == pytest.approx(wanted_norms, rel=norm), one


SAME_BITS = (
    "full recompute", "one layer", "selected", "excluded", "communication", "layer swap", "op swap",
    "permutation fused", "monitors", "profiler", "without effect",
)  # fmt: skip
SAME = {"accumulation": "base", "fused": "base", "no flash attention": "base", "rope fused": "base",
        "chunk loss": "base", "unfused activation": "base",
        "mtp accumulation": "mtp", "muon fused": "muon", "compressed mask": "long", "position ids": "rows",
        "documents compressed": "documents", "Hugging Face 5": "Hugging Face"}  # fmt: skip


def test_options_that_change_no_bit(results: Results) -> None:
    for name in SAME_BITS:
        assert curve(results, name) == curve(results, "base"), name
        assert results[name]["sum"] == results["base"]["sum"], name
    assert curve(results, "mtp recompute") == curve(results, "mtp")


def test_options_that_change_rounding_only(results: Results) -> None:
    for one, other in SAME.items():
        close(results, one, other)
    # Newton and Schulz's steps magnify rounding.
    close(results, "muon accumulation", "muon", 1e-5, 1e-3)


def test_every_other_option_changes_the_run(results: Results) -> None:
    base = curve(results, "base")
    for name in ("mtp", "amsgrad", "muon", "bf16", "probabilities on inputs", "aux_loss", "no auxiliary loss",
                 "no expert bias", "no decay", "decay", "rampup", "no clipping", "lora"):  # fmt: skip
        assert curve(results, name) != base, name
        assert all(map(math.isfinite, results[name]["losses"])), name
    # With one micro-batch a step the batch is the whole.
    close(results, "global_aux_loss", "aux_loss")
    assert curve(results, "muon clipped") != curve(results, "muon")
    assert results["loss mask"]["losses"][0] != results["rows"]["losses"][0]
    assert results["documents"]["losses"] != results["long"]["losses"]


def test_bf16_keeps_masters(results: Results) -> None:
    (losses, _), (wanted, _) = curve(results, "bf16"), curve(results, "base")
    assert losses == pytest.approx(wanted, rel=5e-3)
    assert results["base"]["types"] == ["torch.float32"] and results["base"]["masters"] == 0
    assert results["bf16"]["types"] == ["torch.bfloat16", "torch.float32"]
    assert results["bf16"]["masters"] > 10 and results["bf16 fused"]["masters"] > 10
    close(results, "bf16 fused", "bf16", 1e-3, 1e-2)
    close(results, "muon bf16", "muon", 1e-3, 1e-2)


def test_weight_decay_by_name(results: Results) -> None:
    assert curve(results, "decay excluded") == curve(results, "no decay")
    # Norms start at one: their decay shows in the sum of all weights.
    assert results["decay of norms"]["sum"] < results["decay"]["sum"]


def test_expert_bias_moves_by_its_rate(results: Results) -> None:
    (bias,) = results["base"]["bias"]
    assert any(bias) and all(abs(b) <= 3 * 0.001 + 1e-9 for b in bias)
    assert results["no expert bias"]["bias"] == []


def test_rampup_takes_growing_batches(results: Results) -> None:
    assert results["rampup"]["consumed"] == [4, 12, 24]


def test_sum_over_tokens_is_the_loss(results: Results) -> None:
    losses, _ = curve(results, "per token")
    assert losses[0] == pytest.approx(4 * 32 * results["base"]["losses"][0], rel=1e-5)
    assert any("calculate_per_token_loss" in line for line in results["per token"]["warnings"])


def test_steps_without_a_finite_norm_are_skipped(results: Results) -> None:
    assert "SkipStepOnNaN" in results["skip"]["cause"]
    assert len(results["skip"]["norms"]) == 1 and not math.isfinite(results["skip"]["norms"][0])


def test_lora_trains_adapters_only(results: Results) -> None:
    names = results["lora"]["trained"]
    assert names and all("lora_" in name for name in names)
    assert "decoder.layers.1.self_attention.linear_proj.lora_a" in names
    assert "decoder.layers.1.mlp.experts.weight1_lora_b" in names


def test_monitor_and_profiler_write(results: Results, tmp_path_factory: Any) -> None:
    work = Path(results["base"]["folder"])
    assert list((work / "tensorboard").rglob("events.out*"))
    (trace,) = (work / "profile").rglob("*.json")
    assert json.loads(trace.read_text())["traceEvents"]


def test_hugging_faces_fields_suffice(results: Results) -> None:
    losses, _ = curve(results, "Hugging Face")
    assert losses[-1] < losses[0]
    assert results["Hugging Face"]["types"] == ["torch.bfloat16", "torch.float32"]
    told = " ".join(results["Hugging Face"]["warnings"])
    assert "model.qk_layernorm is not given" in told and "num_nextn_predict_layers is not given" in told


REFUSED = {
    "mtp without factor": "model.num_nextn_predict_layers=1 needs model.mtp_loss_scaling_factor",
    "amsgrad unfused": "optimizer.amsgrad=True needs optimizer.enable_fused_opt=True",
    "optimizer typo": "optimizer.enable_fuse_opt is no option of AdamW (is it enable_fused_opt?)",
    "gbs_aux_loss": "model.moe_router_load_balancing_type='gbs_aux_loss' is none of",
    "ungrouped": "model.moe_grouped_gemm=False",
    "offload": "context.mode=0: this port runs in PyNative mode (1) only; parallelism.cpu_offload=True",
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_cannot_be_honoured_is_named_in_one_line(results: Results, name: str) -> None:
    error = results[name]["error"]
    assert error.startswith("ValueError: " + REFUSED[name]) and "\n" not in error
    assert results[name]["losses"] == []


def test_what_has_no_effect_is_told(results: Results) -> None:
    told = results["without effect"]["warnings"]
    for start in ("context.max_device_memory='10GB' has no effect", "context.device_target='Ascend' has no effect",
                  "train_dataset.numa_enable=True has no effect", "checkpoint.load_worker_number=3 has no effect",
                  "model.moe_z_loss_coeff=0.1 has no effect", "section modle has no effect"):  # fmt: skip
        assert sum(line.startswith(start) for line in told) == 1, start
    assert not any("has no effect" in line for line in results["base"]["warnings"])
