"""Layers of mindspore.nn that hold the arguments of one function: padding, unpooling, resizing, losses.

Source: MindSpore 2.10, mindspore.nn.<name> and the function of mindspore.ops that each documents.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from ..ops import activation, convpool, loss
from .loss import LossBase
from .module import Module


class _Pad(Module):
    """``padding`` counts from the last axis, first and last side of each; one number is every side's."""

    _axes, _mode = 1, "constant"

    def __init__(self, padding: Any, value: Any = 0) -> None:
        super().__init__()
        sides = (padding,) * (2 * self._axes) if isinstance(padding, int) else tuple(padding)
        # A constant may fill fewer axes than the layer's; the other modes need them all.
        fewer = self._mode == "constant" and self._axes > 1
        if len(sides) % 2 or len(sides) > 2 * self._axes or (len(sides) < 2 * self._axes and not fewer):
            raise ValueError(f"{self.cls_name} takes {2 * self._axes} sides, but got {len(sides)}")
        self.padding, self.value = sides, value

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self._mode == "constant":
            return F.pad(x, self.padding, value=self.value)
        return F.pad(x, self.padding, self._mode)


class ConstantPad1d(_Pad):
    """``value`` beside the last axis."""

    def __init__(self, padding: Any, value: Any) -> None:
        super().__init__(padding, value)


class ConstantPad2d(ConstantPad1d):
    """``value`` around the last two axes."""

    _axes = 2


class ConstantPad3d(ConstantPad1d):
    """``value`` around the last three axes."""

    _axes = 3


class ZeroPad2d(_Pad):
    """Zeros around the last two axes."""

    _axes = 2

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)


class ReflectionPad1d(ZeroPad2d):
    """(N, C, L) or (C, L), mirrored at its ends without repeating them."""

    _axes, _mode = 1, "reflect"


class ReflectionPad2d(ZeroPad2d):
    """(N, C, H, W) or (C, H, W), mirrored at its edges without repeating them."""

    _axes, _mode = 2, "reflect"


class ReflectionPad3d(ZeroPad2d):
    """(N, C, D, H, W) or (C, D, H, W), mirrored at its faces without repeating them."""

    _axes, _mode = 3, "reflect"


class ReplicationPad1d(ZeroPad2d):
    """(N, C, L) or (C, L), its ends repeated."""

    _axes, _mode = 1, "replicate"


class ReplicationPad2d(ZeroPad2d):
    """(N, C, H, W) or (C, H, W), its edges repeated."""

    _axes, _mode = 2, "replicate"


class ReplicationPad3d(ZeroPad2d):
    """(N, C, D, H, W) or (C, D, H, W), its faces repeated."""

    _axes, _mode = 3, "replicate"


class _Unpool(Module):
    _function: Any = None

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def forward(self, x: torch.Tensor, indices: torch.Tensor, output_size: Any = None) -> torch.Tensor:
        unpool = type(self)._function
        out: torch.Tensor = unpool(x, indices, self.kernel_size, self.stride, self.padding, output_size)
        return out


class MaxUnpool1d(_Unpool):
    """The inverse of MaxPool1d as far as its indices tell, zeros elsewhere."""

    _function = staticmethod(convpool.max_unpool1d)


class MaxUnpool2d(_Unpool):
    """The inverse of MaxPool2d as far as its indices tell, zeros elsewhere."""

    _function = staticmethod(convpool.max_unpool2d)


class MaxUnpool3d(_Unpool):
    """The inverse of MaxPool3d as far as its indices tell, zeros elsewhere."""

    _function = staticmethod(convpool.max_unpool3d)


class LRN(Module):
    """Local response normalisation over ``2 * depth_radius + 1`` channels."""

    def __init__(
        self,
        depth_radius: int = 5,
        bias: float = 1.0,
        alpha: float = 1.0,
        beta: float = 0.5,
        norm_region: str = "ACROSS_CHANNELS",
    ) -> None:
        super().__init__()
        if norm_region != "ACROSS_CHANNELS":
            raise ValueError(f"'norm_region' must be 'ACROSS_CHANNELS', but got {norm_region!r}")
        self.depth_radius, self.bias, self.alpha, self.beta = depth_radius, bias, alpha, beta

    def forward(self, input_x: torch.Tensor) -> torch.Tensor:
        return activation.lrn(input_x, self.depth_radius, self.bias, self.alpha, self.beta)


class MultiMarginLoss(LossBase):
    """Hinge loss of class scores (N, C) and labels (N); ``weight`` per class, of the call before the layer's."""

    def __init__(self, p: int = 1, margin: float = 1.0, reduction: str = "mean", weight: Any = None) -> None:
        super().__init__(reduction)
        self.p, self.margin, self.weight = p, margin, weight

    def forward(self, x: torch.Tensor, target: torch.Tensor, weight: Any = None) -> torch.Tensor:
        chosen = self.weight if weight is None else weight
        return loss.multi_margin_loss(x, target, self.p, self.margin, chosen, self.reduction)


class MultilabelMarginLoss(LossBase):
    """Hinge loss of class scores and several labels, which end at the first -1."""

    def forward(self, x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return loss.multilabel_margin_loss(x, target, self.reduction)


class GaussianNLLLoss(LossBase):
    """Negative log likelihood of a normal distribution with the variance ``var``, at least ``eps``."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.full, self.eps = full, eps

    def forward(self, logits: torch.Tensor, labels: torch.Tensor, var: torch.Tensor) -> torch.Tensor:
        return loss.gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


class PoissonNLLLoss(LossBase):
    """Negative log likelihood of a Poisson distribution; ``full`` adds Stirling's term."""

    def __init__(
        self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        out = F.poisson_nll_loss(
            input,
            target.to(input.dtype),
            self.log_input,
            self.full,
            eps=self.eps,
            reduction=self.reduction,
        )
        return out


class Upsample(Module):
    """Resizes by ``size`` or ``scale_factor``, as ``ops.interpolate``."""

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: Any = None,
        recompute_scale_factor: Any = None,
    ) -> None:
        super().__init__()
        self.arguments = (size, scale_factor, mode, align_corners, recompute_scale_factor)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return convpool.interpolate(x, *self.arguments)
