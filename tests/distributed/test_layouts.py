"""A few layouts of two ranks; `make test-distributed` runs them all, up to four ranks."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROWS = "fsdp2-accumulate2,tp2-mtp,tp2-ep2,pp2-mtp,cp2-ulysses,fsdp2-recompute-select"


def test_two_ranks_equal_one_and_planted_faults_show(port, tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            str(HERE / "matrix.py"),
            "--port",
            str(port),
            "--only",
            ROWS,
            "--ranks",
            "2",
            "--faults",
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(ROWS.split(',')) + 6}/" in done.stdout


def test_checkpoints_of_two_ranks_load_under_another_layout(port, tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            str(HERE / "checkpoints.py"),
            "--port",
            str(port),
            "--only",
            "2-to-1,mtp-1-to-pp,tp-to-fsdp",
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3/3" in done.stdout
