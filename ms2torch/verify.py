"""Whether a result compiles: a file that a rewrite broke is given back as it was, with a finding."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from ms2torch.model import Finding, SourceFile


def why_not(path: str, data: bytes) -> str | None:
    """What keeps `data` from compiling as Python (one line, with its line number), or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in the source is not for us to tell
            compile(data, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:  # ValueError: NUL bytes
        line = getattr(error, "lineno", None)
        return f"{getattr(error, 'msg', error)}" + (f" (line {line})" if line else "")
    except (RecursionError, MemoryError):
        return "nested too deeply"
    return None


def verified(
    originals: Iterable[SourceFile], files: Iterable[SourceFile]
) -> tuple[tuple[SourceFile, ...], tuple[Finding, ...]]:
    """`files` with each new Python text that does not compile replaced by its source, and a finding for each.

    A source that does not compile itself (another Python's syntax, a template) is no measure of its result.
    """
    before = {file.path: file for file in originals}
    kept: list[SourceFile] = []
    findings: list[Finding] = []
    for file in files:
        original = before.get(file.path)
        unchanged = original is not None and original.data == file.data
        reason = None if unchanged or not file.path.endswith(".py") else why_not(file.path, file.data)
        if reason is None or (original is not None and why_not(original.path, original.data) is not None):
            kept.append(file)
            continue
        if original is not None:
            kept.append(original)
        done = "left as it was" if original is not None else "left out"
        message = f"the result does not compile: {reason}; the file was {done}. Please report this as a bug"
        findings.append(Finding(file.path, 0, 0, "MS900", "error", message, state="unresolved"))
    return tuple(kept), tuple(findings)
