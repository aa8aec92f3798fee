"""Convolutions of mindspore.nn: ``pad_mode`` is 'same' by default, there is no bias by default. Source:
MindSpore 2.10."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F

from ..initializer import HeUniform, Uniform, initializer
from ..params import Parameter
from .activation import bound_of
from .module import Module


def as_tuple(value: Any, n: int, what: str) -> tuple[int, ...]:
    """``value`` for each of ``n`` axes; ValueError where a sequence has another length."""
    if isinstance(value, int):
        return (value,) * n
    if len(value) == 1:
        return (int(value[0]),) * n
    if len(value) != n:
        raise ValueError(f"'{what}' must be an int or {n} ints, but got {tuple(value)}")
    return tuple(int(v) for v in value)


def same_pads(
    size: torch.Size, kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
) -> list[tuple[int, int]]:
    """(before, after) for each axis, so that the result has ceil(size / stride) places; the odd one stands
    after."""
    pads = []
    for length, k, s, d in zip(size, kernel, stride, dilation, strict=True):
        total = max((math.ceil(length / s) - 1) * s + (k - 1) * d + 1 - length, 0)
        pads.append((total // 2, total - total // 2))
    return pads


def explicit_pads(padding: Any, n: int) -> list[tuple[int, int]]:
    """(before, after) for each axis from MindSpore's ``padding``: an int, or both ends of every axis in
    order."""
    if isinstance(padding, int):
        return [(padding, padding)] * n
    values = tuple(int(v) for v in padding)
    if len(values) == 1:
        return [(values[0], values[0])] * n
    if len(values) == 2 * n:
        return [(values[2 * i], values[2 * i + 1]) for i in range(n)]
    raise ValueError(f"'padding' must be an int or {2 * n} ints, but got {values}")


def flat(pads: list[tuple[int, int]]) -> list[int]:
    """Pads by axis in the order of torch's ``F.pad``: last axis first."""
    return [v for pair in reversed(pads) for v in pair]


class _Base(Module):
    _n = 2
    _transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        if pad_mode not in ("same", "valid", "pad"):
            raise ValueError(f"'pad_mode' must be 'same', 'valid' or 'pad', but got {pad_mode!r}")
        if in_channels % group or out_channels % group:
            raise ValueError(
                f"the channels {in_channels}, {out_channels} must be multiples of 'group' {group}"
            )
        n = self._n
        self.in_channels, self.out_channels, self.group, self.has_bias = (
            in_channels,
            out_channels,
            group,
            has_bias,
        )
        self.kernel_size, self.stride = as_tuple(kernel_size, n, "kernel_size"), as_tuple(stride, n, "stride")
        self.dilation, self.pad_mode, self.padding = as_tuple(dilation, n, "dilation"), pad_mode, padding
        self._pads = explicit_pads(padding, n)
        if pad_mode != "pad" and any(v for pair in self._pads for v in pair):
            raise ValueError(f"'padding' must be zero when 'pad_mode' is {pad_mode!r}, but got {padding}")
        first, second = (in_channels, out_channels) if self._transposed else (out_channels, in_channels)
        # A one-dimensional convolution's weight has an axis of length 1 before the kernel, as in MindSpore.
        kernel = (1, *self.kernel_size) if n == 1 else self.kernel_size
        shape = (first, second // group, *kernel)
        init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.weight = Parameter(initializer(init, shape, dtype), name="weight")
        self.bias = None
        if has_bias:
            start = Uniform(bound_of(math.prod(shape[1:]))) if bias_init is None else bias_init
            self.bias = Parameter(initializer(start, (out_channels,), dtype), name="bias")

    def _weight(self) -> torch.Tensor:
        return self.weight.squeeze(2) if self._n == 1 else self.weight

    def extra_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}, "
            f"padding={self.padding}, dilation={self.dilation}, group={self.group}, has_bias={self.has_bias}"
        )


class _Conv(_Base):
    def forward(self, x: torch.Tensor) -> Any:
        conv: Any = (F.conv1d, F.conv2d, F.conv3d)[self._n - 1]
        pads = self._pads
        if self.pad_mode == "same":
            pads = same_pads(x.shape[-self._n :], self.kernel_size, self.stride, self.dilation)
        if all(a == b for a, b in pads):
            # Even padding is left to the convolution: no copy of the input.
            even = tuple(a for a, _ in pads)
            return conv(x, self._weight(), self.bias, self.stride, even, self.dilation, self.group)
        return conv(
            F.pad(x, flat(pads)), self._weight(), self.bias, self.stride, 0, self.dilation, self.group
        )


class Conv1d(_Conv):
    """Convolution of (N, C, L)."""

    _n = 1


class Conv2d(_Conv):
    """Convolution of (N, C, H, W). ``data_format`` other than NCHW is refused."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str = "NCHW",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        if data_format not in ("NCHW", "NCDHW"):
            raise NotImplementedError(f"data_format={data_format!r} is not supported")
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            pad_mode,
            padding,
            dilation,
            group,
            has_bias,
            weight_init,
            bias_init,
            dtype,
        )


class Conv3d(Conv2d):
    """Convolution of (N, C, D, H, W)."""

    _n = 3


class _ConvTranspose(_Base):
    _transposed = True
    output_padding: Any = 0

    def _lengthen(self, output_padding: Any) -> None:
        if output_padding != 0 and self.pad_mode != "pad":
            raise ValueError(f"'output_padding' must be zero when 'pad_mode' is {self.pad_mode!r}")
        self.output_padding = output_padding

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        conv: Any = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self._n - 1]
        out = conv(x, self._weight(), None, self.stride, 0, 0, self.group, self.dilation)
        extra = as_tuple(self.output_padding, self._n, "output_padding")
        cuts = []
        for i, length in enumerate(x.shape[-self._n :]):
            full, stride = out.shape[i - self._n], self.stride[i]
            if self.pad_mode == "same":
                total = full - length * stride
                before = max(total, 0) // 2
                cuts.append((-before, before - total))
            elif self.pad_mode == "valid":
                cuts.append((0, max(length * stride - full, 0)))
            else:
                a, b = self._pads[i]
                cuts.append((-a, -b))
        if any(v for pair in cuts for v in pair):
            out = F.pad(out, flat(cuts))
        if self.bias is not None:
            out = out + self.bias.view(-1, *(1,) * self._n)
        if any(extra):
            # Unlike torch, MindSpore pads the result with zeros, after the bias.
            out = F.pad(out, flat([(0, e) for e in extra]))
        return out  # type: ignore[no-any-return]


class Conv1dTranspose(_ConvTranspose):
    """Transposed convolution of (N, C, L)."""

    _n = 1


class Conv2dTranspose(_ConvTranspose):
    """Transposed convolution of (N, C, H, W); ``output_padding`` only with ``pad_mode='pad'``."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            pad_mode,
            padding,
            dilation,
            group,
            has_bias,
            weight_init,
            bias_init,
            dtype,
        )
        self._lengthen(output_padding)


class Conv3dTranspose(_ConvTranspose):
    """Transposed convolution of (N, C, D, H, W)."""

    _n = 3

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        output_padding: Any = 0,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str = "NCDHW",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        if data_format != "NCDHW":
            raise NotImplementedError(f"data_format={data_format!r} is not supported")
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            pad_mode,
            padding,
            dilation,
            group,
            has_bias,
            weight_init,
            bias_init,
            dtype,
        )
        self._lengthen(output_padding)
