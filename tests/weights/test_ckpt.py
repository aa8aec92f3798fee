"""MindSpore's .ckpt: one that MindSpore 2.10 wrote, and ours through both of our readers."""

import runpy
from pathlib import Path

import pytest
import torch

from ms2torch.errors import UserError
from ms2torch.runtime._backend import checkpoint_files
from ms2torch.weights.expr import Read
from ms2torch.weights.formats import open_source, writer
from ms2torch.weights.formats.ranks import same
from ms2torch.weights.formats.source import _Loaded

RECORDED = Path(__file__).with_name("data") / "mindspore.ckpt"
SCRIPT = Path(__file__).parents[2] / "scripts" / "check_ckpt_with_mindspore.py"


@pytest.fixture(scope="module")
def expected() -> dict[str, torch.Tensor]:
    made: dict[str, torch.Tensor] = runpy.run_path(str(SCRIPT))["expected"]()
    return made


def written(path: Path, tensors: dict[str, torch.Tensor]) -> Path:
    made = {name: Read(name, tuple(t.shape), t.dtype) for name, t in tensors.items()}
    writer.write_ckpt(path, made, _Loaded(tensors))
    return path


def test_recorded_file(expected: dict[str, torch.Tensor]) -> None:
    source = open_source(RECORDED)
    assert source.infos.keys() == expected.keys()
    assert all(same(source.read(name), value) for name, value in expected.items())
    assert same(source.read("decoder.brain", 1), expected["decoder.brain"][1])


def test_ours_has_mindspores_bytes(tmp_path: Path, expected: dict[str, torch.Tensor]) -> None:
    assert written(tmp_path / "a.ckpt", expected).read_bytes() == RECORDED.read_bytes()
    again = checkpoint_files.read_ckpt(str(tmp_path / "a.ckpt"))
    assert all(same(again[name], value) for name, value in expected.items())


def test_large_tensors_lie_in_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_files, "_SLICE", 40)
    tensors = {"a": torch.randn(7, 5), "empty": torch.empty(0, 3), "b": torch.randn(3).bfloat16()}
    path = written(tmp_path / "a.ckpt", tensors)
    checkpoint_files.write_ckpt(str(tmp_path / "b.ckpt"), tensors)
    assert path.read_bytes() == (tmp_path / "b.ckpt").read_bytes()
    source = open_source(path)
    assert all(same(source.read(name), value) for name, value in tensors.items())
    assert all(same(source.read("a", row), tensors["a"][row]) for row in range(7))


def test_checksum_and_strings_are_no_tensors(tmp_path: Path) -> None:
    checkpoint_files.write_ckpt(
        str(tmp_path / "a.ckpt"), {"x": torch.ones(2), "mode": "train"}, crc_check=True
    )
    assert list(open_source(tmp_path / "a.ckpt").infos) == ["x"]


@pytest.mark.parametrize(
    "content", [b"\x0a\xff\xff\xff\x0fabc", b"hello world, no checkpoint", b"\x0a\x02\x08\x01"]
)
def test_broken_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.ckpt").write_bytes(content)
    with pytest.raises(UserError, match="no MindSpore checkpoint"):
        open_source(tmp_path / "a.ckpt")


def test_cut_file(tmp_path: Path) -> None:
    (tmp_path / "a.ckpt").write_bytes(RECORDED.read_bytes()[:-9])
    with pytest.raises(UserError, match="no MindSpore checkpoint"):
        open_source(tmp_path / "a.ckpt")
