"""The benchmark measures what it says it does."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[1] / "benchmarks/rewrite_speed.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rewrite_speed", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["rewrite_speed"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_of_the_largest_process_counts(benchmark: ModuleType) -> None:
    hungry = "import time; x = bytearray(b'1') * (150 << 20); time.sleep(0.3)"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {hungry!r}], check=True)"
    measured = benchmark.measure([sys.executable, "-c", program])
    assert 150 < measured.peak_mb < 250
    assert measured.seconds > 0.3


def test_failure_is_told(benchmark: ModuleType) -> None:
    with pytest.raises(SystemExit, match="ended with 3"):
        benchmark.measure([sys.executable, "-c", "import sys; sys.exit(3)"])


def test_whole_run(
    benchmark: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("from mindspore import mint\n\nx = mint.abs\n")
    (tmp_path / "src/b.py").write_text("x = 1\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    figures = tmp_path / "figures.json"
    words = ["--source", str(tmp_path / "src"), "--jobs", "1", "--repeat", "1", "--json", str(figures)]
    monkeypatch.setattr(sys, "argv", ["rewrite_speed.py", *words])
    benchmark.main()
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[-5:-3] for row in rows[2:]] == [["2", "4"], ["2", "4"], ["1", "3"], ["1", "3"]]
    assert json.loads(figures.read_text())["seconds"] > 0
