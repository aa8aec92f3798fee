"""Small scripts, rewritten and run on torch, return what they return under MindSpore 2.10 on CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ms2torch.cli import main

HERE = Path(__file__).parent
EXPECTED: dict[str, Any] = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))


def close(got: Any, want: Any) -> bool:
    if isinstance(want, dict) and isinstance(got, dict):
        return got.keys() == want.keys() and all(close(got[k], want[k]) for k in want)
    if isinstance(want, list) and isinstance(got, list):
        return len(got) == len(want) and all(close(g, w) for g, w in zip(got, want, strict=True))
    if isinstance(want, float) and isinstance(got, float):
        return got == pytest.approx(want, rel=2e-5, abs=2e-6, nan_ok=True)
    return bool(got == want)


@pytest.fixture(scope="module")
def got(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What every case returns on torch; one process runs all of them."""
    out = tmp_path_factory.mktemp("cases") / "out"
    assert main(["rewrite", str(HERE / "inputs"), "-o", str(out), "--strict"]) == 0
    files = [str(path) for path in sorted(out.glob("*.py"))]
    run = subprocess.run(
        [sys.executable, str(HERE / "runner.py"), "torch", *files],
        capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    found: dict[str, dict[str, Any]] = json.loads(run.stdout.splitlines()[-1])
    return {f"{file}.{name}": value for file, cases in found.items() for name, value in cases.items()}


@pytest.mark.parametrize("name", EXPECTED)
def test_same_as_mindspore(name: str, got: dict[str, Any]) -> None:
    assert close(got[name], EXPECTED[name]), f"{got[name]} is not {EXPECTED[name]}"


def test_every_case_is_recorded(got: dict[str, Any]) -> None:
    assert got.keys() == EXPECTED.keys()
