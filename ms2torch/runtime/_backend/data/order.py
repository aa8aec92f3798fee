"""Random orders equal to MindSpore's: std::mt19937 with libstdc++'s distributions, in Python.

MindSpore's C++ samplers shuffle with ``std::shuffle`` over ``std::mt19937(seed)``. With the algorithms below
the same seed gives the same order (checked under MindSpore 2.10 for 7, 10, 3,001 and 70,000 samples), so a
port trains on the same batches as the original.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, MutableSequence, Sequence

import numpy as np

_WORD = 0xFFFFFFFF


class Mt19937:
    """``std::mt19937``: 32-bit words, drawn in blocks for speed."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.MT19937()
        # RandomState seeds an int as std::mt19937 does; MT19937(seed) would hash it first
        np.random.RandomState(self._bits).seed(seed & _WORD)
        self._block: list[int] = []
        self._next = 0

    def word(self) -> int:
        if self._next == len(self._block):
            self._block = self._bits.random_raw(1024).tolist()
            self._next = 0
        value = self._block[self._next]
        self._next += 1
        return value

    def below(self, count: int) -> int:
        """``std::uniform_int_distribution(0, count - 1)`` of libstdc++ before GCC 11: scale and reject."""
        scale = _WORD // count
        past = count * scale
        while True:
            value = self.word()
            if value < past:
                return value // scale

    def canonical(self) -> float:
        """``std::generate_canonical<double, 53>``: two words, the low one first."""
        low = self.word()
        return (low + self.word() * 4294967296.0) / 18446744073709551616.0


def shuffle(values: MutableSequence[int], seed: int) -> None:
    """``std::shuffle(values, std::mt19937(seed))``, in place."""
    random = Mt19937(seed)
    count = len(values)
    if count < 2:
        return
    if _WORD // count < count:  # too many for two positions from one word
        for i in range(1, count):
            j = random.below(i + 1)
            values[i], values[j] = values[j], values[i]
        return
    i = 1
    if count % 2 == 0:
        j = random.below(2)
        values[i], values[j] = values[j], values[i]
        i = 2
    while i < count:
        first, second = divmod(random.below((i + 1) * (i + 2)), i + 2)
        values[i], values[first] = values[first], values[i]
        values[i + 1], values[second] = values[second], values[i + 1]
        i += 2


def with_replacement(count: int, seed: int) -> Callable[[], int]:
    """Draws from 0 .. count - 1."""
    random = Mt19937(seed)
    return lambda: random.below(count)


def weighted(weights: Sequence[float], seed: int) -> Callable[[], int]:
    """``std::discrete_distribution``: draws of an index with the given weights."""
    total = float(sum(weights))
    bounds: list[float] = []
    running = 0.0
    for weight in weights:
        running += weight / total
        bounds.append(running)
    bounds[-1] = 1.0
    random = Mt19937(seed)
    return lambda: bisect.bisect_left(bounds, random.canonical())
