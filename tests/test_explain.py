"""`ms2torch explain` on rows, rules and codes."""

import pytest

from ms2torch import cli, explain, tables
from ms2torch.errors import UserError
from ms2torch.model import Progress, RunResult, SourceFile, Tree
from ms2torch.rule import rules

TABLE = """
namespace: mindspore
evidence: "docs: its page"
rows:
  ops.cast:
    signature: "(input_x, dtype)"
    call: "{input_x}.to({dtype})"
    value: _backend.ops.cast
    returns: Tensor
  mint.sum:
    {to: torch.sum, signature: "(input, axis=None, keepdims=False)", rename: {axis: dim},
     drop: {keepdims: [false]}, adapt: [axis], note: "integers are widened"}
  nn.Cell: {to: torch.nn.Module, base: _backend.nn.Module}
  float32: {to: torch.float32, returns: dtype}
  Tensor: {to: _backend.tensor.Tensor, type: torch.Tensor}
  Tensor.astype: {signature: "(dtype)", call: "{self}.to({dtype})", value: _backend.tensor.astype}
  Tensor.shape: {to: .shape, attr: true}
  ops.silent: {unsupported: "only on Ascend"}
"""


@pytest.fixture(autouse=True)
def small_table(monkeypatch: pytest.MonkeyPatch) -> None:
    built = tables.build(
        tables.read_rows(TABLE, "demo.yaml"), {"mindspore.common.Tensor": "mindspore.Tensor"}, {}
    )
    monkeypatch.setattr(tables, "load", lambda: built)


def engine(tree: Tree, profile: object, jobs: int, progress: Progress) -> RunResult:
    text = tree.files[0].data.decode().replace("mindspore", "torch")
    return RunResult((SourceFile("example.py", f"# by ms2torch\n{text}".encode()),))


def test_row() -> None:
    assert explain.explain("mindspore.ops.cast", engine).splitlines() == [
        "mindspore.ops.cast",
        "in a call     {input_x}.to({dtype})",
        "as a value    _backend.ops.cast",
        "signature     (input_x, dtype)",
        "returns       Tensor",
        "evidence      docs: its page",
        "row           demo.yaml:5",
        "",
        "before",
        "    import mindspore",
        "",
        "",
        "    def example(input_x, dtype):",
        "        return mindspore.ops.cast(input_x, dtype)",
        "after",
        "    import torch",
        "",
        "",
        "    def example(input_x, dtype):",
        "        return torch.ops.cast(input_x, dtype)",
    ]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("mindspore.mint.sum", "argument      axis is dim in torch"),
        ("mindspore.mint.sum", "argument      keepdims is left out where it is False"),
        ("mindspore.mint.sum", "argument      axis makes the call go to torch.sum"),
        ("mindspore.mint.sum", "note          integers are widened"),
        ("mindspore.mint.sum", "return mindspore.mint.sum(input)"),
        ("mindspore.nn.Cell", "class Example(mindspore.nn.Cell):"),
        ("mindspore.float32", "return mindspore.float32\n"),
        ("mindspore.Tensor", "return mindspore.Tensor\n"),
        ("mindspore.common.Tensor", "mindspore.Tensor (asked as mindspore.common.Tensor)"),
        ("Tensor.astype", "def example(self: mindspore.Tensor, dtype):\n        return self.astype(dtype)"),
        ("mindspore.Tensor.shape", "def example(self: mindspore.Tensor):\n        return self.shape"),
        ("mindspore.ops.silent", "not supported only on Ascend"),
        ("MS901", "MS901 unreadable"),
        ("ms902", "MS902 link-left-out"),
    ],
)
def test_says(name: str, says: str) -> None:
    assert says in explain.explain(name, engine)


def test_every_rule_is_explained_by_code_and_by_name() -> None:
    assert rules()
    for rule in rules():
        assert rule.name in explain.explain(rule.code, engine)
        assert rule.doc in explain.explain(rule.name, engine)


def test_unknown_names() -> None:
    with pytest.raises(
        UserError, match=r"no mapping row for mindspore\.ops\.cats; did you mean mindspore\.ops\.cast"
    ):
        explain.explain("mindspore.ops.cats", engine)
    with pytest.raises(UserError, match=r"no mapping row for nonsense$"):
        explain.explain("nonsense", engine)
    with pytest.raises(UserError, match=r"there is no code MS999; there are .*MS900"):
        explain.explain("MS999", engine)


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "mindspore.float32"], engine=engine) == 0
    assert capsys.readouterr().out.startswith("mindspore.float32\nin a call     torch.float32\n")
    assert cli.main(["explain", "MS000"], engine=engine) == 2
    assert capsys.readouterr().err.startswith("ms2torch: there is no code MS000")
