"""Run with a port on PYTHONPATH: records a tiny DeepSeek-V3, then the same with one planted fault each.

compare_script.py FOLDER writes FOLDER/plain, FOLDER/epsilon, FOLDER/swapped and FOLDER/transposed.
"""

import sys
from pathlib import Path

import mindformers.models.deepseek3  # noqa: F401
import torch
import yaml
from mindformers.pynative import _backend
from mindformers.pynative.config import TrainConfig
from mindformers.pynative.trainer.trainer import patch_pynative_modules
from mindformers.pynative.trainer.utils import _build_model

CONFIG = Path("configs/deepseek3/pretrain_deepseek3_single_card.yaml")


def build(port: Path):
    config = yaml.safe_load((port / CONFIG).read_text(encoding="utf-8"))
    small = {
        "num_hidden_layers": 3,
        "hidden_size": 64,
        "intermediate_size": 128,
        "vocab_size": 64,
        "seq_length": 16,
    }
    config["model"] |= small | {"moe_intermediate_size": 64, "moe_shared_expert_intermediate_size": 64}
    model = _build_model(TrainConfig.from_dict(config))
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.is_floating_point():
                parameter.copy_(torch.rand(parameter.shape, generator=generator) * 0.2 - 0.1)
    return model


def record(model, folder: Path) -> None:
    model.train(True)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "tokens_per_expert" in name:
                parameter.zero_()
    ids = torch.arange(32, dtype=torch.int32).reshape(2, 16) % 60 + 1
    with _backend.trace.Trace(model, folder) as recorder:
        loss = model(input_ids=ids, labels=ids.roll(-1, 1))[0].sum()
        loss.backward()
        recorder.gradients()
        recorder.finish(loss=loss)
    for parameter in model.parameters():
        parameter.grad = None


def main(port: Path, out: Path) -> None:
    patch_pynative_modules()
    model = build(port)
    layers = model.model.decoder.layers
    record(model, out / "plain")
    record(model, out / "again")

    norm = layers[1].pre_mlp_layernorm
    name = next(n for n in ("eps", "epsilon", "variance_epsilon") if hasattr(norm, n))
    before = getattr(norm, name)
    setattr(norm, name, 1e-2)
    record(model, out / "epsilon")
    setattr(norm, name, before)

    gate_up = layers[1].mlp.shared_experts.linear_fc1.weight
    with torch.no_grad():
        kept = gate_up.clone()
        gate_up.copy_(kept.reshape(-1, 2, kept.shape[1]).flip(1).reshape(kept.shape))
    record(model, out / "swapped")
    with torch.no_grad():
        gate_up.copy_(kept)

    down = layers[2].mlp.experts.weight2
    with torch.no_grad():
        kept = down.clone()
        down[3] = kept[3].T if kept.shape[1] == kept.shape[2] else kept[3].flip(0)
    assert kept.shape[1] == kept.shape[2], "the planted fault must be a transposition"
    record(model, out / "transposed")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
