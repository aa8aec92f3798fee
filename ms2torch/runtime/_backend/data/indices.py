"""Sample and blending indices of Megatron data sets: MindFormers' compiled ``helpers``, in numpy.

Nothing needs a compiler or pybind11. Results equal the C++ functions' (checked on random inputs). Source:
MindFormers 2.1.0, mindformers/dataset/blended_datasets/helpers.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def build_sample_idx(
    sizes: Array,
    doc_idx: Array,
    seq_length: int,
    num_epochs: int,
    tokens_per_epoch: int,
    drop_last_partial_sequence: bool = True,
    add_extra_token_to_sequence: int = 1,
) -> Array:
    """Where each sample begins in the documents laid end to end: int64 of shape (samples + 1, 2), columns
    index into `doc_idx` and offset in that document.

    Parameters: sizes, int32, tokens of each document; doc_idx, int32, the order of the documents.
    Neighbouring samples share ``add_extra_token_to_sequence`` tokens, as labels are shifted by that.
    Raises ValueError for lengths and counts that are not positive.
    """
    if seq_length < 1 or num_epochs < 1 or tokens_per_epoch < 1:
        raise ValueError(
            f"build_sample_idx: seq_length {seq_length}, num_epochs {num_epochs} and tokens_per_epoch "
            f"{tokens_per_epoch} must be positive"
        )
    extra = int(add_extra_token_to_sequence)
    usable = num_epochs * tokens_per_epoch - extra
    if drop_last_partial_sequence:
        samples = usable // seq_length
    else:  # in single precision, as C++ computes it
        samples = int(np.ceil(np.float32(usable) / np.float32(seq_length)))
    lengths = np.asarray(sizes)[np.asarray(doc_idx)].astype(np.int64)
    ends = np.cumsum(lengths)
    # The last token of each sample decides where the next begins.
    last = np.arange(1, samples + 1, dtype=np.int64) * seq_length + (extra - 1)
    inside = np.searchsorted(ends, last, side="right")
    past = inside >= len(ends)  # the documents end inside the last sample
    inside[past] = len(ends) - 1
    offset = last - (ends - lengths)[inside] + 1 - extra
    offset[past] = lengths[-1] - extra
    made = np.zeros((samples + 1, 2), dtype=np.int64)
    made[1:, 0] = inside
    made[1:, 1] = offset
    return made


def build_blending_indices(
    dataset_index: Array,
    dataset_sample_index: Array,
    weights: Sequence[float],
    num_datasets: int,
    size: int,
    verbose: bool = False,
) -> None:
    """Fills the first `size` places of two arrays so that the data sets' shares follow the weights: int16,
    the data set of each sample, and int64, the sample's number in it. ``verbose`` prints the shares."""
    shares = [float(w) for w in weights][:num_datasets]
    chosen = _largest_error(shares, size, [size] * num_datasets)
    _fill(chosen, dataset_index, dataset_sample_index)
    if verbose:
        for number, share in enumerate(shares):
            reached = np.count_nonzero(chosen == number) / max(size, 1)
            print(f"   dataset {number}, input: {share}, achieved: {reached}")


def build_exhaustive_blending_indices(
    dataset_index: Array, dataset_sample_index: Array, sizes: Sequence[int], num_datasets: int
) -> None:
    """Fills two arrays so that data set i gives exactly ``sizes[i]`` samples, evenly mixed.

    Raises ValueError for a size that is not positive.
    """
    counts = [int(s) for s in sizes][:num_datasets]
    if any(count < 1 for count in counts):
        raise ValueError(f"build_exhaustive_blending_indices: sizes must be positive, got {counts}")
    total = sum(counts)
    chosen = _largest_error([count / total for count in counts], total, counts)
    _fill(chosen, dataset_index, dataset_sample_index)


def _largest_error(weights: list[float], size: int, limits: list[int]) -> Array:
    """At each step the data set that is furthest behind its share, the first of equals."""
    taken = [0] * len(weights)
    open_ = list(enumerate(weights))
    chosen = np.empty(size, dtype=np.int16)
    for step in range(size):
        at = float(step or 1)
        best, most = -1, float("-inf")
        for number, weight in open_:
            error = weight * at - taken[number]
            if error > most:
                best, most = number, error
        chosen[step] = best
        taken[best] += 1
        if taken[best] == limits[best]:
            open_ = [entry for entry in open_ if entry[0] != best]
    return chosen


def _fill(chosen: Array, dataset_index: Array, dataset_sample_index: Array) -> None:
    dataset_index[: len(chosen)] = chosen
    for number in np.unique(chosen):
        places = np.flatnonzero(chosen == number)
        dataset_sample_index[places] = np.arange(len(places))
