"""Rotary position embedding."""

from __future__ import annotations

import torch

from ._device import load_torch_npu, on_npu, widen

__all__ = ["RotaryPositionEmbedding", "rotary_position_embedding"]

_MODES = {0: "half", 1: "interleave"}


def rotary_position_embedding(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, mode: int = 0
) -> torch.Tensor:
    """``x * cos + rotate(x) * sin``; ``cos`` and ``sin`` broadcast to ``x`` (4-D, any of BNSD, BSND, SBND).

    ``mode`` 0 rotates halves (GPT-NeoX): ``(-x2, x1)``; mode 1 rotates neighbours (GPT-J). Computed in
    float32 for the half types and rounded once; the result has ``x``'s dtype and shape.

    Raises NotImplementedError for another mode. MindSpore 2.10: mindspore.ops.rotary_position_embedding.
    """
    if mode not in _MODES:
        raise NotImplementedError(
            f"rotary_position_embedding: mode {mode!r} (only 0, half, and 1, interleaved)"
        )
    if on_npu(x):
        torch_npu = load_torch_npu()
        result: torch.Tensor = torch_npu.npu_rotary_mul(x, cos, sin, _MODES[mode])
        return result
    wide = widen(x)
    if mode == 0:
        first, second = wide.chunk(2, -1)
        turned = torch.cat((-second, first), -1)
    else:
        turned = torch.stack((-wide[..., 1::2], wide[..., 0::2]), -1).flatten(-2)
    return (wide * widen(cos) + turned * widen(sin)).to(x.dtype)


class RotaryPositionEmbedding:
    """``RotaryPositionEmbedding()(x, cos, sin, mode)``.

    MindSpore 2.10: mindspore.ops.auto_generate.RotaryPositionEmbedding.
    """

    def __call__(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, mode: int = 0) -> torch.Tensor:
        return rotary_position_embedding(x, cos, sin, mode)
