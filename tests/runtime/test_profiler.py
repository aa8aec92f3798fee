"""Profiling with torch.profiler under MindSpore's names."""

from __future__ import annotations

import pytest
import torch

from ms2torch.runtime._backend import device, profiler


@pytest.fixture(autouse=True)
def cpu(monkeypatch):
    monkeypatch.setenv("MF_DEVICE_TYPE", "cpu")
    device.device_type.cache_clear()
    yield
    device.device_type.cache_clear()


@pytest.mark.filterwarnings("ignore:Profiler won't be using warmup")
def test_steps_of_a_training_run_are_written(tmp_path):
    # As MindFormers' Profiler uses it: start, one step at once, then a step after each training step.
    running = profiler.profile(
        activities=[profiler.ProfilerActivity.NPU, profiler.ProfilerActivity.CPU],
        schedule=profiler.schedule(wait=0, active=1, warmup=0, repeat=1, skip_first=1),
        on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path)),
        profile_memory=True,
        with_stack=True,
        experimental_config=profiler._ExperimentalConfig(profiler_level=profiler.ProfilerLevel.Level1),
    )
    running.start()
    running.step()
    torch.ones(4) @ torch.ones(4)
    running.step()
    running.stop()
    (trace,) = tmp_path.iterdir()
    assert "aten::dot" in trace.read_text() and "rank0" in trace.name


def test_context_and_metadata(tmp_path):
    with profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path)),
    ) as running:
        running.add_metadata("who", "me")
        running.add_metadata_json("what", '{"a": 1}')
        torch.ones(1) + 1
    assert "who" in next(tmp_path.iterdir()).read_text()


def test_what_is_not_recorded_is_said(caplog):
    profiler.profile(data_process=True)
    assert "data_process" in caplog.text


def test_older_interface(tmp_path):
    running = profiler.Profiler(start_profile=False, output_path=str(tmp_path))
    running.stop()
    running.start()
    torch.ones(1) + 1
    running.step()
    running.stop()
    running.analyse()
    assert list(tmp_path.iterdir())
    with profiler.Profiler(start_profile=False, output_path=str(tmp_path / "b")):
        torch.ones(1) + 1
    assert list((tmp_path / "b").iterdir())
    with pytest.raises(NotImplementedError, match="hbm_ddr"):
        profiler.Profiler(hbm_ddr=True)


def test_levels_as_mindformers_counts_them():
    assert list(profiler.ProfilerLevel.__members__) == ["LevelNone", "Level0", "Level1", "Level2"]
