"""MindSpore's `.ckpt`, read in place and written tensor by tensor: protobuf without MindSpore or protobuf.

The runtime's own reader and writer (`_backend/checkpoint_files.py`) holds the format's constants and its
numbers; it takes whole files, this one takes what is larger than memory.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import torch

from ms2torch.errors import UserError
from ms2torch.runtime._backend import checkpoint_files as files


@dataclass
class _Entry:
    shape: tuple[int, ...]
    dtype: torch.dtype | None
    parts: list[tuple[int, int]] = field(default_factory=list)  # where in the file, and how many bytes


class CkptIndex:
    """Where each tensor of a `.ckpt` lies. UserError for a file that is none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries: dict[str, _Entry] = {}
        size = path.stat().st_size
        if not size:
            return
        with path.open("rb") as handle:
            self._map = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
        tail = self._map[-files._CRC_TAIL :]
        end = size - files._CRC_TAIL if tail.startswith(files._CRC) else size
        view = memoryview(self._map)
        try:
            self._scan(view, end)
        except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
            raise UserError(f"{path} is no MindSpore checkpoint: {error}") from error
        finally:
            view.release()

    def _scan(self, view: memoryview, end: int) -> None:
        for number, start, stop in _spans(view, 0, end):
            if number != 1:
                raise ValueError(f"unknown field {number}")
            parts = {n: (a, b) for n, a, b in _spans(view, start, stop)}
            tag = bytes(view[slice(*parts[1])]).decode()
            dims, kind, content = _tensor(view, *parts[2])
            if tag not in self.entries:
                dtype = None if kind == "str" else files._BY_NAME.get(kind.lower())
                if dtype is None and kind != "str":
                    raise ValueError(f"{tag!r} has the unknown type {kind!r}")
                # Older files write a scalar with one dimension of length 0.
                scalar = dims == [0] and content[1] > content[0]
                self.entries[tag] = _Entry(() if scalar else tuple(dims), dtype)
            self.entries[tag].parts.append(content)
        for tag, entry in self.entries.items():
            held = sum(stop - start for start, stop in entry.parts)
            if entry.dtype is not None and held != math.prod(entry.shape) * entry.dtype.itemsize:
                raise ValueError(f"{tag!r} has {held} bytes for the shape {list(entry.shape)}")

    def read(self, name: str, index: int | None = None) -> torch.Tensor:
        """The tensor ``name``, or its part ``index`` of dimension 0."""
        entry = self.entries[name]
        assert entry.dtype is not None
        shape = entry.shape if index is None else entry.shape[1:]
        size = math.prod(shape) * entry.dtype.itemsize
        if not size:
            return torch.empty(shape, dtype=entry.dtype)
        skip = 0 if index is None else index * size
        data = bytearray(size)
        at = 0
        for start, stop in entry.parts:
            length = stop - start
            if skip >= length:
                skip -= length
                continue
            take = min(length - skip, size - at)
            data[at : at + take] = self._map[start + skip : start + skip + take]
            at, skip = at + take, 0
            if at == size:
                break
        return torch.frombuffer(data, dtype=entry.dtype).reshape(shape)


def _spans(view: memoryview, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Each field with where its value starts and stops; a number's value is what stands for ``start``."""
    while at < end:
        key, at = files._read_varint(view, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = files._read_varint(view, at)
            yield number, value, -1
        elif wire == 2:
            size, at = files._read_varint(view, at)
            if at + size > end:
                raise ValueError("the file ends inside a value")
            yield number, at, at + size
            at += size
        else:
            raise ValueError(f"unknown field {number} of wire type {wire}")


def _tensor(view: memoryview, start: int, stop: int) -> tuple[list[int], str, tuple[int, int]]:
    dims: list[int] = []
    kind, content = "", (0, 0)
    for number, a, b in _spans(view, start, stop):
        if number == 1 and b < 0:
            dims.append(a)
        elif number == 1:
            while a < b:
                one, a = files._read_varint(view, a)
                dims.append(one)
        elif number == 2:
            kind = bytes(view[a:b]).decode()
        elif number == 3:
            content = (a, b)
    return dims, kind, content


def write_entry(
    handle: IO[bytes], tag: str, shape: tuple[int, ...], dtype: torch.dtype, chunks: Iterable[memoryview]
) -> None:
    """One tensor whose elements ``chunks`` gives in memory order, in slices of MindSpore's size.

    UserError for a dtype that the format has no name for.
    """
    if dtype not in files._TYPES:
        raise UserError(f"a .ckpt file cannot hold {tag} of type {dtype}")
    left = math.prod(shape) * dtype.itemsize
    dims = b"".join(b"\x08" + files._varint(d) for d in shape)
    pieces = iter(chunks)
    rest = memoryview(b"")
    first = True
    while left or first:
        first = False
        size = min(left, files._SLICE)
        inner = dims + files._field(2, files._TYPES[dtype][0].encode())
        head = b"\x1a" + files._varint(size)
        value = files._field(1, tag.encode())
        length = len(inner) + len(head) + size
        value += b"\x12" + files._varint(length)
        handle.write(b"\x0a" + files._varint(len(value) + length) + value + inner + head)
        left -= size
        while size:
            if not rest:
                rest = next(pieces)
                continue
            take = min(size, len(rest))
            handle.write(rest[:take])
            rest, size = rest[take:], size - take
