"""Check the mapping rows against MindSpore on CPU: run the recorded cases again and compare.

    python scripts/check_rows.py --python /path/to/python/with/mindspore [--only ops|nn|cases] [-v]

Runs where ms2torch and numpy are; the other Python needs MindSpore alone. Nothing in the checkout is written. A
case exercises the rows whose names its expression holds; methods of tensors are not counted, and
tests/runtime/tensor_cases.json is not run again. Exit 0 if MindSpore gives what is recorded, 1 if something differs
or a recorded case no longer runs, 2 if that Python has no MindSpore or a recorder fails.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import inspect
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ms2torch.tables import Row, Tables, load  # noqa: E402

RUNTIME, CASES = ROOT / "tests/runtime", ROOT / "tests/cases"
PARTS = ("ops", "nn", "cases")
# What the names at the start of an expression stand for.
SPACES = {"ms": "mindspore"} | {name: f"mindspore.{name}" for name in ("ops", "mint", "nn")}
RELATIVE, ABSOLUTE = 1e-5, 1e-7


class Failed(Exception):
    """The other Python cannot do its part; the message is one line."""


def different(now: Any, then: Any, at: str = "") -> str | None:
    """Where and how two JSON values differ beyond rounding, or None. NaN equals NaN; a bool is no number."""
    where = f"{at or 'value'}: "
    if isinstance(now, list) and isinstance(then, list):
        if len(now) != len(then):
            return f"{where}{len(now)} elements, recorded {len(then)}"
        found = (different(a, b, f"{at}[{i}]") for i, (a, b) in enumerate(zip(now, then, strict=True)))
        return next((one for one in found if one), None)
    if isinstance(now, dict) and isinstance(then, dict):
        if now.keys() != then.keys():
            return f"{where}fields {', '.join(sorted(now))}, recorded {', '.join(sorted(then))}"
        found = (different(now[key], then[key], f"{at}.{key}".lstrip(".")) for key in then)
        return next((one for one in found if one), None)
    plain = not isinstance(now, bool) and not isinstance(then, bool)
    if plain and isinstance(now, int | float) and isinstance(then, int | float):
        if now == then or (math.isnan(now) and math.isnan(then)):
            return None
        both_ints = isinstance(now, int) and isinstance(then, int)
        if not both_ints and math.isclose(now, then, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            return None
    elif type(now) is type(then) and now == then:
        return None
    return f"{where}{str(now)[:80]}, recorded {str(then)[:80]}"


def compare(now: Mapping[str, Any], then: Mapping[str, Any]) -> dict[str, str]:
    """Case -> how it differs, for cases that do; one that stands on one side alone differs."""
    found: dict[str, str | None] = {}
    for case in [*then, *(case for case in now if case not in then)]:
        if case not in now:
            found[case] = "recorded, but MindSpore does not run it now"
        elif case not in then:
            found[case] = "not recorded"
        else:
            found[case] = different(now[case], then[case])
    return {case: how for case, how in found.items() if how}


def names_in(text: str, roots: Mapping[str, str] = SPACES) -> set[str]:
    """Full dotted names in source text that start with one of the roots."""
    pattern = rf"(?<![\w.])({'|'.join(map(re.escape, roots))})((?:\.[A-Za-z_]\w*)*)(?!\w)"
    return {roots[head] + rest for head, rest in re.findall(pattern, text)}


def imported(source: str) -> dict[str, str]:
    """Name in a file -> what of MindSpore it stands for."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return {name: full for name, full in found.items() if full.partition(".")[0] == "mindspore"}


def rows_of(names: Iterable[str], tables: Tables) -> set[str]:
    """Canonical names of the rows that answer for the names; namespaces answer for nothing."""
    found = (tables.find(tables.canonical(name)) for name in names)
    return {row.name for row, _ in (one for one in found if one is not None) if not row.module}


def kind(row: Row) -> str:
    """The kind of evidence: run, docs, example or source."""
    return row.evidence.partition(":")[0]


def counted(rows: Iterable[Row], checked: set[str], key: Any) -> str:
    """`ops.yaml 3/7, …`: rows re-checked of all rows, by a key of theirs."""
    rows = list(rows)
    total = Counter(key(row) for row in rows)
    done = Counter(key(row) for row in rows if row.name in checked)
    return ", ".join(f"{name} {done[name]}/{number}" for name, number in sorted(total.items()))


def read_ops(text: str) -> dict[str, Any]:
    """Expression -> its result, None where it has none, of the lines of ops_cases.txt."""
    found = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            source, _, result = line.partition(" => ")
            found[source] = json.loads(result) if result else None
    return found


def nn_texts() -> dict[str, str]:
    """Case of nn_reference.json -> the source that it runs."""
    spec = importlib.util.spec_from_file_location("nn_cases", RUNTIME / "nn_cases.py")
    assert spec is not None and spec.loader is not None
    cases = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cases)
    groups = {"layer": cases.LAYERS, "label": cases.LABELLED, "ids": cases.IDS, "batch": cases.BATCH}
    groups |= {"schedule": cases.SCHEDULES, "list": cases.LISTS}
    groups |= {"optimizer": cases.OPTIMIZERS, "states": cases.OPTIMIZERS}
    texts = {f"{group}/{name}": value for group, held in groups.items() for name, value in held.items()}
    found = {case: value if isinstance(value, str) else value[0] for case, value in texts.items()}
    found |= {f"names/{text}": text for text in cases.NAMED}
    # This one's layer stands in a function.
    clip = inspect.getsource(cases.clip_to)
    return {case: text.replace("ClipTo(nn)", clip) for case, text in found.items()}


def recorded(part: str) -> tuple[dict[str, Any], dict[str, set[str]]]:
    """What is recorded, and the MindSpore names that each of the cases holds."""
    if part == "ops":
        results = read_ops((RUNTIME / "ops_cases.txt").read_text(encoding="utf-8"))
        return results, {case: names_in(case) for case in results}
    if part == "nn":
        results = json.loads((RUNTIME / "nn_reference.json").read_text(encoding="utf-8"))
        texts = nn_texts()
        return results, {case: names_in(texts[case]) if case in texts else set() for case in results}
    results = json.loads((CASES / "expected.json").read_text(encoding="utf-8"))
    sources = {path.stem: path.read_text(encoding="utf-8") for path in (CASES / "inputs").glob("*.py")}
    by_file = {name: names_in(source, imported(source) or SPACES) for name, source in sources.items()}
    return results, {case: by_file.get(case.partition(".")[0], set()) for case in results}


def run(python: str, *arguments: str) -> str:
    """What a program under the other Python prints; raises Failed with its last line if it fails."""
    environment = os.environ | {"GLOG_v": "4"}
    try:
        done = subprocess.run([python, *arguments], capture_output=True, text=True, env=environment)
    except OSError as error:
        raise Failed(f"{python} cannot be run ({error.strerror}); name a Python that has MindSpore") from None
    if done.returncode:
        last = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
        what = Path(arguments[0]).name if arguments[0] != "-c" else "import mindspore"
        raise Failed(f"{what} failed under {python}: {last}")
    return done.stdout


def run_again(part: str, python: str) -> dict[str, Any]:
    """What MindSpore gives now, case by case."""
    if part == "nn":
        made: dict[str, Any] = json.loads(run(python, str(RUNTIME / "nn_cases.py")).splitlines()[-1])
        return made
    with tempfile.TemporaryDirectory() as folder:
        if part == "cases":
            copy = Path(folder) / "cases"
            shutil.copytree(CASES, copy, ignore=shutil.ignore_patterns("expected.json", "__pycache__"))
            run(python, str(copy / "record.py"))
            made = json.loads((copy / "expected.json").read_text(encoding="utf-8"))
            return made
        copy = Path(folder) / "ops_cases.txt"
        # Without the results: the recorder keeps an old one where MindSpore fails.
        copy.write_text("\n".join(recorded("ops")[0]) + "\n", encoding="utf-8")
        run(python, str(RUNTIME / "record_ops_cases.py"), str(copy))
        return read_ops(copy.read_text(encoding="utf-8"))


def main() -> int:
    """Runs the parts, prints the figures, returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", required=True, help="a Python that has MindSpore")
    parser.add_argument("--only", choices=PARTS, help="run this part alone")
    parser.add_argument("-v", "--verbose", action="store_true", help="name the rows that no case exercises")
    arguments = parser.parse_args()
    tables = load()
    rows = list(tables.rows.values())
    checked: set[str] = set()
    covered: set[str] = set()
    failed = 0
    try:
        script = "import mindspore; print(mindspore.__version__)"
        print("MindSpore", run(arguments.python, "-c", script).split()[-1])
        for part in PARTS:
            then, names = recorded(part)
            exercised = {case: rows_of(found, tables) for case, found in names.items()}
            covered = covered.union(*exercised.values())
            if arguments.only not in (None, part):
                continue
            now = run_again(part, arguments.python)
            wrong = compare(now, then)
            failed += len(wrong)
            checked = checked.union(*(exercised[case] for case in then if case in now))
            print(f"{part}: {len(then)} cases recorded, {len(now)} run, {len(wrong)} different", flush=True)
            for case, how in wrong.items():
                print(f"  {case}: {how}")
    except Failed as error:
        print(error, file=sys.stderr)
        return 2
    print(f"rows re-checked: {len(checked)} of {len(rows)}")
    print(f"  by evidence: {counted(rows, checked, kind)}")
    print(f"  by table: {counted(rows, checked, lambda row: row.where.partition(':')[0])}")
    bare = sorted(row.name for row in rows if kind(row) == "run" and row.name not in covered)
    print(f"rows with run evidence that no recorded case exercises: {len(bare)}")
    if arguments.verbose:
        print(*(f"  {name}" for name in bare), sep="\n")
    print(f"differences: {failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
