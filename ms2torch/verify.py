"""Whether a result compiles: a file that a rewrite broke is given back as it was, with a finding."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from ms2torch import rewrite
from ms2torch.model import Finding, SourceFile


def fault(path: str, data: bytes) -> SyntaxError | None:
    """What keeps `data` from compiling as Python, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in the source is not for us to tell
            compile(data, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        return error
    except ValueError as error:  # NUL bytes
        return SyntaxError(str(error))
    except (RecursionError, MemoryError):
        return SyntaxError("nested too deeply")
    return None


def why_not(path: str, data: bytes) -> str | None:
    """The same in one line, with its line number."""
    error = fault(path, data)
    if error is None:
        return None
    return f"{error.msg}" + (f" (line {error.lineno})" if error.lineno else "")


def verified(
    originals: Iterable[SourceFile], files: Iterable[SourceFile]
) -> tuple[tuple[SourceFile, ...], tuple[Finding, ...]]:
    """`files` with each new Python text that does not compile replaced by its source, and a finding for each.

    A source that does not compile itself (a `return` outside of a function, say) is left as it was, too.
    """
    before = {file.path: file for file in originals}
    kept: list[SourceFile] = []
    findings: list[Finding] = []
    for file in files:
        original = before.get(file.path)
        unchanged = original is not None and original.data == file.data
        reason = None if unchanged or not file.path.endswith(".py") else why_not(file.path, file.data)
        if reason is None:
            kept.append(file)
            continue
        own = fault(original.path, original.data) if original is not None else None
        if original is not None and own is not None:
            kept.append(original)
            findings.append(rewrite.broken(original.path, own))
            continue
        if original is not None:
            kept.append(original)
        done = "left as it was" if original is not None else "left out"
        message = f"the result does not compile: {reason}; the file was {done}. Please report this as a bug"
        findings.append(Finding(file.path, 0, 0, "MS900", "error", message, state="unresolved"))
    return tuple(kept), tuple(findings)
