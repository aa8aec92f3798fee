"""Writes expected.json: what the inputs return under MindSpore.

python tests/cases/record.py     (with an interpreter that has MindSpore)
"""

from __future__ import annotations

import json
from pathlib import Path

from runner import results

HERE = Path(__file__).parent

if __name__ == "__main__":
    found = {path.stem: results("mindspore", path) for path in sorted((HERE / "inputs").glob("*.py"))}
    lines = [
        f"{json.dumps(f'{file}.{name}')}: {json.dumps(value)}"
        for file, cases in found.items()
        for name, value in cases.items()
    ]
    (HERE / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
