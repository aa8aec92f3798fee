"""The command's promises: exit codes, one clear line, nothing written that was not asked for."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ms2torch import cli
from ms2torch.model import Finding, Progress, RunResult, SourceFile, Tree

UNRESOLVED = Finding("a.py", 1, 8, "MS120", "warning", "no torch counterpart", "mindspore.odd", "unresolved")


def engine(tree: Tree, profile: object, jobs: int, progress: Progress) -> RunResult:
    """Stands in for the pipeline: every `mindspore` becomes `torch`."""
    progress("rewrite", len(tree.files), len(tree.files))
    files = tuple(SourceFile(f.path, f.data.replace(b"mindspore", b"torch"), f.mode) for f in tree.files)
    odd = any(b"mindspore.odd" in file.data for file in tree.files)
    counts = {"converted": 2, "unresolved": int(odd)}
    return RunResult(files, (UNRESOLVED,) if odd else (), {"references": counts})


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("import mindspore\n")
    (tmp_path / "odd.py").write_text("import mindspore.odd\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> int:
    return cli.main(["rewrite", *words], engine=engine)


def test_directory(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("src", "-o", "out", "--report", "r.json", "--jobs", "1") == 0
    assert (work / "out/a.py").read_text() == "import torch\n"
    assert (work / "src/a.py").read_text() == "import mindspore\n"
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "src → out: 1 files read, 1 changed, 0 added, 0 left out",
        "references: 2 = 2 converted",
    ]
    assert err == ""  # no progress where there is no terminal
    report = json.loads((work / "r.json").read_text())
    assert report["findings"] == []
    assert report["summary"]["references"] == {"converted": 2, "unresolved": 0}
    assert report["summary"]["files"] == {"read": 1, "written": 1, "changed": 1, "added": 0, "left_out": 0}


def test_unresolved_is_reported_and_strict_says_so(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("odd.py", "-o", "port.py", "--report", "r.json") == 0
    assert "odd.py" not in capsys.readouterr().err
    assert json.loads((work / "r.json").read_text())["findings"] == [
        {
            "path": "a.py", "line": 1, "column": 8, "code": "MS120", "severity": "warning",
            "message": "no torch counterpart", "name": "mindspore.odd", "state": "unresolved",
        }
    ]  # fmt: skip
    (work / "port.py").unlink()
    assert run("odd.py", "-o", "port.py", "--strict") == 1
    assert (work / "port.py").read_text() == "import torch.odd\n"
    out = capsys.readouterr().out
    assert "a.py:1: MS120 no torch counterpart" in out
    assert "references: 3 = 2 converted + 1 unresolved" in out


def test_dry_run_prints_a_diff_and_writes_nothing(
    work: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    before = sorted(os.listdir(work))
    assert run("src", "--dry-run") == 0
    out, err = capfdbinary.readouterr()
    assert out.startswith(b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n")
    assert b"dry run: 1 files read" in err
    assert sorted(os.listdir(work)) == before


def test_report_replaces_only_a_report(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (work / "empty.json").write_text("")
    for name in ("r.json", "r.json", "empty.json"):
        assert run("src", "-o", "out", "--report", name) == 0
    capsys.readouterr()
    assert run("src", "-o", "out", "--report", "odd.py") == 2
    assert (
        capsys.readouterr().err
        == "ms2torch: odd.py is no report of ms2torch; name another file or add --force\n"
    )
    assert (work / "odd.py").read_text() == "import mindspore.odd\n"
    assert run("src", "-o", "out", "--report", "/dev/null", "--force") == 0
    assert not Path("/dev/null").is_file()


def test_in_place(work: Path) -> None:
    assert run("src", "--in-place") == 0
    assert (work / "src/a.py").read_text() == "import torch\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["src"], "name the result with -o OUT"),
        (["src", "-o", "out", "--in-place"], "not both"),
        (["absent", "-o", "out"], "no such file or directory: absent"),
        (["src", "-o", "src"], "SRC itself"),
        (["src", "-o", "out", "--report", "no/r.json"], "cannot write the report"),
        (["src", "-o", "foreign"], "--force"),
        (["src", "-o", "odd.py"], "is a file and SRC is not"),
        (["odd.py", "-o", "odd.py"], "SRC itself"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    work: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    (work / "foreign").mkdir()
    (work / "foreign/x").write_text("")
    before = {path: path.read_bytes() for path in work.rglob("*") if path.is_file()}
    assert run(*words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert err.count("\n") == 1
    assert err.startswith("ms2torch: ")
    assert {path: path.read_bytes() for path in work.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("words", [["--jobs", "0"], ["--jobs", "many"], ["--unknown"], []])
def test_bad_usage_is_exit_2(work: Path, words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run(*words)
    assert caught.value.code == 2


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("ms2torch 0.")


def test_system_error_is_one_line(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def full(tree: Tree, profile: object, jobs: int, progress: Progress) -> RunResult:
        raise OSError(28, "No space left on device", "/tmp/x")

    assert cli.main(["rewrite", "src", "-o", "out"], engine=full) == 2
    assert capsys.readouterr().err == "ms2torch: /tmp/x: No space left on device\n"


def test_a_result_that_does_not_compile_is_given_back(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(tree: Tree, profile: object, jobs: int, progress: Progress) -> RunResult:
        return RunResult(tuple(SourceFile(file.path, b"x = (\n") for file in tree.files))

    assert cli.main(["rewrite", "src", "-o", "out", "--strict"], engine=broken) == 1
    assert (work / "out/a.py").read_text() == "import mindspore\n"
    assert "a.py: MS900 the result does not compile" in capsys.readouterr().out


# Whoever runs the tests in the background has SIGINT ignored there, and processes inherit that.
SLOW = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from ms2torch import cli
def engine(tree, profile, jobs, progress):
    print("started", flush=True)
    time.sleep(30)
sys.exit(cli.main(["rewrite", "src", "-o", "deep/out"], engine=engine))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(work: Path, number: int) -> None:
    root = str(Path(cli.__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": root},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    time.sleep(0.1)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err == "ms2torch: interrupted; nothing was written\n"
    assert sorted(os.listdir(work)) == ["odd.py", "src"]


WORKERS = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from pathlib import Path
from ms2torch import cli, rewrite
def slow(file, *rest):
    Path(f"../{os.getpid()}").touch()
    time.sleep(600)
rewrite.rewrite = slow
sys.exit(cli.main(["rewrite", ".", "-o", "../deep/out", "--jobs", "2"]))
"""


@pytest.mark.parametrize("everyone", [True, False])
def test_interrupted_at_work_in_several_processes(work: Path, everyone: bool) -> None:
    root = str(Path(cli.__file__).parents[1])
    for i in range(10):
        (work / f"src/f{i}.py").write_text("import mindspore\n")
    process = subprocess.Popen(
        [sys.executable, "-c", WORKERS], cwd=work / "src", stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": root}, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 300
    while len(pids := [int(p.name) for p in work.iterdir() if p.name.isdigit()]) < 2:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    if everyone:  # as a terminal does
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)  # far sooner than the workers would end
    assert err == "ms2torch: interrupted; nothing was written\n"
    assert process.returncode == 130
    assert sorted(p.name for p in work.iterdir() if not p.name.isdigit()) == ["odd.py", "src"]
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


LONG = """
import sys
from ms2torch import cli
from ms2torch.model import RunResult, SourceFile
def engine(tree, profile, jobs, progress):
    return RunResult(tuple(SourceFile(f.path, f.data.upper()) for f in tree.files))
sys.exit(cli.main(["rewrite", "src", "--dry-run"], engine=engine))
"""


def test_what_nohup_ignores_stays_ignored(work: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def hangs_up(tree: Tree, profile: object, jobs: int, progress: Progress) -> RunResult:
        os.kill(os.getpid(), signal.SIGHUP)
        return engine(tree, profile, jobs, progress)

    try:
        assert cli.main(["rewrite", "src", "-o", "out"], engine=hangs_up) == 0
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_reader_that_leaves_early(work: Path) -> None:
    (work / "src/a.py").write_text("x = 1\n" * 50000)
    root = str(Path(cli.__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-c", LONG], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": root},
    )  # fmt: skip
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    assert process.wait() == 0


KILLED = """
import os, signal, sys
from pathlib import Path
from ms2torch import cli, rename
from ms2torch.model import RunResult, SourceFile
def engine(tree, profile, jobs, progress):
    return RunResult(tuple(SourceFile(f.path, f.data.replace(b"mindspore", b"torch")) for f in tree.files))
moment = int(sys.argv[1])
count = [0]
def dying(function):
    def wrapped(*args):
        if count[0] == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        count[0] += 1
        return function(*args)
    return wrapped
Path.write_bytes = dying(Path.write_bytes)
rename.into_place = dying(rename.into_place)
sys.exit(cli.main(["rewrite", "src", "-o", "out"], engine=engine))
"""


@pytest.mark.parametrize("moment", [0, 1, 3, 5, 6])  # before a file, the manifest, the swap
def test_killed_outright(work: Path, moment: int) -> None:
    for number in range(4):
        (work / f"src/m{number}.py").write_text("import mindspore\n")
    assert run("src", "-o", "out") == 0
    (work / "src/a.py").write_text("import mindspore\nx = 1\n")
    before = {path: path.read_bytes() for path in work.rglob("*") if path.is_file()}
    root = str(Path(cli.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": root}
    done = subprocess.run([sys.executable, "-c", KILLED, str(moment)], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    assert {path: path.read_bytes() for path in before} == before
    assert run("src", "-o", "out") == 0
    assert (work / "out/a.py").read_text() == "import torch\nx = 1\n"
    assert sorted(os.listdir(work)) == ["odd.py", "out", "src"]


@pytest.mark.parametrize(
    "arguments", [["rewrite", "x", "--jobs", "0"], [], ["unknown"], ["ranks", "--world", "0"]]
)
def test_wrong_arguments_are_told_in_one_line(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and lines[0].endswith("--help")
