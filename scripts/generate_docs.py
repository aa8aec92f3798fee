"""Write docs/rules.md from the rules' own docstrings: `python scripts/generate_docs.py`."""

from __future__ import annotations

from pathlib import Path

from ms2torch.explain import CODES
from ms2torch.rule import rules

TARGET = Path(__file__).parents[1] / "docs" / "rules.md"
HEAD = """# Rules

Written by `python scripts/generate_docs.py` from the rules' docstrings, which `ms2torch explain CODE` prints
too.
"""


def text() -> str:
    """The page: each rule once, in the order of the codes, then the findings that belong to no rule."""
    parts = [HEAD]
    entries = {(one.code, one.name): one.doc for one in rules()}
    parts += [f"## {code} {name}\n\n{doc}\n" for (code, name), doc in sorted(entries.items())]
    parts.append("## Other findings\n")
    parts.append("\n".join(f"- **{code}** {words}" for code, words in sorted(CODES.items())) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
