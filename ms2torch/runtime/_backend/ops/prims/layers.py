"""Primitives of neural networks: activations, normalisation, convolution, pooling, losses.

Source: MindSpore 2.10, mindspore.ops.<Name>: constructor, call and defaults.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import activation, convpool, loss
from .._common import check_default
from .base import attrs


@attrs
def Softmax(input: Tensor, *, axis: Any = -1) -> Tensor:
    return activation.softmax(input, axis)


@attrs
def LogSoftmax(logits: Tensor, *, axis: int = -1) -> Tensor:
    return torch.log_softmax(logits, axis)


@attrs
def Elu(input_x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return F.elu(input_x, alpha)


@attrs
def CeLU(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return F.celu(x, alpha)


@attrs
def GLU(x: Tensor, *, axis: int = -1) -> Tensor:
    return F.glu(x, axis)


@attrs
def HShrink(input: Tensor, *, lambd: float = 0.5) -> Tensor:
    return F.hardshrink(input, lambd)


@attrs
def SoftShrink(input: Tensor, *, lambd: float = 0.5) -> Tensor:
    return F.softshrink(input, lambd)


@attrs
def Dropout(x: Tensor, *, keep_prob: float = 0.5, Seed0: int = 0, Seed1: int = 0) -> tuple[Tensor, Tensor]:
    """(output, mask); ``keep_prob`` is the share that stays."""
    check_default("Dropout", Seed0=(Seed0, 0), Seed1=(Seed1, 0))
    return activation.dropout_with_mask(x, keep_prob)


@attrs
def Dropout2D(x: Tensor, *, keep_prob: float = 0.5) -> tuple[Tensor, Tensor]:
    """(output, bool mask); whole channels are dropped."""
    mask = torch.rand(x.shape[:2], device=x.device) < keep_prob
    mask = mask.reshape(mask.shape + (1,) * (x.ndim - 2)).expand(x.shape)
    return x * mask / keep_prob, mask


Dropout3D = Dropout2D


@attrs
def BiasAdd(input_x: Tensor, bias: Tensor, *, data_format: str = "NCHW") -> Tensor:
    """``bias`` along the channel axis: the second, or the last for NHWC."""
    if data_format == "NHWC":
        return input_x + bias
    return activation.bias_add(input_x, bias)


@attrs
def LayerNorm(
    input_x: Tensor,
    gamma: Tensor,
    beta: Tensor,
    *,
    begin_norm_axis: int = 1,
    begin_params_axis: int = 1,
    epsilon: float = 1e-7,
) -> tuple[Tensor, Tensor, Tensor]:
    """(normalised, mean, variance)."""
    return activation.layer_norm_stats(input_x, gamma, beta, begin_norm_axis, begin_params_axis, epsilon)


@attrs
def BatchNorm(
    input_x: Tensor,
    scale: Tensor,
    bias: Tensor,
    mean: Tensor,
    variance: Tensor,
    *,
    is_training: bool = False,
    epsilon: float = 1e-5,
    momentum: float = 0.1,
    data_format: str = "NCHW",
) -> tuple[Tensor, ...]:
    """(output, batch mean, batch variance, and both again); in training ``mean`` and ``variance`` move by
    ``momentum``. Without training the given mean and variance take the batch's place."""
    check_default("BatchNorm", data_format=(data_format, "NCHW"))
    out = F.batch_norm(input_x, mean, variance, scale, bias, is_training, momentum, epsilon)
    if not is_training:
        return out, mean, variance, mean, variance
    dims = [d for d in range(input_x.ndim) if d != 1]
    var, avg = torch.var_mean(input_x, dims, correction=0)
    return out, avg, var, avg, var


@attrs
def LRN(
    x: Tensor,
    *,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
    norm_region: str = "ACROSS_CHANNELS",
) -> Tensor:
    return activation.lrn(x, depth_radius, bias, alpha, beta, norm_region)


@attrs
def AdaptiveAvgPool2D(x: Tensor, *, output_size: Any) -> Tensor:
    return F.adaptive_avg_pool2d(x, output_size)


@attrs
def AdaptiveAvgPool3D(x: Tensor, *, output_size: Any) -> Tensor:
    return F.adaptive_avg_pool3d(x, output_size)


@attrs
def AdaptiveMaxPool2D(input: Tensor, *, output_size: Any) -> tuple[Tensor, Tensor]:
    """(largest values, their places)."""
    pool: Any = F.adaptive_max_pool2d
    values, where = pool(input, output_size, True)
    return values, where


@attrs
def GridSampler2D(
    input_x: Tensor,
    grid: Tensor,
    *,
    interpolation_mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Tensor:
    return F.grid_sample(input_x, grid, interpolation_mode, padding_mode, align_corners)


GridSampler3D = GridSampler2D


@attrs
def MultiMarginLoss(
    x: Tensor, target: Tensor, weight: Any = None, *, p: int = 1, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    return loss.multi_margin_loss(x, target, p, margin, weight, reduction)


@attrs
def Conv2D(
    x: Tensor,
    weight: Tensor,
    *,
    out_channel: int,
    kernel_size: Any,
    mode: int = 1,
    pad_mode: str = "valid",
    pad: Any = 0,
    stride: Any = 1,
    dilation: Any = 1,
    group: int = 1,
    data_format: str = "NCHW",
) -> Tensor:
    check_default("Conv2D", mode=(mode, 1), data_format=(data_format, "NCHW"))
    return convpool.conv2d(x, weight, None, stride, pad_mode, pad, dilation, group)


@attrs
def Conv3D(
    x: Tensor,
    weight: Tensor,
    *,
    out_channel: int,
    kernel_size: Any,
    mode: int = 1,
    pad_mode: str = "valid",
    pad: Any = 0,
    stride: Any = 1,
    dilation: Any = 1,
    group: int = 1,
    data_format: str = "NCDHW",
) -> Tensor:
    check_default("Conv3D", mode=(mode, 1), data_format=(data_format, "NCDHW"))
    return convpool.conv3d(x, weight, None, stride, pad_mode, pad, dilation, group)


@attrs
def AvgPool(
    x: Tensor, *, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "VALID", data_format: str = "NCHW"
) -> Tensor:
    return convpool.avg_pool_prim(x, kernel_size, strides, pad_mode, data_format)


@attrs
def MaxPool(
    x: Tensor, *, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid", data_format: str = "NCHW"
) -> Tensor:
    return convpool.max_pool_prim(x, kernel_size, strides, pad_mode, data_format)


@attrs
def MaxPoolWithArgmax(
    x: Tensor, *, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = "valid", data_format: str = "NCHW"
) -> tuple[Tensor, Tensor]:
    """(largest values, their int32 places in the flattened plane)."""
    check_default(
        "MaxPoolWithArgmax", data_format=(data_format, "NCHW"), pad_mode=(pad_mode.lower(), "valid")
    )
    size = convpool.each(kernel_size, 2), convpool.each(strides, 2)
    values, where = F.max_pool2d(x, *size, return_indices=True)
    return values, where.int()


@attrs
def ResizeNearestNeighbor(
    input_x: Tensor, *, size: Any, align_corners: bool = False, half_pixel_centers: bool = False
) -> Tensor:
    return convpool.resize_nearest(input_x, size, align_corners, half_pixel_centers)


@attrs
def ResizeNearestNeighborV2(
    image: Tensor, size: Any, *, align_corners: bool = False, half_pixel_centers: bool = False
) -> Tensor:
    return convpool.resize_nearest(image, size, align_corners, half_pixel_centers)


@attrs
def ResizeBilinearV2(
    image: Tensor, size: Any, *, align_corners: bool = False, half_pixel_centers: bool = False
) -> Tensor:
    return convpool.resize_bilinear(image, size, align_corners, half_pixel_centers)


@attrs
def BCEWithLogitsLoss(
    input: Tensor, target: Tensor, weight: Any = None, posWeight: Any = None, *, reduction: str = "mean"
) -> Tensor:
    return loss.binary_cross_entropy_with_logits(input, target, weight, posWeight, reduction)


@attrs
def BinaryCrossEntropy(
    input: Tensor, target: Tensor, weight: Any = None, *, reduction: str = "mean"
) -> Tensor:
    return loss.binary_cross_entropy(input, target, weight, reduction)


@attrs
def KLDivLoss(logits: Tensor, labels: Tensor, *, reduction: str = "mean") -> Tensor:
    return loss.kl_div(logits, labels, reduction)


@attrs
def NLLLoss(
    logits: Tensor, labels: Tensor, weight: Tensor, *, reduction: str = "mean", ignore_index: int = -100
) -> tuple[Tensor, Tensor]:
    """(loss, sum of the weights of the labels)."""
    made = loss.nll_loss(logits, labels, weight, ignore_index, reduction)
    where = labels.long()
    keep = where != ignore_index
    return made, (weight[torch.where(keep, where, torch.zeros_like(where))] * keep).sum()


@attrs
def SmoothL1Loss(prediction: Tensor, target: Tensor, *, beta: float = 1.0, reduction: str = "none") -> Tensor:
    return loss.smooth_l1_loss(prediction, target, beta, reduction)


@attrs
def SoftMarginLoss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    return F.soft_margin_loss(input, target, reduction=reduction)


@attrs
def SparseSoftmaxCrossEntropyWithLogits(logits: Tensor, labels: Tensor, *, is_grad: bool = False) -> Tensor:
    return loss.sparse_softmax_cross_entropy_with_logits(logits, labels, is_grad)


@attrs
def ApplyMomentum(
    variable: Tensor,
    accumulation: Tensor,
    learning_rate: Any,
    gradient: Tensor,
    momentum: Any,
    *,
    use_nesterov: bool = False,
    use_locking: bool = False,
    gradient_scale: float = 1.0,
) -> Tensor:
    """One momentum step on a parameter and its accumulation, in place; returns the parameter."""
    with torch.no_grad():
        grad = gradient * gradient_scale
        accumulation.mul_(momentum).add_(grad)
        step = grad + momentum * accumulation if use_nesterov else accumulation
        variable.sub_(step * learning_rate)
    return variable
