"""Checkpoints that several ranks wrote, as if one had: tensors are put together when they are read."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ms2torch.errors import UserError
from ms2torch.weights.expr import Shape
from ms2torch.weights.formats.source import Checkpoint, Files, TorchFile, open_file
from ms2torch.weights.plan import Info

_ENDINGS = (".safetensors", ".ckpt", ".pt", ".pth", ".bin")


def latest(path: Path) -> Path:
    """The iteration that a training run's checkpoint directory calls its latest, else ``path`` itself."""
    tracker = path / "latest_checkpointed_iteration.txt"
    if not tracker.is_file():
        return path
    number = tracker.read_text(encoding="utf-8").strip()
    names = [f"iteration_{number:0>8}", f"iter_{number:0>7}", number]
    found = next((path / name for name in names if (path / name).is_dir()), None)
    if found is None:
        raise UserError(f"{tracker} says {number!r}, but {path / names[0]} does not exist")
    return found


def folders(path: Path, prefix: str) -> list[Path]:
    """The folders `<prefix><numbers>` of ``path`` in the order of their numbers."""
    numbered = re.compile(re.escape(prefix) + r"(\d+(?:_\d+)*)$")
    found = []
    for folder in path.iterdir():
        match = numbered.match(folder.name)
        if match and folder.is_dir():
            found.append((tuple(int(part) for part in match[1].split("_")), folder))
    return [folder for _, folder in sorted(found)]


class PortRanks(Checkpoint):
    """The port's directory with `metadata.json`, which says where each part of each tensor lies."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._parts: dict[str, list[tuple[Shape, Path]]] = {}
        self._open: tuple[Path, Checkpoint] | None = None
        try:
            data = json.loads((path / "metadata.json").read_text(encoding="utf-8"))
            where = {ast.literal_eval(key): found for key, found in data["storage_data"].items()}
            for name, told in data["state_dict_metadata"].items():
                self._add(path, name, told, where)
        except (ValueError, KeyError, TypeError, SyntaxError) as error:
            raise UserError(f"{path / 'metadata.json'} is not as MindFormers writes it: {error}") from error

    def _add(self, path: Path, name: str, told: dict[str, Any], where: dict[Any, Any]) -> None:
        parts = []
        for chunk in told["chunk"]:
            offset = tuple(chunk["global_offset"])
            named = next(
                (found["file_name"] for found in where[name, offset] if "-opt-" not in found["file_name"]), ""
            )
            if not named:
                return  # the state of the optimizer
            file = path / named if named.endswith(".safetensors") else path / f"{named}.safetensors"
            if not file.is_file():
                raise UserError(f"{path / 'metadata.json'} names {file.name}, which is not there")
            parts.append((offset, file))
        first = self._opened(parts[0][1]).infos[name]
        self._parts[name] = parts
        self.infos[name] = Info(tuple(told["global_shape"]), first.dtype)

    def _opened(self, path: Path) -> Checkpoint:
        if self._open is None or self._open[0] != path:
            self._open = None
            self._open = path, open_file(path)
        return self._open[1]

    def read(self, name: str, index: int | None = None) -> torch.Tensor:
        """The tensor ``name``, or its part ``index`` of dimension 0."""
        parts, info = self._parts[name], self.infos[name]
        if len(parts) == 1 and self._opened(parts[0][1]).infos[name].shape == info.shape:
            return self._opened(parts[0][1]).read(name, index)
        whole = torch.empty(info.shape, dtype=info.dtype)
        filled = 0
        for offset, path in parts:
            part = self._opened(path).read(name)
            offset = offset if len(offset) == part.dim() else (0,) * part.dim()
            window = whole
            for dim, (start, length) in enumerate(zip(offset, part.shape, strict=True)):
                window = window.narrow(dim, start, length)
            window.copy_(part)
            filled += part.numel()
        if filled != whole.numel():
            raise UserError(f"the parts of {name} hold {filled} of {whole.numel()} elements")
        return whole if index is None else whole[index]


class MindSporeRanks(Checkpoint):
    """MindSpore's `rank_N` folders. A tensor's whole shape is not in them: ``fit`` is told it and puts slices
    of consecutive ranks together; further ranks must repeat them, which is checked when they are read."""

    def __init__(self, found: Sequence[Path]) -> None:
        super().__init__()
        self._ranks = [Files([_one(folder)]) for folder in found]
        self._names = [folder.name for folder in found]
        self._holders: dict[str, list[int]] = {}
        self._split: dict[str, tuple[int, int]] = {}  # dimension, number of slices
        for rank, files in enumerate(self._ranks):
            for name, info in files.infos.items():
                known = self.infos.setdefault(name, info)
                if known != info:
                    raise UserError(
                        f"{name} is {list(known.shape)} in one and {list(info.shape)} in another rank folder"
                    )
                self._holders.setdefault(name, []).append(rank)

    def fit(self, name: str, shape: Shape) -> None:
        """Take ``name`` as slices of a tensor of ``shape``; nothing changes where they cannot be that."""
        there = self.infos[name]
        differ = [d for d, (a, b) in enumerate(zip(there.shape, shape, strict=False)) if a != b]
        if len(there.shape) != len(shape) or len(differ) != 1 or not there.shape[differ[0]]:
            return
        dim = differ[0]
        count, rest = divmod(shape[dim], there.shape[dim])
        holders = len(self._holders[name])
        if rest or count < 2 or holders % count:
            return
        self._split[name] = dim, count
        self.infos[name] = Info(shape, there.dtype)

    def read(self, name: str, index: int | None = None) -> torch.Tensor:
        """The tensor ``name``, or its part ``index`` of dimension 0. UserError where ranks that should hold
        the same slice differ."""
        holders = self._holders[name]
        dim, count = self._split.get(name, (0, 1))
        slices = [self._ranks[rank].read(name) for rank in holders[:count]]
        for place, rank in enumerate(holders[count:], count):
            if not same(slices[place % count], self._ranks[rank].read(name)):
                raise UserError(
                    f"{name} differs between {self._names[holders[place % count]]} and {self._names[rank]}: "
                    "it is split in another way than over consecutive ranks; merge it with MindSpore first"
                )
        whole = slices[0] if count == 1 else torch.cat(slices, dim)
        return whole if index is None else whole[index]


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors have the same bytes."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    flat = (t.contiguous().reshape(-1).view(torch.uint8) for t in (a, b))
    return torch.equal(*flat)


def _one(folder: Path) -> Path:
    for ending in _ENDINGS:
        files = sorted(folder.glob(f"*{ending}"))
        if len(files) == 1:
            return files[0]
        if files:
            raise UserError(f"{folder} holds {len(files)} {ending} files; keep the one to read")
    raise UserError(f"{folder} holds no checkpoint file")


@dataclass(frozen=True)
class _Part:
    file: Path
    name: str


# What tensor parallelism splits, and along which dimension. Everything else is the same on all ranks.
_COLUMN = re.compile(
    r"(word_embeddings|output_layer|linear_qkv|linear_qb|linear_q_up_proj|linear_q_proj|linear_kvb|"
    r"linear_kv_up_proj)\.(weight|bias)$"
)
_GATED = re.compile(r"linear_fc1\.(weight|bias)$")
_ROW = re.compile(r"(linear_proj|linear_fc2)\.weight$")
_LAYER = re.compile(r"(^|.*\.)decoder\.layers\.(\d+)\.(.*)$")
_EXPERT = re.compile(r"(.*local_experts\.)(\d+)(\..*)$")


class Megatron(Checkpoint):
    """Megatron's and MindSpeed's `mp_rank_TT[_PPP[_EEE]]` folders. Layers are numbered over the pipeline,
    experts over the expert ranks; the halves of a gated projection are put together half by half."""

    def __init__(self, found: Sequence[Path]) -> None:
        super().__init__()
        self.megatron = True
        self._open: tuple[Path, Checkpoint] | None = None
        self._parts: dict[str, list[_Part]] = {}
        grid = {tuple(int(n) for n in folder.name.split("_")[2:]): folder for folder in found}
        depth = {len(place) for place in grid}
        if len(depth) != 1:
            raise UserError(f"{found[0].parent} mixes mp_rank folders of several kinds")
        padded = {(*place, 0, 0)[:3]: folder for place, folder in grid.items()}
        tensor, pipe, expert = (sorted({place[d] for place in padded}) for d in range(3))
        gone = [(t, p, e) for t in tensor for p in pipe for e in expert if (t, p, e) not in padded]
        if gone:
            raise UserError(f"{found[0].parent} lacks the folder of tensor, pipeline, expert rank {gone[0]}")
        layers = 0
        for p in pipe:
            layers = self._stage(padded, tensor, p, expert, layers)

    def _stage(self, grid: dict[Any, Path], tensor: list[int], p: int, expert: list[int], layers: int) -> int:
        count = 0
        for e in expert:
            files = [_one(grid[t, p, e]) for t in tensor]
            names = [self._opened(file).infos for file in files]
            experts = 1 + max((int(m[2]) for name in names[0] if (m := _EXPERT.match(name))), default=-1)
            for name, info in names[0].items():
                made = name
                if match := _LAYER.match(name):
                    count = max(count, int(match[2]) + 1)
                    made = f"{match[1]}decoder.layers.{int(match[2]) + layers}.{match[3]}"
                local = _EXPERT.match(made)
                if local:
                    made = f"{local[1]}{int(local[2]) + e * experts}{local[3]}"
                elif e:
                    continue
                self._parts[made] = [_Part(file, name) for file in files]
                shape = list(info.shape)
                dim = _dim(name, info.shape)
                if dim is not None:
                    shape[dim] *= len(files)
                self.infos[made] = Info(tuple(shape), info.dtype)
        return layers + count

    def _opened(self, path: Path) -> Checkpoint:
        if self._open is None or self._open[0] != path:
            self._open = None
            self._open = path, TorchFile(path)
        return self._open[1]

    def read(self, name: str, index: int | None = None) -> torch.Tensor:
        """The tensor ``name``, or its part ``index`` of dimension 0."""
        parts = self._parts[name]
        read: Callable[[_Part], torch.Tensor] = lambda part: self._opened(part.file).read(part.name)  # noqa: E731
        dim = _dim(parts[0].name, self.infos[name].shape)
        if dim is None or len(parts) == 1:
            whole = read(parts[0])
        elif _GATED.search(name):
            halves = [read(part).chunk(2) for part in parts]
            whole = torch.cat([half[0] for half in halves] + [half[1] for half in halves])
        else:
            whole = torch.cat([read(part) for part in parts], dim)
        return whole if index is None else whole[index]


def _dim(name: str, shape: Shape) -> int | None:
    if "q_layernorm" in name or "k_layernorm" in name:
        return None
    if _COLUMN.search(name) or _GATED.search(name):
        return 0
    return 1 if _ROW.search(name) and len(shape) == 2 else None
