"""A few layouts of two ranks; `make test-distributed` runs them all, up to four ranks."""

import subprocess
import sys
from pathlib import Path

MATRIX = Path(__file__).parent / "matrix.py"
ROWS = "fsdp2-accumulate2,tp2-mtp,tp2-ep2,pp2-mtp,cp2-ulysses,fsdp2-recompute-select"


def test_two_ranks_equal_one_and_planted_faults_show(port, tmp_path):
    done = subprocess.run(
        [sys.executable, str(MATRIX), "--port", str(port), "--only", ROWS, "--ranks", "2", "--faults"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(ROWS.split(',')) + 6}/" in done.stdout
