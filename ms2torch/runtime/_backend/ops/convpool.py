"""Convolution, pooling and resizing of mindspore.ops: pad modes, MindSpore's strides.

Source: MindSpore 2.10, mindspore.ops.<name> and the primitive of the same kind.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ._common import check_default


def each(value: Any, n: int) -> tuple[int, ...]:
    """A size for each of ``n`` spatial axes; of longer tuples (with batch and channel) the last ``n``
    count."""
    if isinstance(value, int):
        return (value,) * n
    made = tuple(int(v) for v in value)
    return made * n if len(made) == 1 else made[-n:]


def same_padding(sizes: Any, kernel: Any, stride: Any, dilation: Any) -> list[int]:
    """Amounts for F.pad so that the output has ceil(size / stride); the odd one goes to the end."""
    amounts: list[int] = []
    for size, k, s, d in reversed(list(zip(sizes, kernel, stride, dilation, strict=True))):
        total = max((math.ceil(size / s) - 1) * s + d * (k - 1) + 1 - size, 0)
        amounts += [total // 2, total - total // 2]
    return amounts


def _pad(
    x: Tensor, pad_mode: str, padding: Any, kernel: Any, stride: Any, dilation: Any, value: float = 0.0
) -> Tensor:
    n = len(kernel)
    mode = pad_mode.lower()
    if mode == "valid":
        return x
    if mode == "same":
        return F.pad(x, same_padding(x.shape[-n:], kernel, stride, dilation), value=value)
    if mode != "pad":
        raise ValueError(f"pad_mode must be 'valid', 'same' or 'pad', not {pad_mode!r}")
    if isinstance(padding, int):
        amounts = [padding] * (2 * n)
    elif len(padding) == n:
        amounts = [p for p in reversed(padding) for _ in (0, 1)]
    elif len(padding) == 2 * n:
        sides = [tuple(padding[i : i + 2]) for i in range(0, 2 * n, 2)]
        amounts = [p for side in reversed(sides) for p in side]
    else:
        raise ValueError(f"padding {padding!r} has neither {n} nor {2 * n} numbers")
    return F.pad(x, amounts, value=value)


def _conv(
    n: int,
    x: Tensor,
    weight: Tensor,
    bias: Any,
    stride: Any,
    pad_mode: str,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    stride, dilation = each(stride, n), each(dilation, n)
    x = _pad(x, pad_mode, padding, weight.shape[-n:], stride, dilation)
    conv = (F.conv1d, F.conv2d, F.conv3d)[n - 1]
    return conv(x, weight, bias, stride, 0, dilation, groups)


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution with MindSpore's pad modes: "valid", "same" (size divided by stride, rounded up), "pad"."""
    return _conv(1, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """As ``conv1d``; ``padding`` for "pad" is one number, or (top, bottom, left, right)."""
    return _conv(2, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    return _conv(3, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def mean_pool3d(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """``torch.nn.functional.avg_pool3d``, which has no kernel of half precision for the CPU."""
    if x.device.type == "cpu" and x.dtype in (torch.float16, torch.bfloat16):
        return F.avg_pool3d(x.float(), *args, **kwargs).to(x.dtype)
    return F.avg_pool3d(x, *args, **kwargs)


def _avg(
    x: Tensor, n: int, kernel: Any, stride: Any, padding: Any, ceil: bool, count: bool, divisor: Any
) -> Tensor:
    kernel, stride = each(kernel, n), each(stride, n)
    if n == 1:
        return F.avg_pool1d(x, kernel, stride, padding, ceil, count)
    pool = F.avg_pool2d if n == 2 else mean_pool3d
    return pool(x, kernel, stride, padding, ceil, count, divisor or None)


def avg_pool1d(
    input_x: Tensor,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Stride 1 by default (torch's is the kernel size)."""
    return _avg(input_x, 1, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input_x: Tensor,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
) -> Tensor:
    """Stride 1 by default (torch's is the kernel size)."""
    return _avg(input_x, 2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input_x: Tensor,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
) -> Tensor:
    return _avg(input_x, 3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def max_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
) -> Any:
    pool: Any = F.max_pool2d  # its overloads take no bool for return_indices
    return pool(x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    pool: Any = F.max_pool3d  # its overloads take no bool for return_indices
    return pool(x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def avg_pool_prim(
    x: Tensor, kernel_size: Any, strides: Any, pad_mode: str, data_format: str = "NCHW"
) -> Tensor:
    """The AvgPool primitive; places that "same" padding adds do not count."""
    check_default("AvgPool", data_format=(data_format, "NCHW"))
    kernel, stride = each(kernel_size, 2), each(strides, 2)
    ones = (1, 1)
    total = _pad(x, pad_mode, 0, kernel, stride, ones)
    if total is x:
        return F.avg_pool2d(x, kernel, stride)
    count = F.pad(torch.ones_like(x), same_padding(x.shape[-2:], kernel, stride, ones))
    return F.avg_pool2d(total, kernel, stride) / F.avg_pool2d(count, kernel, stride)


def max_pool_prim(
    x: Tensor, kernel_size: Any, strides: Any, pad_mode: str, data_format: str = "NCHW"
) -> Tensor:
    check_default("MaxPool", data_format=(data_format, "NCHW"))
    kernel, stride = each(kernel_size, 2), each(strides, 2)
    return F.max_pool2d(_pad(x, pad_mode, 0, kernel, stride, (1, 1), -math.inf), kernel, stride)


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    return F.adaptive_avg_pool1d(input, output_size)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    return F.adaptive_avg_pool2d(input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    return F.adaptive_avg_pool3d(input, output_size)


def adaptive_max_pool1d(input: Tensor, output_size: Any) -> Tensor:
    return F.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    pool: Any = F.adaptive_max_pool2d  # its overloads take no bool for return_indices
    return pool(input, output_size, return_indices)


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    pool: Any = F.adaptive_max_pool3d  # its overloads take no bool for return_indices
    return pool(input, output_size, return_indices)


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: Any = None,
    recompute_scale_factor: Any = None,
) -> Tensor:
    return F.interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


upsample = interpolate


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: Any = False,
) -> Tensor:
    return F.grid_sample(input, grid, mode, padding_mode, bool(align_corners))


def affine_grid(theta: Tensor, size: Any, align_corners: bool = False) -> Tensor:
    return F.affine_grid(theta, list(size), align_corners)


def resize_nearest(x: Tensor, size: Any, align_corners: bool, half_pixel_centers: bool) -> Tensor:
    """Nearest neighbour with TensorFlow's two options; neither is torch's "nearest"."""
    out = x
    for axis, n in ((-2, int(size[0])), (-1, int(size[1]))):
        m = x.shape[axis]
        steps = torch.arange(n, device=x.device, dtype=torch.float32)
        if align_corners:
            where = torch.floor(steps * ((m - 1) / (n - 1) if n > 1 else 0.0) + 0.5)
        else:
            where = torch.floor((steps + 0.5 if half_pixel_centers else steps) * (m / n))
        out = out.index_select(axis, where.long().clamp(0, m - 1))
    return out


def resize_bilinear(x: Tensor, size: Any, align_corners: bool, half_pixel_centers: bool) -> Tensor:
    """Bilinear; without either option the corner of a pixel is its place, unlike any form of torch's."""
    shape = (int(size[0]), int(size[1]))
    if align_corners or half_pixel_centers:
        return F.interpolate(x, shape, mode="bilinear", align_corners=align_corners)
    out = x
    for axis, n in ((-2, shape[0]), (-1, shape[1])):
        m = out.shape[axis]
        place = torch.arange(n, device=x.device, dtype=torch.float32) * (m / n)
        low = place.floor().long().clamp(max=m - 1)
        high = (low + 1).clamp(max=m - 1)
        part = (place - low).to(x.dtype)
        part = part.unsqueeze(-1) if axis == -2 else part
        out = torch.lerp(out.index_select(axis, low), out.index_select(axis, high), part)
    return out


def lp_pool1d(
    x: Tensor, norm_type: Any, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    return F.lp_pool1d(x, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    x: Tensor, norm_type: Any, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    return F.lp_pool2d(x, norm_type, kernel_size, stride, ceil_mode)


def max_unpool1d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    return F.max_unpool1d(x, indices.long(), kernel_size, stride, padding, output_size)


def max_unpool2d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    return F.max_unpool2d(x, indices.long(), kernel_size, stride, padding, output_size)


def max_unpool3d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    return F.max_unpool3d(x, indices.long(), kernel_size, stride, padding, output_size)
