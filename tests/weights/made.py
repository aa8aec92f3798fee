"""Checkpoints made from a weight table's own names and shapes, with random numbers."""

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from ms2torch.weights import settings, table

DEEPSEEK: dict[str, Any] = {
    "model_type": "deepseek_v3", "vocab_size": 30, "hidden_size": 8, "intermediate_size": 12,
    "moe_intermediate_size": 6, "num_hidden_layers": 2, "num_nextn_predict_layers": 1, "num_attention_heads": 2,
    "n_shared_experts": 1, "n_routed_experts": 4, "kv_lora_rank": 5, "q_lora_rank": 6, "qk_rope_head_dim": 2,
    "v_head_dim": 4, "qk_nope_head_dim": 3, "first_k_dense_replace": 1, "rope_theta": 10000.0, "rms_norm_eps": 1e-6,
    "tie_word_embeddings": False,
}  # fmt: skip
QWEN: dict[str, Any] = {
    "model_type": "qwen3", "vocab_size": 30, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 3, "rope_theta": 1000000.0, "rms_norm_eps": 1e-6,
    "tie_word_embeddings": False,
}  # fmt: skip


def hugging_face(config: dict[str, Any], dtype: torch.dtype = torch.float32) -> dict[str, torch.Tensor]:
    """The tensors of Hugging Face's model, random."""
    known = table.models()[config["model_type"]]
    told = settings.Settings(Path("config.json"), "hf", config)
    values = settings.values_of(known, told, None) | {"fused_experts": 0}
    generator = torch.Generator().manual_seed(0)
    found = {}
    for entry in table.expand(known, values).entries:
        for name, shape in (pair for part in entry.hf for pair in part):
            found[name] = torch.randn(shape, generator=generator).to(dtype)
    for side, name, of, write in table.expand(known, values).same:
        if side == "hf" and write:
            found[name] = found[of].clone()
    return found


def saved(folder: Path, tensors: dict[str, torch.Tensor], config: dict[str, Any]) -> Path:
    """``tensors`` as Hugging Face's directory, with its config.json."""
    import json

    folder.mkdir(parents=True)
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder
