"""Dropout, Flatten and other small layers of mindspore.nn. Source: MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from .module import Module


class Dropout(Module):
    """Zeroes with probability ``p`` in training. ``keep_prob`` (0.5) is one minus that, and is read without
    ``p``."""

    def __init__(
        self, keep_prob: float = 0.5, p: float | None = None, dtype: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        if p is None:
            if not 0 < keep_prob <= 1:
                raise ValueError(f"'keep_prob' must be in (0, 1], but got {keep_prob}")
        elif not 0 <= p < 1:
            raise ValueError(f"'p' must be in [0, 1), but got {p}")
        self.keep_prob, self.p = keep_prob, p

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.dropout(x, 1.0 - self.keep_prob if self.p is None else self.p, self.training)

    def extra_repr(self) -> str:
        return f"keep_prob={self.keep_prob}" if self.p is None else f"p={self.p}"


class _DropoutNd(Module):
    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"'p' must be in [0, 1], but got {p}")
        self.p = p


class Dropout1d(_DropoutNd):
    """Zeroes whole channels of (N, C, L) or (C, L) in training."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.dropout1d(x, self.p, self.training)


class Dropout2d(_DropoutNd):
    """Zeroes whole channels of (N, C, H, W) in training."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.dropout2d(x, self.p, self.training)


class Dropout3d(_DropoutNd):
    """Zeroes whole channels of (N, C, D, H, W) in training."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.dropout3d(x, self.p, self.training)


class Flatten(Module):
    """One axis out of ``start_dim`` to ``end_dim``."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.flatten(x, self.start_dim, self.end_dim)


class Unflatten(Module):
    """The axis ``axis`` as several of sizes ``unflattened_size``."""

    def __init__(self, axis: int, unflattened_size: Any) -> None:
        super().__init__()
        self.axis, self.unflattened_size = axis, unflattened_size

    def forward(self, input_x: torch.Tensor) -> torch.Tensor:
        return torch.unflatten(input_x, self.axis, self.unflattened_size)


class Identity(Module):
    """The input. Takes any arguments and ignores them, as MindSpore does."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Tril(Module):
    """Lower triangle: elements above diagonal ``k`` become 0."""

    def forward(self, x: torch.Tensor, k: int = 0) -> torch.Tensor:
        return torch.tril(x, k)


class Triu(Module):
    """Upper triangle: elements below diagonal ``k`` become 0."""

    def forward(self, x: torch.Tensor, k: int = 0) -> torch.Tensor:
        return torch.triu(x, k)


class Norm(Module):
    """Euclidean norm over ``axis`` (all by default)."""

    def __init__(self, axis: Any = (), keep_dims: bool = False) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, keep_dims

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        axes = tuple(range(x.dim())) if self.axis == () else self.axis
        return x.square().sum(axes, keepdim=self.keep_dims).sqrt()


class OneHot(Module):
    """``on_value`` at the class, ``off_value`` elsewhere; the classes stand on a new axis ``axis``."""

    def __init__(
        self,
        axis: int = -1,
        depth: int = 1,
        on_value: float = 1.0,
        off_value: float = 0.0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.axis, self.depth, self.on_value, self.off_value, self.dtype = (
            axis,
            depth,
            on_value,
            off_value,
            dtype,
        )

    def forward(self, indices: torch.Tensor) -> torch.Tensor:
        classes = torch.arange(self.depth, device=indices.device)
        hit = indices.unsqueeze(-1) == classes
        out = torch.where(hit, torch.tensor(self.on_value), torch.tensor(self.off_value)).to(self.dtype)
        return out if self.axis == -1 else out.movedim(-1, self.axis)


class Pad(Module):
    """Padding by ((before, after), …), one pair an axis; mode CONSTANT (zeros), REFLECT or SYMMETRIC."""

    def __init__(self, paddings: Any, mode: str = "CONSTANT") -> None:
        super().__init__()
        if mode not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
            raise ValueError(f"'mode' must be CONSTANT, REFLECT or SYMMETRIC, but got {mode!r}")
        self.paddings, self.mode = tuple(tuple(p) for p in paddings), mode

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.mode == "CONSTANT":
            return F.pad(x, [v for pair in reversed(self.paddings) for v in pair])
        edge = 1 if self.mode == "REFLECT" else 0
        for axis, (before, after) in enumerate(self.paddings):
            size = x.shape[axis]
            head = x.narrow(axis, edge, before).flip(axis)
            tail = x.narrow(axis, size - after - edge, after).flip(axis)
            x = torch.cat([head, x, tail], axis)
        return x


class ClipByNorm(Module):
    """x scaled so that its norm over ``axis`` (all by default) is at most ``clip_norm``."""

    def __init__(self, axis: Any = None) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, x: torch.Tensor, clip_norm: torch.Tensor) -> torch.Tensor:
        axes = tuple(range(x.dim())) if self.axis is None else self.axis
        norm = x.square().sum(axes, keepdim=True).sqrt()
        return x * clip_norm / torch.maximum(norm, torch.as_tensor(clip_norm, device=x.device))


class PixelShuffle(Module):
    """(…, C r², H, W) to (…, C, H r, W r)."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Module):
    """(…, C, H r, W r) to (…, C r², H, W)."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)
