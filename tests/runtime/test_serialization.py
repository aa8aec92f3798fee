"""Checkpoint files: MindSpore's bytes are read, the same bytes are written; selection, dtypes, refusals."""

import pytest
import torch

from ms2torch.runtime._backend import checkpoint_files, nn, optim, params, serialization
from ms2torch.runtime._backend.params import Parameter

# Written by MindSpore 2.10 for the network below, the second file with crc_check and append_dict.
BODY = (
    b"\n,\n\x01a\x12'\x08\x02\x08\x03\x12\x07Float32\x1a\x18\x00\x00\x00\x00\x00\x00\x80?\x00\x00\x00@\x00\x00@@"
    b"\x00\x00\x80@\x00\x00\xa0@\n\x12\n\x01s\x12\r\x12\x05Int32\x1a\x04\x03\x00\x00\x00\n\x17\n\x01b\x12\x12\x08"
    b"\x02\x12\x08BFloat16\x1a\x04\x80?\x00@\n\x14\n\x01h\x12\x0f\x08\x01\x12\x07Float16\x1a\x02\x00<\n\x12\n\x02"
    b"bo\x12\x0c\x08\x02\x12\x04Bool\x1a\x02\x01\x00\n\x1f\n\x08d.weight\x12\x13\x08\x01\x08\x01\x12\x07Float32"
    b"\x1a\x04\x00\x00\x80?\n\x1b\n\x06d.bias\x12\x11\x08\x01\x12\x07Float32\x1a\x04\xf2\x9a/>"
)
EXTRA = (
    b"\n\x1a\n\x05epoch\x12\x11\x12\x05Int64\x1a\x08\x03\x00\x00\x00\x00\x00\x00\x00\n\x15\n\x02lr\x12\x0f\x12\x07"
    b"Float32\x1a\x04\x00\x00\x00?\n\x11\n\x04flag\x12\t\x12\x04Bool\x1a\x01\x01\n\x1d\n\x04name\x12\x15\x08\x00\x12"
    b"\x03str\x1a\x0cs\x00\x00\x00t\x00\x00\x00r\x00\x00\x00crc_num\x00\x00\x00\x00\x00\x00kS\xba\x8c"
)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Parameter(torch.arange(6.0).reshape(2, 3), name="a")
        self.s = Parameter(torch.tensor(3, dtype=torch.int32), name="s")
        self.b = Parameter(torch.tensor([1, 2], dtype=torch.bfloat16))
        self.h = Parameter(torch.ones(1, dtype=torch.float16))
        self.d = nn.Dense(1, 1, weight_init="ones", bias_init="zeros")
        self.bo = Parameter(torch.tensor([True, False]))


@pytest.fixture
def files(tmp_path):
    (tmp_path / "x.ckpt").write_bytes(BODY)
    (tmp_path / "y.ckpt").write_bytes(BODY + EXTRA)
    return tmp_path


def test_reads_mindspores_files(files):
    got = serialization.load_checkpoint(str(files / "x.ckpt"))
    assert list(got) == ["a", "s", "b", "h", "bo", "d.weight", "d.bias"]
    assert got["a"].tolist() == [[0, 1, 2], [3, 4, 5]] and got["s"].shape == () and int(got["s"]) == 3
    assert got["b"].dtype == torch.bfloat16 and got["bo"].tolist() == [True, False]
    assert all(isinstance(p, torch.nn.Parameter) and params.param_name(p) == n for n, p in got.items())
    more = serialization.load_checkpoint(files / "y.ckpt", crc_check=True)
    assert int(more["epoch"]) == 3 and float(more["lr"]) == 0.5 and more["name"] == "str"


def test_writes_mindspores_bytes(files, tmp_path):
    net = Net()
    serialization.load_checkpoint(files / "x.ckpt", net)
    serialization.save_checkpoint(net, tmp_path / "mine.ckpt")
    assert (tmp_path / "mine.ckpt").read_bytes() == BODY
    serialization.save_checkpoint(
        net,
        str(tmp_path / "more"),
        crc_check=True,
        append_dict={"epoch": 3, "lr": 0.5, "flag": True, "name": "str"},
    )
    assert (tmp_path / "more.ckpt").read_bytes() == BODY + EXTRA


def test_sliced_tensors(monkeypatch, tmp_path):
    monkeypatch.setattr(checkpoint_files, "_SLICE", 8)
    value = torch.arange(9.0).reshape(3, 3)
    checkpoint_files.write_ckpt(str(tmp_path / "s.ckpt"), {"w": value, "e": torch.zeros(0, 2)})
    got = checkpoint_files.read_ckpt(str(tmp_path / "s.ckpt"))
    assert torch.equal(got["w"], value) and got["e"].shape == (0, 2)


@pytest.mark.parametrize("file_format", ["ckpt", "safetensors"])
def test_roundtrip(tmp_path, file_format):
    net, other = Net(), Net()
    params.set_data(net.a, torch.full((2, 3), 9.0))
    params.set_data(net.s, torch.tensor(8))
    serialization.save_checkpoint(net, tmp_path / "f", format=file_format)
    held = other.a
    got = serialization.load_checkpoint(tmp_path / f"f.{file_format}", format=file_format)
    assert serialization.load_param_into_net(other, got) == ([], [])
    assert other.a is held and other.a[0, 0] == 9 and int(other.s) == 8


def test_optimizer_states(tmp_path):
    net = nn.Dense(2, 1)
    opt = optim.Adam(net.trainable_params())
    opt((torch.ones(1, 2), torch.ones(1)))
    serialization.save_checkpoint(opt, tmp_path / "o.safetensors", format="safetensors")
    other = optim.Adam(nn.Dense(2, 1).trainable_params())
    got = serialization.load_checkpoint(tmp_path / "o.safetensors", format="safetensors")
    assert serialization.load_param_into_net(other, got) == ([], [])
    assert int(other.global_step) == 1 and torch.equal(other.moment1[0], opt.moment1[0])


def test_plain_torch_modules_and_buffers(tmp_path):
    net = torch.nn.BatchNorm1d(2)
    net.running_mean += 3
    serialization.save_checkpoint(net, tmp_path / "b.ckpt")
    other = torch.nn.BatchNorm1d(2)
    serialization.load_checkpoint(tmp_path / "b.ckpt", other)
    assert other.running_mean.tolist() == [3, 3]


def test_selection(files, tmp_path):
    path = files / "x.ckpt"
    load = serialization.load_checkpoint
    assert list(load(path, choice_func=lambda k: k == "a")) == ["a"]
    assert list(load(path, filter_prefix="a")) == ["s", "b", "h", "bo", "d.weight", "d.bias"]
    assert list(load(path, specify_prefix=["d", "s"])) == ["s", "d.weight", "d.bias"]
    with pytest.raises(ValueError, match="empty"):
        load(path, choice_func=lambda k: False)
    serialization.save_checkpoint(
        load(path), tmp_path / "r", choice_func=lambda k: "R." + k if k == "a" else k == "s"
    )
    assert list(load(tmp_path / "r.ckpt")) == ["R.a", "s"]
    serialization.save_checkpoint([{"name": "w", "data": torch.ones(1)}], tmp_path / "l")
    assert list(load(tmp_path / "l.ckpt")) == ["w"]


def test_loading_into_a_net():
    net = Net()
    load = serialization.load_param_into_net
    entry = Parameter(torch.ones(2, 3, dtype=torch.float16), name="a")
    missing, left = load(net, {"a": entry, "extra": entry})
    assert sorted(missing) == ["b", "bo", "d.bias", "d.weight", "h", "s"] and left == ["extra"]
    assert net.a.dtype == torch.float32 and net.a[0, 0] == 1
    with pytest.raises(RuntimeError, match="dtype"):
        load(net, {"a": entry}, strict_load=True)
    with pytest.raises(RuntimeError, match="dtype"):
        load(net, {"a": Parameter(torch.ones(2, 3, dtype=torch.int32))})
    with pytest.raises(RuntimeError, match="shape"):
        load(net, {"a": Parameter(torch.ones(3, 3))})
    with pytest.raises(TypeError, match="Parameters"):
        load(net, {"a": torch.ones(2, 3)})
    with pytest.raises(TypeError, match="network"):
        load(3, {})


def test_one_prefix_more(files):
    net = Net()
    got = serialization.load_checkpoint(files / "x.ckpt")
    got["a"].data += 1
    assert serialization.load_param_into_net(net, {"net." + k: v for k, v in got.items()})[0] == []
    assert net.a[0, 0] == 1


def test_refusals(files, tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        serialization.load_checkpoint(tmp_path / "nope.ckpt")
    with pytest.raises(ValueError, match="format"):
        serialization.load_checkpoint(files / "x.ckpt", format="safetensors")
    with pytest.raises(NotImplementedError, match="encryption"):
        serialization.save_checkpoint(Net(), tmp_path / "e", enc_key=b"0" * 16)
    with pytest.raises(NotImplementedError, match="encryption"):
        serialization.load_checkpoint(files / "x.ckpt", dec_key=b"0" * 16)
    with pytest.raises(TypeError, match="cannot hold"):
        serialization.save_checkpoint({"a": torch.ones(1, dtype=torch.complex64)}, tmp_path / "c")
    (tmp_path / "bad.ckpt").write_bytes(BODY[:-3])
    with pytest.raises(ValueError, match="no MindSpore checkpoint"):
        serialization.load_checkpoint(tmp_path / "bad.ckpt")
    broken = bytearray(BODY + EXTRA)
    broken[20] ^= 1
    (tmp_path / "crc.ckpt").write_bytes(bytes(broken))
    with pytest.raises(ValueError, match="checksum"):
        serialization.load_checkpoint(tmp_path / "crc.ckpt", crc_check=True)
    (tmp_path / "bad.safetensors").write_bytes(b"abc")
    with pytest.raises(ValueError, match="no safetensors"):
        serialization.load_checkpoint(tmp_path / "bad.safetensors", format="safetensors")
