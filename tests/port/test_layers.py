"""Losses and norms of the port against torch's: MindFormers' own tests compare them with graph mode only."""

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent / "_layers.py"


def test_losses_and_norms_equal_torchs(port: Path, tmp_path: Path) -> None:
    environment = os.environ | {
        "PYTHONPATH": str(port),
        "MF_DEVICE_TYPE": "cpu",
        "LOG_MF_PATH": str(tmp_path),
    }
    command = [sys.executable, str(SCRIPT)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    made = json.loads(done.stdout.splitlines()[-1])
    assert len(made) == 11
    for name, difference in made.items():
        # bfloat16 keeps eight bits: half a unit in the last place of a value below 4 is 2**-7.
        assert difference <= (2**-7 if "bfloat16" in name else 2e-5), name
