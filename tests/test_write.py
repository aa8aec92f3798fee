"""An output is whole or not there, ours or refused, and SRC stays as it is."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from ms2torch import manifest, rename, source, verify, write
from ms2torch.errors import UserError
from ms2torch.model import Link, SourceFile, Tree


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.fixture
def src(tmp_path: Path) -> Tree:
    folder = tmp_path / "src"
    (folder / "pkg").mkdir(parents=True)
    files = (SourceFile("pkg/a.py", b"x = 1\n"), SourceFile("run.sh", b"#!/bin/sh\n", 0o755))
    for file in files:
        (folder / file.path).write_bytes(file.data)
    return Tree(files, "directory", name="demo", version="1", root=folder)


RESULT = (SourceFile("pkg/a.py", b"# by ms2torch\nx = 2\n"), SourceFile("run.sh", b"#!/bin/sh\n", 0o755))


def test_new_output_with_modes_links_and_manifest(tmp_path: Path, src: Tree) -> None:
    out = tmp_path / "deep" / "er" / "out"
    write.write(src, RESULT, [Link("alias.py", "pkg/a.py")], out, force=False)
    assert (out / "pkg/a.py").read_bytes() == RESULT[0].data
    assert os.access(out / "run.sh", os.X_OK)
    assert os.readlink(out / "alias.py") == "pkg/a.py"
    content = json.loads((out / manifest.PATH).read_text())
    assert content["source"] == {"kind": "directory", "name": "demo", "version": "1"}
    assert (
        content["files"]["run.sh"]["in"]
        == content["files"]["run.sh"]["out"]
        == manifest.digest(b"#!/bin/sh\n")
    )
    assert content["files"]["pkg/a.py"]["out"] == manifest.digest(RESULT[0].data)
    assert set(content["tool"]) == {"version", "tables", "rules", "runtime"}
    assert sorted(os.listdir(out.parent)) == ["out"]


def test_two_runs_write_the_same_bytes(tmp_path: Path, src: Tree) -> None:
    for name in ("one", "two"):
        write.write(src, RESULT, (), tmp_path / name, force=False)
    assert snapshot(tmp_path / "one") == snapshot(tmp_path / "two")


def test_a_port_written_again_is_the_same(tmp_path: Path, src: Tree) -> None:
    write.write(src, RESULT, (), tmp_path / "one", force=False)
    port = source.read(str(tmp_path / "one"), tmp_path)
    write.write(port, port.files, port.links, tmp_path / "two", force=False)
    assert snapshot(tmp_path / "one") == snapshot(tmp_path / "two")


def test_earlier_output_is_replaced_whole(tmp_path: Path, src: Tree) -> None:
    out = tmp_path / "out"
    write.write(src, (*RESULT, SourceFile("stale.py", b"")), (), out, force=False)
    write.write(src, RESULT, (), out, force=False)
    assert not (out / "stale.py").exists()
    assert sorted(os.listdir(tmp_path)) == ["out", "src"]


def test_replacing_without_an_atomic_swap(tmp_path: Path, src: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rename, "_exchange", lambda one, other: False)
    test_earlier_output_is_replaced_whole(tmp_path, src)


def test_empty_output_and_link_to_one(tmp_path: Path, src: Tree) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    write.write(src, RESULT, (), tmp_path / "out", force=False)
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "real/run.sh").exists()


def test_foreign_output_is_refused_and_force_replaces_it(tmp_path: Path, src: Tree) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match=r"did not write.*--force"):
        write.write(src, RESULT, (), out, force=False)
    assert snapshot(out) == {"mine.txt": b"mine"}
    write.write(src, RESULT, (), out, force=True)
    assert (out / "run.sh").exists()


@pytest.mark.parametrize(
    ("out", "says"),
    [("src", "SRC itself"), ("src/out", "inside SRC"), ("src/../src", "SRC itself"), (".", "contains SRC")],
)
def test_output_may_not_touch_src(tmp_path: Path, src: Tree, out: str, says: str) -> None:
    before = snapshot(tmp_path)
    with pytest.raises(UserError, match=says):
        write.write(src, RESULT, (), tmp_path / out, force=True)
    assert snapshot(tmp_path) == before


def test_output_that_is_a_file(tmp_path: Path, src: Tree) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(UserError, match="is a file and SRC is not"):
        write.write(src, RESULT, (), tmp_path / "out", force=True)


def test_system_errors_are_one_line_and_leave_nothing(tmp_path: Path, src: Tree) -> None:
    bad = (SourceFile("a", b""), SourceFile("a/b", b""))  # a name that is a folder too
    with pytest.raises(UserError, match="cannot write"):
        write.write(src, bad, (), tmp_path / "new/out", force=False)
    assert os.listdir(tmp_path) == ["src"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interruption_leaves_nothing(
    tmp_path: Path, src: Tree, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stop(BaseException):
        pass

    def handler(signum: int, frame: object) -> None:
        raise Stop

    original = Path.write_bytes

    def interrupted(self: Path, data: bytes) -> int:
        os.kill(os.getpid(), number)
        return original(self, data)

    monkeypatch.setattr(Path, "write_bytes", interrupted)
    before = signal.signal(number, handler)
    try:
        with pytest.raises(Stop):
            write.write(src, RESULT, (), tmp_path / "new/out", force=False)
    finally:
        signal.signal(number, before)
    assert os.listdir(tmp_path) == ["src"]


def test_signals_wait_for_the_rename(tmp_path: Path) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    try:
        with write.uninterrupted():
            os.kill(os.getpid(), signal.SIGTERM)
            assert seen == []
        assert seen == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_staging_of_a_killed_run_is_swept_and_that_of_a_living_one_is_not(tmp_path: Path, src: Tree) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    host = os.uname().nodename
    (tmp_path / f".out.ms2torch-{host}-{gone.pid}").mkdir()
    (tmp_path / f".out.ms2torch-{host}-{os.getppid()}").mkdir()
    write.write(src, RESULT, (), tmp_path / "out", force=False)
    assert sorted(os.listdir(tmp_path)) == [f".out.ms2torch-{host}-{os.getppid()}", "out", "src"]


@pytest.fixture
def script(tmp_path: Path) -> Tree:
    path = tmp_path / "a.py"
    path.write_bytes(b"import mindspore\n")
    return Tree((SourceFile("a.py", path.read_bytes()),), "file", name="a", root=path)


SCRIPT_RESULT = (SourceFile("a.py", b"# by ms2torch\n"), SourceFile("_backend/__init__.py", b"'''shim'''\n"))


def test_script_gets_its_backend_beside_it(tmp_path: Path, script: Tree) -> None:
    out = tmp_path / "out" / "b.py"
    for _ in range(2):  # the second run finds its own work
        write.write(script, SCRIPT_RESULT, (), out, force=False)
        assert sorted(snapshot(tmp_path / "out")) == [
            "_backend/.ms2torch/manifest.json",
            "_backend/__init__.py",
            "b.py",
        ]
    assert out.read_bytes() == b"# by ms2torch\n"


def test_script_output_that_is_foreign(tmp_path: Path, script: Tree) -> None:
    out = tmp_path / "b.py"
    out.write_text("mine = 'ms2torch'\n")
    with pytest.raises(UserError, match=r"b\.py was not written by ms2torch"):
        write.write(script, SCRIPT_RESULT, (), out, force=False)
    out.unlink()
    (tmp_path / "_backend").mkdir()
    (tmp_path / "_backend/mine.py").write_text("")
    with pytest.raises(UserError, match="_backend was not written by ms2torch"):
        write.write(script, SCRIPT_RESULT, (), out, force=False)
    assert not out.exists()
    with pytest.raises(UserError, match="is a directory and SRC is a file"):
        write.write(script, SCRIPT_RESULT, (), tmp_path / "_backend", force=False)


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", "-C", str(folder), *words], check=True)


def test_in_place_touches_only_what_changed(tmp_path: Path, src: Tree) -> None:
    root = tmp_path / "src"
    same = (root / "run.sh").stat()
    write.write_in_place(src, (*RESULT, SourceFile("pkg/_backend/new.py", b"y = 1\n")), force=False)
    assert (root / "pkg/a.py").read_bytes() == RESULT[0].data
    assert (root / "pkg/_backend/new.py").exists()
    assert manifest.load(root) is not None
    assert (root / "run.sh").stat().st_mtime_ns == same.st_mtime_ns
    assert (root / "run.sh").stat().st_ino == same.st_ino


def test_in_place_without_a_change_writes_nothing(tmp_path: Path, src: Tree) -> None:
    before = snapshot(tmp_path)
    write.write_in_place(src, src.files, force=False)
    assert snapshot(tmp_path) == before


def test_in_place_refuses_a_dirty_git_tree(tmp_path: Path, src: Tree) -> None:
    root = tmp_path / "src"
    git(root, "init", "-q")
    with pytest.raises(UserError, match="not committed"):
        write.write_in_place(src, RESULT, force=False)
    assert (root / "pkg/a.py").read_bytes() == b"x = 1\n"
    git(root, "add", "-A")
    git(root, "commit", "-qm", "m")
    write.write_in_place(src, RESULT, force=False)
    write.write_in_place(src, RESULT, force=True)
    assert (root / "pkg/a.py").read_bytes() == RESULT[0].data


def test_in_place_of_a_script(tmp_path: Path, script: Tree) -> None:
    write.write_in_place(script, SCRIPT_RESULT, force=False)
    assert sorted(snapshot(tmp_path)) == ["_backend/.ms2torch/manifest.json", "_backend/__init__.py", "a.py"]
    write.write(script, SCRIPT_RESULT, (), tmp_path / "b.py", force=False)


def test_in_place_needs_something_on_disk() -> None:
    with pytest.raises(UserError, match="not a wheel"):
        write.check_in_place(Tree((), "wheel", root=Path("/x.whl")), force=True)


def test_the_folder_of_a_wheel_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "x.whl").write_text("")
    tree = Tree(RESULT, "wheel", root=tmp_path / "x.whl")
    with pytest.raises(UserError, match="contains SRC"):
        write.write(tree, RESULT, (), tmp_path, force=True)


def test_a_failed_swap_leaves_the_earlier_output(
    tmp_path: Path, src: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    write.write(src, RESULT, (), out, force=False)
    before = snapshot(out)
    monkeypatch.setattr(rename, "_exchange", lambda one, other: False)
    real = os.rename

    def failing(one: Path, other: Path) -> None:
        if other == out and not one.name.endswith("-old"):
            raise OSError(5, "Input/output error")
        real(one, other)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(UserError, match="Input/output error"):
        write.write(src, (), (), out, force=False)
    assert snapshot(out) == before
    assert sorted(os.listdir(tmp_path)) == ["out", "src"]


def test_in_place_interrupted_changes_nothing(
    tmp_path: Path, src: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(name: str, mode: int) -> None:
        if b"y = 1" in Path(name).read_bytes():
            raise OSError(28, "No space left on device")

    before = snapshot(tmp_path)
    monkeypatch.setattr(os, "chmod", full)
    with pytest.raises(UserError, match="No space left"):
        write.write_in_place(src, (*RESULT, SourceFile("new/b.py", b"y = 1\n")), force=False)
    assert snapshot(tmp_path) == before
    assert not (tmp_path / "src/new").exists()


def test_verified_gives_back_what_a_rewrite_broke() -> None:
    before = (SourceFile("a.py", b"x = 1\n"), SourceFile("bad.py", b"x = (\n"))
    after = (
        SourceFile("a.py", b"x = (\n"), SourceFile("bad.py", b"y = (\n"), SourceFile("new.py", b"a\0"),
        SourceFile("t.txt", b"("),
    )  # fmt: skip
    files, findings = verify.verified(before, after)
    assert files == (before[0], before[1], after[3])
    assert [(finding.path, finding.code, finding.severity) for finding in findings] == [
        ("a.py", "MS900", "error"),
        ("bad.py", "MS002", "error"),
        ("new.py", "MS900", "error"),
    ]
    assert "(line 1)" in findings[0].message


def test_why_not() -> None:
    assert verify.why_not("a.py", b"x = '\\d'\n") is None
    assert verify.why_not("a.py", b"(" * 5000) is not None
