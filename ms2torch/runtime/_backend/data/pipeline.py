"""``mindspore.dataset.Dataset`` and its operations. Source: MindSpore 2.10, run on CPU.

A dataset is a description; ``open(epoch)`` makes the state of one iterator. A row is a dict from column name
to numpy array. Each call of ``Reader.rows(skip)`` is one pass: `skip` rows are left out, unread where the
source can be asked for a row by its index.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from . import config

Array = np.ndarray[Any, Any]
Row = dict[str, Array]
INT32_MAX = 2147483647


class Epoch:
    """The epoch that an iterator is in; readers of the iterator share it."""

    def __init__(self) -> None:
        self.number = 0


class Reader:
    """State of one node in one iterator."""

    def rows(self, skip: int = 0) -> Iterator[Row]:
        raise NotImplementedError

    def pass_over(self) -> None:
        """Steps over a whole pass; sources override it to read nothing."""
        for _ in self.rows():
            pass


class BatchInfo:
    """What ``per_batch_map`` and a ``batch_size`` function are told."""

    def __init__(self, epoch_num: int, batch_num: int) -> None:
        self._epoch_num = epoch_num
        self._batch_num = batch_num

    def get_epoch_num(self) -> int:
        return self._epoch_num

    def get_batch_num(self) -> int:
        return self._batch_num


def to_array(value: Any) -> Array:
    """A column's value as numpy array: ints int64, floats float64, arrays and tensors keep their dtype.

    Raises TypeError for None and for objects that are no data.
    """
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    array = np.asarray(value)
    if array.dtype.kind not in "biufSU":
        raise TypeError(
            f"a dataset column must hold numbers, bools, strings or bytes, not {type(value).__name__} "
            f"(numpy dtype {array.dtype})"
        )
    return array


def _names(columns: str | Sequence[str] | None) -> list[str]:
    if columns is None:
        return []
    return [columns] if isinstance(columns, str) else list(columns)


def _pick(row: Row, columns: list[str]) -> list[Array]:
    missing = [name for name in columns if name not in row]
    if missing:
        raise RuntimeError(
            f"Invalid column, column name: {missing[0]} does not exist; there are {list(row)}."
        )
    return [row[name] for name in columns]


def _replaced(row: Row, inputs: list[str], outputs: list[str], values: Sequence[Any]) -> Row:
    """The row with `inputs` replaced by `outputs`: in place where the counts agree, else in front."""
    if len(values) != len(outputs):
        raise RuntimeError(f"{len(values)} columns were returned where {len(outputs)} are named: {outputs}.")
    made = dict(zip(outputs, values, strict=True))
    if len(inputs) == len(outputs):
        new_name = dict(zip(inputs, outputs, strict=True))
        return {new_name.get(k, k): made[new_name[k]] if k in new_name else v for k, v in row.items()}
    return made | {k: v for k, v in row.items() if k not in inputs and k not in made}


def _replaced_names(names: list[str], inputs: list[str], outputs: list[str]) -> list[str]:
    return list(_replaced(dict.fromkeys(names), inputs, outputs, outputs))  # type: ignore[arg-type]


class Dataset:
    """Base of all datasets. Iterators are made by ``create_dict_iterator`` and ``create_tuple_iterator``."""

    def __init__(self, children: Sequence[Dataset] = (), num_parallel_workers: int | None = None) -> None:
        self.children = list(children)
        self.num_parallel_workers = num_parallel_workers or config.get_num_parallel_workers()
        self.dataset_size: int | None = None
        self._init_step = 0

    # what a node must say of itself

    def open(self, epoch: Epoch) -> Reader:
        raise NotImplementedError

    def count(self) -> int:
        """Rows of one pass, -1 where only reading can tell."""
        return self.children[0].count()

    def get_col_names(self) -> list[str]:
        return self.children[0].get_col_names()

    # operations

    def batch(
        self,
        batch_size: int | Callable[[BatchInfo], int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        *,
        per_batch_map: Callable[..., Any] | None = None,
        input_columns: str | Sequence[str] | None = None,
        output_columns: str | Sequence[str] | None = None,
        python_multiprocessing: bool = False,
        max_rowsize: Any = None,
    ) -> Dataset:
        """Rows stacked into batches. ``per_batch_map(*lists of arrays, BatchInfo)`` returns a tuple of lists.

        ``python_multiprocessing`` and ``max_rowsize`` change nothing: the map runs in this process.
        Raises TypeError, ValueError for a wrong ``batch_size`` or ``drop_remainder``; RuntimeError while
        iterating where rows of one batch differ in shape or dtype.
        """
        from .operations import BatchDataset

        return BatchDataset(self, batch_size, drop_remainder, per_batch_map, input_columns, output_columns)

    def padded_batch(
        self,
        batch_size: int | Callable[[BatchInfo], int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        pad_info: dict[str, tuple[Sequence[int | None] | None, Any]] | None = None,
    ) -> Dataset:
        """Batches padded to one shape: ``pad_info`` gives (shape, value) for a column, None in a shape is the
        largest size in the batch; an empty dict pads every column with zeros, None pads nothing.

        Raises RuntimeError while iterating where rows of one column differ in rank.
        """
        from .operations import PaddedBatchDataset

        return PaddedBatchDataset(self, batch_size, drop_remainder, pad_info)

    def map(
        self,
        operations: Callable[..., Any] | Sequence[Callable[..., Any]],
        input_columns: str | Sequence[str] | None = None,
        output_columns: str | Sequence[str] | None = None,
        num_parallel_workers: int | None = None,
        *,
        python_multiprocessing: bool = False,
        cache: Any = None,
        callbacks: Any = None,
        max_rowsize: Any = None,
        offload: bool | None = None,
    ) -> Dataset:
        """Each operation is called with the arrays of the columns and returns an array or a tuple of them.

        ``cache``, ``callbacks`` and ``offload`` raise NotImplementedError.
        """
        from .operations import MapDataset

        for name, value in (("cache", cache), ("callbacks", callbacks), ("offload", offload)):
            if value:
                raise NotImplementedError(f"Dataset.map({name}=...) is not supported")
        return MapDataset(self, operations, input_columns, output_columns)

    def filter(
        self,
        predicate: Callable[..., Any],
        input_columns: str | Sequence[str] | None = None,
        num_parallel_workers: int | None = None,
    ) -> Dataset:
        """Rows for which the predicate of the columns' arrays is true."""
        from .operations import FilterDataset

        return FilterDataset(self, predicate, input_columns)

    def repeat(self, count: int | None = None) -> Dataset:
        """The rows `count` times in one epoch; None or -1 for ever."""
        from .selection import RepeatDataset

        return RepeatDataset(self, count)

    def shuffle(self, buffer_size: int) -> Dataset:
        """Rows in random order, drawn from a buffer. The order differs from MindSpore's for the same seed."""
        from .selection import ShuffleDataset

        return ShuffleDataset(self, buffer_size)

    def skip(self, count: int) -> Dataset:
        from .selection import SliceDataset

        return SliceDataset(self, start=_count(count, 0, "Input count is not within the required interval"))

    def take(self, count: int = -1) -> Dataset:
        from .selection import SliceDataset

        if count == -1:
            return SliceDataset(self)
        return SliceDataset(self, length=_count(count, 1, "count should be either -1 or within the interval"))

    def split(self, sizes: Sequence[int | float], randomize: bool = True) -> list[Dataset]:
        """Parts of the dataset. With ``randomize``: NotImplementedError, as the parts would not be disjoint
        from one epoch to the next."""
        from .selection import SliceDataset

        if randomize:
            raise NotImplementedError("Dataset.split(randomize=True) is not supported; pass randomize=False")
        total = self.get_dataset_size()
        counts = [round(s * total) if isinstance(s, float) else s for s in sizes]
        if sum(counts) != total:
            raise RuntimeError(f"Sum of split sizes {counts} is not equal to dataset size {total}.")
        starts = itertools.accumulate(counts, initial=0)
        return [SliceDataset(self, start, count) for start, count in zip(starts, counts, strict=False)]

    def zip(self, datasets: Dataset | Sequence[Dataset]) -> Dataset:
        from .operations import ZipDataset

        return ZipDataset([self, *([datasets] if isinstance(datasets, Dataset) else datasets)])

    def concat(self, datasets: Dataset | Sequence[Dataset]) -> Dataset:
        from .operations import ConcatDataset

        return ConcatDataset([self, *([datasets] if isinstance(datasets, Dataset) else datasets)])

    def __add__(self, other: Dataset) -> Dataset:
        return self.concat(other)

    def rename(self, input_columns: str | Sequence[str], output_columns: str | Sequence[str]) -> Dataset:
        from .operations import RenameDataset

        return RenameDataset(self, input_columns, output_columns)

    def project(self, columns: str | Sequence[str]) -> Dataset:
        from .operations import ProjectDataset

        return ProjectDataset(self, columns)

    def apply(self, apply_func: Callable[[Dataset], Dataset]) -> Dataset:
        """``apply_func(self)``. Raises TypeError where it is no function or gives no Dataset."""
        if not callable(apply_func):
            raise TypeError("apply_func must be a function.")
        made = apply_func(self)
        if not isinstance(made, Dataset):
            raise TypeError("apply_func must return a dataset.")
        return made

    # iterators

    def create_dict_iterator(
        self, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> Any:
        """Iterator over rows as dicts; ``do_copy`` changes nothing: rows are owned."""
        from .iterators import DictIterator

        return DictIterator(self, num_epochs, output_numpy)

    def create_tuple_iterator(
        self,
        columns: str | Sequence[str] | None = None,
        num_epochs: int = -1,
        output_numpy: bool = False,
        do_copy: bool = False,
    ) -> Any:
        """Iterator over rows as lists of columns."""
        from .iterators import TupleIterator

        return TupleIterator(self.project(columns) if columns is not None else self, num_epochs, output_numpy)

    def __iter__(self) -> Any:
        return self.create_tuple_iterator(num_epochs=1)

    # questions

    def get_dataset_size(self) -> int:
        """Rows of one epoch; where only reading can tell, one pass is read."""
        if self.dataset_size is None:
            size = self.count()
            if size == -1:
                size = sum(1 for _ in self.open(Epoch()).rows())
            self.dataset_size = size
        return self.dataset_size

    def __len__(self) -> int:
        return self.get_dataset_size()

    def _first(self) -> Row:
        for row in self.open(Epoch()).rows():
            return row
        raise RuntimeError("the dataset has no rows")

    def output_shapes(self, estimate: bool = False) -> list[list[int]]:
        """Shape of each column in the first row; ``estimate`` raises NotImplementedError."""
        if estimate:
            raise NotImplementedError("Dataset.output_shapes(estimate=True) is not supported")
        return [list(value.shape) for value in self._first().values()]

    def output_types(self) -> list[np.dtype[Any]]:
        return [value.dtype for value in self._first().values()]

    def get_batch_size(self) -> int:
        return self.children[0].get_batch_size() if self.children else 1

    def get_repeat_count(self) -> int:
        return self.children[0].get_repeat_count() if self.children else 1

    def is_shuffled(self) -> bool:
        return any(child.is_shuffled() for child in self.children)

    def is_sharded(self) -> bool:
        return any(child.is_sharded() for child in self.children)

    def num_classes(self) -> int | None:
        return None

    def set_init_step(self, init_step: int) -> None:
        """Iterators made later start at this step, counted in rows over all epochs.

        Shuffled orders are those of an iterator that read its way there.
        """
        if not isinstance(init_step, int) or init_step < 0:
            raise ValueError(f"init_step must be a non-negative int, but got {init_step}.")
        self._init_step = init_step

    def get_init_step(self) -> int:
        return self._init_step

    def reset(self) -> None:
        """Kept for callers: iterators hold all state, so there is nothing to reset."""


def _count(value: Any, least: int, message: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"count must be an int, but got {type(value).__name__}.")
    if not least <= value <= INT32_MAX:
        raise ValueError(f"{message} [{least}, {INT32_MAX}], got {value}.")
    return value
