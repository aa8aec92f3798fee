"""Normalisation layers of mindspore.nn: their defaults, their field names. Source: MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from ..initializer import initializer
from ..params import Parameter
from .module import Module


class LayerNorm(Module):
    """Normalises over the axes from ``begin_norm_axis`` on, then ``gamma`` and ``beta`` from
    ``begin_params_axis``.

    ``gamma`` and ``beta`` have the shape ``normalized_shape``; epsilon is 1e-7 by default.
    """

    def __init__(
        self,
        normalized_shape: Any,
        begin_norm_axis: int = -1,
        begin_params_axis: int = -1,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        epsilon: float = 1e-7,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        if not isinstance(normalized_shape, tuple | list):
            raise TypeError(
                f"'normalized_shape' must be tuple or list, but got {type(normalized_shape).__name__}"
            )
        if not normalized_shape:
            raise ValueError("'normalized_shape' must not be empty")
        self.normalized_shape = tuple(normalized_shape)
        self.begin_norm_axis, self.begin_params_axis, self.epsilon = (
            begin_norm_axis,
            begin_params_axis,
            epsilon,
        )
        self.gamma = Parameter(initializer(gamma_init, self.normalized_shape, dtype), name="gamma")
        self.beta = Parameter(initializer(beta_init, self.normalized_shape, dtype), name="beta")

    def forward(self, input_x: torch.Tensor) -> torch.Tensor:
        over = input_x.shape[self.begin_norm_axis :]
        if over == self.gamma.shape == input_x.shape[self.begin_params_axis :]:
            return F.layer_norm(input_x, over, self.gamma, self.beta, self.epsilon)
        rest = input_x.shape[self.begin_params_axis :]
        if tuple(rest) != tuple(self.gamma.shape):
            raise ValueError(
                f"gamma and beta have shape {tuple(self.gamma.shape)}, but the input has {tuple(rest)} "
                f"from axis {self.begin_params_axis} on"
            )
        return F.layer_norm(input_x, over, None, None, self.epsilon) * self.gamma + self.beta

    def extra_repr(self) -> str:
        return (
            f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, "
            f"begin_params_axis={self.begin_params_axis}"
        )


class _BatchNorm(Module):
    """``momentum`` is the share of the old statistics that stays (one minus torch's). The statistics are
    parameters without gradient; ``affine=False`` keeps ``gamma`` and ``beta``, without gradient."""

    _dims: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        data_format: str = "NCHW",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        if num_features < 1:
            raise ValueError(f"'num_features' must be at least 1, but got {num_features}")
        if not 0 <= momentum <= 1:
            raise ValueError(f"'momentum' must be in [0, 1], but got {momentum}")
        if data_format not in ("NCHW", "NHWC"):
            raise ValueError(f"'data_format' must be 'NCHW' or 'NHWC', but got {data_format!r}")
        self.num_features, self.eps, self.momentum, self.affine = num_features, eps, momentum, affine
        self.use_batch_statistics, self.format = use_batch_statistics, data_format
        shape = (num_features,)
        self.moving_mean = Parameter(
            initializer(moving_mean_init, shape, dtype), name="mean", requires_grad=False
        )
        self.moving_variance = Parameter(
            initializer(moving_var_init, shape, dtype), name="variance", requires_grad=False
        )
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), name="beta", requires_grad=affine)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() not in self._dims:
            raise ValueError(f"{self.cls_name} takes {self._dims} dimensions, but got {x.dim()}")
        batch = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        moved = self.format == "NHWC" and x.dim() == 4
        out = F.batch_norm(
            x.permute(0, 3, 1, 2) if moved else x,
            self.moving_mean,
            self.moving_variance,
            self.gamma,
            self.beta,
            batch,
            1.0 - self.momentum,
            self.eps,
        )
        return out.permute(0, 2, 3, 1) if moved else out

    def extra_repr(self) -> str:
        return f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}"


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L)."""

    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W)."""

    _dims = (4,)


class BatchNorm3d(Module):
    """Batch normalisation of (N, C, D, H, W); its parameters stand in the layer ``bn2d``, as in MindSpore."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.bn2d = BatchNorm2d(
            num_features,
            eps,
            momentum,
            affine,
            gamma_init,
            beta_init,
            moving_mean_init,
            moving_var_init,
            use_batch_statistics,
            "NCHW",
            dtype,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() != 5:
            raise ValueError(f"BatchNorm3d takes 5 dimensions, but got {x.dim()}")
        return self.bn2d(x.flatten(2, 3)).reshape(x.shape)  # type: ignore[no-any-return]


class GroupNorm(Module):
    """Normalisation of (N, C, ...) over groups of channels."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"'num_channels' {num_channels} must be a multiple of 'num_groups' {num_groups}")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        shape = (num_channels,)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), name="beta", requires_grad=affine)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)
