"""Blocks of the last axes moved to the channel or the batch axis, and back.

Source: MindSpore 2.10, mindspore.ops.SpaceToDepth, DepthToSpace, space_to_batch_nd, batch_to_space_nd.
"""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor


def space_to_depth(x: Tensor, block_size: int) -> Tensor:
    """[N, C, H, W] to [N, C·b², H/b, W/b], the block's place before the channel."""
    n, c, h, w = x.shape
    b = block_size
    out = x.reshape(n, c, h // b, b, w // b, b).permute(0, 3, 5, 1, 2, 4)
    return out.reshape(n, c * b * b, h // b, w // b)


def depth_to_space(x: Tensor, block_size: int) -> Tensor:
    """[N, C·b², H, W] to [N, C, H·b, W·b]; the inverse of ``space_to_depth``."""
    n, c, h, w = x.shape
    b = block_size
    out = x.reshape(n, b, b, c // (b * b), h, w).permute(0, 3, 4, 1, 5, 2)
    return out.reshape(n, c // (b * b), h * b, w * b)


def space_to_batch_nd(input_x: Tensor, block_size: Any, paddings: Any) -> Tensor:
    """Blocks of the last axes, after padding them by (before, after) each, moved to the batch axis."""
    blocks = [block_size, block_size] if isinstance(block_size, int) else list(block_size)
    n = len(blocks)
    amounts = [int(a) for pair in reversed(list(paddings)) for a in pair]
    x = F.pad(input_x, amounts)
    lead, rest = x.shape[: x.ndim - n], x.shape[x.ndim - n :]
    split: list[int] = list(lead)
    for size, block in zip(rest, blocks, strict=True):
        split += [size // block, block]
    first = len(lead)
    inner = [first + 2 * i + 1 for i in range(n)]
    outer = [first + 2 * i for i in range(n)]
    out = x.reshape(split).permute(*inner, *range(first), *outer)
    total = 1
    for block in blocks:
        total *= block
    return out.reshape(lead[0] * total, *lead[1:], *(s // b for s, b in zip(rest, blocks, strict=True)))


def batch_to_space_nd(input_x: Tensor, block_shape: Any, crops: Any) -> Tensor:
    """The inverse of ``space_to_batch_nd``, cutting (before, after) off the last axes."""
    blocks = [block_shape, block_shape] if isinstance(block_shape, int) else list(block_shape)
    n = len(blocks)
    total = 1
    for block in blocks:
        total *= block
    lead = (input_x.shape[0] // total, *input_x.shape[1 : input_x.ndim - n])
    rest = input_x.shape[input_x.ndim - n :]
    x = input_x.reshape(*blocks, *lead, *rest)
    order = [n + i for i in range(len(lead))]
    for i in range(n):
        order += [n + len(lead) + i, i]
    x = x.permute(order).reshape(*lead, *(s * b for s, b in zip(rest, blocks, strict=True)))
    for axis, (before, after) in enumerate(crops, start=len(lead)):
        x = x.narrow(axis, int(before), x.shape[axis] - int(before) - int(after))
    return x
