"""Operations of a dataset that look into rows: batch, map, filter, zip, concat, rename, project."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .pipeline import (
    Array,
    BatchInfo,
    Dataset,
    Epoch,
    Reader,
    Row,
    _names,
    _pick,
    _replaced,
    _replaced_names,
    to_array,
)


class _MappedReader(Reader):
    """One row in, one row out: skipping is the child's to do."""

    def __init__(self, child: Reader, function: Callable[[Row], Row]) -> None:
        self.child, self.function = child, function

    def rows(self, skip: int = 0) -> Iterator[Row]:
        return map(self.function, self.child.rows(skip))

    def pass_over(self) -> None:
        self.child.pass_over()


def _stack(values: Any, column: str) -> Array:
    """Arrays of one column as one array; an array is taken as it is."""
    if isinstance(values, np.ndarray):
        return to_array(values)
    arrays = [to_array(value) for value in values]
    for array in arrays:
        if array.shape != arrays[0].shape:
            raise RuntimeError(
                f"Cannot batch tensors with different shapes in column {column}: "
                f"{arrays[0].shape} and {array.shape}."
            )
        if array.dtype != arrays[0].dtype and array.dtype.kind not in "US":
            raise RuntimeError(
                f"Cannot batch tensors with different types in column {column}: "
                f"{arrays[0].dtype} and {array.dtype}."
            )
    return np.stack(arrays)


class _BatchReader(Reader):
    def __init__(self, node: BatchDataset, epoch: Epoch) -> None:
        self.node, self.epoch = node, epoch
        self.child = node.children[0].open(epoch)

    def rows(self, skip: int = 0) -> Iterator[Row]:
        size = self.node.batch_size
        if callable(size):
            yield from itertools.islice(self._batches(self.child.rows(), 0), skip, None)
        else:
            yield from self._batches(self.child.rows(skip * size), skip)

    def pass_over(self) -> None:
        self.child.pass_over()

    def _batches(self, rows: Iterator[Row], number: int) -> Iterator[Row]:
        while True:
            info = BatchInfo(self.epoch.number, number)
            size = self.node.size_of(info)
            taken = list(itertools.islice(rows, size))
            if not taken or (self.node.drop_remainder and len(taken) < size):
                return
            yield self.node.made(taken, info)
            number += 1


class BatchDataset(Dataset):
    def __init__(
        self,
        child: Dataset,
        batch_size: int | Callable[[BatchInfo], int],
        drop_remainder: bool,
        per_batch_map: Callable[..., Any] | None,
        input_columns: str | Sequence[str] | None,
        output_columns: str | Sequence[str] | None,
    ) -> None:
        super().__init__([child])
        if isinstance(batch_size, bool) or not (isinstance(batch_size, int) or callable(batch_size)):
            raise TypeError("batch_size should either be an int or a callable.")
        if isinstance(batch_size, int) and not 1 <= batch_size <= 2147483647:
            raise ValueError("Input batch_size is not within the required interval of [1, 2147483647].")
        if not isinstance(drop_remainder, bool):
            raise TypeError(f"Argument drop_remainder with value {drop_remainder} is not of type bool.")
        if per_batch_map is not None and not callable(per_batch_map):
            raise TypeError("per_batch_map should be a callable.")
        if per_batch_map is None and (input_columns or output_columns):
            raise ValueError("input_columns and output_columns are for per_batch_map, which is not given.")
        self.batch_size = batch_size
        self.drop_remainder = drop_remainder
        self.per_batch_map = per_batch_map
        self.input_columns = _names(input_columns)
        self.output_columns = _names(output_columns)

    def open(self, epoch: Epoch) -> Reader:
        return _BatchReader(self, epoch)

    def size_of(self, info: BatchInfo) -> int:
        return self.batch_size(info) if callable(self.batch_size) else self.batch_size

    def made(self, rows: list[Row], info: BatchInfo) -> Row:
        columns: dict[str, Any] = {name: [row[name] for row in rows] for name in rows[0]}
        if self.per_batch_map is not None:
            inputs = self.input_columns or list(columns)
            values = self.per_batch_map(*_pick(columns, inputs), info)
            if not isinstance(values, tuple):
                values = (values,)
            columns = _replaced(columns, inputs, self.output_columns or inputs, values)
        return {name: _stack(values, name) for name, values in columns.items()}

    def count(self) -> int:
        if callable(self.batch_size):
            return -1
        size = self.children[0].get_dataset_size()
        return size // self.batch_size if self.drop_remainder else -(-size // self.batch_size)

    def get_col_names(self) -> list[str]:
        names = self.children[0].get_col_names()
        inputs = self.input_columns or names
        return _replaced_names(names, inputs, self.output_columns or inputs)

    def get_batch_size(self) -> int:
        return -1 if callable(self.batch_size) else self.batch_size


class PaddedBatchDataset(BatchDataset):
    """Batches whose rows are padded at their ends to one shape."""

    def __init__(
        self,
        child: Dataset,
        batch_size: int | Callable[[BatchInfo], int],
        drop_remainder: bool,
        pad_info: dict[str, tuple[Sequence[int | None] | None, Any]] | None,
    ) -> None:
        super().__init__(child, batch_size, drop_remainder, None, None, None)
        if pad_info is not None and not isinstance(pad_info, dict):
            raise TypeError(f"Argument pad_info with value {pad_info} is not of type dict.")
        self.pad_info = pad_info

    def made(self, rows: list[Row], info: BatchInfo) -> Row:
        out: Row = {}
        for name in rows[0]:
            arrays = [np.asarray(row[name]) for row in rows]
            if self.pad_info is not None and (not self.pad_info or name in self.pad_info):
                shape, value = self.pad_info.get(name, (None, None))
                arrays = _padded(arrays, shape, 0 if value is None else value, name)
            out[name] = _stack(arrays, name)
        return out


def _padded(arrays: list[Any], shape: Sequence[int | None] | None, value: Any, name: str) -> list[Any]:
    ranks = {array.ndim for array in arrays} | ({len(shape)} if shape is not None else set())
    if len(ranks) != 1:
        raise RuntimeError(f"padded_batch: rows of column {name!r} differ in rank, or from pad_info")
    largest = [max(sizes) for sizes in zip(*(array.shape for array in arrays), strict=True)]
    wanted = [b if a is None else a for a, b in zip(shape or [None] * len(largest), largest, strict=True)]
    made = []
    for array in arrays:
        kept = array[tuple(slice(0, size) for size in wanted)]
        room = [(0, size - have) for size, have in zip(wanted, kept.shape, strict=True)]
        made.append(np.pad(kept, room, constant_values=value) if room else kept)
    return made


class MapDataset(Dataset):
    def __init__(
        self,
        child: Dataset,
        operations: Callable[..., Any] | Sequence[Callable[..., Any]],
        input_columns: str | Sequence[str] | None,
        output_columns: str | Sequence[str] | None,
    ) -> None:
        super().__init__([child])
        self.operations: list[Callable[..., Any]] = [operations] if callable(operations) else list(operations)
        for operation in self.operations:
            if not callable(operation):
                raise TypeError(f"operations must be callable, but {operation!r} is not.")
        self.input_columns = _names(input_columns)
        self.output_columns = _names(output_columns)

    def _inputs(self, names: Sequence[str]) -> list[str]:
        # without input_columns as many of the first columns as the operation takes: MindSpore gives it one
        return self.input_columns or list(names)[:1]

    def open(self, epoch: Epoch) -> Reader:
        return _MappedReader(self.children[0].open(epoch), self.mapped)

    def mapped(self, row: Row) -> Row:
        inputs = self._inputs(list(row))
        values: Sequence[Any] = _pick(row, inputs)
        for operation in self.operations:
            result = operation(*values)
            values = result if isinstance(result, tuple) else (result,)
        return _replaced(row, inputs, self.output_columns or inputs, [to_array(value) for value in values])

    def get_col_names(self) -> list[str]:
        names = self.children[0].get_col_names()
        inputs = self._inputs(names)
        return _replaced_names(names, inputs, self.output_columns or inputs)


class _FilterReader(Reader):
    def __init__(self, child: Reader, keep: Callable[[Row], bool]) -> None:
        self.child, self.keep = child, keep

    def rows(self, skip: int = 0) -> Iterator[Row]:
        return itertools.islice(filter(self.keep, self.child.rows()), skip, None)

    def pass_over(self) -> None:
        self.child.pass_over()


class FilterDataset(Dataset):
    def __init__(
        self, child: Dataset, predicate: Callable[..., Any], input_columns: str | Sequence[str] | None
    ) -> None:
        super().__init__([child])
        if not callable(predicate):
            raise TypeError("Predicate should be a Python function or a callable Python object.")
        self.predicate, self.input_columns = predicate, _names(input_columns)

    def open(self, epoch: Epoch) -> Reader:
        return _FilterReader(self.children[0].open(epoch), self._keeps)

    def _keeps(self, row: Row) -> bool:
        return bool(self.predicate(*_pick(row, self.input_columns or list(row))))

    def count(self) -> int:
        return -1


class RenameDataset(Dataset):
    def __init__(
        self, child: Dataset, input_columns: str | Sequence[str], output_columns: str | Sequence[str]
    ) -> None:
        super().__init__([child])
        inputs, outputs = _names(input_columns), _names(output_columns)
        if len(inputs) != len(outputs):
            raise ValueError("input_columns and output_columns must be of the same length.")
        self.new_name = dict(zip(inputs, outputs, strict=True))

    def _renamed(self, row: Row) -> Row:
        _pick(row, list(self.new_name))
        return {self.new_name.get(name, name): value for name, value in row.items()}

    def open(self, epoch: Epoch) -> Reader:
        return _MappedReader(self.children[0].open(epoch), self._renamed)

    def get_col_names(self) -> list[str]:
        names = self.children[0].get_col_names()
        return list(self._renamed(dict.fromkeys(names)))  # type: ignore[arg-type]


class ProjectDataset(Dataset):
    def __init__(self, child: Dataset, columns: str | Sequence[str]) -> None:
        super().__init__([child])
        self.columns = _names(columns)

    def open(self, epoch: Epoch) -> Reader:
        return _MappedReader(
            self.children[0].open(epoch),
            lambda row: dict(zip(self.columns, _pick(row, self.columns), strict=True)),
        )

    def get_col_names(self) -> list[str]:
        return list(self.columns)


class _ZipReader(Reader):
    def __init__(self, children: list[Reader]) -> None:
        self.children = children

    def rows(self, skip: int = 0) -> Iterator[Row]:
        for rows in zip(*(child.rows(skip) for child in self.children), strict=False):
            merged: Row = {}
            for row in rows:
                merged |= row
            yield merged

    def pass_over(self) -> None:
        for child in self.children:
            child.pass_over()


class ZipDataset(Dataset):
    def __init__(self, datasets: Sequence[Dataset]) -> None:
        super().__init__(datasets)
        for dataset in self.children:
            if not isinstance(dataset, Dataset):
                raise TypeError(f"zip takes datasets, but got {type(dataset).__name__}.")

    def open(self, epoch: Epoch) -> Reader:
        return _ZipReader([child.open(epoch) for child in self.children])

    def count(self) -> int:
        return min(child.get_dataset_size() for child in self.children)

    def get_col_names(self) -> list[str]:
        names = [name for child in self.children for name in child.get_col_names()]
        if len(set(names)) != len(names):
            raise RuntimeError(f"zip: two datasets have a column of one name, in {names}.")
        return names


class _ConcatReader(Reader):
    def __init__(self, children: list[Reader], sizes: list[Callable[[], int]]) -> None:
        self.children, self.sizes = children, sizes

    def rows(self, skip: int = 0) -> Iterator[Row]:
        for child, size in zip(self.children, self.sizes, strict=True):
            if skip and skip >= size():
                skip -= size()
                child.pass_over()
            else:
                yield from child.rows(skip)
                skip = 0

    def pass_over(self) -> None:
        for child in self.children:
            child.pass_over()


class ConcatDataset(Dataset):
    def __init__(self, datasets: Sequence[Dataset]) -> None:
        super().__init__(datasets)
        for dataset in self.children:
            if not isinstance(dataset, Dataset):
                raise TypeError(f"concat takes datasets, but got {type(dataset).__name__}.")

    def open(self, epoch: Epoch) -> Reader:
        return _ConcatReader(
            [child.open(epoch) for child in self.children],
            [child.get_dataset_size for child in self.children],
        )

    def count(self) -> int:
        return sum(child.get_dataset_size() for child in self.children)
