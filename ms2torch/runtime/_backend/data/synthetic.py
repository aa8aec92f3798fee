"""Synthetic token sequences that a model can learn: for trial runs without a corpus."""

from __future__ import annotations

import numpy as np

from . import sources
from .pipeline import Array, Dataset


class SyntheticTokens:
    """A random-access source of counting sequences: token t+1 is token t plus the sample's step, modulo the
    vocabulary. Start and step follow from (seed, index) alone: every rank and every run sees the same
    data.

    Sample: (input_ids, labels), int32 of shape (seq_length,) each; labels are the next tokens.
    Raises ValueError for sizes below one, or a vocabulary below two.
    """

    def __init__(self, seq_length: int, vocab_size: int, samples: int, seed: int = 0) -> None:
        if seq_length < 1 or samples < 1 or vocab_size < 2:
            raise ValueError(
                f"seq_length {seq_length} and samples {samples} must be positive, "
                f"vocab_size {vocab_size} above 1"
            )
        self.seq_length, self.vocab_size, self.samples, self.seed = seq_length, vocab_size, samples, seed

    def __len__(self) -> int:
        return self.samples

    def __getitem__(self, index: int) -> tuple[Array, Array]:
        if not 0 <= index < self.samples:
            raise IndexError(f"sample {index} of {self.samples}")
        draw = np.random.default_rng([self.seed, index])
        start = int(draw.integers(self.vocab_size))
        step = int(draw.integers(1, min(4, self.vocab_size)))  # few steps, so that little context tells which
        tokens = (start + step * np.arange(self.seq_length + 1)) % self.vocab_size
        tokens = tokens.astype(np.int32)
        return tokens[:-1].copy(), tokens[1:].copy()


def SyntheticDataset(
    seq_length: int,
    vocab_size: int,
    samples: int = 1024,
    seed: int = 0,
    num_shards: int | None = None,
    shard_id: int | None = None,
    shuffle: bool = False,
    num_parallel_workers: int = 1,
) -> Dataset:
    """A dataset of SyntheticTokens with columns input_ids and labels, sharded by sample."""
    return sources.GeneratorDataset(
        SyntheticTokens(seq_length, vocab_size, samples, seed),
        ["input_ids", "labels"],
        shuffle=shuffle,
        num_shards=num_shards,
        shard_id=shard_id,
        num_parallel_workers=num_parallel_workers,
        python_multiprocessing=False,
    )
