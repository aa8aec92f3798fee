"""Every use of torch_npu in the runtime is one that the real wheel would take.

The wheel's signatures are in data/torch_npu_signatures.json (scripts/torch_npu_signatures.py reads them).
"""

from __future__ import annotations

import ast
import importlib.util
import sys
import types
from pathlib import Path

import pytest
import torch

from ms2torch.runtime import _backend
from ms2torch.runtime._backend import device, profiler, streams
from tests.runtime import npu_double
from tests.runtime.npu_double import (
    SIGNATURES,
    WrongCall,
    check,
    operator_signatures,
    python_signature,
    schema_signature,
)

RUNTIME = Path(_backend.__file__).parents[1]
WHEELS = sorted((Path.home() / ".cache" / "ms2torch").glob(SIGNATURES["wheel"]))


@pytest.fixture
def npu(monkeypatch):
    yield npu_double.install(monkeypatch)
    device.device_type.cache_clear()


# --- the scanner --------------------------------------------------------------------------------------------


def _chain(node: ast.AST) -> list[str]:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return [node.id, *names] if isinstance(node, ast.Name) else []


def _target(chain: list[str]) -> list[str] | None:
    """The path inside torch_npu of ``torch_npu.x``, ``torch.npu.x`` and ``torch.ops.npu.x``."""
    if chain[:1] == ["torch_npu"]:
        return chain[1:]
    if chain[:2] == ["torch", "npu"]:
        return ["npu", *chain[2:]]
    if chain[:3] == ["torch", "ops", "npu"]:
        return chain[3:4]
    return None


def problems(source: str, where: str = "x.py") -> list[str]:
    """What the wheel would refuse in this source, by file and line."""
    found = []
    tree = ast.parse(source)
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        path = _target(_chain(node)) if isinstance(node, ast.Attribute) and id(node) not in inner else None
        if not path:
            continue
        spot = f"{where}:{node.lineno}: torch_npu.{'.'.join(path)}"
        space = SIGNATURES.get(f"torch_npu.{path[0]}")
        if space is not None:
            if len(path) == 1:
                continue
            if path[1] not in space:
                found.append(f"{spot}: not in the wheel")
                continue
            shape = space[path[1]]
            if len(path) > 2:
                if isinstance(shape, dict) and path[2] not in shape:
                    found.append(f"{spot}: not in the wheel")
                continue
            if isinstance(shape, dict):
                maker = shape.get("__init__") or shape.get("__new__")
                signatures = [python_signature(maker.partition(", ")[2])] if maker else []
            else:
                signatures = [python_signature(shape)] if isinstance(shape, str) else []
        else:
            signatures = operator_signatures(path[0])
            if not signatures:
                found.append(f"{spot}: no such operator")
                continue
        call = calls.get(id(node))
        if call is None or not signatures:
            continue
        if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            found.append(f"{spot}: arguments in a star cannot be checked")
            continue
        try:
            check(signatures, spot, [None] * len(call.args), {k.arg: None for k in call.keywords})
        except WrongCall as error:
            found.append(str(error))
    return found


FILES = sorted(RUNTIME.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(RUNTIME)))
def test_runtime_calls_fit_the_wheel(path):
    assert problems(path.read_text(), str(path.relative_to(RUNTIME))) == []


def test_the_runtime_does_use_operators():
    text = "".join(path.read_text() for path in FILES)
    assert "torch_npu.npu_fusion_attention(" in text
    assert "torch_npu.profiler._ExperimentalConfig(" in text


@pytest.mark.parametrize(
    "source",
    [
        "torch_npu.npu_rms_norm(x, gamma, eps=1)",
        "torch_npu.npu_rms_norm(x)",
        "torch_npu.npu_rms_norm(*a)",
        "torch_npu.npu_rms_norms(x, g)",
        "torch.ops.npu.npu_swiglu(x, axis=1)",
        "torch_npu.npu_fusion_attention(q, k, v, 8, 'BSH', mask=m)",
        "torch.npu.no_such(1)",
        "torch.npu.set_device()",
        "f = torch_npu.profiler.ProfilerLevel.LevelNone",
        "torch_npu.profiler.tensorboard_trace_handler('d', asynchronous=True)",
        "torch_npu.profiler._ExperimentalConfig(level=1)",
    ],
)
def test_scanner_sees_a_wrong_call(source):
    assert len(problems(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "torch_npu.npu_rms_norm(x, gamma, epsilon=1)",
        "y = torch_npu.npu_rms_norm(x, gamma)[0]",
        "torch_npu.npu_grouped_matmul(x, w, group_list=[1], split_item=3)",
        "torch.npu.set_device(0)",
        "torch_npu.profiler.ProfilerLevel.Level_none",
        "torch_npu.npu.current_stream()",
        "torch.nn.Linear(1, 2)",
        "f(torch_npu)",
    ],
)
def test_scanner_lets_a_right_call_pass(source):
    assert problems(source) == []


def test_schema_reading():
    signature = schema_signature("f(Tensor[] x, *, int? split_item=0, str s='a', Tensor(a!) out) -> Tensor[]")
    assert list(signature.parameters) == ["x", "split_item", "s", "out"]
    assert signature.parameters["split_item"].kind.name == "KEYWORD_ONLY"


@pytest.mark.slow
@pytest.mark.skipif(not WHEELS, reason="the wheel is not in the cache")
def test_stored_signatures_are_the_wheels():
    script = RUNTIME.parents[1] / "scripts" / "torch_npu_signatures.py"
    spec = importlib.util.spec_from_file_location("torch_npu_signatures", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.read(str(WHEELS[-1])) == SIGNATURES


# --- the NPU paths, run on the double -----------------------------------------------------------------------


def test_device(npu, monkeypatch):
    # This torch was not told that there is a device type of that name.
    monkeypatch.setattr(
        torch, "device", lambda kind, index=None: types.SimpleNamespace(type=kind, index=index)
    )
    assert device.device_type() == "npu" and device.backend_name() == "hccl"
    assert device.device_target() == "Ascend"
    assert device.set_device("Ascend", 2).index == 2
    assert npu.called("npu.set_device") == [((2,), {})]
    with pytest.raises(ValueError, match="index 8"):
        device.set_device(8)
    assert device.memory_stats()["total_idle_memory"] == 20
    assert device.get_current_device() == ("Ascend", 3)
    device.synchronize()
    device.empty_cache()
    device.reset_peak_memory_stats()
    assert device.memory_summary() == "summary"
    device.op_precision.cube_math_type(4)
    assert npu.npu.matmul.cube_math_type == 4
    device.op_precision.matmul_allow_hf32(True)
    device.op_precision.conv_allow_hf32(False)
    assert npu.npu.matmul.allow_hf32 is True and npu.npu.conv.allow_hf32 is False


def test_streams(npu):
    side, event = streams.Stream(), streams.Event(enable_timing=True)
    assert npu.called("npu.Stream") == [((), {"priority": 0})]
    side.wait_stream(streams.current_stream())
    with streams.StreamCtx(side):
        event.record(side)
    event.synchronize()
    event.wait(side)
    assert event.query() and side.query()
    later = side.record_event(streams.Event(enable_timing=True))
    side.wait_event(later)
    assert event.elapsed_time(later) == 1.5
    streams.set_cur_stream(side)
    streams.default_stream().synchronize()
    assert side.id == 7 and "npu" in repr(side)
    names = [name for name, _, _ in npu.calls]
    for name in (
        "npu.Stream.wait_stream",
        "npu.stream",
        "npu.Event.record",
        "npu.Event.wait",
        "npu.set_stream",
    ):
        assert name in names


def test_memory_cap(npu):
    streams.set_memory(max_size="16GB")
    assert npu.called("npu.set_per_process_memory_fraction") == [((0.25,), {})]


def test_profiler(npu, tmp_path):
    with profiler.profile(
        activities=[profiler.ProfilerActivity.NPU, profiler.ProfilerActivity.CPU],
        schedule=profiler.schedule(wait=0, active=1, skip_first=1),
        on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path)),
        experimental_config=profiler._ExperimentalConfig(profiler_level=profiler.ProfilerLevel.LevelNone),
    ) as running:
        running.step()
    (config,) = npu.called("profiler._ExperimentalConfig")
    assert config[1]["profiler_level"] == "profiler.ProfilerLevel.Level_none"
    (made,) = npu.called("profiler.profile")
    assert made[1]["activities"] == ["cpu", "npu"]
    assert npu.called("profiler.profile.step")


def _same_on_both(npu, operator, run):
    torch.manual_seed(0)
    there = run()
    assert npu.called(operator), f"{operator} was not called"
    torch.testing.assert_close(there, _on_cpu(run), rtol=1e-5, atol=1e-6)


def _on_cpu(run):
    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("ms2torch.runtime._backend.fused") and hasattr(module, "on_npu"):
                patch.setattr(module, "on_npu", lambda *values: False)
        torch.manual_seed(0)
        return run()


def _attention(f):
    q, k, v = (torch.randn(1, 2, 4, 8) for _ in range(3))
    mask = torch.ones(4, 4, dtype=torch.uint8).triu(1)
    top, total, _, out = f.FlashAttentionScore(2, scale_value=0.3, input_layout="BNSD")(
        q, k, v, None, None, None, mask
    )
    return top, total, out


CASES = {
    "npu_fusion_attention": _attention,
    "npu_rms_norm": lambda f: f.rms_norm(torch.randn(3, 4), torch.randn(4), 1e-5),
    "npu_swiglu": lambda f: f.swiglu(torch.randn(3, 8), -1),
    "npu_swiglu_backward": lambda f: f.swiglu_grad(torch.randn(3, 4), torch.randn(3, 8)),
    "npu_rotary_mul": lambda f: [
        f.rotary_position_embedding(
            torch.randn(1, 2, 3, 4), torch.rand(1, 1, 3, 4), torch.rand(1, 1, 3, 4), mode
        )
        for mode in (0, 1)
    ],
    "npu_moe_token_permute": lambda f: f.moe_token_permute(
        torch.randn(4, 3), torch.tensor([[1, 0], [2, 1]] * 2)
    ),
    "npu_moe_token_unpermute": lambda f: f.moe_token_unpermute(
        torch.randn(4, 3), torch.tensor([2, 0, 3, 1]), torch.rand(2, 2)
    ),
    "npu_grouped_matmul": lambda f: f.GroupedMatmul(split_item=3, group_type=0)(
        [torch.randn(5, 3)], [torch.randn(2, 3, 4)], None, None, None, None, None, torch.tensor([2, 5])
    ),
}


@pytest.mark.parametrize("operator", CASES)
def test_fused_paths_agree(npu, operator):
    from ms2torch.runtime._backend import fused

    _same_on_both(npu, operator, lambda: CASES[operator](fused))


def test_double_refuses_what_the_wheel_refuses(npu):
    with pytest.raises(WrongCall, match="eps"):
        npu.npu_rms_norm(torch.ones(2), torch.ones(2), eps=1)
    with pytest.raises(WrongCall, match="no such operator"):
        npu.npu_no_such(1)
    with pytest.raises(AttributeError, match="has no no_such"):
        npu.npu.no_such()
    with pytest.raises(WrongCall):
        npu.npu.set_device()
