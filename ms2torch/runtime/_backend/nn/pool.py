"""Pooling layers of mindspore.nn: kernel and stride are 1 by default. Source: MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from ..ops.convpool import mean_pool3d
from .conv import as_tuple, explicit_pads, flat, same_pads
from .module import Module


class _Pool(Module):
    _n = 2

    def __init__(
        self, kernel_size: Any, stride: Any, pad_mode: str, padding: Any, data_format: str = "NCHW"
    ) -> None:
        super().__init__()
        mode = str(pad_mode).lower()
        if mode not in ("same", "valid", "pad"):
            raise ValueError(f"'pad_mode' must be 'same', 'valid' or 'pad', but got {pad_mode!r}")
        if data_format not in ("NCHW", "NHWC"):
            raise ValueError(f"'data_format' must be 'NCHW' or 'NHWC', but got {data_format!r}")
        self.kernel_size, self.stride = (
            as_tuple(kernel_size, self._n, "kernel_size"),
            as_tuple(stride, self._n, "stride"),
        )
        self.pad_mode, self.padding, self.format = mode, padding, data_format
        pads = (
            explicit_pads(padding, self._n)
            if isinstance(padding, int) or len(padding) != self._n
            else [(int(v), int(v)) for v in padding]
        )
        if mode != "pad" and any(v for pair in pads for v in pair):
            raise ValueError(f"'padding' must be zero when 'pad_mode' is {pad_mode!r}, but got {padding}")
        if any(a != b for a, b in pads):
            raise NotImplementedError(f"uneven padding {padding} is not supported")
        self._even = tuple(a for a, _ in pads)

    def _same(self, x: torch.Tensor) -> list[int]:
        return flat(same_pads(x.shape[-self._n :], self.kernel_size, self.stride, (1,) * self._n))

    def _run(self, x: torch.Tensor) -> Any:
        raise NotImplementedError

    def forward(self, x: torch.Tensor) -> Any:
        if self.format == "NHWC":
            return self._run(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return self._run(x)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode.upper()}"


class _MaxPool(_Pool):
    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, data_format)
        if self.pad_mode != "pad" and (
            return_indices or ceil_mode or as_tuple(dilation, self._n, "dilation") != (1,) * self._n
        ):
            raise ValueError("'dilation', 'return_indices' and 'ceil_mode' need pad_mode='pad'")
        self.dilation, self.return_indices, self.ceil_mode = dilation, return_indices, ceil_mode

    def _run(self, x: torch.Tensor) -> Any:
        pool: Any = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[self._n - 1]
        if self.pad_mode == "same":
            low = float("-inf") if x.is_floating_point() else torch.iinfo(x.dtype).min
            return pool(F.pad(x, self._same(x), value=low), self.kernel_size, self.stride)
        return pool(
            x,
            self.kernel_size,
            self.stride,
            self._even,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class MaxPool1d(_MaxPool):
    """Maximum over windows of (N, C, L) or (C, L)."""

    _n = 1


class MaxPool2d(_MaxPool):
    """Maximum over windows of (N, C, H, W) or (C, H, W)."""


class MaxPool3d(_MaxPool):
    """Maximum over windows of (N, C, D, H, W)."""

    _n = 3


class _AvgPool(_Pool):
    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, data_format)
        self.ceil_mode, self.count_include_pad, self.divisor_override = (
            ceil_mode,
            count_include_pad,
            divisor_override,
        )

    def _run(self, x: torch.Tensor) -> torch.Tensor:
        pool: Any = (F.avg_pool1d, F.avg_pool2d, mean_pool3d)[self._n - 1]
        if self.pad_mode == "same":
            # The mean is over what lies inside the input.
            pads = self._same(x)
            sums = pool(F.pad(x, pads), self.kernel_size, self.stride)
            ones = torch.ones(x.shape[-self._n :], dtype=x.dtype, device=x.device)[None, None]
            return sums / pool(F.pad(ones, pads), self.kernel_size, self.stride)  # type: ignore[no-any-return]
        extra = {} if self._n == 1 else {"divisor_override": self.divisor_override}
        return pool(  # type: ignore[no-any-return]
            x, self.kernel_size, self.stride, self._even, self.ceil_mode, self.count_include_pad, **extra
        )


class AvgPool1d(_AvgPool):
    """Mean over windows of (N, C, L) or (C, L)."""

    _n = 1


class AvgPool2d(_AvgPool):
    """Mean over windows of (N, C, H, W) or (C, H, W)."""


class AvgPool3d(_AvgPool):
    """Mean over windows of (N, C, D, H, W)."""

    _n = 3


class _Adaptive(Module):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices


class AdaptiveAvgPool1d(_Adaptive):
    """Mean pooling of (N, C, L) to ``output_size``."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_Adaptive):
    """Mean pooling of (N, C, H, W) to ``output_size``."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_Adaptive):
    """Mean pooling of (N, C, D, H, W) to ``output_size``."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return F.adaptive_avg_pool3d(input, self.output_size)


class AdaptiveMaxPool1d(_Adaptive):
    """Maximum pooling of (N, C, L) to ``output_size``."""

    def forward(self, input: torch.Tensor) -> Any:
        pool: Any = F.adaptive_max_pool1d
        return pool(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_Adaptive):
    """Maximum pooling of (N, C, H, W) to ``output_size``."""

    def forward(self, input: torch.Tensor) -> Any:
        pool: Any = F.adaptive_max_pool2d
        return pool(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_Adaptive):
    """Maximum pooling of (N, C, D, H, W) to ``output_size``."""

    def forward(self, input: torch.Tensor) -> Any:
        pool: Any = F.adaptive_max_pool3d
        return pool(input, self.output_size, self.return_indices)
