"""The summary people read and the report tools read."""

import io
import json

from rich.console import Console

from ms2torch import report
from ms2torch.model import Finding, RunResult, SourceFile, Tree

TREE = Tree((SourceFile("a.py", b"1"), SourceFile("b.py", b"2")), "wheel", "demo", "1")


def shown(findings: list[Finding], **summary: object) -> list[str]:
    result = RunResult((SourceFile("a.py", b"3"), SourceFile("c.py", b"4")), tuple(findings), summary)
    stream = io.StringIO()
    report.show(Console(file=stream, highlight=False), report.summary(TREE, result), findings, "done")
    return stream.getvalue().splitlines()


def test_files_and_states() -> None:
    references = {"guarded": 1, "converted": 2, "unresolved": 0, "odd": 3, "total": 6}
    assert shown([], references=references, sites={"total": 0}) == [
        "done: 2 files read, 1 changed, 1 added, 1 left out",
        "references: 6 = 2 converted + 1 guarded + 3 odd",
        "sites: 0",
    ]


def test_counts_that_do_not_add_up_are_told() -> None:
    assert shown([], references={"converted": 2, "total": 5})[1] == (
        "references: 5 = 2 converted (3 in no state: a bug of ms2torch, please report it)"
    )


def test_findings_that_say_the_same_are_one_line_errors_first() -> None:
    same = [Finding("a.py", line, 1, "MS001", "warning", "no row") for line in (9, 3)]
    notes = [Finding("a.py", 1, 1, "MS009", "note", "by the way")]
    error = [Finding("b\n\udcff[red].py", 0, 0, "MS901", "error", "unreadable [bold]")]
    assert shown([*same, *notes, *error])[1:] == [
        "b\\n\\xff[red].py: MS901 unreadable [bold]",
        "a.py:3: MS001 no row (2 places)",
    ]


def test_a_long_list_is_cut() -> None:
    many = [Finding("a.py", line, 1, "MS001", "error", f"no row {line}") for line in range(1, 26)]
    lines = shown(many)
    assert len(lines) == 22
    assert lines[-1] == "… and 5 more kinds of finding; --report FILE.json has each place"


def test_json_is_sorted_and_ascii() -> None:
    findings = [
        Finding("ü\udcff.py", 2, 1, "MS001", "error", "ü"),
        Finding("a.py", 1, 0, "MS002", "note", "n", state="guarded"),
    ]
    data = report.as_json({"x": 1}, findings)
    assert data.isascii()
    assert json.loads(data) == {
        "summary": {"x": 1},
        "findings": [
            {
                "path": "a.py",
                "line": 1,
                "column": 0,
                "code": "MS002",
                "severity": "note",
                "message": "n",
                "state": "guarded",
            },
            {
                "path": "ü\udcff.py",
                "line": 2,
                "column": 1,
                "code": "MS001",
                "severity": "error",
                "message": "ü",
            },
        ],
    }
    assert data == report.as_json({"x": 1}, reversed(findings))
