"""Batches that a user makes: a list of dicts, an iterable of dicts or a torch DataLoader, as a dataset.

The trainer asks for a size, a starting position and iterators over dicts of tensors; these classes give it
that. Batches are the rank's own: who trains on several data-parallel ranks shards them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from .. import device
from .iterators import to_tensor


class Batches:
    """An iterable of dicts (column name to tensor, array or nested list, first dimension the batch).

    ``size``: batches of one epoch; len() of the iterable where it is not given. ``batch_size``: what the
    first dimension of every column must be, not checked where it is None.
    Raises TypeError for no iterable and for an iterator (it could not begin a second epoch or a resumed
    run), ValueError for an empty one and where no size can be told.

    Each epoch, a loader with a sampler that draws from torch's generator is begun with a seed that follows
    from ``set_seed`` and the epoch's number: its order is that of an unbroken run after a resume too, and
    training's own random numbers do not depend on it.
    """

    def __init__(self, source: Any, size: int | None = None, batch_size: int | None = None) -> None:
        readable = hasattr(source, "__iter__") or hasattr(source, "__getitem__")
        if isinstance(source, Mapping | str | bytes) or not readable:
            raise TypeError(f"train_dataset must be an iterable of dicts, not {type(source).__name__}")
        if isinstance(source, Iterator):
            raise TypeError(
                f"train_dataset is an iterator ({type(source).__name__}), which can be read only once: pass "
                "an object whose __iter__ begins anew, such as a list or a DataLoader"
            )
        if size is None:
            try:
                size = len(source)
            except (TypeError, NotImplementedError, AttributeError) as error:
                raise ValueError(
                    f"train_dataset ({type(source).__name__}) has no len(): the trainer needs to know how "
                    "many batches an epoch has"
                ) from error
        if size < 1:
            raise ValueError(f"train_dataset ({type(source).__name__}) holds no batch")
        self.source, self.size, self.batch_size = source, size, batch_size
        self._step = 0

    def get_dataset_size(self) -> int:
        return self.size

    def __len__(self) -> int:
        return self.size

    def set_init_step(self, step: int) -> None:
        """Iterators made later begin after this many batches, counted over all epochs."""
        if not isinstance(step, int) or step < 0:
            raise ValueError(f"init_step must be a non-negative int, but got {step}.")
        self._step = step

    def get_init_step(self) -> int:
        return self._step

    def get_col_names(self) -> list[str]:
        return list(next(self.create_dict_iterator()))

    def create_dict_iterator(
        self, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> BatchIterator:
        """An iterator over dicts of tensors; StopIteration ends an epoch, as in ``mindspore.dataset``."""
        return BatchIterator(self, output_numpy)


class BatchIterator:
    """Batches of a :class:`Batches`, epoch after epoch."""

    def __init__(self, batches: Batches, output_numpy: bool = False) -> None:
        self._batches, self._output_numpy = batches, output_numpy
        self._epoch, skip = divmod(batches.get_init_step(), batches.size)
        # Generators of the loader's own have to be drawn from as often as an unbroken run did.
        for epoch in range(self._epoch if _own_generator(batches.source) is not None else 0):
            for _ in self._begin(epoch):
                pass
        self._rows: Iterator[Any] | None = None
        if skip:
            self._rows = self._begin(self._epoch)
            for _ in itertools.islice(self._rows, skip):
                pass

    def _begin(self, epoch: int) -> Iterator[Any]:
        source = self._batches.source
        for part in (source, getattr(source, "sampler", None), getattr(source, "batch_sampler", None)):
            set_epoch = getattr(part, "set_epoch", None)
            if set_epoch is not None:
                set_epoch(epoch)
        if not isinstance(source, torch.utils.data.DataLoader):
            made = (
                iter(source) if hasattr(source, "__iter__") else map(source.__getitem__, range(len(source)))
            )
            return itertools.islice(made, self._batches.size)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(((device.get_seed() or 0) * 1_000_003 + epoch) % 2**63)
            rows = iter(source)
            first = list(itertools.islice(rows, 1))  # samplers draw their order when the first is asked for
        return itertools.islice(itertools.chain(first, rows), self._batches.size)

    def __iter__(self) -> BatchIterator:
        return self

    def __next__(self) -> dict[str, Any]:
        if self._rows is None:
            self._rows = self._begin(self._epoch)
        try:
            row = next(self._rows)
        except StopIteration:
            self._rows = None
            self._epoch += 1
            raise
        return {name: self._column(name, value) for name, value in self._dict(row).items()}

    def _dict(self, row: Any) -> Mapping[str, Any]:
        if not isinstance(row, Mapping):
            raise TypeError(
                "train_dataset must give dicts such as {'input_ids': …, 'labels': …}, "
                f"not {type(row).__name__}"
            )
        return row

    def _column(self, name: str, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            array = np.asarray(value)
            if array.dtype.kind not in "biufSU":
                raise TypeError(f"train_dataset: column {name!r} holds {type(value).__name__}, not numbers")
            value = array if self._output_numpy else to_tensor(array)
        wanted = self._batches.batch_size
        if wanted is not None and (value.ndim == 0 or value.shape[0] != wanted):
            raise ValueError(
                f"train_dataset: column {name!r} has shape {tuple(value.shape)}, but the first dimension "
                f"must be training.local_batch_size, {wanted}"
            )
        if self._output_numpy:
            return value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value
        return value.to(device.current_device()) if isinstance(value, torch.Tensor) else value


def _own_generator(source: Any) -> Any:
    """The generator that a loader or its sampler holds; None where it draws from torch's."""
    sampler = getattr(source, "sampler", None)
    return getattr(source, "generator", None) or getattr(sampler, "generator", None)
