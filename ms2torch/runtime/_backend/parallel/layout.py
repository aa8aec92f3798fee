"""Layouts: how hyper_parallel and MindSpore describe a sharded tensor.

A layout is a mesh (shape, axis names, ranks) plus a ``tensor_map``: for each tensor dimension the mesh axis
that shards it, counted from the last axis (0 is the last one), -1 for none, a tuple for several. Sources:
hyper-parallel hyper_parallel/core/layout.py; MindSpore 2.10 ``mindspore.parallel.Layout``.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import torch.distributed as dist

from ..nn import walk
from .mesh import axis_ranks, get_comm_group_by_axis, init_device_mesh, mesh_shape, rank_list
from .placements import Partial, Placement, Replicate, Shard, StridedShard, normalize, shard_dim_of
from .torch_dist import DeviceMesh, DTensor

__all__ = [
    "Layout",
    "get_current_layout",
    "get_global_layout",
    "infer_slice_area_by_rank",
    "layout",
    "layout_of",
]


def infer_slice_area_by_rank(
    mesh_shape: Any, tensor_map: Any, rank_id: int, full_shape: Any
) -> list[tuple[int, int]]:
    """The (begin, end) of each tensor dimension that the ``rank_id``-th rank of the mesh holds.

    Several axes on one dimension shard it in the order of the tuple, the first one outermost.
    """
    sizes = [int(n) for n in mesh_shape]
    coordinate, rest = [0] * len(sizes), int(rank_id)
    for axis in reversed(range(len(sizes))):
        rest, coordinate[axis] = divmod(rest, sizes[axis])
    area = []
    for size, mapped in zip(full_shape, tensor_map, strict=True):
        index, parts = 0, 1
        for entry in mapped if isinstance(mapped, (tuple, list)) else (mapped,):
            if entry != -1:
                axis = len(sizes) - 1 - int(entry)
                index = index * sizes[axis] + coordinate[axis]
                parts *= sizes[axis]
        step = int(size) // parts
        area.append((index * step, (index + 1) * step))
    return area


def _is_strided(placement: Placement) -> bool:
    return isinstance(placement, StridedShard)


class Layout:
    """A mesh with names and a tensor map. Call it with axis names (``layout("dp", "None", ("cp", "tp"))``) or
    placements for a layout with that tensor map.

    ``ValueError`` for an unknown or repeated axis name, ``TypeError`` for arguments of a wrong type.
    """

    def __init__(
        self, device_matrix: tuple[int, ...], alias_name: tuple[str, ...], rank_list: Any = None
    ) -> None:
        if not isinstance(device_matrix, tuple) or not isinstance(alias_name, tuple):
            raise TypeError("Layout needs a tuple of sizes and a tuple of axis names")
        if len(device_matrix) != len(alias_name) or len(set(alias_name)) != len(alias_name):
            raise ValueError(f"Layout: {alias_name} does not name the axes of {device_matrix}")
        self._device_shape = tuple(int(n) for n in device_matrix)
        self._alias_name = tuple(alias_name)
        count = math.prod(self._device_shape)
        self._rank_list = [int(r) for r in rank_list] if rank_list else list(range(count))
        if len(self._rank_list) != count:
            raise ValueError(f"Layout: {len(self._rank_list)} ranks for a mesh of {count}")
        self._tensor_map: tuple[Any, ...] | None = None
        self._partial: list[str | None] = [None] * len(self._device_shape)
        self._placements: tuple[Placement, ...] | None = None
        self._interleaved_parallel = "interleaved_parallel" in alias_name
        self._mesh: DeviceMesh | None = None

    @classmethod
    def from_device_mesh(cls, device_mesh: DeviceMesh) -> Layout:
        """A layout of the mesh, without a tensor map."""
        sizes = mesh_shape(device_mesh)
        names = device_mesh.mesh_dim_names or tuple(f"axis{i}" for i in range(len(sizes)))
        made = cls(sizes, tuple(names), list(rank_list(device_mesh)))
        made._mesh = device_mesh
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Layout:
        # A mesh owns process groups: it is shared, never copied.
        made = copy.copy(self)
        made._partial = list(self._partial)
        made._rank_list = list(self._rank_list)
        return made

    def __call__(self, *tensor_map: Any) -> Layout:
        made = copy.deepcopy(self)
        flat = (
            tensor_map[0] if len(tensor_map) == 1 and isinstance(tensor_map[0], (list, tuple)) else tensor_map
        )
        if flat and isinstance(flat[0], Placement):
            made.set_placements(flat)
            return made
        made._tensor_map = tuple(made._entry(item) for item in tensor_map)
        used = [
            e for item in made._tensor_map for e in (item if isinstance(item, tuple) else (item,)) if e != -1
        ]
        if len(set(used)) != len(used):
            raise ValueError(f"Layout: an axis is used twice in {tensor_map}")
        made.tensor_map_to_placement()
        return made

    def _entry(self, item: Any) -> Any:
        if isinstance(item, tuple):
            return tuple(self._entry(part) for part in item)
        if item in ("None", None):
            return -1
        if item not in self._alias_name:
            raise ValueError(f"The axis {item} is not found in {self._alias_name}")
        return len(self._alias_name) - 1 - self._alias_name.index(item)

    # Names as hyper_parallel has them.
    @property
    def mesh(self) -> DeviceMesh:
        """The device mesh; made from the ranks when the layout was given by hand (then a collective)."""
        if self._mesh is None:
            self._mesh = init_device_mesh(
                mesh_shape=self._device_shape, mesh_dim_names=self._alias_name, rank_list=self._rank_list
            )
        return self._mesh

    @property
    def mesh_shape(self) -> tuple[int, ...]:
        return self._device_shape

    @property
    def alias_name(self) -> tuple[str, ...]:
        return self._alias_name

    @property
    def rank_list(self) -> list[int]:
        return self._rank_list

    @property
    def tensor_map(self) -> tuple[Any, ...] | None:
        return self._tensor_map

    @property
    def placements(self) -> tuple[Placement, ...] | None:
        return self._placements

    # The placements again: in hyper_parallel it is the form in which several axes may share a dimension.
    alias_placements = placements

    @property
    def alias_tensor_map(self) -> tuple[Any, ...] | None:
        """The tensor map by axis names, ``"None"`` for none."""
        names = self._alias_name

        def read(entry: Any) -> Any:
            if isinstance(entry, tuple):
                return tuple(read(part) for part in entry)
            return "None" if entry == -1 else names[len(names) - 1 - entry]

        return None if self._tensor_map is None else tuple(read(entry) for entry in self._tensor_map)

    @property
    def partial(self) -> list[str | None]:
        """For each axis the reduction that is pending, or None."""
        return self._partial

    def set_tensor_map(self, tensor_map: Any) -> None:
        self._tensor_map = tuple(tensor_map)

    def set_placements(self, placements: Any) -> None:
        """Set the placements; ``placement_to_tensor_map`` then fills in the tensor map."""
        self._placements = tuple(placements)

    def placement_to_tensor_map(self, dim: int) -> list[Any]:
        """Fill in the tensor map of a tensor of ``dim`` dimensions from the placements, and return it.

        ``ValueError`` when the placements are missing or a shard dimension is out of range.
        """
        placements = self._placements
        if placements is None:
            raise ValueError("Layout: no placements are set")
        axes: list[list[int]] = [[] for _ in range(dim)]
        # A strided shard divides what the other axes have left of the dimension: it comes after them.
        order = sorted(range(len(placements)), key=lambda axis: _is_strided(placements[axis]))
        for axis in order:
            placement = placements[axis]
            if placement.is_partial():
                self._partial[axis] = str(getattr(placement, "reduce_op", "sum")).lower()
            elif not placement.is_replicate():
                where = shard_dim_of(normalize(placement, dim))
                axes[where].append(len(self._device_shape) - 1 - axis)
        found: list[Any] = [-1 if not a else a[0] if len(a) == 1 else tuple(a) for a in axes]
        self._tensor_map = tuple(found)
        return found

    def tensor_map_to_placement(self) -> tuple[Placement, ...]:
        """Fill in the placements from the tensor map, and return them. ``ValueError`` without a tensor
        map."""
        if self._tensor_map is None:
            raise ValueError("Layout: no tensor map is set")
        found: list[Placement] = [Replicate() for _ in self._device_shape]
        for dim, mapped in enumerate(self._tensor_map):
            for entry in mapped if isinstance(mapped, tuple) else (mapped,):
                if entry != -1:
                    found[len(found) - 1 - entry] = Shard(dim)
        for axis, op in enumerate(self._partial):
            if op is not None:
                found[axis] = Partial(op)
        self._placements = tuple(found)
        return self._placements

    def is_partial(self) -> bool:
        """Whether an axis has a pending reduction."""
        return any(op is not None for op in self._partial)

    def reset_partial(self) -> None:
        """Forget pending reductions."""
        self._partial = [None] * len(self._device_shape)
        if self._tensor_map is not None:
            self.tensor_map_to_placement()

    def _parts(self, entry: Any) -> int:
        entries = entry if isinstance(entry, tuple) else (entry,)
        return math.prod(self._device_shape[len(self._device_shape) - 1 - e] for e in entries if e != -1)

    def get_global_shape(self, slice_shape: Any) -> tuple[int, ...]:
        """The shape of the whole tensor from that of a shard. ``ValueError`` without a tensor map."""
        if self._tensor_map is None:
            raise ValueError("Layout: no tensor map is set")
        return tuple(int(n) * self._parts(e) for n, e in zip(slice_shape, self._tensor_map, strict=True))

    def get_split_id(self, dim: int) -> int:
        """Which of the pieces of tensor dimension ``dim`` this rank holds. ``ValueError`` without a tensor
        map."""
        if self._tensor_map is None:
            raise ValueError("Layout: no tensor map is set")
        sizes, position = self._device_shape, self._rank_list.index(dist.get_rank())
        entry = self._tensor_map[dim]
        begin, _ = infer_slice_area_by_rank(sizes, (entry,), position, (self._parts(entry),))[0]
        return begin

    def repeat_num(self) -> int:
        """How many ranks hold a copy of the same shard."""
        if self._tensor_map is None:
            raise ValueError("Layout: no tensor map is set")
        return math.prod(self._device_shape) // math.prod(self._parts(entry) for entry in self._tensor_map)

    def get_devices_for_axis(self, axis: int | str, rank: int) -> list[int]:
        """The ranks along an axis through ``rank``."""
        return axis_ranks(self.mesh, axis, rank)

    def get_comm_group_by_axis(self, axis: int | str) -> Any:
        """The process group of an axis."""
        return get_comm_group_by_axis(self.mesh, axis)

    def to_dict(self) -> dict[str, Any]:
        """The layout as MindSpore's checkpoints store it; the order of the keys is part of the format.

        ``ValueError`` without a tensor map.
        """
        if self._tensor_map is None:
            raise ValueError("The tensor_map of layout is None")
        return {
            "device_matrix": self._device_shape,
            "tensor_map": self._tensor_map,
            "interleaved_parallel": self._interleaved_parallel,
            "alias_name": self._alias_name,
            "rank_list": self._rank_list,
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        mine = (self._device_shape, self._alias_name, self._rank_list, self._tensor_map, self._partial)
        return mine == (
            other._device_shape,
            other._alias_name,
            other._rank_list,
            other._tensor_map,
            other._partial,
        )

    def __hash__(self) -> int:
        return hash((self._device_shape, self._alias_name, tuple(self._rank_list), self._tensor_map))

    def __repr__(self) -> str:
        return f"Layout({self._device_shape}, {self._alias_name}, tensor_map={self._tensor_map})"


def layout_of(x: DTensor) -> Layout:
    """The layout of a DTensor."""
    made = Layout.from_device_mesh(x.device_mesh)
    made.set_placements(x.placements)
    made.placement_to_tensor_map(x.ndim)
    return made


def layout(x: Any) -> Any:
    """``x.layout`` as hyper_parallel means it for a DTensor; of any other object its own attribute."""
    return layout_of(x) if isinstance(x, DTensor) else x.layout


def get_current_layout(cell: Any) -> dict[str, dict[str, dict[str, Any]]]:
    """For this rank: ``{rank: {parameter name: layout as a dict, with "type" and "full_shape"}}``.

    Parameters that are not distributed have ``type`` and ``full_shape`` only. Source: hyper-parallel
    hyper_parallel/core/checkpoint/layout.py and its use in MindFormers checkpoint/layout_adapter.py.
    """
    mine = str(dist.get_rank()) if dist.is_available() and dist.is_initialized() else "0"
    found: dict[str, dict[str, Any]] = {}
    for name, param in walk.parameters_dict(cell).items():  # an optimizer answers with its states
        entry = layout_of(param).to_dict() if isinstance(param, DTensor) else {}
        # MindSpore's spelling ("Float32"), which checkpoint metadata looks up.
        entry["type"] = str(param.dtype).removeprefix("torch.").capitalize().replace("Bfloat", "BFloat")
        entry["full_shape"] = tuple(param.shape)
        found[name] = entry
    return {mine: found}


def get_global_layout(cell: Any) -> dict[str, dict[str, dict[str, Any]]]:
    """``get_current_layout`` of every rank, gathered (a collective over all ranks)."""
    local = get_current_layout(cell)
    if not (dist.is_available() and dist.is_initialized()):
        return local
    gathered: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, local)
    return {rank: params for part in gathered for rank, params in part.items()}
