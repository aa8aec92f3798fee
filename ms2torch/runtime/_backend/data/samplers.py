"""Samplers of ``mindspore.dataset``: which samples of a source, in which order. Source: MindSpore 2.10.

A sampler is a description; ``start(size)`` makes the state of one iterator: a function that gives the indices
of the next pass over the source. Orders equal MindSpore's for the same seed (see order.py). Each pass after
the first shuffles the order of the pass before it again, with the seed one higher.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any

from . import config, order

Passes = Callable[[], Sequence[int]]


class Shuffle(str, Enum):
    """How much is shuffled; for sources of single samples only FALSE, GLOBAL and ADAPTIVE (global) apply."""

    FALSE = "false"
    ADAPTIVE = "adaptive"
    GLOBAL = "global"
    PARTIAL = "partial"
    FILES = "files"
    INFILE = "infile"


def is_shuffle(shuffle: Any) -> bool:
    """Whether a shuffle argument asks for a shuffle. Raises TypeError, NotImplementedError."""
    if isinstance(shuffle, bool):
        return shuffle
    if not isinstance(shuffle, Shuffle):
        raise TypeError(f"shuffle must be a boolean value or valid shuffle mode but was: {shuffle}.")
    if shuffle in (Shuffle.PARTIAL, Shuffle.FILES, Shuffle.INFILE):
        raise NotImplementedError(f"The shuffle mode: {shuffle} is not supported with current dataset.")
    return shuffle is not Shuffle.FALSE


def _int(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be integer but was: {value}.")
    return value


class BuiltinSampler:
    """Base of the samplers. ``num_samples`` caps a pass; None or 0 takes all."""

    def __init__(self, num_samples: int | None = None) -> None:
        if num_samples is not None and _int(num_samples, "num_samples") < 0:
            raise ValueError("num_samples must be non-negative.")
        self.num_samples = num_samples
        self.child_sampler: BuiltinSampler | None = None

    def add_child(self, sampler: BuiltinSampler) -> None:
        raise NotImplementedError("a sampler on a sampler (add_child) is not supported; pass one sampler")

    def get_child(self) -> BuiltinSampler | None:
        return self.child_sampler

    def get_num_samples(self) -> int | None:
        return self.num_samples

    def is_shuffled(self) -> bool:
        return False

    def is_sharded(self) -> bool:
        return False

    def length(self, size: int) -> int:
        """Samples of a pass over a source of `size` samples."""
        return min(self.num_samples, size) if self.num_samples else size

    def start(self, size: int) -> Passes:
        raise NotImplementedError


class SequentialSampler(BuiltinSampler):
    """Indices from ``start_index`` on."""

    def __init__(self, start_index: int | None = None, num_samples: int | None = None) -> None:
        if start_index is not None and _int(start_index, "start_index") < 0:
            raise ValueError("start_index should be a positive integer.")
        super().__init__(num_samples)
        self.start_index = start_index or 0

    def length(self, size: int) -> int:
        return super().length(max(size - self.start_index, 0))

    def start(self, size: int) -> Passes:
        indices = range(self.start_index, self.start_index + self.length(size))
        return lambda: indices


class RandomSampler(BuiltinSampler):
    """A random order, or draws with replacement. The seed is read when the iterator is made."""

    def __init__(
        self, replacement: bool = False, num_samples: int | None = None, shuffle: Any = Shuffle.GLOBAL
    ) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement must be a boolean value but was: {replacement}.")
        super().__init__(num_samples)
        self.replacement = replacement
        self.shuffle = is_shuffle(shuffle)

    def is_shuffled(self) -> bool:
        return True

    def start(self, size: int) -> Passes:
        count = self.length(size)
        seed = config.order_seed()
        indices = list(range(size))

        def next_pass() -> Sequence[int]:
            nonlocal seed
            if self.replacement:
                draw = order.with_replacement(size, seed)
                chosen = [draw() for _ in range(count)]
            else:
                order.shuffle(indices, seed)
                chosen = indices[:count]
            seed += 1
            return chosen

        return next_pass


class DistributedSampler(BuiltinSampler):
    """Every ``num_shards``-th sample of one order that all shards share.

    The seed is read when the sampler is made, and the first pass uses the seed after it; an unset seed is
    5489 on every rank, so shards agree. Shards are filled up with samples from the start of the order. With
    ``offset >= 0`` the count starts at shard ``offset`` and shards are not filled up.
    """

    def __init__(
        self,
        num_shards: int,
        shard_id: int,
        shuffle: Any = True,
        num_samples: int | None = None,
        offset: int = -1,
    ) -> None:
        self.num_shards = _int(num_shards, "num_shards")
        self.shard_id = _int(shard_id, "shard_id")
        self.shuffle = is_shuffle(shuffle)
        self.offset = _int(offset, "offset")
        if self.num_shards < 1 or not 0 <= self.shard_id < self.num_shards:
            raise ValueError(f"shard_id {shard_id} is outside [0, {num_shards}).")
        if self.offset >= self.num_shards:
            raise ValueError(f"offset {offset} must not be greater than num_shards {num_shards}.")
        self.seed = config.get_seed()
        super().__init__(num_samples)

    def is_shuffled(self) -> bool:
        return self.shuffle

    def is_sharded(self) -> bool:
        return self.num_shards > 1

    def set_offset(self, offset: int) -> DistributedSampler:
        self.offset = offset
        return self

    def _slots(self, size: int) -> range:
        """Positions in the common order; those past its end wrap round."""
        if self.offset < 0:
            rows = -(-size // self.num_shards)
            slots = range(self.shard_id, self.shard_id + rows * self.num_shards, self.num_shards)
        else:
            slots = range((self.shard_id - self.offset) % self.num_shards, size, self.num_shards)
        return slots[: self.num_samples] if self.num_samples else slots

    def length(self, size: int) -> int:
        return len(self._slots(size))

    def start(self, size: int) -> Passes:
        slots = self._slots(size)
        if not self.shuffle:
            indices = [slot % size for slot in slots]
            return lambda: indices
        common = list(range(size))
        seed = self.seed

        def next_pass() -> Sequence[int]:
            nonlocal seed
            seed += 1
            order.shuffle(common, seed)
            return [common[slot % size] for slot in slots]

        return next_pass


class SubsetSampler(BuiltinSampler):
    """The given indices in the given order."""

    def __init__(self, indices: Iterable[int] | int, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.indices = [indices] if isinstance(indices, int) else [int(i) for i in indices]

    def length(self, size: int) -> int:
        return super().length(len(self.indices))

    def _checked(self, size: int) -> list[int]:
        for index in self.indices:
            if not 0 <= index < size:
                raise RuntimeError(f"Invalid sample_id, sample id: {index} is out of range [0, {size}).")
        return list(self.indices)

    def start(self, size: int) -> Passes:
        indices = self._checked(size)[: self.length(size)]
        return lambda: indices


class SubsetRandomSampler(SubsetSampler):
    """The given indices in random order; MindSpore keeps the seed from one pass to the next here."""

    def is_shuffled(self) -> bool:
        return True

    def start(self, size: int) -> Passes:
        indices = self._checked(size)
        count = self.length(size)
        seed = config.order_seed()

        def next_pass() -> Sequence[int]:
            order.shuffle(indices, seed)
            return indices[:count]

        return next_pass


class WeightedRandomSampler(BuiltinSampler):
    """Draws of 0 .. len(weights) - 1 by weight; every pass draws the same, as MindSpore's does.

    Without replacement: NotImplementedError.
    """

    def __init__(
        self, weights: Sequence[float], num_samples: int | None = None, replacement: bool = True
    ) -> None:
        super().__init__(num_samples)
        if any(weight < 0 for weight in weights) or not any(weights):
            raise ValueError("weights must be non-negative, and not all zero.")
        if not replacement:
            raise NotImplementedError("WeightedRandomSampler(replacement=False) is not supported")
        self.weights = list(weights)

    def is_shuffled(self) -> bool:
        return True

    def start(self, size: int) -> Passes:
        count = self.length(size)
        seed = config.order_seed()

        def next_pass() -> Sequence[int]:
            draw = order.weighted(self.weights, seed)
            return [draw() for _ in range(count)]

        return next_pass


class Sampler(BuiltinSampler):
    """Base of samplers written by users: ``__iter__`` yields indices; ``dataset_size`` is set before."""

    def __init__(self, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.dataset_size = 0

    def __iter__(self) -> Iterator[int]:
        raise NotImplementedError

    def is_shuffled(self) -> bool:
        return True

    def _take(self, size: int) -> list[int]:
        self.dataset_size = size
        found: list[int] = []
        for index in self:
            if self.num_samples and len(found) == self.num_samples:
                break
            found.append(int(index))
        return found

    def length(self, size: int) -> int:
        return len(self._take(size))

    def start(self, size: int) -> Passes:
        return lambda: self._take(size)


class IterSampler(Sampler):
    """A list or another iterable of indices as a sampler."""

    def __init__(self, sampler: Iterable[int], num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.sampler = sampler

    def __iter__(self) -> Iterator[int]:
        return iter(self.sampler)


def select(
    num_samples: int | None, sampler: Any, shuffle: Any, num_shards: int | None, shard_id: int | None
) -> BuiltinSampler:
    """The sampler that a dataset's arguments ask for. Raises ValueError for arguments that conflict.

    A random-access source is shuffled unless ``shuffle`` says otherwise, as in MindSpore.
    """
    if (num_shards is None) != (shard_id is None):
        raise ValueError("num_shards and shard_id need to be passed in together.")
    if sampler is not None:
        if any(x is not None for x in (shuffle, num_shards)) or (
            isinstance(sampler, BuiltinSampler) and num_samples is not None
        ):
            raise ValueError(
                f"Conflicting arguments during sampler assignments. num_samples: {num_samples}, "
                f"num_shards: {num_shards}, shard_id: {shard_id}, shuffle: {shuffle}."
            )
        if isinstance(sampler, BuiltinSampler):
            return sampler
        if isinstance(sampler, Iterable):
            return (
                SubsetSampler(sampler, num_samples)
                if isinstance(sampler, (list, tuple))
                else IterSampler(sampler, num_samples)
            )
        raise TypeError(f"Unsupported sampler object of type ({type(sampler)})")
    shuffled = True if shuffle is None else is_shuffle(shuffle)
    if num_shards is not None and shard_id is not None:
        if shard_id >= num_shards:
            raise ValueError("shard_id should be less than num_shards.")
        return DistributedSampler(num_shards, shard_id, shuffled, num_samples)
    return RandomSampler(num_samples=num_samples) if shuffled else SequentialSampler(num_samples=num_samples)
