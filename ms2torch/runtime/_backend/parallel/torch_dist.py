"""The parts of torch's distributed packages that moved between versions, in one place.

Public path (torch 2.5 and later), then private path (torch 2.4), then ``None`` or our own code.
"""

from __future__ import annotations

import os
from typing import Any

import torch
from torch.distributed.device_mesh import DeviceMesh

try:
    import torch.distributed.tensor as _tensor
    from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard
    from torch.distributed.tensor import distribute_tensor as torch_distribute_tensor
except ImportError:  # torch 2.4
    import torch.distributed._tensor as _tensor  # type: ignore[no-redef]
    from torch.distributed._tensor import DTensor, Placement, Replicate, Shard  # type: ignore[assignment]
    from torch.distributed._tensor import (  # type: ignore[assignment]
        distribute_tensor as torch_distribute_tensor,
    )
    from torch.distributed._tensor.placement_types import Partial  # type: ignore[no-redef,assignment]

try:
    from torch.distributed.tensor.placement_types import _StridedShard as StridedShard
except ImportError:  # torch 2.4
    StridedShard = None  # type: ignore[assignment,misc]

__all__ = [
    "DTensor",
    "DeviceMesh",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "StridedShard",
    "default_device_type",
    "from_local_exact",
    "torch_distribute_tensor",
]


def default_device_type() -> str:
    """The device this port runs on: ``MF_DEVICE_TYPE``, else what is there (npu, cuda, cpu)."""
    asked = os.environ.get("MF_DEVICE_TYPE", "").strip().lower()
    if asked:
        return asked
    npu = getattr(torch, "npu", None)
    if npu is not None and npu.is_available():
        return "npu"
    return "cuda" if torch.cuda.is_available() else "cpu"


def from_local_exact(
    local: torch.Tensor,
    mesh: DeviceMesh,
    placements: Any,
    shape: torch.Size,
    stride: tuple[int, ...],
) -> DTensor:
    """``DTensor.from_local`` with the global shape given, so that uneven shards need no communication."""
    return DTensor.from_local(
        local, mesh, tuple(placements), run_check=False, shape=torch.Size(shape), stride=stride
    )


_ = _tensor
