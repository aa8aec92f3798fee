"""torch's distributed tensor classes, from ``compat`` (which knows where each torch version has them)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .. import compat

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard
    from torch.distributed.tensor.placement_types import _StridedShard as StridedShard
else:
    DTensor, DeviceMesh = compat.DTensor, compat.DeviceMesh
    Partial, Placement = compat.Partial, compat.Placement
    Replicate, Shard = compat.Replicate, compat.Shard
    # A shard of what inner axes left of a dimension; private in every torch that has it.
    StridedShard = getattr(compat, "StridedShard", None) or compat._class(
        "_StridedShard", *compat._PLACEMENTS
    )

__all__ = [
    "DTensor",
    "DeviceMesh",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "StridedShard",
    "from_local_exact",
]


def from_local_exact(
    local: torch.Tensor, mesh: DeviceMesh, placements: Any, shape: Any, stride: tuple[int, ...]
) -> DTensor:
    """``DTensor.from_local`` with the global shape given, so that uneven shards need no communication."""
    return DTensor.from_local(
        local, mesh, tuple(placements), run_check=False, shape=torch.Size(shape), stride=stride
    )
