"""A recording stand-in for torch_npu, which cannot be imported without CANN.

Every call is bound to the signature that the real wheel has (data/torch_npu_signatures.json), recorded, and
answered by a plain torch implementation of what the operator is documented to do.
"""

from __future__ import annotations

import importlib.machinery
import inspect
import json
import re
import sys
import types
from pathlib import Path
from typing import Any

import torch

SIGNATURES: dict[str, Any] = json.loads(
    Path(__file__).with_name("data").joinpath("torch_npu_signatures.json").read_text()
)


class WrongCall(TypeError):
    """A call that the real torch_npu would refuse."""


def schema_signature(schema: str) -> inspect.Signature:
    """The Python signature of an operator schema."""
    inside = schema[schema.index("(") + 1 : schema.rindex(") ->")]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = []
    # Commas inside (a!), [2] and string defaults do not separate arguments; no schema here has others.
    for part in filter(None, (p.strip() for p in inside.split(", "))):
        if part == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        declared, _, default = part.partition("=")
        name = declared.split()[-1]
        parameters.append(
            inspect.Parameter(name, kind, default=default if default else inspect.Parameter.empty)
        )
    return inspect.Signature(parameters)


def operator_signatures(name: str) -> list[inspect.Signature]:
    """Signatures of all overloads of an operator; empty if the wheel has none of that name."""
    return [schema_signature(schema) for schema in SIGNATURES["operators"].get(name, [])]


def python_signature(arguments: str) -> inspect.Signature:
    """The signature of a parameter list in Python syntax; annotations and defaults are not evaluated."""
    plain: dict[str, Any] = {}
    exec(
        "from __future__ import annotations\nclass _Any:\n    def __getattr__(self, n): return None\n", plain
    )
    names = set(re.findall(r"=\s*([A-Za-z_]\w*)", arguments)) - {"None", "True", "False"}
    for name in names:
        plain[name] = plain["_Any"]()
    exec(f"def f({arguments}): pass", plain | {"__builtins__": __builtins__}, plain)
    return inspect.signature(plain["f"])


def _misfit(signature: inspect.Signature, args: Any, kwargs: Any) -> str:
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        return str(error)
    return ""


def check(signatures: list[inspect.Signature], name: str, args: Any, kwargs: Any) -> None:
    """Raises WrongCall unless one of the signatures takes the call."""
    problems = [problem for signature in signatures if (problem := _misfit(signature, args, kwargs))]
    if signatures and len(problems) < len(signatures):
        return
    raise WrongCall(f"{name}: {'; '.join(problems) or 'no such function in the wheel'}")


# --- what the operators do ----------------------------------------------------------------------------------


def _rms_norm(input, gamma, epsilon=1e-6):
    dims = tuple(range(-gamma.ndim, 0))
    rstd = torch.rsqrt(input.float().square().mean(dims, keepdim=True) + epsilon)
    return (input.float() * rstd * gamma.float()).to(input.dtype), rstd


def _swiglu(input, dim=-1):
    gate, linear = input.float().chunk(2, dim)
    return (gate * torch.sigmoid(gate) * linear).to(input.dtype)


def _swiglu_backward(grad_output, input, dim=-1):
    leaf = input.detach().float().requires_grad_()
    with torch.enable_grad():
        _swiglu(leaf, dim).backward(grad_output.float())
    return leaf.grad.to(input.dtype)


def _rotary_mul(input, r1, r2, rotary_mode="half", rotate=None):
    if rotary_mode == "half":
        a, b = input.chunk(2, -1)
        turned = torch.cat((-b, a), -1)
    else:
        assert rotary_mode == "interleave", rotary_mode
        turned = torch.stack((-input[..., 1::2], input[..., 0::2]), -1).flatten(-2)
    return input * r1 + turned * r2


def _moe_token_permute(tokens, indices, num_out_tokens=None, padded_mode=False):
    assert indices.dtype in (torch.int32, torch.int64)
    order = indices.reshape(-1).argsort(stable=True)
    width = indices.shape[1] if indices.ndim == 2 else 1
    kept = order[:num_out_tokens] if num_out_tokens else order
    return tokens[kept // width], order.argsort().to(torch.int32)


def _moe_token_unpermute(permuted_tokens, sorted_indices, probs=None, padded_mode=False, restore_shape=None):
    rows = permuted_tokens[sorted_indices.long()]
    if probs is None:
        return rows
    return (rows.view(*probs.shape, -1) * probs.unsqueeze(-1)).sum(1)


def _grouped_matmul(
    x, weight, *, bias=None, group_list=None, split_item=0, group_type=None, group_list_type=0
):
    if split_item == 0:
        return [a @ w for a, w in zip(x, weight, strict=True)]
    assert split_item == 3 and group_type == 0 and len(x) == len(weight) == 1
    ends = torch.as_tensor(group_list)
    counts = ends if group_list_type == 1 else torch.diff(ends, prepend=ends.new_zeros(1))
    parts = x[0].split(counts.tolist())
    return [torch.cat([part @ w for part, w in zip(parts, weight[0], strict=True)])]


def _fusion_attention(query, key, value, head_num, input_layout, *, atten_mask=None, scale=1.0, **others):
    assert input_layout == "BNSD" and others.get("sparse_mode", 0) == 0 and query.shape[1] == head_num
    scores = query @ key.transpose(-1, -2) * scale
    if atten_mask is not None:  # True drops
        assert atten_mask.dtype in (torch.bool, torch.uint8)
        scores = scores.masked_fill(atten_mask.bool(), torch.finfo(scores.dtype).min)
    top = scores.amax(-1, keepdim=True)
    total = (scores - top).exp().sum(-1, keepdim=True)
    spread = (*top.shape[:-1], 8)
    return scores.softmax(-1) @ value, top.expand(spread), total.expand(spread), None, 0, 0, 0


OPERATORS = {
    "npu_fusion_attention": _fusion_attention,
    "npu_rms_norm": _rms_norm,
    "npu_swiglu": _swiglu,
    "npu_swiglu_backward": _swiglu_backward,
    "npu_rotary_mul": _rotary_mul,
    "npu_moe_token_permute": _moe_token_permute,
    "npu_moe_token_unpermute": _moe_token_unpermute,
    "npu_grouped_matmul": _grouped_matmul,
}


# --- the modules --------------------------------------------------------------------------------------------


class Recorder(types.ModuleType):
    """torch_npu: operators by name, and the sub-modules npu and profiler."""

    def __init__(self, operators: dict[str, Any]) -> None:
        super().__init__("torch_npu")
        self.__spec__ = importlib.machinery.ModuleSpec("torch_npu", None)
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.operators = {**OPERATORS, **operators}
        self.npu = Space(self, "torch_npu.npu")
        self.profiler = Space(self, "torch_npu.profiler")

    def called(self, name: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Arguments of the calls of one function."""
        return [(args, kwargs) for called, args, kwargs in self.calls if called == name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        signatures = operator_signatures(name)
        if not signatures:
            raise WrongCall(f"torch_npu.{name}: no such operator in {SIGNATURES['wheel']}")

        def call(*args: Any, **kwargs: Any) -> Any:
            check(signatures, name, args, kwargs)
            self.calls.append((name, args, kwargs))
            return self.operators[name](*args, **kwargs)

        return call


class Instance:
    """An object of one of torch_npu's classes: methods are checked and recorded."""

    def __init__(self, owner: Recorder, kind: str, members: dict[str, Any]) -> None:
        self._owner, self._kind, self._members = owner, kind, members

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._members:
            if name == "stream_id":  # of the compiled base class
                return 7
            raise AttributeError(name)

        def call(*args: Any, **kwargs: Any) -> Any:
            check([python_signature(self._members[name])], f"{self._kind}.{name}", (self, *args), kwargs)
            self._owner.calls.append((f"{self._kind}.{name}", args, kwargs))
            return True if name == "query" else 1.5 if name == "elapsed_time" else None

        return call

    def __enter__(self) -> Any:
        self._owner.calls.append((f"{self._kind}.__enter__", (), {}))
        return self

    def __exit__(self, *error: object) -> None:
        self._owner.calls.append((f"{self._kind}.__exit__", (), {}))


ANSWERS = {
    "is_available": True,
    "device_count": 8,
    "current_device": 3,
    "memory_allocated": 10,
    "max_memory_allocated": 20,
    "memory_reserved": 30,
    "max_memory_reserved": 40,
    "memory_summary": "summary",
    "mem_get_info": (32 * 1024**3, 64 * 1024**3),
}


class Space(types.ModuleType):
    """A sub-module whose functions and classes are those of the wheel's sources."""

    def __init__(self, owner: Recorder, name: str) -> None:
        super().__init__(name)
        self._owner, self._known = owner, SIGNATURES[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self._known:
            raise AttributeError(f"{self.__name__} has no {name} in {SIGNATURES['wheel']}")
        shape = self._known[name]
        full = f"{self.__name__.split('.')[-1]}.{name}"
        if shape is None:  # made in the compiled library
            holder = types.SimpleNamespace(CPU="cpu", NPU="npu")
            if name == "CubeMathType":
                return int
            self.__dict__[name] = holder
            return holder
        if isinstance(shape, str):

            def call(*args: Any, **kwargs: Any) -> Any:
                check([python_signature(shape)], full, args, kwargs)
                self._owner.calls.append((full, args, kwargs))
                made = name in ("current_stream", "default_stream", "stream")
                return (
                    Instance(self._owner, "npu.Stream", self._known["Stream"]) if made else ANSWERS.get(name)
                )

            return call
        if not any(part in shape for part in ("__init__", "__new__")):
            return types.SimpleNamespace(**{member: f"{full}.{member}" for member in shape})

        def make(*args: Any, **kwargs: Any) -> Any:
            maker = shape.get("__init__") or shape["__new__"]
            check([python_signature(maker)], full, (None, *args), kwargs)
            self._owner.calls.append((full, args, kwargs))
            return Instance(self._owner, full, shape)

        return make


def install(monkeypatch: Any, **operators: Any) -> Recorder:
    """Makes this process believe that its device is an NPU. Tensors stay where they are."""
    from ms2torch.runtime._backend import device
    from ms2torch.runtime._backend.fused import _device

    double = Recorder(operators)
    monkeypatch.setitem(sys.modules, "torch_npu", double)
    monkeypatch.setattr(torch, "npu", double.npu, raising=False)
    monkeypatch.setenv("MF_DEVICE_TYPE", "npu")
    real = torch.get_device_module
    monkeypatch.setattr(
        torch, "get_device_module", lambda name=None: double.npu if name == "npu" else real(name)
    )
    for module in [
        m for n, m in sys.modules.items() if n.startswith(_device.__package__) and hasattr(m, "on_npu")
    ]:
        monkeypatch.setattr(
            module, "on_npu", lambda *values: any(isinstance(v, torch.Tensor) for v in values)
        )
    device.device_type.cache_clear()
    return double
