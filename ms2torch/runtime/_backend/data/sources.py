"""Sources of data: ``GeneratorDataset``, ``NumpySlicesDataset``. Source: MindSpore 2.10."""

from __future__ import annotations

import itertools
import os
from collections.abc import Generator, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from . import config, samplers
from .pipeline import Dataset, Epoch, Reader, Row, _names, to_array


def _same(value: Any) -> Any:
    """collate_fn of the loader: samples stay as the source gave them."""
    return value


class _View(torch.utils.data.Dataset[Any]):
    """A random-access source as torch wants it."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __getitem__(self, index: int) -> Any:
        return self.source[index]

    def __len__(self) -> int:
        return len(self.source)


class _IndexedReader(Reader):
    """Samples of a random-access source in the sampler's order; worker processes do not change the order."""

    def __init__(self, node: GeneratorDataset, sampler: samplers.BuiltinSampler) -> None:
        self.node = node
        size = len(node.source)
        if size == 0:
            raise RuntimeError("GeneratorNode: data row of input source must not be 0, got: 0")
        self.next_pass = sampler.start(size)

    def pass_over(self) -> None:
        self.next_pass()

    def rows(self, skip: int = 0) -> Iterator[Row]:
        indices = self.next_pass()[skip:]
        workers = self.node.worker_processes()
        if workers == 0:
            for index in indices:
                yield self.node.row(self.node.source[index])
            return
        loader: DataLoader[Any] = DataLoader(
            _View(self.node.source),
            batch_size=None,
            sampler=list(indices),
            num_workers=workers,
            collate_fn=_same,
            prefetch_factor=max(config.get_prefetch_size() // workers, 1),
            multiprocessing_context=config.get_multiprocessing_start_method(),
        )
        for sample in loader:
            yield self.node.row(sample)


class _IteratedReader(Reader):
    """Samples of an iterable or of a generator function, read anew in each pass."""

    def __init__(self, node: GeneratorDataset) -> None:
        self.node = node

    def rows(self, skip: int = 0) -> Iterator[Row]:
        limit = self.node.num_samples
        samples = itertools.islice(self.node.samples(), skip, limit)
        count = skip
        for sample in samples:
            count += 1
            yield self.node.row(sample)
        expected = self.node.source_len if limit is None else min(self.node.source_len, limit)
        if self.node.source_len >= 0 and count != expected:
            raise RuntimeError(
                f"The actual amount of data read from generator {count} is different from generator.len "
                f"{expected}, you should adjust generator.len to make them match."
            )


class GeneratorDataset(Dataset):
    """Rows from a Python object: random access (``__getitem__`` and ``__len__``), an iterable, or a function
    that returns an iterator. A sample is a tuple with one value per column, or a single value.

    Python ints become int64, floats float64, bools bool; arrays keep their dtype. A random-access source is
    shuffled unless ``shuffle=False`` or a sampler is given. With ``num_parallel_workers > 1`` and
    ``python_multiprocessing`` (the default) samples of a random-access source are read by that many
    processes, at most one per CPU; else in this process. ``max_rowsize`` changes nothing.

    Raises TypeError for a source that is none of the three, ValueError without column names, for shards of a
    source without ``__getitem__`` and for conflicting sampler arguments; NotImplementedError for ``schema``,
    ``batch_sampler`` and ``collate_fn``. While iterating: RuntimeError where a sample has another number of
    values than there are columns, or another dtype than ``column_types`` says; errors of the source pass
    through (MindSpore wraps them in RuntimeError).
    """

    def __init__(
        self,
        source: Any,
        column_names: str | Sequence[str] | None = None,
        column_types: Sequence[Any] | None = None,
        schema: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int = 1,
        shuffle: Any = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        python_multiprocessing: bool = True,
        max_rowsize: Any = None,
        batch_sampler: Any = None,
        collate_fn: Any = None,
    ) -> None:
        super().__init__(num_parallel_workers=num_parallel_workers)
        for name, value in (("schema", schema), ("batch_sampler", batch_sampler), ("collate_fn", collate_fn)):
            if value is not None:
                raise NotImplementedError(f"GeneratorDataset({name}=...) is not supported")
        if not (callable(source) or hasattr(source, "__getitem__") or hasattr(source, "__iter__")):
            raise TypeError(
                "Input `source` function of GeneratorDataset should be callable, iterable or random "
                f"accessible, but got {type(source).__name__}."
            )
        if column_names is None:
            raise ValueError("Neither columns_names nor schema are provided.")
        if shuffle is not None and not isinstance(shuffle, (bool, samplers.Shuffle)):
            raise TypeError(f"Argument shuffle with value {shuffle} is not of type bool.")
        if num_samples is not None and (not isinstance(num_samples, int) or num_samples < 0):
            raise ValueError(f"num_samples must be a non-negative int, but got {num_samples}.")
        if isinstance(source, zip):
            source = list(source)
        elif isinstance(source, Generator):
            source = _Replayed(source)
        self.source = source
        self.column_names = _names(column_names)
        self.column_types = None if column_types is None else [numpy_dtype(t) for t in column_types]
        self.python_multiprocessing = python_multiprocessing
        self.num_samples = num_samples or None
        self.source_len = len(source) if hasattr(source, "__len__") else -1
        self.sampler: samplers.BuiltinSampler | None = None
        if hasattr(source, "__getitem__"):
            self.sampler = samplers.select(num_samples, sampler, shuffle, num_shards, shard_id)
            if self.source_len == -1:
                raise RuntimeError(
                    "Attempt to construct a random access dataset, '__len__' method is required!"
                )
        elif num_shards is not None or shard_id is not None:
            raise ValueError("num_shards is not supported if source does not have attribute '__getitem__'.")
        elif sampler is not None:
            raise ValueError("sampler is not supported if source does not have attribute '__getitem__'.")

    def worker_processes(self) -> int:
        """Worker processes of one pass; 0 for none."""
        if not self.python_multiprocessing or self.num_parallel_workers < 2:
            return 0
        return min(self.num_parallel_workers, os.cpu_count() or 1)

    def samples(self) -> Iterator[Any]:
        return iter(self.source if hasattr(self.source, "__iter__") else self.source())

    def row(self, sample: Any) -> Row:
        values = sample if isinstance(sample, tuple) else (sample,)
        if len(values) != len(self.column_names):
            raise RuntimeError(
                f"Invalid Python function, the 'source' of 'GeneratorDataset' should return same number of "
                f"NumPy arrays as specified in column_names, the size of column_names is "
                f"{len(self.column_names)} "
                f"and the number of returned NumPy arrays is {len(values)}."
            )
        row = {name: to_array(value) for name, value in zip(self.column_names, values, strict=True)}
        if self.column_types is not None:
            for (name, array), dtype in zip(row.items(), self.column_types, strict=True):
                if array.dtype != dtype:
                    raise RuntimeError(
                        f"Invalid Python function, type of returned data in 'GeneratorDataset' should be "
                        f"same with specified column_types, but column {name} is {array.dtype}, not {dtype}."
                    )
        return row

    def open(self, epoch: Epoch) -> Reader:
        return _IteratedReader(self) if self.sampler is None else _IndexedReader(self, self.sampler)

    def count(self) -> int:
        if self.sampler is not None:
            return self.sampler.length(self.source_len)
        if self.source_len == -1:
            return -1
        return self.source_len if self.num_samples is None else min(self.source_len, self.num_samples)

    def get_col_names(self) -> list[str]:
        return list(self.column_names)

    def __getitem__(self, index: int) -> Any:
        """The sample that the first pass of an iterator would give at this index."""
        if self.sampler is None:
            raise RuntimeError("Dataset don't support randomized access.")
        return self.source[self.sampler.start(self.source_len)()[index]]

    def is_shuffled(self) -> bool:
        return self.sampler is not None and self.sampler.is_shuffled()

    def is_sharded(self) -> bool:
        return self.sampler is not None and self.sampler.is_sharded()

    def use_sampler(self, new_sampler: samplers.BuiltinSampler) -> None:
        """Replaces the sampler. Raises TypeError for no sampler."""
        if not isinstance(new_sampler, samplers.BuiltinSampler):
            raise TypeError("Input sampler can not be None and must be a sampler.")
        self.sampler, self.dataset_size = new_sampler, None


class _Replayed:
    """A generator object, kept as it is read, so that later passes can read it too."""

    def __init__(self, generator: Generator[Any, Any, Any]) -> None:
        self.generator = generator

    def __iter__(self) -> Iterator[Any]:
        self.generator, copy = itertools.tee(self.generator)  # type: ignore[assignment]
        return copy


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """numpy's dtype of a torch dtype, a numpy dtype or a name. Raises TypeError where there is none."""
    if isinstance(dtype, torch.dtype):
        if dtype is torch.bfloat16:
            raise TypeError("numpy has no bfloat16: a dataset column cannot be one; cast the batch instead")
        dtype = torch.empty(0, dtype=dtype).numpy().dtype
    found: np.dtype[Any] = np.dtype(dtype)
    return found


class _Slices:
    def __init__(self, columns: list[Any]) -> None:
        self.columns = columns

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        return tuple(np.asarray(column[index]) for column in self.columns)

    def __len__(self) -> int:
        return len(self.columns[0])


class NumpySlicesDataset(GeneratorDataset):
    """Rows along the first axis of arrays: a dict of columns, a tuple of columns, or one list or array."""

    def __init__(
        self,
        data: Any,
        column_names: str | Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int = 1,
        shuffle: Any = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        if isinstance(data, dict):
            columns, names = list(data.values()), [str(name) for name in data]
        else:
            columns = list(data) if isinstance(data, tuple) else [data]
            names = [f"column_{i}" for i in range(len(columns))]
        if not columns or any(len(column) != len(columns[0]) for column in columns):
            raise ValueError("Data must have columns, all of the same length.")
        super().__init__(
            _Slices(columns),
            column_names or names,
            num_samples=num_samples,
            num_parallel_workers=num_parallel_workers,
            shuffle=shuffle,
            sampler=sampler,
            num_shards=num_shards,
            shard_id=shard_id,
            python_multiprocessing=False,
        )


class MindDataset(Dataset):
    """MindRecord files are not read: NotImplementedError, which names the first file."""

    def __init__(self, dataset_files: str | Sequence[str], *args: Any, **kwargs: Any) -> None:
        first = _names(dataset_files)[:1]
        raise NotImplementedError(
            f"MindDataset cannot read MindRecord files ({first[0] if first else 'none given'}): convert them "
            "to another format, or use GeneratorDataset with a source of your own"
        )
