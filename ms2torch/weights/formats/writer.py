"""Writers: the header is known from the plan, so that tensors go straight to the file, one at a time."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch

from ms2torch.errors import UserError
from ms2torch.weights.expr import Expr, Source
from ms2torch.weights.formats import ckpt
from ms2torch.weights.formats.source import _SHORT

_NAMES = {dtype: name for name, dtype in _SHORT.items()}


def size_of(made: Expr) -> int:
    """Bytes of a tensor."""
    return math.prod(made.shape) * made.dtype.itemsize


def _pieces(made: Expr, source: Source) -> Iterator[memoryview]:
    for chunk in made.chunks(source):
        if chunk.numel():
            flat = chunk.detach().contiguous().reshape(-1).view(torch.uint8)
            yield flat.numpy().data


def write_safetensors(path: Path, tensors: Mapping[str, Expr], source: Source, kind: str = "pt") -> None:
    """One `.safetensors` file. UserError for a dtype that the format cannot hold."""
    header: dict[str, object] = {"__metadata__": {"format": kind}}
    at = 0
    # Wider elements first: every tensor then starts at a multiple of its element size.
    order = sorted(tensors, key=lambda name: -tensors[name].dtype.itemsize)
    for name in order:
        made = tensors[name]
        if made.dtype not in _NAMES:
            raise UserError(f"a .safetensors file cannot hold {name} of type {made.dtype}")
        end = at + size_of(made)
        header[name] = {"dtype": _NAMES[made.dtype], "shape": list(made.shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as handle:
        handle.write(struct.pack("<Q", len(text)) + text)
        for name in order:
            for piece in _pieces(tensors[name], source):
                handle.write(piece)
        if handle.tell() != 8 + len(text) + at:
            raise RuntimeError(f"{path.name} has {handle.tell()} bytes instead of {8 + len(text) + at}")


def write_shards(folder: Path, tensors: Mapping[str, Expr], source: Source, limit: int) -> None:
    """Hugging Face's `model.safetensors`, or shards of at most ``limit`` bytes (one tensor may be larger)
    with their index."""
    shards: list[dict[str, Expr]] = [{}]
    held = 0
    for name, made in tensors.items():
        if shards[-1] and held + size_of(made) > limit:
            shards.append({})
            held = 0
        shards[-1][name] = made
        held += size_of(made)
    if len(shards) == 1:
        write_safetensors(folder / "model.safetensors", shards[0], source)
        return
    where: dict[str, str] = {}
    for number, shard in enumerate(shards, 1):
        file = f"model-{number:05d}-of-{len(shards):05d}.safetensors"
        write_safetensors(folder / file, shard, source)
        where.update(dict.fromkeys(shard, file))
    total = sum(size_of(made) for made in tensors.values())
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(where.items()))}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")


def write_ckpt(path: Path, tensors: Mapping[str, Expr], source: Source) -> None:
    """MindSpore's `.ckpt`."""
    with path.open("wb") as handle:
        for name, made in tensors.items():
            ckpt.write_entry(handle, name, made.shape, made.dtype, _pieces(made, source))
