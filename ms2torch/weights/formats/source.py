"""What every source of tensors has in common, and the sources that are files of tensors."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from ms2torch.errors import UserError
from ms2torch.weights.formats import ckpt
from ms2torch.weights.plan import Info

_SHORT = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
}
# Where programs put the tensors inside of what they pickle.
_NESTED = ("state_dict", "model_state_dict", "model", "module", "network", "weights")


class Checkpoint:
    """Tensors by name: ``infos`` first, each one read when it is asked for."""

    def __init__(self) -> None:
        self.infos: dict[str, Info] = {}
        self.megatron = False

    def read(self, name: str, index: int | None = None) -> torch.Tensor:
        """The tensor ``name``, or its part ``index`` of dimension 0."""
        raise NotImplementedError


class Files(Checkpoint):
    """Tensors in one or several files. One file is open at a time, so that no more than one is in memory."""

    def __init__(self, files: Iterable[Path]) -> None:
        super().__init__()
        self._file: dict[str, Path] = {}
        self._open: tuple[Path, Any] | None = None
        for path in files:
            for name, info in self._opened(path).infos.items():
                if name in self._file:
                    raise UserError(f"{name} is in {self._file[name].name} and again in {path.name}")
                self._file[name] = path
                self.infos[name] = info

    def read(self, name: str, index: int | None = None) -> torch.Tensor:
        """The tensor ``name``, or its part ``index`` of dimension 0."""
        tensor: torch.Tensor = self._opened(self._file[name]).read(name, index)
        return tensor

    def _opened(self, path: Path) -> Any:
        if self._open is None or self._open[0] != path:
            self._open = None
            self._open = path, open_file(path)
        return self._open[1]


def open_file(path: Path) -> Checkpoint:
    """One file of tensors by its ending. UserError for one that is missing, broken or of another kind."""
    try:
        if path.suffix == ".safetensors":
            return SafetensorsFile(path)
        if path.suffix == ".ckpt":
            return CkptFile(path)
        if path.suffix in (".bin", ".pth", ".pt"):
            return TorchFile(path)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    raise UserError(f"{path} is no checkpoint: .safetensors, .bin, .pt, .pth and .ckpt are read")


class SafetensorsFile(Checkpoint):
    """A `.safetensors` file, of Hugging Face or of MindSpore."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        try:
            opener: Any = safe_open  # the library's stub has no types
            self._handle = opener(os.fspath(path), framework="pt")
            names: list[str] = self._handle.keys()
            for name in names:
                part = self._handle.get_slice(name)
                kind = part.get_dtype()
                if kind not in _SHORT:
                    raise UserError(f"{name} in {path} has the type {kind}, which is not supported")
                self.infos[name] = Info(tuple(part.get_shape()), _SHORT[kind])
        except SafetensorError as error:
            raise UserError(f"{path} is no safetensors file: {error}") from error

    def read(self, name: str, index: int | None = None) -> torch.Tensor:
        """The tensor ``name``, or its part ``index`` of dimension 0."""
        tensor: torch.Tensor = (
            self._handle.get_tensor(name)
            if index is None
            else self._handle.get_slice(name)[index : index + 1][0]
        )
        return tensor


class _Loaded(Checkpoint):
    def __init__(self, tensors: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        self._tensors = tensors
        self.infos = {name: Info(tuple(t.shape), t.dtype) for name, t in tensors.items()}

    def read(self, name: str, index: int | None = None) -> torch.Tensor:
        """The tensor ``name``, or its part ``index`` of dimension 0."""
        tensor = self._tensors[name]
        return tensor if index is None else tensor[index]


class TorchFile(_Loaded):
    """A `.bin`, `.pt` or `.pth` of torch, read with `weights_only`: nothing in it is run."""

    def __init__(self, path: Path) -> None:
        super().__init__(_tensors(load_pickle(path), str(path)))


def load_pickle(path: Path) -> Any:
    """What `torch.save` put into ``path``: tensors, containers, numbers and `argparse.Namespace` only."""
    import argparse

    kept: list[Any] = [argparse.Namespace]  # Megatron's files carry their arguments in one
    try:
        with torch.serialization.safe_globals(kept):
            try:
                return torch.load(path, map_location="cpu", weights_only=True, mmap=True)
            except (RuntimeError, ValueError):  # the older format cannot be mapped
                return torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:
        # torch raises UnpicklingError, RuntimeError, EOFError and more for files that are none
        reason = str(error).strip().split("\n")[0]
        raise UserError(f"{path} cannot be read with weights_only: {reason}") from error


def _tensors(data: Any, where: str) -> dict[str, torch.Tensor]:
    for _ in range(4):
        if not isinstance(data, Mapping):
            break
        found = {str(name): value for name, value in data.items() if isinstance(value, torch.Tensor)}
        inner = next((data[key] for key in _NESTED if isinstance(data.get(key), Mapping)), None)
        if found and inner is None:
            return found
        if inner is None:
            break
        data = inner
    raise UserError(f"{where} holds no tensors by name")


class CkptFile(Checkpoint):
    """MindSpore's `.ckpt`."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = ckpt.CkptIndex(path)
        self.infos = {
            name: Info(entry.shape, entry.dtype)
            for name, entry in self._file.entries.items()
            if entry.dtype is not None
        }

    def read(self, name: str, index: int | None = None) -> torch.Tensor:
        """The tensor ``name``, or its part ``index`` of dimension 0."""
        return self._file.read(name, index)


def from_index(path: Path) -> list[Path]:
    """The files that a `…index.json` names. UserError for a broken index or a file that is not there."""
    try:
        named = json.loads(path.read_text(encoding="utf-8"))["weight_map"]
        files = sorted({path.parent / name for name in named.values()})
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise UserError(f"{path} is no index of a checkpoint: {error}") from error
    gone = [file.name for file in files if not file.is_file()]
    if gone:
        raise UserError(f"{path} names files that are not there: {', '.join(gone)}")
    return files
