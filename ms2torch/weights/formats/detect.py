"""Which kind of checkpoint a path holds."""

from __future__ import annotations

import re
from pathlib import Path

from ms2torch.errors import UserError
from ms2torch.weights.formats import ranks
from ms2torch.weights.formats.source import Checkpoint, Files, from_index, open_file

_OPTIMIZER = re.compile(r"(^|[-_])(opt|optim|optimizer|scheduler)([-_.]|$)|^(rng_state|training_args)")


def open_source(path: Path, side: str = "mf") -> Checkpoint:
    """The checkpoint at ``path``: a file, Hugging Face's directory, the port's directory (also one iteration
    of it, also saved by several ranks), MindSpore's `rank_*` folders, Megatron's `mp_rank_*` folders.

    UserError says what was looked for where nothing is found.
    """
    if not path.exists():
        raise UserError(f"{path} does not exist")
    if path.is_file():
        if path.name.endswith(".index.json"):
            return Files(from_index(path))
        return open_file(path)
    for index in sorted(path.glob("*.index.json")):
        return Files(from_index(index))
    inner = ranks.latest(path)
    if (inner / "metadata.json").is_file():
        return ranks.PortRanks(inner)
    folders = ranks.folders(inner, "mp_rank_")
    if folders:
        return ranks.Megatron(folders)
    folders = ranks.folders(inner, "rank_")
    if folders:
        return ranks.MindSporeRanks(folders)
    for ending in (".safetensors", ".bin", ".pt", ".pth", ".ckpt"):
        files = [f for f in sorted(inner.glob(f"*{ending}")) if not _OPTIMIZER.search(f.stem)]
        if ending == ".ckpt" and len(files) > 1:
            raise UserError(f"{inner} holds {len(files)} .ckpt files; name one of them")
        if files:
            return Files(files)
    raise UserError(
        f"{path} holds no checkpoint: no .safetensors, .bin, .pt, .pth or .ckpt file, no index, no rank_* "
        "and no mp_rank_* folders"
    )
