"""`ms2torch compare` on recordings of the real port: a planted fault is found at its module."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ms2torch import cli, compare

SCRIPT = Path(__file__).parent / "compare_script.py"


@pytest.fixture(scope="module")
def dumps(port: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dumps")
    env = dict(
        os.environ,
        PYTHONPATH=str(port),
        MF_DEVICE_TYPE="cpu",
        OMP_NUM_THREADS="1",
        LOG_MF_PATH=str(out / "log"),
    )
    subprocess.run([sys.executable, SCRIPT, port, out], env=env, check=True, capture_output=True, text=True)
    return out


def first(dumps: Path, name: str) -> compare.Difference | None:
    found = list(compare.compare(compare.read(dumps / "plain"), compare.read(dumps / name)))
    return compare.first_fault(found, 1e-6, 1e-5)


def test_the_same_run_differs_nowhere(dumps: Path) -> None:
    assert first(dumps, "again") is None


@pytest.mark.parametrize(
    ("fault", "path"),
    [
        ("epsilon", "model.decoder.layers.1.pre_mlp_layernorm"),
        ("swapped", "model.decoder.layers.1.mlp.shared_experts.linear_fc1"),
        ("transposed", "model.decoder.layers.2.mlp.experts"),
    ],
)
def test_a_planted_fault_is_found_at_its_module(dumps: Path, fault: str, path: str) -> None:
    found = first(dumps, fault)
    assert found is not None
    assert (found.path, found.kind) == (path, "output")


def test_the_command(dumps: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert cli.main(["compare", str(dumps / "plain"), str(dumps / "epsilon"), "--html", str(page)]) == 1
    assert "the first is output 0 of model.decoder.layers.1.pre_mlp_layernorm" in capsys.readouterr().out
    text = page.read_text()
    assert "First difference: model.decoder.layers.1.pre_mlp_layernorm" in text
    assert "<svg" in text and "http" not in text
    assert cli.main(["compare", str(dumps / "plain"), str(dumps / "again")]) == 0
    assert cli.main(["compare", str(dumps / "plain"), str(tmp_path / "absent")]) == 2
