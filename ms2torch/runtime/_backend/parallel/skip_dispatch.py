"""``SkipDTensorDispatch``: inside it, operations on DTensors work on the local shards and give plain tensors.

Optimizers use it: their element-wise arithmetic needs no layouts. Source: hyper-parallel
hyper_parallel/core/dtensor.py and core/shard/_op_dispatch.py (disable_dtensor_dispatch).
"""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .dtensor import to_local
from .torch_dist import DTensor

__all__ = ["SkipDTensorDispatch"]

# Attribute reads that are an operation; every other attribute (shape, dtype, grad, ...) is the DTensor's own.
_OPERATION_ATTRIBUTES = frozenset({"T", "H", "mT", "mH", "real", "imag"})
# Methods that must see the DTensor itself.
_OWN_METHODS = frozenset(
    {"requires_grad_", "retain_grad", "register_hook", "backward", "__repr__", "__format__"}
)


def _localize(value: Any, owners: dict[int, DTensor]) -> Any:
    if isinstance(value, DTensor):
        local = to_local(value)
        owners[id(local)] = value
        return local
    if type(value) in (list, tuple):
        return type(value)(_localize(item, owners) for item in value)
    if type(value) is dict:
        return {key: _localize(item, owners) for key, item in value.items()}
    return value


class SkipDTensorDispatch(TorchFunctionMode):
    """Context manager; nests. Results are plain tensors; an in-place operation writes the shard."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in ("__get__", "__set__", "__delete__"):
            attribute = getattr(getattr(func, "__self__", None), "__name__", "")
            if attribute not in _OPERATION_ATTRIBUTES:
                return func(*args, **kwargs)
        elif name in _OWN_METHODS:
            return func(*args, **kwargs)
        if not any(issubclass(t, DTensor) for t in types) and not _holds_dtensor(args, kwargs):
            return func(*args, **kwargs)
        owners: dict[int, DTensor] = {}
        with torch._C.DisableTorchFunctionSubclass():
            result = func(*_localize(args, owners), **_localize(kwargs, owners))
        # An in-place operation gives the DTensor whose shard it wrote.
        return owners.get(id(result), result)


def _holds_dtensor(args: Any, kwargs: Any) -> bool:
    def inside(value: Any) -> bool:
        if isinstance(value, DTensor):
            return True
        return type(value) in (list, tuple) and any(inside(item) for item in value)

    return inside(args) or any(inside(value) for value in kwargs.values())
