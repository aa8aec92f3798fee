"""A unified diff between SRC and the result that `git apply` accepts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from ms2torch.model import SourceFile

_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def unified(before: Iterable[SourceFile], after: Iterable[SourceFile]) -> Iterator[bytes]:
    """The diff of each changed or new file, by path. Files that the result leaves out are not deletions."""
    old = {file.path: file for file in before}
    for file in sorted(after, key=lambda file: file.path):
        original = old.get(file.path)
        if original is None or original.data != file.data:
            yield b"".join(_one(original, file))


def _one(old: SourceFile | None, new: SourceFile) -> Iterator[bytes]:
    a, b = _quoted("a/" + new.path), _quoted("b/" + new.path)
    yield b"diff --git " + a + b" " + b + b"\n"
    if old is None:
        yield b"new file mode 100755\n" if new.mode & 0o100 else b"new file mode 100644\n"
    if b"\0" in new.data or (old is not None and b"\0" in old.data):
        yield b"Binary files " + (a if old else b"/dev/null") + b" and " + b + b" differ\n"
        return
    if not new.data and old is None:
        return  # git's form of an empty new file has no hunks
    head_a = b"/dev/null" if old is None else _tabbed(a)
    lines = difflib.diff_bytes(
        difflib.unified_diff, _lines(old.data if old else b""), _lines(new.data), head_a, _tabbed(b)
    )
    for line in lines:
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def _lines(data: bytes) -> list[bytes]:
    """Lines as git counts them: a lone CR or a form feed ends none."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _tabbed(name: bytes) -> bytes:
    return name + b"\t" if b" " in name and not name.startswith(b'"') else name


def _quoted(path: str) -> bytes:
    """A path as git quotes it: C escapes for control characters, quotes, backslashes and non-ASCII bytes."""
    raw = path.encode("utf-8", "surrogateescape")
    if all(32 <= byte < 127 and byte not in b'"\\' for byte in raw):
        return raw
    quoted = (
        "\\" + _ESCAPES[byte] if byte in _ESCAPES else chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
        for byte in raw
    )
    return b'"' + "".join(quoted).encode("ascii") + b'"'
