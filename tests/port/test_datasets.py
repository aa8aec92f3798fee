"""Data sets on the port: the batches that MindFormers yields, and batches of the user's own."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
Runs = dict[str, Any]
RECORDED = json.loads((HERE / "megatron_batches.json").read_text())
STEPS = 100


@pytest.fixture(scope="module")
def runs(once: Callable[..., Runs]) -> Runs:
    return once(HERE / "_dataset_runs.py")


# Recorded under MindSpore on a CPU by scripts/record_megatron_batches.py.
@pytest.mark.parametrize("name", RECORDED)
def test_batches_are_those_of_mindformers(runs: Runs, name: str) -> None:
    """Names, types, shapes and bytes of 100 batches, over an epoch's end."""
    assert runs["recorded"][name]["epoch"] == RECORDED[name]["epoch"] < STEPS
    assert runs["recorded"][name]["batches"] == RECORDED[name]["batches"]
    assert len(RECORDED[name]["batches"]) == STEPS


def test_resumed_batches(runs: Runs) -> None:
    """A resume in the first epoch and in the second, each over the epoch's end."""
    assert len(runs["resumed"]) == 2 * len(RECORDED)
    for name, (resumed, wanted) in runs["resumed"].items():
        assert resumed == wanted, name


@pytest.mark.parametrize("name", ["blend", "end of document", "compressed", "rows"])
def test_training(runs: Runs, name: str) -> None:
    rows = runs[f"train {name}"]
    assert all(math.isfinite(loss) and norm > 0 for loss, norm, _ in rows)
    assert rows[0][0] == pytest.approx(math.log(128), abs=0.1)


def test_batches_of_the_users_own(runs: Runs) -> None:
    """A list, an iterable of arrays, an indexed object of lists, a loader of batches: the same losses."""
    assert runs["list"]["rows"][-1][0] < runs["list"]["rows"][0][0] - 0.2
    for name in ("iterable", "indexed", "endless"):
        assert runs[name]["rows"] == runs["list"]["rows"], name
        assert runs[name]["weights"] == runs["list"]["weights"], name
    assert runs["loader"]["rows"][-1][0] < runs["loader"]["rows"][0][0] - 0.2


@pytest.mark.parametrize("name", ["list", "loader", "own generator"])
def test_resume_on_batches_of_the_users_own(runs: Runs, name: str) -> None:
    """Over the end of an epoch of five; a loader's order goes on as in an unbroken run."""
    whole, later = runs[f"{name} resumed"]
    assert later["rows"] == whole["rows"][-2:]
    assert later["batches"] == whole["batches"][-2:]
    assert later["weights"] == whole["weights"]
    assert len(set(whole["batches"])) == (5 if name == "list" else 8)  # a loader shuffles each epoch anew


def test_synthetic_types(runs: Runs) -> None:
    assert runs["SyntheticDataset"] == runs["RandomDataset"]


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        (
            "iterator",
            "TypeError",
            "train_dataset is an iterator (list_iterator), which can be read only once",
        ),
        ("dict", "TypeError", "train_dataset must be an iterable of dicts, not dict"),
        ("number", "TypeError", "train_dataset must be an iterable of dicts, not int"),
        ("no length", "ValueError", "train_dataset (DataLoader) has no len()"),
        ("empty", "ValueError", "train_dataset (list) holds no batch"),
        (
            "tuples",
            "TypeError",
            "train_dataset must give dicts such as {'input_ids': …, 'labels': …}, not tuple",
        ),
        (
            "wrong batch",
            "ValueError",
            "column 'input_ids' has shape (3, 32), but the first dimension must be",
        ),
        ("samples", "ValueError", "column 'input_ids' has shape (32,), but the first dimension must be"),
        ("MindDataset", "NotImplementedError", "MindDataset cannot read MindRecord files (data.mindrecord)"),
        ("unknown", "ValueError", "Unsupported dataloader type: NoSuchLoader"),
    ],
)
def test_errors(runs: Runs, name: str, kind: str, message: str) -> None:
    assert runs["errors"][name][0] == kind
    assert message in runs["errors"][name][1] and "\n" not in runs["errors"][name][1]
