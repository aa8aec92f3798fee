"""Megatron's indices against plain loops (and, through recorded batches, against the compiled functions)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ms2torch.runtime._backend.data import indices


def plain_sample_idx(lengths: list[int], order: list[int], length: int, samples: int, extra: int) -> list:
    """Reads the documents token by token."""
    places = [(i, at) for i, doc in enumerate(order) for at in range(lengths[doc])]
    rows = [(0, 0)]
    for number in range(1, samples + 1):
        last = number * length + extra - 1
        if last < len(places):
            document, at = places[last]
            rows.append((document, at + 1 - extra))
        else:
            rows.append((len(order) - 1, lengths[order[-1]] - extra))
    return rows


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=8),
    st.integers(1, 3),
    st.integers(2, 9),
    st.booleans(),
    st.integers(0, 1),
    st.randoms(use_true_random=False),
)
def test_sample_index(
    lengths: list[int], epochs: int, length: int, drop: bool, extra: int, draw: object
) -> None:
    order = list(range(len(lengths))) * epochs
    draw.shuffle(order)  # type: ignore[attr-defined]
    tokens = sum(lengths)
    usable = epochs * tokens - extra
    samples = usable // length if drop else -(-usable // length)
    if usable < 1:
        return
    made = indices.build_sample_idx(
        np.array(lengths, np.int32), np.array(order, np.int32), length, epochs, tokens, drop, extra
    )
    assert made.dtype == np.int64
    assert made.tolist() == [list(row) for row in plain_sample_idx(lengths, order, length, samples, extra)]


def test_documents_without_tokens_are_passed_over() -> None:
    made = indices.build_sample_idx(
        np.array([3, 0, 5], np.int32), np.array([0, 1, 2], np.int32), 3, 1, 8, True, 1
    )
    assert made.tolist() == [[0, 0], [2, 0], [2, 3]]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=5), st.integers(1, 80))
def test_blending_keeps_to_the_weights(weights: list[float], size: int) -> None:
    shares = (np.array(weights) / sum(weights)).tolist()
    dataset, sample = np.zeros(size, np.int16), np.zeros(size, np.int64)
    indices.build_blending_indices(dataset, sample, shares, len(shares), size, False)
    for step in range(1, size + 1):
        taken = np.bincount(dataset[:step], minlength=len(shares))
        assert np.all(np.abs(taken - np.array(shares) * step) < len(shares))
    for number in range(len(shares)):
        mine = sample[dataset == number]
        assert mine.tolist() == list(range(len(mine)))


def test_blending_by_hand() -> None:
    dataset, sample = np.zeros(6, np.int16), np.zeros(6, np.int64)
    indices.build_blending_indices(dataset, sample, [0.5, 0.5], 2, 6, True)
    assert dataset.tolist() == [0, 1, 0, 1, 0, 1]
    indices.build_blending_indices(dataset, sample, [0.7, 0.3], 2, 6)
    assert (dataset.tolist(), sample.tolist()) == ([0, 1, 0, 0, 1, 0], [0, 0, 1, 2, 1, 3])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 20), min_size=1, max_size=5))
def test_exhaustive_blending_takes_all(sizes: list[int]) -> None:
    dataset, sample = np.zeros(sum(sizes), np.int16), np.zeros(sum(sizes), np.int64)
    indices.build_exhaustive_blending_indices(dataset, sample, sizes, len(sizes))
    for number, size in enumerate(sizes):
        assert sample[dataset == number].tolist() == list(range(size))


def test_what_is_refused() -> None:
    one = np.ones(1, np.int32)
    with pytest.raises(
        ValueError, match="seq_length 0, num_epochs 1 and tokens_per_epoch 1 must be positive"
    ):
        indices.build_sample_idx(one, one, 0, 1, 1)
    with pytest.raises(ValueError, match="sizes must be positive"):
        indices.build_exhaustive_blending_indices(one, one, [0], 1)
