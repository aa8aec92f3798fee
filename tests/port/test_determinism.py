"""Seeds and determinism on the port."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
Runs = dict[str, Any]


@pytest.fixture(scope="module")
def runs(once: Callable[..., Runs]) -> Runs:
    return once(HERE / "_determinism_runs.py")


def test_two_runs_are_bit_equal(runs: Runs) -> None:
    """First weights, batches, losses, norms, last weights; dropout is on."""
    assert runs["again"] == runs["one"]
    assert runs["after other draws"] == runs["one"]


def test_the_seed_decides_weights_and_draws(runs: Runs) -> None:
    one, other = runs["one"], runs["other seed"]
    assert other["start"] != one["start"]
    assert other["rows"] != one["rows"]
    assert other["batches"] == one["batches"]  # the data set has a seed of its own


def test_first_weights_do_not_depend_on_threads(runs: Runs) -> None:
    assert runs["two threads"]["start"] == runs["one"]["start"]
    for (loss, *_), (wanted, *_) in zip(runs["two threads"]["rows"], runs["one"]["rows"], strict=True):
        assert loss == pytest.approx(wanted, abs=1e-5)


def test_the_seed_decides_the_order(runs: Runs) -> None:
    assert runs["shuffled again"] == runs["shuffled"]
    assert runs["shuffled"]["batches"] != runs["one"]["batches"]
    assert runs["shuffled otherwise"]["batches"] != runs["shuffled"]["batches"]


def test_the_switch(runs: Runs) -> None:
    assert runs["deterministic"] is True
    assert runs["free"]["start"] == runs["one"]["start"]
    assert runs["seed"] == 42


def test_one_card_has_a_real_group_on_every_axis(runs: Runs) -> None:
    assert runs["group"] == [True, "gloo", 1]
    assert {"pp", "dp_replicate", "fsdp", "tp", "ep"} <= set(runs["axes"])
    for name, (backend, size, total) in runs["axes"].items():
        assert (backend, size, total) == ("gloo", 1, 1.0), name
