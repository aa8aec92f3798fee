"""`ms2torch weights map`: names of any model, matched with a checkpoint, and used to convert it."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from ms2torch import cli

MODEL = """
import torch

class Net(torch.nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.odd = torch.nn.Linear(width, 7, bias=False)
        self.batch = torch.nn.BatchNorm1d(3)

def broken():
    raise ValueError("no width given")

number = int
"""


@pytest.fixture
def port(tmp_path: Path) -> Path:
    (tmp_path / "port").mkdir()
    (tmp_path / "port" / "net.py").write_text(MODEL)
    return tmp_path / "port"


def test_a_map_converts_a_checkpoint(tmp_path: Path, port: Path) -> None:
    theirs = {
        "norm.gamma": torch.randn(5), "norm.beta": torch.randn(5), "strange.name": torch.randn(7, 5),
        "batch.gamma": torch.randn(3), "batch.beta": torch.randn(3), "batch.moving_mean": torch.randn(3),
        "batch.moving_variance": torch.rand(3),
    }  # fmt: skip
    save_file(theirs, tmp_path / "old.safetensors")
    made = tmp_path / "names.json"
    command = [
        "weights",
        "map",
        str(port),
        "--make",
        "net:Net",
        "--arguments",
        '{"width": 5}',
        "-o",
        str(made),
    ]
    assert cli.main([*command, "--against", str(tmp_path / "old.safetensors")]) == 0
    rows = {row["port"]: row for row in json.loads(made.read_text())["tensors"]}
    assert rows["batch.running_var"] | {} == {
        "mindspore": "batch.moving_variance", "port": "batch.running_var", "shape": [3], "type": "float32",
        "kind": "buffer", "trained": False, "matched": "name",
    }  # fmt: skip
    assert rows["odd.weight"]["mindspore"] == "strange.name" and rows["odd.weight"]["matched"] == "shape"
    assert rows["batch.num_batches_tracked"]["mindspore"] is None
    assert rows["norm.weight"]["trained"]

    convert = ["weights", "convert", str(tmp_path / "old.safetensors"), str(tmp_path / "new.safetensors")]
    assert cli.main([*convert, "--from", "mindspore", "--to", "mindformers", "--map", str(made)]) == 0
    new = load_file(tmp_path / "new.safetensors")
    assert new.keys() == rows.keys() - {"batch.num_batches_tracked"}
    assert torch.equal(new["odd.weight"], theirs["strange.name"])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--make", "net:broken"), "ValueError: no width given"),
        (("--make", "net:number"), "makes a int, which is no torch.nn.Module"),
        (("--make", "net"), "MODULE:CALLABLE"),
        (("--make", "net:Net", "--arguments", "[1"), "no JSON"),
        (("--make", "net:Net", "--arguments", "[1]"), "no JSON object"),
        (("--yaml", "absent.yaml"), "absent.yaml does not exist"),
    ],
)
def test_what_cannot_be_built(
    port: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], told: str
) -> None:
    assert cli.main(["weights", "map", str(port), *options]) == 2
    assert told in capsys.readouterr().err
