"""Which collectives turn a sharded tensor into a replicated one: what Muon asks before it gathers by hand.

Source: hyper-parallel hyper_parallel/core/redistribute_infer.py (names, the form of an operation).
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["DevMat", "RedistributionOperatorInfer"]


class DevMat:
    """The shape of a device mesh. ``dims`` are counted from the first axis."""

    def __init__(self, dev_mat: Any) -> None:
        self.dev_mat = [int(n) for n in dev_mat]

    def get_devices_along_dim(self, rank: int, rank_list: Any, dim: int | list[int]) -> list[int]:
        """The ranks that differ from ``rank`` only on the axes ``dim``, in the order of the mesh.

        ``ValueError`` when the rank is not in the list or the list does not fill the mesh.
        """
        ranks = [int(r) for r in rank_list]
        if len(ranks) != math.prod(self.dev_mat):
            raise ValueError(f"{len(ranks)} ranks do not fill a mesh of {self.dev_mat}")
        free = set(dim if isinstance(dim, (list, tuple)) else [dim])
        mine = self._coordinates(ranks.index(int(rank)))
        return [
            r
            for position, r in enumerate(ranks)
            if all(
                i in free or a == b
                for i, (a, b) in enumerate(zip(self._coordinates(position), mine, strict=True))
            )
        ]

    def _coordinates(self, position: int) -> list[int]:
        found = []
        for size in reversed(self.dev_mat):
            position, index = divmod(position, size)
            found.append(index)
        return found[::-1]


class RedistributionOperatorInfer:
    """From the tensor map a tensor has to the one wanted; maps count mesh axes from the last one, -1 for
    none."""

    def __init__(self, dev_mat: Any, in_tensor_map: Any, out_tensor_map: Any) -> None:
        self.dev_mat = DevMat(dev_mat)
        self.in_tensor_map = list(in_tensor_map)
        self.out_tensor_map = list(out_tensor_map)

    def infer_ops_list(self, rank: int, rank_list: Any) -> list[tuple[str, tuple[Any, ...]]]:
        """``("all_concat", (tensor dimension, parts, ranks))`` for each axis to gather, innermost axis first.

        Only gathering is known: another change of layout raises ``NotImplementedError``.
        """
        found = []
        for dim, (have, want) in enumerate(zip(self.in_tensor_map, self.out_tensor_map, strict=True)):
            if have == want:
                continue
            if want != -1:
                raise NotImplementedError(
                    f"redistribution from tensor map {self.in_tensor_map} to {self.out_tensor_map}"
                )
            for entry in reversed(have if isinstance(have, tuple) else (have,)):
                axis = len(self.dev_mat.dev_mat) - 1 - int(entry)
                parts = self.dev_mat.dev_mat[axis]
                if parts > 1:
                    ranks = self.dev_mat.get_devices_along_dim(rank, rank_list, axis)
                    found.append(("all_concat", (dim, parts, ranks)))
        return found
