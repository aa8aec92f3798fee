"""Weights of Hugging Face's models in the port: the same logits, and every byte back."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import save_file

from ms2torch import cli

pytest.importorskip("transformers")
from tests.weights import hf_models, made

IN_PORT = Path(__file__).with_name("in_port.py")
PREDICTING = {"num_nextn_predict_layers": 1, "model_type": "deepseek_v3"}


def with_predicting_layer(folder: Path) -> None:
    """A DeepSeek-V3 with a layer that predicts a further token, which transformers does not have."""
    hf_models.deepseek(folder, num_nextn_predict_layers=1)
    layer = f"model.layers.{hf_models.DEEPSEEK['num_hidden_layers']}."
    tensors = made.hugging_face(hf_models.DEEPSEEK | PREDICTING)
    tensors = {name: value for name, value in tensors.items() if name.startswith(layer)}
    for name in ("embed_tokens.weight", "shared_head.head.weight"):
        del tensors[layer + name]  # second names: allowed to be absent
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    save_file(tensors, folder / "predicting.safetensors")
    index["weight_map"] |= dict.fromkeys(tensors, "predicting.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    config = json.loads((folder / "config.json").read_text()) | PREDICTING
    (folder / "config.json").write_text(json.dumps(config))


MODELS: dict[str, Any] = {
    "deepseek_v3": hf_models.deepseek,
    "qwen3": hf_models.qwen,
    "qwen3 tied": lambda folder: hf_models.qwen(folder, tie=True),
    "predicting": with_predicting_layer,
}


def test_there_and_back(port: Path, tmp_path: Path) -> None:
    cases = []
    for name, make in MODELS.items():
        theirs, ours, back = (tmp_path / f"{name} {side}" for side in ("hf", "mf", "back"))
        make(theirs)
        yaml = theirs / "model.yaml"
        convert = ["weights", "convert", str(theirs), str(ours), "--from", "hf", "--to", "mindformers"]
        assert cli.main([*convert, "--yaml", str(yaml)]) == 0
        config = ["--config", str(theirs / "config.json"), "--yaml", str(yaml), "--shard-size", "100KB"]
        convert = ["weights", "convert", str(ours), str(back), "--from", "mindformers", "--to", "hf"]
        assert cli.main([*convert, *config]) == 0
        if name != "predicting":
            assert cli.main(["weights", "diff", str(theirs), str(back)]) == 0
            assert (back / "config.json").read_bytes() == (theirs / "config.json").read_bytes()
        logits = None if name == "predicting" else str(tmp_path / f"{theirs.name}.logits")
        cases.append({"yaml": str(yaml), "converted": str(ours), "hf": str(theirs), "logits": logits})

    (tmp_path / "cases.json").write_text(json.dumps(cases))
    environment = {**os.environ, "PYTHONPATH": str(port), "MF_DEVICE_TYPE": "cpu", "OMP_NUM_THREADS": "1"}
    environment["LOG_MF_PATH"] = str(tmp_path / "log")
    ended = subprocess.run(
        [sys.executable, str(IN_PORT), str(tmp_path / "cases.json")],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    told = json.loads(ended.stdout.splitlines()[-1])
    logits = [one for one in told if "off" in one]
    assert len(logits) == 6
    assert all(one["off"] < 1e-5 and one["scale"] > 1 for one in logits), logits
    loads = [one for one in told if "differ" in one]
    assert all(not one["differ"] and not one["left"] and one["tensors"] > 15 for one in loads), loads
