"""Mixture of experts: grouping tokens by expert, and undoing it."""

from __future__ import annotations

from typing import Any

import torch

from ._device import load_torch_npu, on_npu, widen

__all__ = ["MoeTokenPermute", "MoeTokenUnpermute", "moe_token_permute", "moe_token_unpermute"]


def moe_token_permute(
    tokens: torch.Tensor,
    indices: torch.Tensor,
    num_out_tokens: int | None = None,
    padded_mode: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Copies of ``tokens`` [T, H], one for each of its K experts, grouped by expert in a stable order.

    ``indices`` is [T, K] or [T]. Returns ``(permuted [T*K, H], map [T*K] int32)``: ``map[t * K + k]`` is the
    row of ``permuted`` that holds token ``t`` for its ``k``-th expert. ``num_out_tokens`` keeps that many
    rows of ``permuted`` (None or 0: all); the map keeps its length.

    Raises ValueError for ``padded_mode`` (MindSpore refuses it too) and for shapes that do not fit.
    MindSpore 2.10: mindspore.ops.moe_token_permute.
    """
    if padded_mode:
        raise ValueError("moe_token_permute: padded_mode=True is not supported")
    if tokens.ndim != 2 or indices.ndim not in (1, 2) or indices.shape[0] != tokens.shape[0]:
        raise ValueError(
            f"moe_token_permute: tokens {tuple(tokens.shape)} and indices {tuple(indices.shape)} do not fit"
        )
    if on_npu(tokens):
        torch_npu = load_torch_npu()
        # The kernel takes int64 indices only, and 0 as "no token is dropped".
        grouped, places = torch_npu.npu_moe_token_permute(
            tokens, indices.long().reshape(indices.shape[0], -1), num_out_tokens, padded_mode
        )
        return grouped, places
    flat = indices.reshape(-1)
    order = torch.argsort(flat, stable=True)
    places = torch.empty_like(order)
    places[order] = torch.arange(order.numel(), device=order.device)
    if num_out_tokens:
        order = order[:num_out_tokens]
    width = indices.shape[1] if indices.ndim == 2 else 1
    rows = torch.div(order, width, rounding_mode="floor") if width > 1 else order
    return tokens.index_select(0, rows), places.to(torch.int32)


def moe_token_unpermute(
    permuted_tokens: torch.Tensor,
    sorted_indices: torch.Tensor,
    probs: torch.Tensor | None = None,
    padded_mode: bool = False,
    restore_shape: Any = None,
) -> torch.Tensor:
    """Undoes :func:`moe_token_permute`: row ``t`` is the sum over ``k`` of ``permuted[map[t * K + k]]``,
    each times ``probs[t, k]`` where ``probs`` [T, K] is given (without it K is 1).

    Returns [T, H] in the dtype of ``permuted_tokens``; the sum runs in float32 for the half types. Rows that
    ``num_out_tokens`` dropped count as zero.

    Raises ValueError for ``padded_mode``; ``restore_shape`` has a meaning only there and must be None or
    the shape of the result. MindSpore 2.10: mindspore.ops.moe_token_unpermute.
    """
    if padded_mode:
        raise ValueError("moe_token_unpermute: padded_mode=True is not supported")
    if on_npu(permuted_tokens):
        torch_npu = load_torch_npu()
        result: torch.Tensor = torch_npu.npu_moe_token_unpermute(
            permuted_tokens, sorted_indices, probs=probs, padded_mode=padded_mode, restore_shape=restore_shape
        )
        return result
    width = 1 if probs is None else probs.shape[1]
    places = sorted_indices.reshape(-1).long()
    if places.numel() > permuted_tokens.shape[0]:
        # Dropped rows are read from a row of zeros behind the last one.
        places = places.clamp(max=permuted_tokens.shape[0])
        permuted_tokens = torch.cat((permuted_tokens, permuted_tokens.new_zeros(1, permuted_tokens.shape[1])))
    rows = permuted_tokens.index_select(0, places)
    if probs is None:
        return rows
    weighted = widen(rows).reshape(-1, width, rows.shape[-1]) * widen(probs).unsqueeze(-1)
    return weighted.sum(1).to(permuted_tokens.dtype)


class MoeTokenPermute:
    """Primitive form of :func:`moe_token_permute`."""

    def __call__(
        self,
        tokens: torch.Tensor,
        indices: torch.Tensor,
        num_out_tokens: int | None = None,
        padded_mode: bool = False,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return moe_token_permute(tokens, indices, num_out_tokens, padded_mode)


class MoeTokenUnpermute:
    """Primitive form of :func:`moe_token_unpermute`."""

    def __call__(
        self,
        permuted_tokens: torch.Tensor,
        sorted_indices: torch.Tensor,
        probs: torch.Tensor | None = None,
        padded_mode: bool = False,
        restore_shape: Any = None,
    ) -> torch.Tensor:
        return moe_token_unpermute(permuted_tokens, sorted_indices, probs, padded_mode, restore_shape)
