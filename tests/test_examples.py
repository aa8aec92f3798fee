"""The examples, ported by the command and run on torch, print what MindSpore printed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ms2torch import cli

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("*.py"))
NUMBER = re.compile(r"-?\d+\.\d+")


def test_each_example_is_described_and_has_its_output() -> None:
    described = re.findall(r"^\| `(\w+)\.py`", (EXAMPLES / "README.md").read_text(), re.M)
    assert sorted(described) == SCRIPTS
    assert sorted(path.stem for path in (EXAMPLES / "expected").iterdir()) == SCRIPTS


def same_lines(printed: str, expected: str) -> None:
    """Equal text, and numbers that agree to float32's noise after some training steps."""
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", expected)
    for ours, theirs in zip(printed.splitlines(), expected.splitlines(), strict=True):
        numbers = [float(text) for text in NUMBER.findall(theirs)]
        assert [float(text) for text in NUMBER.findall(ours)] == pytest.approx(numbers, rel=2e-3, abs=2e-4), (
            ours
        )


@pytest.mark.parametrize("name", SCRIPTS)
def test_example(name: str, tmp_path: Path) -> None:
    out = tmp_path / f"{name}.py"
    assert cli.main(["rewrite", str(EXAMPLES / f"{name}.py"), "-o", str(out), "--jobs", "1", "--strict"]) == 0
    assert "mindspore" not in re.sub(r"#.*", "", out.read_text())
    environment = {**os.environ, "MF_DEVICE_TYPE": "cpu", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(out)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    same_lines(done.stdout, (EXAMPLES / "expected" / f"{name}.txt").read_text())
