"""What the READMEs show is what the project holds."""

import re
from pathlib import Path

import pytest

from ms2torch import cli, tables

ROOT = Path(__file__).parents[1]
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README_zh.md")}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def test_both_languages_show_the_same_code() -> None:
    english, chinese = (BLOCK.findall(text) for text in TEXTS.values())
    assert english == chinese
    assert [name for name, _ in english].count("yaml") >= 2


@pytest.mark.parametrize("number", range(2))
def test_rows_shown_are_rows_of_the_tables(number: int) -> None:
    shown = [text for name, text in BLOCK.findall(TEXTS["README.md"]) if name == "yaml"][number]
    real = tables.load().rows
    for row in tables.read_rows(shown.replace("rows:", "evidence: 'docs: '\nrows:", 1), "README.md"):
        for field in ("to", "signature", "call", "value", "returns"):
            assert getattr(row, field) == getattr(real[row.name], field), row.name


def test_the_rule_and_the_overlay_shown_are_real() -> None:
    rule, overlay = (text for name, text in BLOCK.findall(TEXTS["README.md"]) if name == "python")
    assert (ROOT / "rules/definition_guard.py").read_text().endswith(rule)
    path = "rules/overlays/mindformers/mindformers/pynative/distributed/parallel_dims.py"
    assert path in TEXTS["README.md"] and (ROOT / path).read_text() == overlay


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_options_and_links_exist(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["rewrite", "--help"])
    known = capsys.readouterr().out
    options = re.findall(r"^\| `(--[a-z-]+)", text, re.M)
    assert len(options) >= 7
    for option in options:
        assert option in known
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / target).exists(), target
