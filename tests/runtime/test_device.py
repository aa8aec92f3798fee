"""Which device, which backend, seeds and settings."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from ms2torch.runtime._backend import device, tensor
from ms2torch.runtime._backend.ops import mint


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setenv("MF_DEVICE_TYPE", "cpu")
    device.device_type.cache_clear()
    yield
    device.device_type.cache_clear()


def test_cpu():
    assert device.device_type() == "cpu"
    assert device.backend_name() == "gloo"
    assert device.current_device() == torch.device("cpu")
    assert device.device_target() == "CPU"
    assert device.device_count() == 1
    assert device.accelerator() is None


def test_bad_value_is_one_clear_error(monkeypatch):
    monkeypatch.setenv("MF_DEVICE_TYPE", "tpu")
    with pytest.raises(ValueError, match="MF_DEVICE_TYPE is 'tpu'; it must be one of npu, cuda, cpu"):
        device.device_type()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_absent_devices_are_errors(monkeypatch):
    monkeypatch.setenv("MF_DEVICE_TYPE", "cuda")
    with pytest.raises(RuntimeError, match="no CUDA device"):
        device.device_type()
    monkeypatch.setattr(device, "_npu", lambda: None)
    monkeypatch.setenv("MF_DEVICE_TYPE", "npu")
    with pytest.raises(RuntimeError, match="no NPU"):
        device.device_type()
    monkeypatch.delenv("MF_DEVICE_TYPE")
    assert device.device_type() == "cpu"


def test_order_npu_before_cuda(monkeypatch):
    monkeypatch.delenv("MF_DEVICE_TYPE")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert device.device_type() == "cuda"
    device.device_type.cache_clear()
    monkeypatch.setattr(device, "_npu", lambda: object())
    assert device.device_type() == "npu"
    assert device.backend_name() == "hccl"


@pytest.mark.parametrize("target", [None, "CPU", "cpu", "Ascend", "GPU", "npu:3", 0, torch.device("cpu")])
def test_set_device_names(target):
    assert device.set_device(target) == torch.device("cpu")


@pytest.mark.parametrize("target", ["tpu", "cpu:x", ""])
def test_set_device_unknown(target):
    with pytest.raises(ValueError, match="unknown device"):
        device.set_device(target)


def test_set_seed_repeats_every_generator():
    device.set_seed(7)
    first = (torch.rand(3), np.random.rand(), random.random())
    device.set_seed(7)
    second = (torch.rand(3), np.random.rand(), random.random())
    assert torch.equal(first[0], second[0]) and first[1:] == second[1:]
    assert device.get_seed() == 7


@pytest.mark.parametrize(("seed", "error"), [(-1, ValueError), (1.5, TypeError), (True, TypeError)])
def test_set_seed_refuses(seed, error):
    with pytest.raises(error):
        device.set_seed(seed)


def test_deterministic():
    device.set_deterministic(True)
    assert torch.are_deterministic_algorithms_enabled()
    # torch alone would give NaN, which a parameter that no checkpoint holds would keep.
    made = [mint.empty(4), mint.empty_like(torch.ones(2)), tensor.new_empty(torch.ones(1), (3,))]
    assert all(not t.any() for t in made)
    device.set_deterministic(False)
    assert torch.utils.deterministic.fill_uninitialized_memory
    assert not torch.are_deterministic_algorithms_enabled()
    with pytest.raises(TypeError):
        device.set_deterministic("ON")


def test_memory_on_a_cpu_is_empty():
    stats = device.memory_stats()
    # Keys and zeros as MindSpore 2.10 gives them on a CPU.
    assert stats["total_reserved_memory"] == stats["max_allocated_memory"] == 0
    device.synchronize()
    device.empty_cache()
    device.reset_peak_memory_stats()
    assert "no memory statistics" in device.memory_summary()


def test_op_precision():
    device.op_precision.cube_math_type(4)
    device.op_precision.precision_mode("must_keep_origin_dtype")
    with pytest.raises(NotImplementedError):
        device.op_precision.cube_math_type(2)
    with pytest.raises(NotImplementedError):
        device.op_precision.precision_mode("force_fp32")
    with pytest.raises(ValueError, match="unknown mode"):
        device.op_precision.precision_mode("x")
