"""What differs between torch versions, each in one place: public path, then private path, then own code."""

from __future__ import annotations

import importlib
from typing import Any

import torch


def _own_rms_norm(
    x: torch.Tensor, normalized_shape: Any, weight: torch.Tensor | None = None, eps: float | None = None
) -> torch.Tensor:
    dims = tuple(range(-len(tuple(normalized_shape)), 0))
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    if eps is None:
        eps = torch.finfo(x.dtype).eps
    out = (wide * torch.rsqrt(wide.pow(2).mean(dims, keepdim=True) + eps)).to(x.dtype)
    return out if weight is None else out * weight


def rms_norm(
    x: torch.Tensor, normalized_shape: Any, weight: torch.Tensor | None = None, eps: float | None = None
) -> torch.Tensor:
    """``x / sqrt(mean(x^2) + eps) * weight`` over the trailing ``normalized_shape``; returns a tensor of
    ``x``'s shape. torch 2.4 and later have it as ``F.rms_norm``."""
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    native = getattr(torch.nn.functional, "rms_norm", None)
    return (native or _own_rms_norm)(x, shape, weight, eps)


# --- DTensor and its placements -----------------------------------------------------------------------------
# Public since torch 2.5; the private package was there before and still is.


def _first(*paths: str) -> Any | None:
    """The object behind the first dotted path that exists, else None."""
    for path in paths:
        module, _, name = path.rpartition(".")
        try:
            found = getattr(importlib.import_module(module), name, None)
        except ImportError:
            continue
        if found is not None:
            return found
    return None


class _Absent:
    """Stands for a class this torch does not have: nothing is an instance of it, making one raises."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"torch {torch.__version__} has no {type(self).__name__}")


def _class(name: str, *packages: str) -> Any:
    return _first(*(f"{package}.{name}" for package in packages)) or type(name, (_Absent,), {})


_TENSOR = (
    "torch.distributed.tensor",
    "torch.distributed.tensor._api",
    "torch.distributed._tensor",
    "torch.distributed._tensor.api",
)
_PLACEMENTS = (
    *_TENSOR,
    "torch.distributed.tensor.placement_types",
    "torch.distributed._tensor.placement_types",
)

DTensor: Any = _class("DTensor", *_TENSOR)
Shard: Any = _class("Shard", *_PLACEMENTS)
Replicate: Any = _class("Replicate", *_PLACEMENTS)
Partial: Any = _first(
    *(f"{p}.Partial" for p in _PLACEMENTS), *(f"{p}._Partial" for p in _PLACEMENTS)
) or type("Partial", (_Absent,), {})
Placement: Any = _class("Placement", *_PLACEMENTS)
HAS_DTENSOR: bool = not issubclass(DTensor, _Absent)


def _function(name: str, *packages: str) -> Any:
    found = _first(*(f"{package}.{name}" for package in packages))
    if found is not None:
        return found

    def missing(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"torch {torch.__version__} has no {name}")

    missing.__name__ = missing.__qualname__ = name
    return missing


distribute_tensor = _function("distribute_tensor", *_TENSOR)
distribute_module = _function("distribute_module", *_TENSOR)


def local_of(value: Any) -> Any:
    """The local shard of a DTensor, outside autograd; anything else as it is."""
    return value._local_tensor if isinstance(value, DTensor) else value


# --- device mesh --------------------------------------------------------------------------------------------

DeviceMesh: Any = _class(
    "DeviceMesh", "torch.distributed.device_mesh", "torch.distributed._tensor.device_mesh"
)
raw_init_device_mesh = _function(
    "init_device_mesh", "torch.distributed.device_mesh", "torch.distributed._tensor.device_mesh"
)

# --- FSDP2 --------------------------------------------------------------------------------------------------
# Public since torch 2.6; before that it stood in _composable.

_FSDP = (
    "torch.distributed.fsdp",
    "torch.distributed._composable.fsdp",
    "torch.distributed.fsdp._fully_shard",
)
_FSDP_HAS = _first(*(f"{p}.fully_shard" for p in _FSDP)) is not None

fully_shard = _function("fully_shard", *_FSDP)
FSDPModule: Any = _class("FSDPModule", *_FSDP)
MixedPrecisionPolicy: Any = _class("MixedPrecisionPolicy", *_FSDP)
OffloadPolicy: Any = _class("OffloadPolicy", *_FSDP)
CPUOffloadPolicy: Any = _class("CPUOffloadPolicy", *_FSDP)
register_fsdp_forward_method = _function("register_fsdp_forward_method", *_FSDP)
HAS_FULLY_SHARD: bool = _FSDP_HAS

# --- activation checkpointing -------------------------------------------------------------------------------

_CHECKPOINT = ("torch.utils.checkpoint",)
checkpoint = _function("checkpoint", *_CHECKPOINT)
create_selective_checkpoint_contexts = _function("create_selective_checkpoint_contexts", *_CHECKPOINT)
CheckpointPolicy: Any = _class("CheckpointPolicy", *_CHECKPOINT)
_WRAPPER = ("torch.distributed.algorithms._checkpoint.checkpoint_wrapper",)
checkpoint_wrapper = _function("checkpoint_wrapper", *_WRAPPER)
CheckpointImpl: Any = _class("CheckpointImpl", *_WRAPPER)

# --- pipelining ---------------------------------------------------------------------------------------------

# Looked up when first read: the package imports torch's compiler, a second or two.
_PIPELINING = ("torch.distributed.pipelining",)
_LAZY = {
    "PipelineStage": (*_PIPELINING, "torch.distributed.pipelining.stage"),
    **dict.fromkeys(
        ("Schedule1F1B", "ScheduleGPipe", "ScheduleInterleaved1F1B", "ScheduleZBVZeroBubble"),
        (*_PIPELINING, "torch.distributed.pipelining.schedules"),
    ),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = _class(name, *_LAZY[name])
    return found


# --- grouped matrix multiply --------------------------------------------------------------------------------

# ``grouped_mm(a, b, offs=...)`` or None: CUDA (and lately CPU) kernels, in bfloat16 first. Callers fall back
# to one matmul a group.
grouped_mm: Any | None = _first("torch.nn.functional.grouped_mm", "torch._grouped_mm")

# --- collectives --------------------------------------------------------------------------------------------
# torch 2.13 renamed the single-tensor forms.

all_gather_single: Any = _first(
    "torch.distributed.all_gather_single", "torch.distributed.all_gather_into_tensor"
)
reduce_scatter_single: Any = _first(
    "torch.distributed.reduce_scatter_single", "torch.distributed.reduce_scatter_tensor"
)
