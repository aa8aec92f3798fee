"""Save and resume through the port's Trainer: steps after a resume are bit-equal to an unbroken run's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Runs = dict[str, Any]


@pytest.fixture(scope="module")
def runs(once: Callable[..., Runs]) -> Runs:
    return once(Path(__file__).with_name("_checkpoint_runs.py"))


def tail(unbroken: Runs, steps: int) -> Runs:
    """What an unbroken run did in its last steps."""
    return {**unbroken, "rows": unbroken["rows"][-steps:], "batches": unbroken["batches"][-steps:]}


def test_saving_changes_nothing(runs: Runs) -> None:
    assert runs["saved"] == runs["unbroken"]
    assert runs["async"] == runs["unbroken"]
    assert runs["options"] == runs["unbroken"]


# Losses, gradient norms, learning rates, batches and weights; dropout is on, and an epoch has five steps.
@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("resumed 2", 6),
        ("resumed 6", 2),
        ("async resumed", 4),
        ("balanced", 2),
        # As two MindSpore ranks write it: halves, metadata.json with MindSpore's dtype names.
        ("two ranks", 6),
    ],
)
def test_resumed_steps_are_those_of_an_unbroken_run(runs: Runs, name: str, steps: int) -> None:
    assert runs[name] == tail(runs["unbroken"], steps)


def test_dropout_goes_on_from_the_saved_random_state(runs: Runs) -> None:
    """Without the file the data are the same and the losses are not; the run says so."""
    without, wanted = runs["no random state"], tail(runs["unbroken"], 4)
    assert without["batches"] == wanted["batches"]
    assert without["rows"] != wanted["rows"]


def test_files(runs: Runs) -> None:
    steps = [f"iteration_{step:08d}" for step in (2, 4, 6, 8)]
    names = [
        "common.json",
        "deepseekv3-model-0000000-0000001.safetensors",
        "deepseekv3-opt-0000000-0000001.safetensors",
        "random_state-0000000-0000001.pt",
    ]
    latest = ["latest_checkpointed_iteration.txt"]
    assert runs["files"] == [f"{step}/{name}" for step in steps for name in names] + latest
    assert runs["options files"] == [f"{step}/{name}" for step in steps[2:] for name in names] + latest
    assert not [name for name in runs["no optimizer files"] if "-opt-" in name]


def test_last_asynchronous_checkpoint_is_the_latest(runs: Runs) -> None:
    assert runs["async latest"] == "8"


def test_weights_only(runs: Runs) -> None:
    """no_load_optim: the weights of the checkpoint, step 0, a new optimizer."""
    assert len(runs["weights only"]["rows"]) == 8
    assert runs["weights only"]["rows"][0][0] < runs["unbroken"]["rows"][0][0] - 0.5
    kind, message = runs["resume without optimizer"]
    assert kind == "ValueError" and "no optimizer checkpoint found" in message


def test_adapters_alone(runs: Runs) -> None:
    """Only what training moves: adapters, and the experts' biases, which upstream leaves out."""
    kinds = {name.rsplit(".", 1)[-1] for name in runs["adapter names"]}
    assert kinds == {"lora_a", "lora_b", "expert_bias"}
    assert runs["adapters resumed"]["rows"] == runs["adapters"]["rows"][-4:]
    assert runs["adapters resumed"]["weights"] == runs["adapters"]["weights"]
    kind, message = runs["adapters without a base"]
    assert kind == "ValueError" and "base_load_path is required" in message


def test_checkpoint_that_is_not_there(runs: Runs) -> None:
    """One line before anything is built; upstream trains from scratch."""
    empty = "the folder 'empty' holds no checkpoint (*.safetensors); leave the path empty to train anew"
    missing = "the checkpoint 'missing' does not exist; leave the path empty to train anew"
    assert runs["empty"] == ["FileNotFoundError", empty]
    assert runs["missing"] == runs["missing argument"] == ["FileNotFoundError", missing]


def test_checkpoint_that_cannot_be_written(runs: Runs) -> None:
    """The run ends, upstream logs a line; no folder is named the latest checkpoint."""
    assert runs["failed"] == ["SaveFailed", "the checkpoint of step 2 was not saved in failed: no space left"]
    kind, message = runs["failed async"]
    assert kind == "SaveFailed" and "deepseekv3-model" in message and "no space left" in message
    assert runs["failed latest"] == [False, False]
