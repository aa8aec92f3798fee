"""Subscripts as MindSpore's tensors take them: steps backwards, lists as values, writes into a Parameter."""

from __future__ import annotations

from typing import Any

import torch

from .inplace import _writable

__all__ = ["getitem", "setitem"]


def getitem(self: Any, index: Any) -> Any:
    """``self[index]``; a tensor's slices may have a negative step. Any other receiver answers by itself.

    Source: MindSpore 2.10 on CPU, where ``x[::-1]`` of a tensor turns it round as numpy does.
    """
    if not isinstance(self, torch.Tensor):
        return self[index]
    parts = list(index) if isinstance(index, tuple) else [index]
    at = 0
    for place, part in enumerate(parts):
        if part is Ellipsis:
            at = self.ndim - sum(_takes(p) for p in parts[place + 1 :])
            continue
        if isinstance(part, slice) and part.step is not None and int(part.step) < 0:
            wanted = range(*slice(*map(_whole, (part.start, part.stop, part.step))).indices(self.shape[at]))
            self = self.index_select(at, torch.tensor(wanted, dtype=torch.long, device=self.device))
            parts[place] = slice(None)
        at += _takes(part)
    return self[tuple(parts) if isinstance(index, tuple) else parts[0]]


def setitem(self: Any, index: Any, value: Any) -> None:
    """``self[index] = value``; a tensor takes a list or tuple and any dtype as value, and a Parameter is written
    unrecorded. Any other receiver answers by itself.

    Source: MindSpore 2.10 on CPU.
    """
    if not isinstance(self, torch.Tensor):
        self[index] = value
        return
    if isinstance(value, list | tuple):
        tensors = [v if isinstance(v, torch.Tensor) else torch.as_tensor(v) for v in value]
        value = torch.stack([v.to(self.device, self.dtype) for v in tensors])
    elif isinstance(value, torch.Tensor):
        value = value.to(self.device, self.dtype)
    with _writable(self):
        self[index] = value


def _takes(part: Any) -> int:
    """How many dimensions of the tensor one part of a subscript uses up."""
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, torch.Tensor) and part.dtype == torch.bool:
        return part.ndim
    return 1


def _whole(bound: Any) -> int | None:
    return None if bound is None else int(bound)
