"""The reference pages are what the code says, and every code is explained."""

import importlib.util
import re
from pathlib import Path

from ms2torch.explain import CODES
from ms2torch.rule import rules

ROOT = Path(__file__).parents[1]


def test_rules_page_is_current() -> None:
    spec = importlib.util.spec_from_file_location("generate_docs", ROOT / "scripts/generate_docs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.TARGET.read_text(encoding="utf-8") == module.text(), "run scripts/generate_docs.py"


def test_every_code_in_the_source_is_explained() -> None:
    known = {one.code for one in rules()} | CODES.keys()
    used = {
        code
        for folder in ("ms2torch", "rules")
        for path in (ROOT / folder).glob("*.py")
        for code in re.findall(r'"(MS\d{3})"', path.read_text(encoding="utf-8"))
    }
    assert used == known
