"""Iterators over a dataset: each ``for`` loop over one is one epoch. Source: MindSpore 2.10."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from .. import device
from .pipeline import Array, Dataset, Epoch, Row


def to_tensor(array: Array) -> Any:
    """The array as tensor on the current device; strings and bytes stay numpy, as in MindSpore.

    MindSpore's operators take host tensors; torch's do not, so the copy to the device is made here.
    """
    if array.dtype.kind in "SU":
        return array
    if not (array.flags.writeable and array.flags.c_contiguous and array.dtype.isnative):
        array = np.array(array, dtype=array.dtype.newbyteorder("="), order="C")
    tensor = torch.from_numpy(array)
    return tensor if device.device_type() == "cpu" else tensor.to(device.current_device())


class _Rows:
    """One epoch after another. StopIteration ends an epoch; the next ``next`` begins the one after it."""

    def __init__(self, dataset: Dataset, num_epochs: int, output_numpy: bool) -> None:
        if not isinstance(num_epochs, int) or isinstance(num_epochs, bool):
            raise TypeError(f"Argument num_epochs with value {num_epochs} is not of type int.")
        if num_epochs != -1 and num_epochs < 1:
            raise RuntimeError(
                f"num_epochs should be either -1 or positive integer, num_epochs: {num_epochs}"
            )
        self._dataset = dataset
        self._num_epochs = num_epochs
        self._output_numpy = output_numpy
        self._epoch = Epoch()
        self._reader: Any = dataset.open(self._epoch)
        self._rows: Iterator[Row] | None = None
        self._skip = 0
        self._seek(dataset.get_init_step())

    def _seek(self, step: int) -> None:
        if step == 0:
            return
        size = self._dataset.get_dataset_size()
        if size == 0 or (self._num_epochs != -1 and step >= size * self._num_epochs):
            raise RuntimeError(
                f"Cannot reset the pipeline, reset step must be less than dataset_size * num_epochs: "
                f"{step}, {size}, {self._num_epochs}."
            )
        self._epoch.number, self._skip = divmod(step, size)
        for _ in range(self._epoch.number):
            self._reader.pass_over()

    def __iter__(self) -> Any:
        return self

    def next_row(self) -> Row:
        if self._reader is None:
            raise RuntimeError("Iterator does not have a running pipeline; stop() has been called.")
        if self._rows is None:
            if self._epoch.number == self._num_epochs:
                raise RuntimeError(
                    f"User tries to fetch data beyond the specified number of epochs, {self._num_epochs}."
                )
            self._rows = self._reader.rows(self._skip)
            self._skip = 0
        assert self._rows is not None
        try:
            return next(self._rows)
        except StopIteration:
            self._rows = None
            self._epoch.number += 1
            raise

    def convert(self, array: Array) -> Any:
        return array if self._output_numpy else to_tensor(array)

    def get_col_names(self) -> list[str]:
        return self._dataset.get_col_names()

    def stop(self) -> None:
        """Ends the pipeline and its workers; ``next`` raises RuntimeError afterwards."""
        rows, self._rows, self._reader = self._rows, None, None
        close = getattr(rows, "close", None)
        if close is not None:
            close()

    release = stop


class DictIterator(_Rows):
    """Rows as dicts of tensors (numpy arrays with ``output_numpy``)."""

    def __next__(self) -> dict[str, Any]:
        return {name: self.convert(value) for name, value in self.next_row().items()}


class TupleIterator(_Rows):
    """Rows as lists."""

    def __next__(self) -> list[Any]:
        return [self.convert(value) for value in self.next_row().values()]
