"""The dry run's diff, judged by git itself."""

import os
import subprocess
from pathlib import Path

import pytest

from ms2torch import diff
from ms2torch.model import SourceFile

CASES = [
    ("a.py", b"x = 1\ny = 2\n", b"x = 1\ny = 3\n"),
    ("crlf.py", b"a\r\nb\r\n", b"a\r\nc\r\n"),
    ("cr.py", b"a\rb\rc\x0cd\n", b"a\rb\rd\x0cd\n"),
    ("no_newline.py", b"a\nb", b"a\nc"),
    ("gains_newline.py", b"a\nb", b"a\nb\n"),
    ("loses_newline.py", b"a\nb\n", b"a\nb"),
    ("latin.py", b"# \xe9\n", b"# \xe9\xe8\n"),
    ("emptied.py", b"a\n", b""),
    ("with space.py", b"a\n", b"b\n"),
    ('quo"te\\.py', b"a\n", b"b\n"),
    ("tab\tnew\nline.py", b"a\n", b"b\n"),
    ("ünïcode.py", b"a\n", b"b\n"),
    (os.fsdecode(b"raw\xff.py"), b"a\n", b"b\n"),
    ("new/file.py", None, b"a\n"),
    ("new/space file.py", None, b"a"),
    ("new/empty.py", None, b""),
]


@pytest.mark.parametrize(("path", "before", "after"), CASES, ids=[ascii(case[0]) for case in CASES])
def test_git_apply_accepts_it(tmp_path: Path, path: str, before: bytes | None, after: bytes) -> None:
    target = tmp_path / path
    if before is not None:
        target.write_bytes(before)
    old = [] if before is None else [SourceFile(path, before)]
    text = b"".join(diff.unified(old, [SourceFile(path, after)]))
    command = ["git", "apply", "--whitespace=nowarn", "-"]
    done = subprocess.run(command, input=text, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert target.read_bytes() == after


def test_unchanged_and_left_out_files_are_not_in_it() -> None:
    old = [SourceFile("same.py", b"a\n"), SourceFile("gone.py", b"a\n")]
    assert list(diff.unified(old, [SourceFile("same.py", b"a\n")])) == []


def test_new_executable_and_binary() -> None:
    text = b"".join(diff.unified([], [SourceFile("run.sh", b"a\n", 0o755), SourceFile("x.bin", b"\0")]))
    assert b"new file mode 100755\n" in text
    assert b"Binary files /dev/null and b/x.bin differ\n" in text
