"""Functions of mindspore.mint whose torch namesake differs in arguments, dtypes or indices.

What is missing here is the same function in torch and is called there directly.
Source: MindSpore 2.10, mindspore.mint.<name> and mindspore.mint.nn.functional.<name>.
"""

# torch leaves some of its functions untyped; which ones differs between its versions.
# mypy: disable-error-code="no-any-return, no-untyped-call"
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ..device import uninitialised
from ._common import ints, pair
from .convpool import mean_pool3d
from .linalg import cross as cross
from .loss import cross_entropy as cross_entropy
from .loss import labels


def prod(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Product over one axis or, with ``dim`` None, over all."""
    if dim is None:
        out = torch.prod(input, dtype=dtype)
        return out.reshape((1,) * input.ndim) if keepdim else out
    return torch.prod(input, dim, keepdim, dtype=dtype)


def median(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The median of all, or (median, index) along ``dim``."""
    return torch.median(input) if dim is None else torch.median(input, dim, keepdim)


def cumsum(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Running sum; ``dtype`` may be given by position. Small integers are summed in int64."""
    return torch.cumsum(input, dim, dtype=dtype)


def cumprod(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    return torch.cumprod(input, dim, dtype=dtype)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    return torch.sort(input, dim=dim, descending=descending, stable=stable)[1]


def eye(n: int, m: Any = None, dtype: Any = None) -> Tensor:
    return torch.eye(n, n if m is None else m, dtype=dtype)


def broadcast_to(input: Tensor, shape: Any) -> Tensor:
    return torch.broadcast_to(input, ints(shape))


def isnan(tensor: Tensor) -> Tensor:
    return torch.isnan(tensor)


def arcsin(x: Tensor) -> Tensor:
    return torch.arcsin(x)


def dot(input: Tensor, other: Tensor) -> Tensor:
    return torch.dot(input, other)


def histc(input: Tensor, bins: int = 100, min: Any = 0, max: Any = 0) -> Tensor:
    """Counts of ``bins`` equal parts of [min, max], or of the data's range where both are 0, in the dtype of
    ``input``. Integers are counted exactly: torch refuses them on the CPU. What lies outside is left out."""
    if input.is_floating_point():
        return torch.histc(input, bins, min, max)
    low, high = float(min), float(max)
    if low == high == 0.0 and input.numel():
        low, high = float(input.min()), float(input.max())
    if low == high:
        low, high = low - 1, high + 1
    values = input.reshape(-1).double()
    # On other devices than the CPU a boolean selection waits for the device; one more bin for what is outside
    # does not.
    place = torch.floor((values - low) * (bins / (high - low))).clamp(0, bins - 1)
    outside = (values < low) | (values > high)
    place = torch.where(outside, torch.full_like(place, bins), place).long()
    counts = torch.zeros(bins + 1, dtype=torch.int64, device=input.device)
    return counts.scatter_add_(0, place, torch.ones_like(place))[:bins].to(input.dtype)


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """torch's ``gather`` for int32 indices too."""
    return torch.gather(input, dim, index.long())


def scatter(input: Tensor, dim: int, index: Tensor, src: Any) -> Tensor:
    """``src``, a tensor or a number, written along ``dim``; int32 indices too."""
    if isinstance(src, Tensor):
        return torch.scatter(input, dim, index.long(), src)
    return torch.scatter(input, dim, index.long(), value=src)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    return torch.scatter_add(input, dim, index.long(), src)


def take(input: Tensor, index: Tensor) -> Tensor:
    return torch.take(input, index.long())


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    size = split_size_or_sections
    return torch.split(tensor, size if isinstance(size, int) else list(size), dim)


def repeat_interleave(input: Tensor, repeats: Any, dim: Any = None, *, output_size: Any = None) -> Tensor:
    """Each element ``repeats`` times; counts may be an int, a tuple, a list or a tensor."""
    if isinstance(repeats, (tuple, list)):
        repeats = torch.tensor(repeats, dtype=torch.int64, device=input.device)
    return torch.repeat_interleave(input, repeats, dim, output_size=output_size)


def meshgrid(*tensors: Any, indexing: Any = None) -> tuple[Tensor, ...]:
    """Coordinate grids, "ij" by default."""
    given: Sequence[Tensor] = (
        tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
    )
    return tuple(torch.meshgrid(*given, indexing=indexing or "ij"))


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, generator: Any = None) -> Tensor:
    """Normal numbers; the shape is that of ``mean`` and ``std``, or ``size`` for two numbers."""
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        a, b = torch.broadcast_tensors(*pair(mean, std))
        return torch.normal(a.float(), b.float(), generator=generator)
    return torch.normal(float(mean), float(std), ints(() if size is None else size), generator=generator)


def randint_like(
    input: Tensor, low: Any, high: Any = None, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """Integers of [0, low) or [low, high) in the shape of ``input``."""
    if high is None:
        low, high = 0, low
    return torch.randint_like(input, int(low), int(high), dtype=dtype, device=device)


def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """(solution, A) of ``A x = b`` for a triangular A."""
    matrix = A.mT if transpose else A
    up = upper != transpose
    return torch.linalg.solve_triangular(matrix, b, upper=up, unitriangular=unitriangular), A


# mindspore.mint.nn.functional


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """One-hot int64 rows; int32 classes too."""
    return F.one_hot(tensor.long(), num_classes).to(
        tensor.dtype if tensor.dtype == torch.int64 else torch.int64
    )


def nll_loss(
    input: Tensor, target: Tensor, weight: Any = None, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """Negative log likelihood; int32 labels too."""
    return F.nll_loss(input, labels(target), weight, ignore_index=ignore_index, reduction=reduction)


def softmax(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """Softmax; ``dtype`` may be given by position, and ``dim`` None is the last axis but for 0, 1 and 3
    axes."""
    if dim is None:
        dim = 0 if input.ndim in (0, 1, 3) else 1
    return torch.softmax(input, dim, dtype=dtype)


def log_softmax(input: Tensor, dim: Any = None, *, dtype: Any = None) -> Tensor:
    if dim is None:
        dim = 0 if input.ndim in (0, 1, 3) else 1
    return torch.log_softmax(input, dim, dtype=dtype)


def layer_norm(
    input: Tensor, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Tensor:
    """Layer normalisation; ``normalized_shape`` may be an int."""
    return F.layer_norm(input, ints(normalized_shape), weight, bias, eps)


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Any = None, reduction: str = "mean"
) -> Tensor:
    return F.binary_cross_entropy(input, target, weight, reduction=reduction)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Tensor:
    return F.binary_cross_entropy_with_logits(
        input, target, weight, reduction=reduction, pos_weight=pos_weight
    )


def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    return F.kl_div(input, target, reduction=reduction, log_target=log_target)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    a, b = torch.broadcast_tensors(input, target)
    return F.l1_loss(a, b, reduction=reduction)


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    a, b = torch.broadcast_tensors(input, target)
    return F.mse_loss(a, b, reduction=reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    return F.smooth_l1_loss(input, target, reduction=reduction, beta=beta)


def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    return F.soft_margin_loss(input, target, reduction=reduction)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=reduction)


def linalg_qr(A: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    q, r = torch.linalg.qr(A, mode)
    return q, r


def empty(*size: Any, dtype: Any = None, device: Any = None, pin_memory: bool = False) -> Tensor:
    """Uninitialised memory (zero under set_deterministic); the device "Ascend" is torch's "npu"."""
    return uninitialised(torch.empty(*size, dtype=dtype, device=device_of(device), pin_memory=pin_memory))


def rand(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Uniform in [0, 1); after a shape, further positional arguments are ignored, as MindSpore does."""
    return torch.rand(_size(size), generator=generator, dtype=dtype, device=device_of(device))


def randn(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Standard normal; after a shape, further positional arguments are ignored, as MindSpore does."""
    return torch.randn(_size(size), generator=generator, dtype=dtype, device=device_of(device))


def _size(size: Any) -> tuple[int, ...]:
    return ints(size[0] if size and isinstance(size[0], tuple | list) else size)


def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Means over windows of (N, C, D, H, W); half precision too, for which torch has no CPU kernel."""
    return mean_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def empty_like(input: Tensor, *, dtype: Any = None, device: Any = None, pin_memory: bool = False) -> Tensor:
    made = torch.empty_like(input, dtype=dtype, device=device_of(device), pin_memory=pin_memory)
    return uninitialised(made)


def device_of(name: Any) -> Any:
    """A MindSpore device name as torch writes it."""
    return {"Ascend": "npu", "GPU": "cuda", "CPU": "cpu"}.get(name, name) if isinstance(name, str) else name
