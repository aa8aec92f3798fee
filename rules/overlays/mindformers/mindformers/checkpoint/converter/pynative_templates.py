# ms2torch: new file
"""Weight templates of PyNative models, so that `load_hf_checkpoint` reads Hugging Face's own files."""

import re
from dataclasses import dataclass

import numpy as np

from mindformers.checkpoint.converter.convert_op import (
    ConvertOp,
    ExpertsConvertOp,
    QKVConvertOp,
    RenameConvertOp,
)
from mindformers.checkpoint.converter.template import WeightTemplate


@dataclass
class RowsConvertOp(ConvertOp):
    """Several weights as the rows of one: one after the other, or (`alternate`) a row of each in turn."""

    alternate: bool = False

    def _hf_to_mf(self, weights):
        if not self.alternate:
            return [np.concatenate(weights, axis=0)]
        return [np.stack(weights, axis=1).reshape(-1, *weights[0].shape[1:])]

    def _mf_to_hf(self, weights):
        whole = weights[0]
        if self.alternate:
            return [np.ascontiguousarray(whole[part :: len(self.hf_names)]) for part in range(len(self.hf_names))]
        config = self.mf_config
        tail = config.kv_lora_rank + config.qk_pos_emb_head_dim
        return [np.ascontiguousarray(part) for part in np.split(whole, [whole.shape[0] - tail])]


def _attention(hf, mf, low_rank_query):
    attention, ours = f"{hf}self_attn.", f"{mf}self_attention."
    first = "q_a_proj" if low_rank_query else "q_proj"
    yield RowsConvertOp(
        hf_names=[f"{attention}{first}.weight", f"{attention}kv_a_proj_with_mqa.weight"],
        mf_names=[f"{ours}linear_qkv.weight"],
    )
    pairs = [("kv_a_layernorm", "k_layernorm"), ("kv_b_proj", "linear_kvb"), ("o_proj", "linear_proj")]
    if low_rank_query:
        pairs += [("q_a_layernorm", "q_layernorm"), ("q_b_proj", "linear_qb")]
    for theirs, name in pairs:
        yield RenameConvertOp(hf_names=f"{attention}{theirs}.weight", mf_names=f"{ours}{name}.weight")
    for theirs, name in (
        ("input_layernorm", "input_layernorm"),
        ("post_attention_layernorm", "pre_mlp_layernorm"),
    ):
        yield RenameConvertOp(hf_names=f"{hf}{theirs}.weight", mf_names=f"{mf}{name}.weight")


def _gated(hf, mf):
    yield RowsConvertOp(
        hf_names=[f"{hf}gate_proj.weight", f"{hf}up_proj.weight"],
        mf_names=[f"{mf}linear_fc1.weight"],
        alternate=True,
    )
    yield RenameConvertOp(hf_names=f"{hf}down_proj.weight", mf_names=f"{mf}linear_fc2.weight")


def _experts(hf, mf):
    yield RenameConvertOp(hf_names=f"{hf}mlp.gate.weight", mf_names=f"{mf}mlp.router.weight")
    yield RenameConvertOp(hf_names=f"{hf}mlp.gate.e_score_correction_bias", mf_names=f"{mf}mlp.expert_bias")
    yield from _gated(f"{hf}mlp.shared_experts.", f"{mf}mlp.shared_experts.")
    one = f"{hf}mlp.experts.{{}}."
    yield ExpertsConvertOp(
        hf_names=[f"{one}gate_proj.weight", f"{one}up_proj.weight"], mf_names=[f"{mf}mlp.experts.weight1"]
    )
    yield ExpertsConvertOp(hf_names=[f"{one}down_proj.weight"], mf_names=[f"{mf}mlp.experts.weight2"])


def _ends():
    yield RenameConvertOp(
        hf_names="model.embed_tokens.weight", mf_names="embedding.word_embeddings.weight"
    )
    yield RenameConvertOp(hf_names="model.norm.weight", mf_names="decoder.final_layernorm.weight")
    yield RenameConvertOp(hf_names="lm_head.weight", mf_names="output_layer.weight")


def _deepseek_v3(config):
    low_rank = config.q_lora_rank is not None
    found = []
    # The layers that predict further tokens first: their numbers would fit the patterns of all layers, too.
    for extra in range(config.mtp_num_layers or 0):
        hf, mf = f"model.layers.{config.num_layers + extra}.", f"mtp.layers.{extra}."
        for theirs, name in (
            ("enorm", "enorm"),
            ("hnorm", "hnorm"),
            ("eh_proj", "eh_proj"),
            ("shared_head.norm", "final_layernorm"),
        ):
            found.append(RenameConvertOp(hf_names=f"{hf}{theirs}.weight", mf_names=f"{mf}{name}.weight"))
        found += [*_attention(hf, f"{mf}transformer_layer.", low_rank), *_experts(hf, f"{mf}transformer_layer.")]
    hf, mf = "model.layers.{}.", "decoder.layers.{}."
    found += [*_ends(), *_attention(hf, mf, low_rank), *_experts(hf, mf), *_gated(f"{hf}mlp.", f"{mf}mlp.")]
    return found


def _qwen3(config):
    hf, mf = "model.layers.{}.", "decoder.layers.{}."
    found = list(_ends())
    if config.tie_word_embeddings:
        found.pop()
    names = [f"{hf}self_attn.{part}_proj.weight" for part in "qkv"]
    found.append(QKVConvertOp(hf_names=names, mf_names=[f"{mf}self_attention.linear_qkv.weight"]))
    for theirs, name in (
        ("self_attn.o_proj", "self_attention.linear_proj"),
        ("self_attn.q_norm", "self_attention.q_layernorm"),
        ("self_attn.k_norm", "self_attention.k_layernorm"),
        ("input_layernorm", "input_layernorm"),
        ("post_attention_layernorm", "pre_mlp_layernorm"),
    ):
        found.append(RenameConvertOp(hf_names=f"{hf}{theirs}.weight", mf_names=f"{mf}{name}.weight"))
    return [*found, *_gated(f"{hf}mlp.", f"{mf}mlp.")]


class _Template(WeightTemplate):
    """Upstream tries longer patterns first; what matters is that those of one layer precede those of any."""

    def get_convert_op(self, name, pattern_to_convert_ops):
        """The converter whose pattern fits a name, or None."""
        if name in pattern_to_convert_ops:
            return pattern_to_convert_ops[name]
        for pattern in sorted(pattern_to_convert_ops, key=lambda text: (text.count("{}"), -len(text))):
            if re.match(pattern.replace(".", r"\.").replace("{}", "(.*)"), name):
                return pattern_to_convert_ops[pattern]
        return None


_MODELS = {"deepseek_v3": _deepseek_v3, "qwen3": _qwen3}


def pynative_template(model, config):
    """The template for `deepseek_v3` or `qwen3`, with the numbers of a TransformerConfig in it."""
    made = _Template(weight_converters=_MODELS[model](config))
    made.set_model_config(config)
    for converter in made.weight_converters:
        for name in converter.mf_names if isinstance(converter, ExpertsConvertOp) else ():
            # The loader looks experts up among patterns; a name without a layer's number is one, too.
            getattr(made, "_compiled_mf_patterns", {}).setdefault(name, re.compile(re.escape(name)))
    return made
