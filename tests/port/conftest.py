"""Trainings of the port, many in one process, each made once whatever the number of test processes."""

import copy
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

HERE = Path(__file__).parent
CONFIG = "configs/deepseek3/pretrain_deepseek3_single_card.yaml"
TINY = {
    "training.steps": 3,
    "lr_scheduler.learning_rate": 0.01,
    "train_dataset.dataloader.samples": 64,
    "train_dataset.dataloader.seq_length": 32,
    "train_dataset.dataloader.vocab_size": 128,
    "model.vocab_size": 128,
    "model.seq_length": 32,
    "model.hidden_size": 64,
    "model.intermediate_size": 96,
    "model.num_hidden_layers": 2,
    "model.num_attention_heads": 2,
    "model.kv_lora_rank": 16,
    "model.q_lora_rank": 24,
    "model.qk_rope_head_dim": 8,
    "model.v_head_dim": 16,
    "model.qk_nope_head_dim": 16,
    "model.moe_intermediate_size": 32,
    "model.moe_shared_expert_intermediate_size": 32,
    # Every token counts, so that the mean over micro-batches is the mean over the batch.
    "model.pad_token_id": -1,
}
Case = dict[str, Any]


def put(config: Case, changes: Case) -> Case:
    """A copy of a configuration with values at dotted paths; None takes the key out."""
    made = copy.deepcopy(config)
    for path, value in changes.items():
        *sections, key = path.split(".")
        place = made
        for section in sections:
            place = place.setdefault(section, {})
        if value is None:
            place.pop(key, None)
        else:
            place[key] = value
    return made


@pytest.fixture(scope="session")
def tiny(port: Path) -> Case:
    """The single-card configuration at a size that trains in half a second."""
    return put(yaml.safe_load((port / CONFIG).read_text()), TINY)


@pytest.fixture(scope="session")
def train(
    port: Path, tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Callable[[str, list[Case]], dict[str, Case]]:
    """`train(name, cases)`: what each case (see `_train.py`) gave, by its name."""
    shared = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        shared = shared.parent

    def run(name: str, cases: list[Case]) -> dict[str, Case]:
        out, work = shared / f"{name}.jsonl", shared / f"{name}-work"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not out.exists():
                work.mkdir(exist_ok=True)
                (work / "cases.json").write_text(json.dumps(cases))
                environment = os.environ | {
                    "OMP_NUM_THREADS": "1",
                    "MF_DEVICE_TYPE": "cpu",
                    "LOG_MF_PATH": str(work / "log"),
                    "PYTHONPATH": str(port),
                }
                command = [sys.executable, str(HERE / "_train.py"), "cases.json", "out.jsonl"]
                done = subprocess.run(
                    command, cwd=work, env=environment, capture_output=True, text=True, timeout=600
                )
                assert done.returncode == 0, done.stderr[-3000:]
                (work / "out.jsonl").rename(out)
        lines = [json.loads(line) for line in out.read_text().splitlines()]
        return {line["name"]: line for line in lines}

    return run
