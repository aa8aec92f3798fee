"""What differs between torch versions, each in one place: public path, then private path, then own code."""

from __future__ import annotations

from typing import Any

import torch


def param_name(p: Any) -> Any:
    """The name of a parameter: its ``name``, or the name the port gave it (torch's ``Tensor.name`` cannot be
    written). ``None`` if it has neither."""
    return getattr(p, "name", None) or getattr(p, "_mf_name", None)


def _own_rms_norm(
    x: torch.Tensor, normalized_shape: Any, weight: torch.Tensor | None = None, eps: float | None = None
) -> torch.Tensor:
    dims = tuple(range(-len(tuple(normalized_shape)), 0))
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    if eps is None:
        eps = torch.finfo(x.dtype).eps
    out = (wide * torch.rsqrt(wide.pow(2).mean(dims, keepdim=True) + eps)).to(x.dtype)
    return out if weight is None else out * weight


def rms_norm(
    x: torch.Tensor, normalized_shape: Any, weight: torch.Tensor | None = None, eps: float | None = None
) -> torch.Tensor:
    """``x / sqrt(mean(x^2) + eps) * weight`` over the trailing ``normalized_shape``; returns a tensor of
    ``x``'s shape. torch 2.4 and later have it as ``F.rms_norm``."""
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    native = getattr(torch.nn.functional, "rms_norm", None)
    return (native or _own_rms_norm)(x, shape, weight, eps)  # type: ignore[no-any-return]
