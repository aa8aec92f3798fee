"""Operations of a dataset that choose and order rows: repeat, skip, take, shuffle."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from . import config, order
from .pipeline import INT32_MAX, Dataset, Epoch, Reader, Row


class _RepeatReader(Reader):
    def __init__(self, child: Reader, count: int, size: Callable[[], int]) -> None:
        self.child, self.count, self.size = child, count, size

    def rows(self, skip: int = 0) -> Iterator[Row]:
        for _ in itertools.count() if self.count == -1 else range(self.count):
            if skip and skip >= self.size():
                skip -= self.size()
                self.child.pass_over()
                continue
            yield from self.child.rows(skip)
            skip = 0


class RepeatDataset(Dataset):
    def __init__(self, child: Dataset, count: int | None) -> None:
        super().__init__([child])
        if count is None:
            count = -1
        if not isinstance(count, int) or isinstance(count, bool):
            raise TypeError(f"Argument count with value {count} is not of type int.")
        if count != -1 and not 1 <= count <= INT32_MAX:
            raise ValueError("count should be either -1 or positive integer, range[1, INT32_MAX].")
        self.repeat_count = count

    def open(self, epoch: Epoch) -> Reader:
        child = self.children[0]
        return _RepeatReader(child.open(epoch), self.repeat_count, child.get_dataset_size)

    def count(self) -> int:
        size = self.children[0].get_dataset_size()
        # MindSpore too gives one pass' size for an endless repeat
        return size if self.repeat_count == -1 else size * self.repeat_count

    def get_repeat_count(self) -> int:
        return self.repeat_count


class _SliceReader(Reader):
    def __init__(self, child: Reader, start: int, length: int | None) -> None:
        self.child, self.start, self.length = child, start, length

    def rows(self, skip: int = 0) -> Iterator[Row]:
        left = None if self.length is None else max(self.length - skip, 0)
        if left == 0:
            return
        yield from itertools.islice(self.child.rows(self.start + skip), left)

    def pass_over(self) -> None:
        self.child.pass_over()


class SliceDataset(Dataset):
    """``skip`` and ``take``."""

    def __init__(self, child: Dataset, start: int = 0, length: int | None = None) -> None:
        super().__init__([child])
        self.start, self.length = start, length

    def open(self, epoch: Epoch) -> Reader:
        return _SliceReader(self.children[0].open(epoch), self.start, self.length)

    def count(self) -> int:
        left = max(self.children[0].get_dataset_size() - self.start, 0)
        return left if self.length is None else min(left, self.length)


class _ShuffleReader(Reader):
    def __init__(self, child: Reader, buffer_size: int) -> None:
        self.child, self.buffer_size, self.seed = child, buffer_size, config.order_seed()

    def rows(self, skip: int = 0) -> Iterator[Row]:
        return itertools.islice(self._shuffled(), skip, None)

    def _shuffled(self) -> Iterator[Row]:
        random = order.Mt19937(self.seed)
        self.seed += 1
        buffer: list[Row] = []
        for row in self.child.rows():
            buffer.append(row)
            if len(buffer) == self.buffer_size:
                yield _draw(buffer, random)
        while buffer:
            yield _draw(buffer, random)


def _draw(buffer: list[Row], random: order.Mt19937) -> Row:
    slot = random.below(len(buffer))
    buffer[slot], buffer[-1] = buffer[-1], buffer[slot]
    return buffer.pop()


class ShuffleDataset(Dataset):
    def __init__(self, child: Dataset, buffer_size: int) -> None:
        super().__init__([child])
        if not isinstance(buffer_size, int) or isinstance(buffer_size, bool):
            raise TypeError(f"Argument buffer_size with value {buffer_size} is not of type int.")
        if not 2 <= buffer_size <= INT32_MAX:
            raise ValueError("Input buffer_size is not within the required interval of [2, 2147483647].")
        self.buffer_size = buffer_size

    def open(self, epoch: Epoch) -> Reader:
        return _ShuffleReader(self.children[0].open(epoch), self.buffer_size)

    def is_shuffled(self) -> bool:
        return True
