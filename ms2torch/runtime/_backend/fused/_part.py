"""Attention of a part of the queries: with context parallelism a rank has one part and all keys and values.

A part is ``(index, count)``: the queries are the index-th of count equal parts of the sequence.
"""

from __future__ import annotations

import torch

Part = tuple[int, int]
WHOLE: Part = (0, 1)
FAR = 2147483647


def place(mode: int, rows: int, columns: int, part: Part) -> int:
    """By how much the diagonal of this part's scores lies to the right of the mode's own corner diagonal.

    The corner is the top left for mode 2 (causal from there), the bottom right for 3 and 4.
    """
    before = part[0] * rows
    return before if mode == 2 else before - rows * (part[1] - 1)


def drop(
    mode: int, mask: torch.Tensor, rows: int, columns: int, part: Part, before: int, after: int
) -> torch.Tensor:
    """What the softmax leaves out, a bool tensor that broadcasts to [B, N, rows, columns].

    ``mode`` is the kernel's sparse mode, ``before`` and ``after`` its pre_tokens and next_tokens. Up to mode
    1 ``mask`` says it, of all queries or of this part; from mode 2 its content is not read.
    """
    if mode <= 1:
        start = part[0] * rows if mask.shape[-2] >= rows * part[1] else 0
        return mask.to(torch.bool)[..., start : start + rows, :columns]
    across = torch.arange(columns, device=mask.device) - torch.arange(rows, device=mask.device).unsqueeze(1)
    across = across - place(mode, rows, columns, part)
    if mode == 2:
        return across > 0
    across = across - (columns - rows)
    if mode == 3:
        return across > 0
    return (across > after) | (across < -before)


def band(mode: int, rows: int, columns: int, part: Part, before: int, after: int) -> tuple[int, int, int]:
    """``(mode, pre_tokens, next_tokens)`` that make the kernel do for a part what it does for the whole.

    Modes 2 to 4 become a band around the part's own bottom right diagonal.
    """
    if part[1] == 1 or mode < 2:
        return mode, before, after
    shift = place(mode, rows, columns, part)
    if mode == 2:
        return 4, FAR, shift - (columns - rows)
    if mode == 3:
        return 4, FAR, shift
    return 4, min(before - shift, FAR), min(after + shift, FAR)


def lengths(
    mode: int, masked: bool, q_ends: list[int], k_ends: list[int], rows: int, part: Part
) -> tuple[list[int], list[int]]:
    """Cumulative lengths of packed sequences, of the queries and keys that this part needs.

    ``NotImplementedError`` for a masked mode other than 3: the others count from where a sequence starts.
    """
    if part[1] == 1:
        return q_ends, k_ends
    start, stop = part[0] * rows, (part[0] + 1) * rows
    if masked:
        if mode != 3 or q_ends != k_ends:
            raise NotImplementedError(
                f"FlashAttentionScore: TND under context parallel: sparse_mode={mode} (only 3, equal lengths)"
            )
        k_ends = [min(end, stop) for end in k_ends]
    return [min(max(end - start, 0), rows) for end in q_ends], k_ends
