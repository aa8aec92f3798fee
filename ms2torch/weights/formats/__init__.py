"""The formats of checkpoints: each a source that tells shapes before it reads, or a writer that streams."""

from __future__ import annotations

from ms2torch.weights.formats.detect import open_source as open_source
from ms2torch.weights.formats.source import Checkpoint as Checkpoint
