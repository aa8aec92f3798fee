"""Run inside a port, in a process of its own: loads converted weights and says how far off the logits are.

    PYTHONPATH=PORT python in_port.py CASES.json

Each case has `yaml`, `converted` (a directory of `weights convert`, read by MindFormers' load_checkpoint), `hf`
(Hugging Face's own directory, read by load_hf_checkpoint) and `logits`, or null to compare the two loads alone.
"""

import json
import sys
from typing import Any

import torch
import yaml
from safetensors.torch import load_file


def main() -> None:
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
    told = []
    with open(sys.argv[1], encoding="utf-8") as handle:
        cases = json.load(handle)
    for case in cases:
        with open(case["yaml"], encoding="utf-8") as handle:
            model = _build_model(TrainConfig.from_dict(yaml.safe_load(handle)))
        found = {}
        for kind, load in (("converted", load_checkpoint), ("hf", load_hf_checkpoint)):
            with torch.no_grad():
                for name, param in model.named_parameters():
                    param.fill_(
                        0.0 if name.endswith("tokens_per_expert") else 0.123
                    )  # what is not loaded shows
            load(case[kind], model)
            found[kind] = {name: param.detach().clone() for name, param in model.named_parameters()}
            if case["logits"] is not None:
                told.append(_off(model, load_file(case["logits"])))
        differ = [
            name for name, value in found["hf"].items() if not torch.equal(value, found["converted"][name])
        ]
        left = [name for name, value in found["hf"].items() if (value == 0.123).all()]
        told.append({"differ": differ, "left": left, "tensors": len(found["hf"])})
    print(json.dumps(told))


def _off(model: Any, expected: dict[str, torch.Tensor]) -> dict[str, float]:
    model.train(False)
    with torch.no_grad():
        got = model(input_ids=expected["ids"].int()).float().reshape(expected["logits"].shape)
    return {
        "off": (got - expected["logits"]).abs().max().item(),
        "scale": expected["logits"].abs().max().item(),
    }


if __name__ == "__main__":
    main()
