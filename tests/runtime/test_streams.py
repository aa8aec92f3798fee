"""Streams and host settings on a CPU: nothing waits, every answer is the truth of one eager queue."""

from __future__ import annotations

import os
import time

import pytest
import torch

from ms2torch.runtime._backend import device, streams


@pytest.fixture(autouse=True)
def cpu(monkeypatch):
    monkeypatch.setenv("MF_DEVICE_TYPE", "cpu")
    device.device_type.cache_clear()
    yield
    device.device_type.cache_clear()


def test_the_copy_pattern_of_expert_parallel():
    side = streams.Stream()
    side.wait_stream(streams.current_stream())
    with streams.StreamCtx(side):
        host = torch.arange(3).to("cpu", non_blocking=True)
    event = streams.Event()
    event.record(side)
    event.synchronize()
    assert event.query() and host.tolist() == [0, 1, 2]


def test_events_measure_time():
    first, second = streams.Event(enable_timing=True), streams.Event(enable_timing=True)
    with pytest.raises(RuntimeError, match="recorded first"):
        first.elapsed_time(second)
    first.record()
    time.sleep(0.01)
    second.record()
    assert 9 < first.elapsed_time(second) < 5000
    with pytest.raises(RuntimeError, match="enable_timing"):
        first.elapsed_time(streams.Event())


def test_streams_are_one_queue():
    assert streams.current_stream() == streams.default_stream()
    assert hash(streams.current_stream()) == hash(streams.default_stream())
    stream = streams.Stream()
    event = stream.record_event()
    stream.wait_event(event)
    event.wait()
    stream.synchronize()
    streams.set_cur_stream(stream)
    assert stream.query() and stream.id == stream.stream_id == 0 and "cpu" in repr(stream)
    with streams.StreamCtx(None):
        pass
    with pytest.raises(TypeError, match="expected a Stream"):
        streams.StreamCtx(3)


def test_set_memory():
    streams.set_memory(max_size="58GB", init_size="1.5GB")
    for wrong in ("58", "58MB", "GB"):
        with pytest.raises(ValueError, match="looks like"):
            streams.set_memory(max_size=wrong)
    with pytest.raises(ValueError, match="O0 or O1"):
        streams.set_memory(optimize_level="O9")


def test_set_cpu_affinity(monkeypatch):
    bound = []
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, cpus: bound.append((pid, cpus)), raising=False)
    monkeypatch.setenv("LOCAL_RANK", "1")
    streams.set_cpu_affinity(False, ["0"])
    streams.set_cpu_affinity(True)
    assert bound == []
    streams.set_cpu_affinity(True, ["0-2", "5"])
    streams.set_cpu_affinity(True, {"device0": ["0"], "device1": ["3-4"]})
    assert bound == [(0, {0, 1, 2, 5}), (0, {3, 4})]
    with pytest.raises(NotImplementedError, match="whole processes"):
        streams.set_cpu_affinity(True, ["0"], {"main": [0]})


def test_host_settings(monkeypatch):
    streams.set_kernel_launch_group(2, 8)
    streams.launch_blocking()
    set_to = []
    monkeypatch.setattr(torch, "set_num_threads", set_to.append)
    streams.dispatch_threads_num(3)
    assert set_to == [3]
