"""Weights of Hugging Face's models in the port: the same logits, and every byte back."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ms2torch import cli

pytest.importorskip("transformers")
from tests.weights import hf_models

IN_PORT = Path(__file__).with_name("in_port.py")


def logits_off(port: Path, kind: str, config: Path, weights: Path, logits: Path, *more: str) -> float:
    environment = {**os.environ, "PYTHONPATH": str(port), "MF_DEVICE_TYPE": "cpu", "OMP_NUM_THREADS": "1"}
    environment["LOG_MF_PATH"] = str(logits.parent / "log")
    ended = subprocess.run(
        [sys.executable, str(IN_PORT), kind, str(config), str(weights), str(logits), *more],
        env=environment,
        cwd=logits.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    told: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    assert told["scale"] > 1  # logits that say something
    return float(told["off"])


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (hf_models.deepseek, ()),
        (hf_models.qwen, ("--float32",)),
        (lambda folder: hf_models.qwen(folder, tie=True), ("--float32",)),
    ],
    ids=["deepseek_v3", "qwen3", "qwen3 tied"],
)
def test_there_and_back(port: Path, tmp_path: Path, make: Any, options: tuple[str, ...]) -> None:
    theirs, ours, back = tmp_path / "hf", tmp_path / "mf", tmp_path / "back"
    make(theirs)
    yaml = theirs / "model.yaml"
    convert = ["weights", "convert", str(theirs), str(ours), "--from", "hf", "--to", "mindformers"]
    assert cli.main([*convert, "--yaml", str(yaml)]) == 0
    assert logits_off(port, "file", yaml, ours, tmp_path / "hf.logits", *options) < 1e-5

    config = ["--config", str(theirs / "config.json"), "--yaml", str(yaml), "--shard-size", "100KB"]
    assert (
        cli.main(["weights", "convert", str(ours), str(back), "--from", "mindformers", "--to", "hf", *config])
        == 0
    )
    assert cli.main(["weights", "diff", str(theirs), str(back)]) == 0
    assert (back / "config.json").read_bytes() == (theirs / "config.json").read_bytes()
    assert (back / "model.safetensors.index.json").exists()
