"""Settings, Layout and small names: values and errors as MindSpore 2.10 gave them on CPU."""

import pytest
import torch

from ms2torch.runtime._backend import context, device, layout, misc
from ms2torch.runtime._backend.parallel.layout import Layout


@pytest.fixture(autouse=True)
def fresh():
    yield
    context.reset_auto_parallel_context()
    context.reset_algo_parameters()
    context._context.clear()
    context._context.update(context._CONTEXT_DEFAULTS)


def test_the_mode_is_pynative():
    context.set_context(mode=context.GRAPH_MODE)
    assert context.get_context("mode") == context.PYNATIVE_MODE == 1
    with pytest.raises(ValueError, match=r"should be context\.GRAPH_MODE"):
        context.set_context(mode=5)


def test_settings_are_read_back():
    assert context.get_context("device_target") == device.device_target()
    assert context.get_context("device_id") == 0
    assert context.get_context("max_call_depth") == 1000
    context.set_context(save_graphs=1, jit_config={"jit_level": "O0"})
    assert context.get_context("save_graphs") == 1
    assert context.get_context("jit_config") == {"jit_level": "O0"}
    context.set_recursion_limit(5)
    assert context.get_context("max_call_depth") == 5
    for call in (lambda: context.set_context(nope=1), lambda: context.get_context("nope")):
        with pytest.raises(ValueError, match="nope is not recognized"):
            call()
    with pytest.raises(ValueError, match="must > 0"):
        context.set_recursion_limit(0)
    with pytest.raises(TypeError, match="must be int"):
        context.set_recursion_limit("a")


def test_what_changes_results_acts():
    before = torch.are_deterministic_algorithms_enabled()
    try:
        context.set_context(deterministic="ON")
        assert torch.are_deterministic_algorithms_enabled()
        context.set_context(deterministic="OFF")
        assert not torch.are_deterministic_algorithms_enabled()
    finally:
        torch.use_deterministic_algorithms(before)
    with pytest.raises(ValueError, match="deterministic"):
        context.set_context(deterministic=True)
    with pytest.raises((NotImplementedError, ValueError)):
        context.set_context(ascend_config={"precision_mode": "force_fp16"})


def test_parallel_settings():
    get, put = context.get_auto_parallel_context, context.set_auto_parallel_context
    assert (get("device_num"), get("global_rank"), get("pipeline_stages")) == (1, 0, 1)
    assert (get("parallel_mode"), get("dataset_strategy"), get("full_batch")) == (
        "stand_alone",
        "data_parallel",
        False,
    )
    put(parallel_mode=context.ParallelMode.SEMI_AUTO_PARALLEL, pipeline_stages=2, gradients_mean=True)
    assert context._get_parallel_mode() == get("parallel_mode") == "semi_auto_parallel"
    assert get("pipeline_stages") == 2 and get("gradients_mean") is True
    put(full_batch=True)
    assert get("dataset_strategy") == "full_batch"
    put(full_batch=False)
    assert get("dataset_strategy") == "data_parallel"
    put(dataset_strategy="full_batch")
    assert get("full_batch") is True
    put(dataset_strategy=((1, 1), (2,)))
    assert get("dataset_strategy") == [[1, 1], [2]]
    put(search_mode="sharding_propagation")
    assert context._is_sharding_propagation() is True
    context.reset_auto_parallel_context()
    assert (get("pipeline_stages"), get("parallel_mode"), get("gradients_mean")) == (1, "stand_alone", False)
    assert context._is_sharding_propagation() is False


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"parallel_mode": "nope"}, ValueError, "only support 'stand_alone'"),
        ({"nope": 1}, ValueError, "Set context keyword nope"),
        ({"device_num": 0}, ValueError, "positive integer"),
        ({"device_num": "x"}, TypeError, "must be <class 'int'>"),
        ({"full_batch": 1}, TypeError, "must be <class 'bool'>"),
        ({"dataset_strategy": "foo"}, ValueError, "'full_batch' or 'data_parallel'"),
    ],
)
def test_wrong_parallel_settings_change_nothing(settings, error, message):
    with pytest.raises(error, match=message):
        context.set_auto_parallel_context(pipeline_stages=4, **settings)
    assert context.get_auto_parallel_context("pipeline_stages") == 1


def test_algo_parameters():
    context.set_algo_parameters(fully_use_devices=False)
    assert context.get_algo_parameters("fully_use_devices") is False
    with pytest.raises(ValueError, match="x is not recognized"):
        context.set_algo_parameters(x=1)
    with pytest.raises(TypeError, match="must be <class 'bool'>"):
        context.set_algo_parameters(fully_use_devices=3)
    context._set_multi_subgraphs()


def test_layout():
    grid = Layout((2, 2, 2), ("dp", "sp", "mp"))
    assert layout._DistributedTensorInfo(grid("dp", "mp")).sharding_strategy == [2, 2]
    assert layout._DistributedTensorInfo(grid(("dp", "mp"), "sp")).sharding_strategy == [4, 2]
    assert layout._DistributedTensorInfo(grid("None", "sp")).sharding_strategy == [1, 2]
    with pytest.raises(TypeError, match="only supports Layout"):
        layout._DistributedTensorInfo((2, 4))
    assert layout.get_strategy_metadata(torch.nn.Linear(1, 1)) is None


def test_mutable():
    value = [1, (2.0, {"a": torch.ones(1)})]
    assert misc.mutable(value) is value
    with pytest.raises(TypeError, match="should be one of"):
        misc.mutable("x")
    with pytest.raises(TypeError, match="dynamic_len"):
        misc.mutable(3, dynamic_len=True)


def test_device_context():
    with misc.DeviceCtx("meta"):
        assert torch.ones(2).device.type == "meta"
    with misc.DeviceCtx("CPU"):
        assert torch.ones(2).device.type == "cpu"
    assert misc.DeviceCtx("Ascend") == device.current_device()
    for arguments in (("npu",), ("CPU", -1)):
        with pytest.raises(ValueError, match="DeviceCtx"):
            misc.DeviceCtx(*arguments)


def test_executor_and_jit():
    with torch.enable_grad():
        misc._pynative_executor.set_enable_grad(False)
        assert not torch.is_grad_enabled() and not misc._pynative_executor.enable_grad()
    misc._pynative_executor.sync()

    @misc.jit
    def plain(x):
        return x + 1

    @misc.jit(jit_level="O1")
    def with_options(x):
        return x + 2

    assert (plain(1), with_options(1)) == (2, 3)
    with pytest.raises(TypeError):
        misc.jit(3)


def test_what_the_device_is(monkeypatch):
    class Npu:
        name = "Ascend910B3"

        def current_device(self):
            return 0

        def get_device_name(self, index):
            return self.name

    npu = Npu()
    monkeypatch.setattr(device, "device_type", lambda: "cpu")
    assert misc.MSContext.get_instance().get_ascend_soc_version() == ""
    monkeypatch.setattr(device, "device_type", lambda: "npu")
    monkeypatch.setattr(device, "accelerator", lambda: npu)
    names = {"Ascend910B3": "ascend910b", "Ascend910_9362": "ascend910_93", "Ascend310P3": "ascend310p"}
    for npu.name, series in names.items():
        assert misc.MSContext.get_instance().get_ascend_soc_version() == series
    assert misc.is_reboot_node() is False
    assert isinstance(torch.bfloat16, misc.BFloat) and not isinstance(torch.float16, misc.BFloat)
