"""The two file formats of MindSpore's checkpoints, read and written without MindSpore.

`.ckpt` is a protobuf message: repeated (tag, dims, type name, bytes), large tensors in slices under one
tag, and at the end a checksum if asked for. `.safetensors` is a JSON header and one block of bytes.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch

# MindSpore's type name, safetensors' type name
_TYPES: dict[torch.dtype, tuple[str, str]] = {
    torch.float32: ("Float32", "F32"),
    torch.float16: ("Float16", "F16"),
    torch.bfloat16: ("BFloat16", "BF16"),
    torch.float64: ("Float64", "F64"),
    torch.int8: ("Int8", "I8"),
    torch.int16: ("Int16", "I16"),
    torch.int32: ("Int32", "I32"),
    torch.int64: ("Int64", "I64"),
    torch.uint8: ("UInt8", "U8"),
    torch.bool: ("Bool", "BOOL"),
}
_BY_NAME = {names[0].lower(): dtype for dtype, names in _TYPES.items()}
_BY_SHORT = {names[1]: dtype for dtype, names in _TYPES.items()}
_SLICE = 512 * 1024 * 1024
_CRC = b"crc_num"
_CRC_TAIL = len(_CRC) + 10


def raw_bytes(tensor: torch.Tensor) -> bytes:
    """The elements of a tensor in memory order, little-endian."""
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""


def _from_bytes(data: bytes, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    if not data:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape)


def _varint(value: int) -> bytes:
    out = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _entry(tag: str, dims: tuple[int, ...], kind: str, content: bytes) -> bytes:
    tensor = b"".join(b"\x08" + _varint(d) for d in dims) + _field(2, kind.encode()) + _field(3, content)
    return _field(1, _field(1, tag.encode()) + _field(2, tensor))


def write_ckpt(path: str, values: Mapping[str, Any], crc_check: bool = False) -> None:
    """Write tensors (and strings) as MindSpore's `.ckpt`; TypeError names a value of another kind."""
    total = 0
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "wb") as handle:
        for tag, value in values.items():
            if isinstance(value, str):
                chunks = [_entry(tag, (0,), "str", value.encode("utf-32-le"))]
            elif isinstance(value, torch.Tensor) and value.dtype in _TYPES:
                data, kind = raw_bytes(value), _TYPES[value.dtype][0]
                shape = tuple(value.shape)
                chunks = [
                    _entry(tag, shape, kind, data[i : i + _SLICE])
                    for i in range(0, max(len(data), 1), _SLICE)
                ]
            else:
                what = value.dtype if isinstance(value, torch.Tensor) else type(value).__name__
                raise TypeError(f"a .ckpt file cannot hold {tag!r} of type {what}")
            for chunk in chunks:
                handle.write(chunk)
                total = zlib.crc32(chunk, total)
        if crc_check:
            handle.write(_CRC + total.to_bytes(10, "big"))
    os.replace(temporary, path)


def _read_varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise ValueError("the file ends inside a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, at
        shift += 7


def _fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _read_varint(data, at)
            yield number, value
        elif wire == 2:
            size, at = _read_varint(data, at)
            if at + size > len(data):
                raise ValueError("the file ends inside a value")
            yield number, data[at : at + size]
            at += size
        else:
            raise ValueError(f"unknown field {number} of wire type {wire}")


def _dims(tensor: memoryview) -> tuple[list[int], str, bytes]:
    dims: list[int] = []
    kind, content = "", b""
    for number, value in _fields(tensor):
        if number == 1 and isinstance(value, int):
            dims.append(value)
        elif number == 1:
            at = 0
            while at < len(value):
                one, at = _read_varint(value, at)
                dims.append(one)
        elif number == 2:
            kind = bytes(value).decode()
        elif number == 3:
            content = bytes(value)
    return dims, kind, content


def read_ckpt(path: str, crc_check: bool = False) -> dict[str, Any]:
    """Tensors (and strings) of MindSpore's `.ckpt`. ValueError for a file that is none, or whose checksum
    is wrong."""
    with open(path, "rb") as handle:
        data = handle.read()
    body, tail = data, data[-_CRC_TAIL:]
    if tail.startswith(_CRC) and len(tail) == _CRC_TAIL:
        body = data[:-_CRC_TAIL]
        if crc_check and zlib.crc32(body) != int.from_bytes(tail[len(_CRC) :], "big"):
            raise ValueError(f"the checksum of {path!r} is wrong: the file was changed or cut")
    found: dict[str, tuple[list[int], str, list[bytes]]] = {}
    try:
        for number, value in _fields(memoryview(body)):
            if number != 1:
                raise ValueError(f"unknown field {number}")
            parts = dict(_fields(value))
            if 2 not in parts:
                raise ValueError("a value that is no tensor")
            dims, kind, content = _dims(parts[2])
            found.setdefault(bytes(parts[1]).decode(), (dims, kind, []))[2].append(content)
        return {tag: _value(tag, *parts) for tag, parts in found.items()}
    except (KeyError, TypeError, UnicodeDecodeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{path!r} is no MindSpore checkpoint: {error}") from error


def _value(tag: str, dims: list[int], kind: str, content: list[bytes]) -> Any:
    data = b"".join(content)
    if kind == "str":
        return data.decode("utf-32-le")
    dtype = _BY_NAME.get(kind.lower())
    if dtype is None:
        raise ValueError(f"{tag!r} has the unknown type {kind!r}")
    # Older files write a scalar with one dimension of length 0.
    shape = () if dims == [0] and data else tuple(dims)
    return _from_bytes(data, dtype, shape)


def write_safetensors(path: str, values: Mapping[str, Any]) -> None:
    """Write tensors as `.safetensors`; TypeError names a value of another kind."""
    header: dict[str, Any] = {"__metadata__": {"format": "ms"}}
    at = 0
    for tag, value in values.items():
        if not isinstance(value, torch.Tensor) or value.dtype not in _TYPES:
            what = value.dtype if isinstance(value, torch.Tensor) else type(value).__name__
            raise TypeError(f"a .safetensors file cannot hold {tag!r} of type {what}")
        size = value.numel() * value.element_size()
        header[tag] = {
            "dtype": _TYPES[value.dtype][1],
            "shape": list(value.shape),
            "data_offsets": [at, at + size],
        }
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "wb") as handle:
        handle.write(struct.pack("<Q", len(text)) + text)
        for value in values.values():
            handle.write(raw_bytes(value))
    os.replace(temporary, path)


def read_safetensors(path: str, wanted: Any = None) -> dict[str, torch.Tensor]:
    """Tensors of a `.safetensors` file, those whose name ``wanted`` accepts. ValueError for a file that is
    none."""
    with open(path, "rb") as handle:
        try:
            (size,) = struct.unpack("<Q", handle.read(8))
            if size > os.path.getsize(path):
                raise ValueError("the header is longer than the file")
            header = json.loads(handle.read(size))
        except (struct.error, ValueError) as error:
            raise ValueError(f"{path!r} is no safetensors file: {error}") from error
        found = {}
        for tag, entry in header.items():
            if tag == "__metadata__" or (wanted is not None and not wanted(tag)):
                continue
            dtype = _BY_SHORT.get(entry["dtype"])
            if dtype is None:
                raise ValueError(f"{tag!r} in {path!r} has the unknown type {entry['dtype']!r}")
            start, end = entry["data_offsets"]
            handle.seek(8 + size + start)
            data = handle.read(end - start)
            if len(data) != end - start:
                raise ValueError(f"{path!r} ends inside {tag!r}")
            found[tag] = _from_bytes(data, dtype, tuple(entry["shape"]))
        return found
