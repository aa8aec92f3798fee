"""Run inside a port, in a process of its own: loads converted weights and prints the logits' distance.

    PYTHONPATH=PORT python in_port.py KIND YAML WEIGHTS LOGITS.safetensors

KIND is `file` (weights of `weights convert`, through MindFormers' load_checkpoint) or `hf` (Hugging Face's
own directory, through load_hf_checkpoint).
"""

import json
import sys

import torch
import yaml
from safetensors.torch import load_file


def main() -> None:
    kind, config, weights, logits = sys.argv[1:5]
    for blocked in ("mindspore", "hyper_parallel", "ms2torch"):
        sys.modules[blocked] = None  # type: ignore[assignment]
    import mindformers.core.lr.lr_schedule
    import mindformers.models.deepseek3
    import mindformers.models.qwen3  # noqa: F401
    from mindformers.checkpoint.checkpoint import load_checkpoint, load_hf_checkpoint
    from mindformers.pynative.config import TrainConfig
    from mindformers.pynative.trainer.trainer import patch_pynative_modules
    from mindformers.pynative.trainer.utils import _build_model

    patch_pynative_modules()
    with open(config, encoding="utf-8") as handle:
        model = _build_model(TrainConfig.from_dict(yaml.safe_load(handle)))
    with torch.no_grad():
        for param in model.parameters():
            param.fill_(0.123)  # what is not loaded shows
    if kind == "hf":
        load_hf_checkpoint(weights, model)
    else:
        load_checkpoint(weights, model)
    model.train(False)
    expected = load_file(logits)
    if "--float32" in sys.argv:
        # MindFormers rounds query, key and value to half precision before grouped attention.
        for layer in model.model.decoder.layers:
            layer.self_attention.cast = lambda tensor, dtype: tensor
    with torch.no_grad():
        got = model(input_ids=expected["ids"].int()).float().reshape(expected["logits"].shape)
    off = (got - expected["logits"]).abs().max().item()
    print(json.dumps({"off": off, "scale": expected["logits"].abs().max().item()}))


if __name__ == "__main__":
    main()
