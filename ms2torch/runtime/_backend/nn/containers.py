"""CellList, SequentialCell and CellDict: MindSpore 2.10's containers, with its rules for parameter names."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from ..params import param_name
from .module import Module
from .walk import update_parameters_name


def _check(container: Module, cell: Any) -> torch.nn.Module:
    if not isinstance(cell, torch.nn.Module):
        raise TypeError(
            f"each element of {type(container).__name__} must be a cell, but got {type(cell).__name__}"
        )
    return cell


class _Numbered(Module):
    """Children under '0', '1', …"""

    def _prefix(self) -> str:
        """What stands before a child's number in the parameters' names: the place of the container."""
        for key, cell in self._modules.items():
            if cell is None:
                continue
            for path, p in cell.named_parameters():
                tail = f"{key}.{path}"
                name = param_name(p) or tail
                return name[: -len(tail)] if name.endswith(tail) else ""
        return ""

    def _put(self, key: str, cell: Any, prefix: str) -> None:
        if self._auto_prefix:
            update_parameters_name(cell, f"{prefix}{key}.")
        self._modules[key] = cell

    def _index(self, index: Any) -> int:
        if not isinstance(index, int) or isinstance(index, bool):
            raise TypeError(f"{type(self).__name__} takes an int as index, but got {type(index).__name__}")
        size = len(self)
        if not -size <= index < size:
            raise IndexError(f"{type(self).__name__}: index {index} is out of range for {size} cells")
        return index % size

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def append(self, cell: Any) -> Any:
        """Add a cell at the end; returns the container."""
        self._put(str(len(self)), _check(self, cell), self._prefix())
        return self


class CellList(_Numbered):
    """A list of cells. Takes the cells, or one list of them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(kwargs.pop("auto_prefix", True))
        if kwargs:
            raise TypeError(f"CellList takes auto_prefix only, but got {sorted(kwargs)}")
        self.extend(args[0] if len(args) == 1 and not isinstance(args[0], torch.nn.Module) else args)

    def _renumber(self, cells: Iterable[Any]) -> None:
        self._modules = OrderedDict((str(i), c) for i, c in enumerate(cells))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.__class__(list(self)[index])
        return self._modules[str(self._index(index))]

    def __setitem__(self, index: int, cell: Any) -> None:
        key = str(self._index(index))
        self._put(key, _check(self, cell), self._prefix())

    def __delitem__(self, index: Any) -> None:
        cells = list(self)
        del cells[index if isinstance(index, slice) else self._index(index)]
        self._renumber(cells)

    def __iadd__(self, cells: Iterable[Any]) -> CellList:
        return self.extend(cells)

    def __add__(self, cells: Iterable[Any]) -> CellList:
        return CellList([*self, *cells])

    def extend(self, cells: Iterable[Any]) -> CellList:
        """Add all ``cells`` at the end. TypeError for what is no iterable of cells."""
        if not isinstance(cells, Iterable):
            raise TypeError(f"CellList takes a list of cells, but got {type(cells).__name__}")
        prefix = self._prefix()
        for cell in cells:
            self._put(str(len(self)), _check(self, cell), prefix)
        return self

    def insert(self, index: int, cell: Any) -> None:
        """Put a cell before position ``index``; those behind move and are named anew."""
        prefix, cells = self._prefix(), list(self)
        size = len(cells)
        if not isinstance(index, int) or not -size <= index <= size:
            raise IndexError(f"CellList: index {index} is out of range for {size} cells")
        at = index if index >= 0 else index + size
        cells.insert(at, _check(self, cell))
        self._renumber(cells)
        for number, each in enumerate(cells[at:], at):
            self._put(str(number), each, prefix)

    def forward(self, *inputs: Any) -> Any:
        raise NotImplementedError("CellList is a list: call its cells")


class SequentialCell(_Numbered):
    """Cells applied one after the other. Takes cells, one list of them, or one OrderedDict of named cells."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], Mapping):
            for key, cell in args[0].items():
                self._put(key, _check(self, cell), "")
            return
        if len(args) == 1 and isinstance(args[0], list | tuple):
            args = tuple(args[0])
        elif len(args) == 1 and not isinstance(args[0], torch.nn.Module):
            raise TypeError(
                "SequentialCell takes cells, a list of cells or an OrderedDict, "
                f"but got {type(args[0]).__name__}"
            )
        for cell in args:
            self.append(cell)

    def _key(self, index: Any) -> str:
        return list(self._modules)[self._index(index)]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.__class__(OrderedDict(list(self._modules.items())[index]))
        if isinstance(index, str):
            return self._modules[index]
        return self._modules[self._key(index)]

    def __setitem__(self, index: int, cell: Any) -> None:
        self._put(self._key(index), _check(self, cell), self._prefix())

    def __delitem__(self, index: Any) -> None:
        keys = list(self._modules)
        gone = keys[index] if isinstance(index, slice) else [self._key(index)]
        kept = OrderedDict((k, c) for k, c in self._modules.items() if k not in gone)
        if all(k.isdigit() for k in kept):
            kept = OrderedDict((str(i), c) for i, c in enumerate(kept.values()))
        self._modules = kept

    def insert(self, index: int, cell: Any) -> None:
        """Put a cell before position ``index``."""
        prefix, cells = self._prefix(), list(self)
        cells.insert(index, _check(self, cell))
        self._modules = OrderedDict()
        for number, each in enumerate(cells):
            self._put(str(number), each, prefix)

    def forward(self, input_data: Any) -> Any:
        """Each cell's output is the next one's input."""
        for cell in self._modules.values():
            input_data = cell(input_data)  # type: ignore[misc]
        return input_data


class CellDict(Module):
    """Cells under names. Takes a dict, a CellDict or pairs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(kwargs.pop("auto_prefix", True))
        if kwargs or len(args) > 1:
            raise TypeError("CellDict takes one dict, CellDict or list of pairs, and auto_prefix")
        if args:
            self.update(args[0])

    def update(self, cells: Any) -> None:
        """Add the cells of a dict, a CellDict or pairs; a name in use is replaced."""
        pairs = cells.items() if isinstance(cells, CellDict | Mapping) else cells
        for key, cell in pairs:
            self[key] = cell

    def __setitem__(self, key: str, cell: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"CellDict takes str keys, but got {type(key).__name__}")
        _check(self, cell)
        if self._auto_prefix:
            update_parameters_name(cell, key + ".")
        self._modules[key] = cell

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def values(self) -> Any:
        """The cells."""
        return self._modules.values()

    def items(self) -> Any:
        """(name, cell) pairs."""
        return self._modules.items()

    def pop(self, key: str) -> Any:
        """Remove a cell and return it."""
        return self._modules.pop(key)

    def clear(self) -> None:
        """Remove all."""
        self._modules.clear()

    def forward(self, *inputs: Any) -> Any:
        raise NotImplementedError("CellDict is a dict: call its cells")
