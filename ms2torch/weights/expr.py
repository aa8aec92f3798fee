"""What a tensor of the result is made of: a tree of operations over tensors of the source.

Every node knows its shape and dtype before anything is read, so that a plan can be checked whole; ``chunks``
gives the elements in memory order, one part of a stack or of a concatenation on dimension 0 at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch

Shape = tuple[int, ...]


class ShapeError(ValueError):
    """Parts that do not fit together; the text says which numbers disagree."""


class Source(Protocol):
    """Where tensors are read from, whole or one index of dimension 0."""

    def read(self, name: str, index: int | None = None) -> torch.Tensor:
        """The tensor ``name``, or its part ``index`` of dimension 0."""
        ...


class Expr:
    """A tensor to be made: ``shape``, ``dtype`` and how."""

    shape: Shape
    dtype: torch.dtype

    def value(self, source: Source) -> torch.Tensor:
        """The tensor, shape ``self.shape``."""
        raise NotImplementedError

    def at(self, source: Source, index: int) -> torch.Tensor:
        """Part ``index`` of dimension 0, reading no more than it needs where the node can tell."""
        return self.value(source)[index]

    def chunks(self, source: Source) -> Iterator[torch.Tensor]:
        """Tensors whose elements, one after the other, are those of ``value``."""
        yield self.value(source)

    def names(self) -> Iterator[str]:
        """Names of the source that the tensor needs."""
        return iter(())


@dataclass(frozen=True)
class Read(Expr):
    """A tensor of the source as it is."""

    name: str
    shape: Shape
    dtype: torch.dtype

    def value(self, source: Source) -> torch.Tensor:
        return source.read(self.name)

    def at(self, source: Source, index: int) -> torch.Tensor:
        return source.read(self.name, index)

    def names(self) -> Iterator[str]:
        yield self.name


@dataclass(frozen=True)
class Fill(Expr):
    """A tensor that the source does not have: every element ``number``."""

    shape: Shape
    dtype: torch.dtype
    number: float = 0.0

    def value(self, source: Source) -> torch.Tensor:
        return torch.full(self.shape, self.number, dtype=self.dtype)


class _Of(Expr):
    """An operation on one tensor."""

    part: Expr

    def names(self) -> Iterator[str]:
        return self.part.names()


class _OfMany(Expr):
    """An operation on several tensors of one dtype."""

    parts: tuple[Expr, ...]

    def names(self) -> Iterator[str]:
        for part in self.parts:
            yield from part.names()


class Index(_Of):
    """Part ``index`` of dimension 0: the inverse of one part of ``Stack``."""

    def __init__(self, part: Expr, index: int) -> None:
        if not part.shape or not 0 <= index < part.shape[0]:
            raise ShapeError(f"part {index} of shape {list(part.shape)}")
        self.part, self.index = part, index
        self.shape, self.dtype = part.shape[1:], part.dtype

    def value(self, source: Source) -> torch.Tensor:
        return self.part.at(source, self.index)


class Narrow(_Of):
    """``length`` elements of dimension ``dim`` from ``start``."""

    def __init__(self, part: Expr, dim: int, start: int, length: int) -> None:
        if dim >= len(part.shape) or start < 0 or start + length > part.shape[dim]:
            raise ShapeError(f"elements {start} to {start + length} of dimension {dim} of {list(part.shape)}")
        self.part, self.dim, self.start, self.length = part, dim, start, length
        self.shape = (*part.shape[:dim], length, *part.shape[dim + 1 :])
        self.dtype = part.dtype

    def value(self, source: Source) -> torch.Tensor:
        return self.part.value(source).narrow(self.dim, self.start, self.length)


class Transpose(_Of):
    """Two dimensions swapped; its own inverse."""

    def __init__(self, part: Expr, first: int, second: int) -> None:
        if max(first, second) >= len(part.shape):
            raise ShapeError(f"dimensions {first} and {second} of shape {list(part.shape)}")
        self.part, self.first, self.second = part, first, second
        shape = list(part.shape)
        shape[first], shape[second] = shape[second], shape[first]
        self.shape, self.dtype = tuple(shape), part.dtype

    def value(self, source: Source) -> torch.Tensor:
        return self.part.value(source).transpose(self.first, self.second)

    def at(self, source: Source, index: int) -> torch.Tensor:
        if 0 in (self.first, self.second):
            return super().at(source, index)
        return self.part.at(source, index).transpose(self.first - 1, self.second - 1)

    def chunks(self, source: Source) -> Iterator[torch.Tensor]:
        if 0 in (self.first, self.second):
            yield self.value(source)
            return
        for index in range(self.shape[0]):
            yield self.at(source, index)


class Pad(_Of):
    """Zeros at the end of dimension ``dim``, up to ``size``; the inverse is ``Narrow``."""

    def __init__(self, part: Expr, dim: int, size: int) -> None:
        if dim >= len(part.shape) or size < part.shape[dim]:
            raise ShapeError(f"dimension {dim} of {list(part.shape)} cannot be padded to {size}")
        self.part, self.dim = part, dim
        self.more = (*part.shape[:dim], size - part.shape[dim], *part.shape[dim + 1 :])
        self.shape = (*part.shape[:dim], size, *part.shape[dim + 1 :])
        self.dtype = part.dtype

    def value(self, source: Source) -> torch.Tensor:
        return torch.cat([self.part.value(source), torch.zeros(self.more, dtype=self.dtype)], self.dim)

    def chunks(self, source: Source) -> Iterator[torch.Tensor]:
        if self.dim:
            yield self.value(source)
            return
        yield from self.part.chunks(source)
        yield torch.zeros(self.more, dtype=self.dtype)


class Cast(_Of):
    """Another dtype."""

    def __init__(self, part: Expr, dtype: torch.dtype) -> None:
        self.part, self.shape, self.dtype = part, part.shape, dtype

    def value(self, source: Source) -> torch.Tensor:
        return self.part.value(source).to(self.dtype)

    def at(self, source: Source, index: int) -> torch.Tensor:
        return self.part.at(source, index).to(self.dtype)

    def chunks(self, source: Source) -> Iterator[torch.Tensor]:
        for chunk in self.part.chunks(source):
            yield chunk.to(self.dtype)


def _one_dtype(parts: tuple[Expr, ...]) -> torch.dtype:
    kinds = {part.dtype for part in parts}
    if len(kinds) != 1:
        raise ShapeError(f"parts of different types: {', '.join(sorted(str(k) for k in kinds))}")
    return parts[0].dtype


class Concat(_OfMany):
    """Parts one after the other along ``dim``."""

    def __init__(self, parts: tuple[Expr, ...], dim: int) -> None:
        shapes = [part.shape for part in parts]
        if any(dim >= len(s) or s[:dim] + s[dim + 1 :] != _without(shapes[0], dim) for s in shapes):
            raise ShapeError(f"{', '.join(str(list(s)) for s in shapes)} cannot be put together on {dim}")
        self.parts, self.dim, self.dtype = parts, dim, _one_dtype(parts)
        self.shape = (*shapes[0][:dim], sum(s[dim] for s in shapes), *shapes[0][dim + 1 :])

    def value(self, source: Source) -> torch.Tensor:
        return torch.cat([part.value(source) for part in self.parts], self.dim)

    def at(self, source: Source, index: int) -> torch.Tensor:
        if not self.dim:
            return super().at(source, index)
        return torch.cat([part.at(source, index) for part in self.parts], self.dim - 1)

    def chunks(self, source: Source) -> Iterator[torch.Tensor]:
        if self.dim:
            yield self.value(source)
            return
        for part in self.parts:
            yield from part.chunks(source)


class Stack(_OfMany):
    """Parts of one shape along a new dimension 0."""

    def __init__(self, parts: tuple[Expr, ...]) -> None:
        if len({part.shape for part in parts}) != 1:
            raise ShapeError(f"a stack of {', '.join(sorted({str(list(p.shape)) for p in parts}))}")
        self.parts, self.dtype = parts, _one_dtype(parts)
        self.shape = (len(parts), *parts[0].shape)

    def value(self, source: Source) -> torch.Tensor:
        return torch.stack([part.value(source) for part in self.parts])

    def at(self, source: Source, index: int) -> torch.Tensor:
        return self.parts[index].value(source)

    def chunks(self, source: Source) -> Iterator[torch.Tensor]:
        for part in self.parts:
            yield from part.chunks(source)


class Interleave(_OfMany):
    """``groups`` blocks of each part along ``dim``, taken in turn: a0 b0 c0 a1 b1 c1 …"""

    def __init__(self, parts: tuple[Expr, ...], dim: int, groups: int) -> None:
        whole = Concat(parts, dim)
        if groups < 1 or any(part.shape[dim] % groups for part in parts):
            sizes = ", ".join(str(part.shape[dim]) for part in parts)
            raise ShapeError(f"{sizes} of dimension {dim} in {groups} groups")
        self.parts, self.dim, self.groups = parts, dim, groups
        self.shape, self.dtype = whole.shape, whole.dtype

    def value(self, source: Source) -> torch.Tensor:
        split = [_grouped(part.value(source), self.dim, self.groups) for part in self.parts]
        return torch.cat(split, self.dim + 1).flatten(self.dim, self.dim + 1)


class Deinterleave(_Of):
    """Part ``which`` of an ``Interleave`` whose parts have ``sizes`` along ``dim``."""

    def __init__(self, part: Expr, dim: int, groups: int, sizes: tuple[int, ...], which: int) -> None:
        if dim >= len(part.shape) or sum(sizes) != part.shape[dim] or any(s % groups for s in sizes):
            raise ShapeError(
                f"dimension {dim} of {list(part.shape)} does not hold {list(sizes)} in {groups} groups"
            )
        self.part, self.dim, self.groups = part, dim, groups
        self.start = sum(sizes[:which]) // groups
        self.length = sizes[which] // groups
        self.shape = (*part.shape[:dim], sizes[which], *part.shape[dim + 1 :])
        self.dtype = part.dtype

    def value(self, source: Source) -> torch.Tensor:
        split = _grouped(self.part.value(source), self.dim, self.groups)
        return split.narrow(self.dim + 1, self.start, self.length).flatten(self.dim, self.dim + 1)


def _grouped(tensor: torch.Tensor, dim: int, groups: int) -> torch.Tensor:
    """Dimension ``dim`` as two: groups, and what is in one."""
    shape = tensor.shape
    return tensor.reshape(*shape[:dim], groups, shape[dim] // groups, *shape[dim + 1 :])


def _without(shape: Shape, dim: int) -> Shape:
    return shape[:dim] + shape[dim + 1 :]
