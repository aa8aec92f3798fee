"""What MindSpore tells of the layouts of distributed tensors. Source: MindSpore 2.10, run on CPU."""

from __future__ import annotations

import math
from typing import Any


class _DistributedTensorInfo:
    """``mindspore.parallel.shard._DistributedTensorInfo`` of a Layout.

    Raises TypeError for anything but a Layout that a tensor has (one that was called with axis names).
    """

    def __init__(self, distributed_info: Any) -> None:
        from .parallel.layout import Layout  # here, as it needs torch.distributed

        if not isinstance(distributed_info, Layout):
            raise TypeError(
                f"DistributedTensorInfo only supports Layout as input, but got {type(distributed_info)}"
            )
        self.layout = self.distributed_info = distributed_info

    @property
    def sharding_strategy(self) -> list[int]:
        """Number of slices of each tensor axis."""
        info = self.layout.to_dict()
        sizes = info["device_matrix"][::-1]
        strategy = []
        for axis in info["tensor_map"]:
            parts = axis if isinstance(axis, tuple) else (axis,)
            strategy.append(math.prod(1 if part == -1 else sizes[part] for part in parts))
        return strategy


def get_strategy_metadata(network: Any, rank_id: int | None = None) -> None:
    """Strategies that MindSpore's compiler chose: None, as for any network that it did not compile."""
    return None
