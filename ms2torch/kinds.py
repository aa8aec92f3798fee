"""What an instance of a class is to the rules: "Module", "Optimizer", "Parameter", "Tensor", or nothing."""

from __future__ import annotations

from ms2torch.index import Index
from ms2torch.tables import PACKAGES, Tables
from ms2torch.types import HEADS, OWNERS


def class_kind(full: str, index: Index, tables: Tables) -> str | None:
    """ "Module", "Optimizer" or another head for a class by its dotted name, through any chain of bases."""
    info = index.find_class(full)
    if info is None:
        return foreign_kind(full, tables)
    kinds = {kind for base in index.ancestors(info) if (kind := foreign_kind(base, tables))}
    for kind in ("Optimizer", "Module", "Parameter", "Tensor"):
        if kind in kinds:
            return kind
    return None


def foreign_kind(name: str, tables: Tables) -> str | None:
    """What an instance of a MindSpore or hyper_parallel class is, by its row."""
    if name.partition(".")[0] not in PACKAGES:
        return None
    full = tables.canonical(name)
    if full in HEADS:
        return HEADS[full]
    row = tables.rows.get(full)
    if row is not None and row.returns in OWNERS:
        return row.returns
    parts = full.split(".")
    if full.startswith(("mindspore.nn.", "mindspore.mint.nn.")) and parts[-1][:1].isupper():
        return "Module"
    return None
