# ms2torch: new file
"""Options that this port refuses, completes or leaves without effect: each is told in one line at the start.

An option that would change numbers or meaning and cannot be honoured ends the run before the model is built;
one that is a matter of speed or memory, or that nothing reads, gives a warning.
"""

import difflib
import os
from dataclasses import fields

import yaml

from mindformers.pynative import _backend
from mindformers.tools.logger import logger

# Options of each optimizer, besides those of OptimizerConfig; upstream takes any other name and drops it.
OPTIMIZER_OPTIONS = {
    "AdamW": {"enable_cpu_offload", "enable_fused_opt", "use_fused", "amsgrad", "maximize"},
    "Muon": {
        "matched_adamw_rms", "momentum", "nesterov", "ns_steps", "ns_coefficients", "adamw_betas",
        "adamw_eps", "qk_clip_enabled", "qk_clip_threshold", "comm_strategy", "use_fused_adamw",
        "adamw_include", "phase0_batch_memory_gb", "ns_batch_memory_gb", "phase4_batch_memory_gb", "swap",
    },
}  # fmt: skip

# Models that MindFormers has for MindSpore's graph mode or for inference alone.
NOT_PYNATIVE = {
    "Glm4ForCausalLM", "Glm4MoeForCausalLM", "Qwen2ForCausalLM", "Qwen3MoeForCausalLM", "TeleChat2ForCausalLM",
    "TeleChat3ForCausalLM", "TeleChat3MoeForCausalLM",
}  # fmt: skip
PYNATIVE = ("DeepseekV3ForCausalLM", "DeepseekV4ForCausalLM", "Qwen3ForCausalLM")

LOAD_BALANCING = ("aux_loss", "seq_aux_loss", "global_aux_loss")

# Sections that upstream reads although TrainConfig does not declare them.
MORE_SECTIONS = {"eval_dataset", "use_remove_redundant_dataset", "pretrained_model_dir", "tokenizer", "processor"}

# (section.key, the value that asks for nothing, why another has no effect): speed, memory, or read by nothing.
WITHOUT_EFFECT = (
    ("train_dataset.numa_enable", False, "torch's data workers are not bound to NUMA nodes"),
    ("parallelism.pipeline_parallel_overlap_p2p", False, "torch sends and receives without that overlap"),
    ("parallelism.pipeline_parallel_enable_dxdw_split", False, "the backward pass is one piece on torch"),
    ("parallelism.expert_parallel_async_d2h", False, "counts of tokens are copied without a stream of their own"),
    ("parallelism.data_parallel_shard_strategy", "optim_grads_params",
     "MindFormers reads it nowhere; reshard_after_forward_policy says what stays sharded"),
    ("checkpoint.load_worker_number", 1, "MindFormers reads it nowhere"),
    ("monitor.health_checkpoint.embedding_local_norm_threshold", 100.0, "MindFormers reads it nowhere"),
    ("monitor.health_checkpoint.global_norm_skip_threshold", 100.0, "MindFormers reads it nowhere"),
    ("monitor.health_checkpoint.global_norm_skip_time", 10, "MindFormers reads it nowhere"),
)  # fmt: skip

# Model options that no PyNative module reads, and the value that asks for nothing.
UNREAD_BY_THE_MODEL = {
    "attention_softmax_in_fp32": True, "bias_dropout_fusion": False, "bias_swiglu_fusion": False,
    "callback_moe_droprate": False, "comp_comm_parallel": False, "cpu_offloading": False,
    "enable_expert_relocation": False, "fp16_lm_cross_entropy": False, "fp32_residual_connection": False,
    "group_wise_a2a": False, "initializer_range": 0.01, "mask_func_type": "attn_mask_fill", "mla_qkv_concat": True,
    "moe_expert_capacity_factor": None, "moe_router_pre_softmax": False, "moe_shared_expert_overlap": False,
    "moe_z_loss_coeff": None, "nope_layer_interval": None, "param_init_std_rules": None,
    "print_expert_load": False, "sandwich_norm": False, "select_comm_recompute": False,
    "select_recompute": False, "use_contiguous_weight_layout_attention": False, "use_eod_reset": False,
    "use_fused_ops_topkrouter": False, "use_interleaved_weight_layout_mlp": True, "use_pad_tokens": True,
    "vocab_emb_dp": False, "window_attn_skip_freq": None,
}  # fmt: skip


def prepare(given):
    """What the user wrote, a dictionary or the path of a YAML file, with Hugging Face's way to write a model."""
    raw = _written(given)
    model = raw.get("model") if isinstance(raw, dict) else None
    if not isinstance(model, dict):
        return given
    model = dict(model)
    names = model.get("architectures")
    if isinstance(names, list) and len(names) == 1:
        model["architectures"] = names[0]
    rope = model.pop("rope_parameters", None)
    if isinstance(rope, dict):
        rope = {k: v for k, v in rope.items() if k != "type" or "rope_type" not in rope}
        model.setdefault("rope_theta", rope.pop("rope_theta", 10000.0))
        if rope.get("rope_type", "default") != "default":
            model.setdefault("rope_scaling", rope)
    for name in ("id2label", "label2id"):  # of classifiers; their keys are numbers, which no section can have
        model.pop(name, None)
    if "qk_nope_head_dim" in model:
        # Sums that Hugging Face derives; here `qk_head_dim` is another name of qk_nope_head_dim.
        for name in ("qk_head_dim", "head_dim"):
            model.pop(name, None)
    return given if model == raw["model"] else raw | {"model": model}


def settle(config, given):
    """Completes a TrainConfig's model section, warns of what has no effect, and refuses what cannot be honoured.

    ``given`` is what the user wrote: a default is not told. Raises ValueError with one line that names every
    refused option.
    """
    raw = _written(given)
    _complete(config.model)
    refused = [*_of_model(config.model), *_of_run(config, raw)]
    # Inference builds no such layer and no optimizer; it may also be asked for by Trainer(run_mode="predict").
    if _value(config, "run_mode", "train") == "train" and _value(config, "inference") is None:
        refused += [*_of_mtp(config.model), *_of_optimizer(config.optimizer)]
    if refused:
        raise ValueError("; ".join(refused))
    for line in _warnings(config, raw):
        logger.warning(line)
    return config


def _written(given):
    """The dictionary that was given or that a YAML file holds; upstream tells what is wrong with others."""
    if not isinstance(given, str) or not os.path.isfile(given):
        return given
    with open(given, encoding="utf-8") as stream:
        return yaml.safe_load(stream) or {}


def _value(place, path, default=None):
    """The value at a dotted path of nested dictionaries or sections."""
    for key in path.split("."):
        place = place.get(key, default) if isinstance(place, dict) else getattr(place, key, default)
        if place is None:
            return default
    return place


def _complete(model):
    """What Hugging Face's configurations leave out and the PyNative models need."""
    kind = _value(model, "model_type")
    if kind is not None and not hasattr(model, "moe_grouped_gemm"):
        model.moe_grouped_gemm = True
    if kind != "deepseek_v3":
        return
    if not hasattr(model, "qk_layernorm"):
        model.qk_layernorm = True
        logger.warning("model.qk_layernorm is not given: True, as DeepSeek-V3 is (MindFormers' default is False)")
    if not any(hasattr(model, name) for name in ("num_nextn_predict_layers", "mtp_num_layers")):
        model.num_nextn_predict_layers = 0
        logger.warning("model.num_nextn_predict_layers is not given: no multi-token prediction layer is built")


def _of_model(model):
    name = _value(model, "architectures")
    if name in NOT_PYNATIVE:
        yield f"model.architectures={name!r} has no PyNative form in MindFormers; these have: {', '.join(PYNATIVE)}"
    heads, groups = _value(model, "num_attention_heads"), _value(model, "num_key_value_heads")
    grouped = groups not in (None, heads) and not _value(model, "kv_lora_rank")
    if grouped and _value(model, "use_flash_attention", True) is False:
        yield (
            "model.use_flash_attention=False with grouped queries: MindFormers repeats keys along the wrong axis "
            "there; flash attention (True) takes groups as they are"
        )
    kind = _value(model, "moe_router_load_balancing_type", "sub_seq_aux_loss")  # upstream's default
    # Without a coefficient no auxiliary loss is computed, whatever its type.
    if kind not in LOAD_BALANCING and _value(model, "moe_aux_loss_coeff", 0.0):
        yield (
            f"model.moe_router_load_balancing_type={kind!r} is none of {', '.join(LOAD_BALANCING)}; "
            "model.moe_aux_loss_coeff=0 trains without an auxiliary loss"
        )
    if _value(model, "moe_grouped_gemm", True) is False:
        yield "model.moe_grouped_gemm=False: MindFormers' PyNative experts are grouped matmuls only"


def _of_mtp(model):
    layers = _value(model, "num_nextn_predict_layers", 0) or _value(model, "mtp_num_layers", 0)
    factors = ("mtp_loss_factor", "mtp_loss_scaling_factor")
    if layers and not any(isinstance(_value(model, name), int | float) for name in factors):
        yield (
            f"model.num_nextn_predict_layers={layers} needs model.mtp_loss_scaling_factor (a number, 0.3 say): "
            "without it the loss of the multi-token prediction layers has no weight"
        )


def _of_optimizer(optimizer):
    given = {key for key in vars(optimizer) if not key.startswith("_")}
    kind = optimizer.type
    if kind not in OPTIMIZER_OPTIONS:
        yield f"optimizer.type={kind!r} is none of {', '.join(OPTIMIZER_OPTIONS)}"
        return
    known = {f.name for f in fields(optimizer)} | OPTIMIZER_OPTIONS[kind]
    for key in sorted(given - known):
        near = difflib.get_close_matches(key, sorted(known), 1)
        yield f"optimizer.{key} is no option of {kind}" + (f" (is it {near[0]}?)" if near else "")
    fused = _value(optimizer, "enable_fused_opt", False) or _value(optimizer, "use_fused", False)
    for key in ("amsgrad", "maximize"):
        if kind == "AdamW" and _value(optimizer, key, False) and not fused:
            yield f"optimizer.{key}=True needs optimizer.enable_fused_opt=True: the unfused AdamW has no such form"


def _of_run(config, raw):
    if _value(raw, "context.mode", 1) != 1:
        yield f"context.mode={_value(raw, 'context.mode')!r}: this port runs in PyNative mode (1) only"
    if _value(config, "parallelism.cpu_offload", False):
        yield "parallelism.cpu_offload=True: keeping shards in host memory is not ported"
    if _value(config, "parallelism.pipeline_parallel_overlap_b_f", False):
        yield "parallelism.pipeline_parallel_overlap_b_f=True: overlapping the passes of two micro-batches is not ported"


def _warnings(config, raw):
    """One line for each option that was written and does nothing here."""
    device = _backend.device.device_type()
    for path, idle, why in WITHOUT_EFFECT:
        if _value(raw, path, idle) != idle:
            yield f"{path}={_value(raw, path)!r} has no effect: {why}"
    for key in ("max_device_memory", "device_target"):
        value = _value(raw, f"context.{key}")
        if value is not None and not (key == "device_target" and value == "Ascend" and device == "npu"):
            yield f"context.{key}={value!r} has no effect on torch: the device is {device} (MF_DEVICE_TYPE)"
    if _value(raw, "profiler.enable_profiling", False) and device != "npu":
        for key, idle in (("mstx", False), ("profiler_level", 0)):
            if _value(raw, f"profiler.{key}", idle) != idle:
                yield f"profiler.{key}={_value(raw, f'profiler.{key}')!r} has an effect on an NPU only"
    if _value(config, "parallelism.enable_mc2", False) and device != "npu":
        yield "parallelism.enable_mc2=True: the matmul and its collective run one after the other on this device"
    if _value(config, "swap.enable", False) and _value(raw, "swap.default_prefetch", 1) != 1:
        yield "swap.default_prefetch has no effect on torch: activations come back when backward asks for them"
    if _value(raw, "train_dataset.num_parallel_workers", 1) > 1 and _value(raw, "train_dataset.dataloader.type") in (
        "SyntheticDataset",
        "RandomDataset",
    ):
        yield "train_dataset.num_parallel_workers has no effect on synthetic tokens"
    if _value(config.model, "calculate_per_token_loss", False):
        yield "model.calculate_per_token_loss=True: MindFormers' trainer takes the sum over tokens as the loss"
    for key, idle in UNREAD_BY_THE_MODEL.items():
        value = _value(raw, f"model.{key}", idle)
        if value != idle:
            yield f"model.{key}={value!r} has no effect: MindFormers' PyNative models read it nowhere"
    known = {f.name for f in fields(config)} | MORE_SECTIONS
    for key in sorted(set(raw) - known):
        near = difflib.get_close_matches(key, sorted(known), 1)
        yield f"section {key} has no effect: nothing reads it" + (f" (is it {near[0]}?)" if near else "")
