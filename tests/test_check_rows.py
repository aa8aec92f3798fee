"""The check of rows against MindSpore sees differences, and knows which rows a case exercises."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ms2torch.tables import load

FILE = Path(__file__).parents[1] / "scripts/check_rows.py"


@pytest.fixture(scope="module")
def check() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_rows", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (1.000001, 1.0),
        (float("nan"), float("nan")),
        (float("-inf"), float("-inf")),
        ({"dtype": "int32", "data": [[1], []]}, {"dtype": "int32", "data": [[1], []]}),
        ([None, True, "a", 1], [None, True, "a", 1.0]),
    ],
)
def test_equal(check: ModuleType, now: Any, then: Any) -> None:
    assert check.different(now, then) is None


@pytest.mark.parametrize(
    ("now", "then", "told"),
    [
        (1.0001, 1.0, "value: 1.0001, recorded 1.0"),
        (10_000_001, 10_000_000, "value: 10000001, recorded 10000000"),
        (float("nan"), 1.0, "value: nan, recorded 1.0"),
        (float("inf"), float("-inf"), "value: inf, recorded -inf"),
        (True, 1, "value: True, recorded 1"),
        ([1, [2, 3]], [1, [2, 4]], "[1][1]: 3, recorded 4"),
        ([1], [1, 2], "value: 1 elements, recorded 2"),
        ([{"dtype": "int32"}], [{"dtype": "int64"}], "[0].dtype: int32, recorded int64"),
        ({"a": 1}, {"b": 1}, "value: fields a, recorded b"),
        (None, [1], "value: None, recorded [1]"),
    ],
)
def test_different(check: ModuleType, now: Any, then: Any, told: str) -> None:
    assert check.different(now, then) == told


def test_a_case_on_one_side_alone_differs(check: ModuleType) -> None:
    found = check.compare({"same": 1, "new": 2}, {"same": 1, "gone": 3})
    assert found == {"gone": "recorded, but MindSpore does not run it now", "new": "not recorded"}


def test_names_of_an_expression(check: ModuleType) -> None:
    text = "grad(lambda x: mint.nn.functional.relu(x).ops.sum(), t([1.]), ops.Mod()(nnn.a, ms.int32))"
    assert check.names_in(text) == {
        "mindspore.mint.nn.functional.relu",
        "mindspore.ops.Mod",
        "mindspore.int32",
    }


def test_names_of_a_file(check: ModuleType) -> None:
    source = "import numpy as np\nimport mindspore as ms\nfrom mindspore.amp import all_finite as fine\n"
    roots = check.imported(source)
    assert roots == {"ms": "mindspore", "fine": "mindspore.amp.all_finite"}
    assert check.names_in("fine(ms.ops.add(np.add))", roots) == {
        "mindspore.amp.all_finite",
        "mindspore.ops.add",
    }


def test_rows_are_found_under_their_canonical_names(check: ModuleType) -> None:
    names = {"mindspore.ops.operations.Div", "mindspore.ops.ReduceOp.SUM", "mindspore.ops.no_such_name"}
    assert check.rows_of(names, load()) == {"mindspore.ops.Div", load().canonical("mindspore.ops.ReduceOp")}


@pytest.mark.parametrize("part", ["ops", "nn", "cases"])
def test_every_recorded_case_exercises_a_row(check: ModuleType, part: str) -> None:
    results, names = check.recorded(part)
    assert results and results.keys() == names.keys()
    rows = {case: check.rows_of(found, load()) for case, found in names.items()}
    # Helpers of the recorder stand for a few: Tensor and Parameter have no name in the expression.
    bare = {case for case, found in rows.items() if not found}
    assert len(bare) <= len(results) // 50, bare


def test_a_python_without_mindspore_is_one_line(tmp_path: Path) -> None:
    for python in (tmp_path / "none", Path(sys.executable)):
        if python.exists() and importlib.util.find_spec("mindspore"):
            continue
        command = [sys.executable, str(FILE), "--python", str(python)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 2 and done.stdout == ""
        assert len(done.stderr.splitlines()) == 1 and str(python) in done.stderr
