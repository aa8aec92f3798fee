"""Every schedule of MindFormers gives the rates that it gives under MindSpore 2.10 (`learning_rates.json`)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RECORDED = HERE / "learning_rates.json"


def test_rates_are_those_of_mindspore(port: Path, tmp_path: Path) -> None:
    environment = os.environ | {
        "PYTHONPATH": str(port),
        "MF_DEVICE_TYPE": "cpu",
        "LOG_MF_PATH": str(tmp_path),
    }
    command = [sys.executable, str(HERE / "_rates.py"), str(RECORDED)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    made = json.loads(done.stdout.splitlines()[-1])
    cases = json.loads(RECORDED.read_text())
    assert len(made) == len(cases) == 19
    for case, rates in zip(cases, made, strict=True):
        assert rates == pytest.approx(case["rates"], rel=1e-6, abs=1e-9), case["class"]
