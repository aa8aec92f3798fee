"""The port's Muon, router and latent attention against plain formulas written from the published algorithms."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent / "references_script.py"


@pytest.fixture(scope="module")
def made(port: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    work = tmp_path_factory.mktemp("references")
    environment = os.environ | {
        "PYTHONPATH": str(port),
        "MF_DEVICE_TYPE": "cpu",
        "OMP_NUM_THREADS": "1",
        "LOG_MF_PATH": str(work / "log"),
    }
    command = [sys.executable, str(SCRIPT)]
    done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_muon(made: Any) -> None:
    assert len(made["muon"]) == 24
    for name, case in made["muon"].items():
        assert case["momentum"] <= 1e-6, name
        # Newton-Schulz's state has the eight bits of bfloat16: differences are shares of the largest change.
        assert case["weight"] <= 2**-8, name
        # The tolerance tells another formula from the right one.
        for fault, difference in case["wrong"].items():
            assert difference > 4 * 2**-8, (name, fault)


def test_the_router_selects_what_the_formula_allows(made: Any) -> None:
    for name, case in made["router"].items():
        assert case["outside"] == [], name
        assert case["dtype"] == "int64", name
        assert case["counts"], name
        assert case["gates"] <= 1e-6, name


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        # torch leaves the order among equal scores open, and MindSpore does not document it.
        ("free sigmoid", [1] * 6),
        ("equal", [28] * 3),  # two experts of eight
        ("tied", [3, 3, 7]),
        ("groups free", [1] * 6),
        ("groups equal", [4] * 3),  # one whole group of four
        ("groups tied", [3, 3, 7]),
        ("bias", [1] * 6),
        ("bias on ties", [1] * 3),
    ],
)
def test_as_many_selections_are_allowed_as_ties_leave(made: Any, name: str, allowed: list[int]) -> None:
    assert made["router"][name]["allowed"] == allowed


def test_equal_scores_share_equally_and_equal_tokens_go_the_same_way(made: Any) -> None:
    assert made["router"]["equal"]["top"] == [[0.5, 0.5]] * 3
    twice = made["router"]["duplicated"]
    for key in ("places", "top"):
        assert twice[key][:2] == twice[key][2:4]
        assert twice[key][4:7] == twice[key][7:]


def test_a_group_is_worth_its_two_best_experts(made: Any) -> None:
    assert made["router"]["groups outweigh"]["places"] == [[4, 5]]


def test_the_bias_selects_and_does_not_weigh(made: Any) -> None:
    assert made["router"]["bias"]["places"] == [[5, 6]] * 6
    assert made["router"]["bias on ties"]["places"] == [[5, 6]] * 3
    assert made["router"]["bias on ties"]["top"] == [[0.5, 0.5]] * 3


@pytest.mark.parametrize("rank", [12, None])
def test_latent_attention(made: Any, rank: int | None) -> None:
    case = made["attention"][f"q_lora_rank {rank}"]
    assert case["dtype"] == "torch.float32"
    assert case["output"] <= 1e-5
    assert case["without rope"] > 0.1
    assert case["input"] <= 1e-5
    assert len(case["gradients"]) == (4 if rank is None else 6)
    assert {name: value for name, value in case["gradients"].items() if value > 1e-5} == {}
