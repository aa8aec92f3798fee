"""Which implementation a fused operator takes, and the refusal of arguments that it cannot honour."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

import torch

HALF = (torch.float16, torch.bfloat16)


def on_npu(*values: Any) -> bool:
    """Whether the first tensor among the values lies on an Ascend device."""
    for value in values:
        if isinstance(value, torch.Tensor):
            return value.device.type == "npu"
    return False


def load_torch_npu() -> Any:
    """Ascend's operator package, imported only when a tensor already lies on its device."""
    return importlib.import_module("torch_npu")


def widen(x: torch.Tensor) -> torch.Tensor:
    """The tensor in the dtype a fused kernel accumulates in: float32 for the half types, else its own."""
    return x.float() if x.dtype in HALF else x


def refuse(op: str, **arguments: Any) -> None:
    """Raise NotImplementedError naming the first argument that is not None (or not False)."""
    for name, value in arguments.items():
        if value is not None and value is not False:
            raise NotImplementedError(f"{op}: argument {name!r} is not supported by the torch port")


def host_ints(values: Any) -> list[int] | None:
    """A length list (tensor, tuple, list or None) as Python ints; a tensor is read back once."""
    if values is None:
        return None
    if isinstance(values, torch.Tensor):
        return [int(v) for v in values.reshape(-1).tolist()]
    if isinstance(values, Iterable):
        return [int(v) for v in values]
    return [int(values)]
