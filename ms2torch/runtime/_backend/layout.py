"""``mindspore.Layout``: how a tensor lies on a matrix of devices. Source: MindSpore 2.10, run on CPU."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any


class Layout:
    """Names for the axes of a device matrix; called with a device axis per tensor axis, a tensor's layout.

    ``Layout((2, 2, 2), ("dp", "sp", "mp"))("dp", "mp")`` splits the tensor's first axis over dp, the second
    over mp; ``"None"`` leaves an axis whole, a tuple of names splits it over several device axes.
    Raises TypeError for anything but tuples of ints and names, ValueError for names that repeat, are empty or
    "None", and for lengths that disagree.
    """

    def __init__(
        self,
        device_matrix: tuple[int, ...],
        alias_name: tuple[str, ...],
        rank_list: Sequence[int] | None = None,
    ) -> None:
        if not isinstance(device_matrix, tuple):
            raise TypeError(f"device_matrix must be tuple type, but got:{type(device_matrix)}")
        if not isinstance(alias_name, tuple):
            raise TypeError(f"alias_name must be tuple type, but got:{type(alias_name)}")
        if len(device_matrix) != len(alias_name):
            raise ValueError("device_matrix length should be equal to alias_name length")
        for name in alias_name:
            if not isinstance(name, str):
                raise TypeError(f"The element of alias_name must be str type, but got:{type(name)}")
            if not name:
                raise ValueError("The element of alias_name can not be empty.")
            if name == "None":
                raise ValueError(
                    "The element of alias_name can not set 'None', because 'None' means no sharding."
                )
        for size in device_matrix:
            if not isinstance(size, int):
                raise TypeError(f"The element of device_matrix must be int type, but got:{type(size)}")
        if len(set(alias_name)) != len(alias_name):
            raise ValueError(f"Each element of alias_name {alias_name} should be different")
        devices = math.prod(device_matrix)
        if rank_list is not None and len(rank_list) != devices:
            raise ValueError(
                f"The length of rank_list should be equal to the product of device_matrix, but got "
                f"{len(rank_list)} and {devices}."
            )
        self._device_shape = device_matrix
        self._alias_name = alias_name
        self._rank_list = list(range(devices)) if rank_list is None else list(rank_list)
        self._tensor_map: tuple[Any, ...] | None = None

    def __call__(self, *tensor_map: str | tuple[str, ...]) -> Layout:
        """The layout of a tensor. Raises ValueError for a name that is unknown or used twice."""
        used: set[str] = set()
        made = copy.deepcopy(self)
        made._tensor_map = tuple(
            tuple(self._axis(name, used) for name in axis)
            if isinstance(axis, tuple)
            else self._axis(axis, used)
            for axis in tensor_map
        )
        return made

    def _axis(self, name: Any, used: set[str]) -> int:
        """The device axis counted from the right; -1 for none."""
        if name == "None":
            return -1
        if name not in self._alias_name:
            raise ValueError(f"The axis {name} is not found in {self._alias_name}")
        if name in used:
            raise ValueError(f"The axis {name} has been set more than one in {self._alias_name}")
        used.add(name)
        return len(self._alias_name) - 1 - self._alias_name.index(name)

    def to_dict(self) -> dict[str, Any]:
        """device_matrix, tensor_map, interleaved_parallel, alias_name, rank_list.

        Raises ValueError for a layout of no tensor.
        """
        if self._device_shape is None or self._tensor_map is None:
            raise ValueError(
                "The device_shape and tensor_map of the layout must be set before to_dict is called"
            )
        return {
            "device_matrix": self._device_shape,
            "tensor_map": self._tensor_map,
            "interleaved_parallel": "interleaved_parallel" in self._alias_name,
            "alias_name": self._alias_name,
            "rank_list": self._rank_list,
        }


class _DistributedTensorInfo:
    """What a tensor's layout means for its slices. Raises TypeError for anything but a Layout."""

    def __init__(self, distributed_info: Layout) -> None:
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
