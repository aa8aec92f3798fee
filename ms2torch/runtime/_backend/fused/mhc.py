"""Manifold-constrained hyper-connections: mixing of residual streams."""

from __future__ import annotations

import torch

__all__ = ["npu_mhc_post", "npu_mhc_pre_sinkhorn"]


def npu_mhc_pre_sinkhorn(
    x: torch.Tensor,
    phi: torch.Tensor,
    alpha: torch.Tensor,
    bias: torch.Tensor,
    *,
    hc_mult: int,
    num_iters: int = 20,
    hc_eps: float = 1e-6,
    norm_eps: float = 1e-6,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """From the streams ``x`` [B, S, n, D]: the sublayer's input [B, S, D] in ``x``'s dtype, the output scales
    [B, S, n] and the doubly stochastic mixing matrices [B, S, n * n], both float32.

    With the flattened streams normalised (RMS, ``norm_eps``, no weight) and projected by ``phi``
    [n * n + 2 n, n * D], each part times its ``alpha`` [3] plus its part of ``bias``: the first n go through
    ``sigmoid + hc_eps`` and weigh the streams into the input, the next n through ``2 * sigmoid``, the rest
    through a row softmax plus ``hc_eps`` and ``num_iters`` Sinkhorn normalisations, columns first.

    Source: torch_npu's npu_mhc_pre and npu_mhc_sinkhorn; the order of the normalisations is that of the
    unfused module that models use in its place.
    """
    wide = x.float()
    flat = wide.flatten(-2)
    normed = flat * torch.rsqrt(flat.square().mean(-1, keepdim=True) + norm_eps)
    sizes = [hc_mult, hc_mult, hc_mult * hc_mult]
    factors = torch.cat([a.expand(size) for a, size in zip(alpha.float(), sizes, strict=True)])
    raw = normed @ phi.float().transpose(0, 1) * factors + bias.float()
    pre, post, mix = torch.split(raw, sizes, -1)
    pre = torch.sigmoid(pre) + hc_eps
    post = 2.0 * torch.sigmoid(post)
    matrix = torch.softmax(mix.reshape(*mix.shape[:-1], hc_mult, hc_mult), -1) + hc_eps
    matrix = matrix / (matrix.sum(-2, keepdim=True) + hc_eps)
    for _ in range(num_iters - 1):
        matrix = matrix / (matrix.sum(-1, keepdim=True) + hc_eps)
        matrix = matrix / (matrix.sum(-2, keepdim=True) + hc_eps)
    entering = (pre.unsqueeze(-1) * wide).sum(-2).to(x.dtype)
    return entering, post, matrix.flatten(-2)


def npu_mhc_post(
    x: torch.Tensor, h_res: torch.Tensor | None, h_out: torch.Tensor, h_post: torch.Tensor
) -> torch.Tensor:
    """``h_res^T x + h_post h_out``: streams [B, S, n, D], mixing [B, S, n, n] (None: the identity), sublayer
    output [B, S, D], scales [B, S, n]; the new streams in ``x``'s dtype, computed in float32.

    Source: torch_npu's npu_mhc_post.
    """
    streams = x.float()
    kept = streams if h_res is None else h_res.float().transpose(-1, -2) @ streams
    return (kept + h_post.float().unsqueeze(-1) * h_out.float().unsqueeze(-2)).to(x.dtype)
