"""Activations, normalisation and dropout functions of mindspore.ops.

Source: MindSpore 2.10, mindspore.ops.<name> of the same name.
"""

# torch leaves some of its functions untyped; which ones differs between its versions.
# mypy: disable-error-code="no-any-return, no-untyped-call"
from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ._common import check_default, dims_of, index, ints


def softmax(input: Tensor, axis: Any = -1, *, dtype: Any = None) -> Tensor:
    """Softmax along ``axis``, an int or a tuple of axes taken together."""
    x = input if dtype is None else input.to(dtype)
    if isinstance(axis, (tuple, list)) and len(axis) > 1:
        dims = dims_of(axis, x.ndim)
        return torch.exp(x - torch.logsumexp(x, dims, keepdim=True))
    return torch.softmax(x, dims_of(axis, x.ndim)[0])


def log_softmax(logits: Tensor, axis: int = -1) -> Tensor:
    return torch.log_softmax(logits, axis)


def softmin(x: Tensor, axis: int = -1, *, dtype: Any = None) -> Tensor:
    return softmax(-x, axis, dtype=dtype)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    return F.relu(input, inplace)


def relu6(x: Tensor) -> Tensor:
    return F.relu6(x)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """The exact form by default (the GeLU primitive and nn.GELU take the tanh form)."""
    return F.gelu(input, approximate=approximate)


def gelu_tanh(input: Tensor) -> Tensor:
    """The tanh form, which the GeLU primitive computes."""
    return F.gelu(input, approximate="tanh")


def fast_gelu(x: Tensor) -> Tensor:
    """``x * sigmoid(1.702 x)``."""
    return x * torch.sigmoid(1.702 * x)


def leaky_relu(input: Tensor, alpha: Any = 0.2) -> Tensor:
    """Slope 0.2 by default (torch's is 0.01)."""
    return F.leaky_relu(input, alpha)


def elu(input_x: Tensor, alpha: float = 1.0) -> Tensor:
    return F.elu(input_x, alpha)


def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    return F.celu(x, alpha)


def selu(input_x: Tensor) -> Tensor:
    return F.selu(input_x)


def silu(input: Tensor) -> Tensor:
    return F.silu(input)


def mish(x: Tensor) -> Tensor:
    return F.mish(x)


def glu(x: Tensor, axis: int = -1) -> Tensor:
    return F.glu(x, axis)


def hardsigmoid(input: Tensor) -> Tensor:
    return F.hardsigmoid(input)


def hardswish(input: Tensor) -> Tensor:
    return F.hardswish(input)


def hardtanh(input: Tensor, min_val: Any = -1.0, max_val: Any = 1.0) -> Tensor:
    return F.hardtanh(input, min_val, max_val)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    return F.hardshrink(input, lambd)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    return F.softshrink(input, lambd)


def soft_shrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    return F.softshrink(input, lambd)


def softplus(input: Tensor, beta: Any = 1, threshold: Any = 20) -> Tensor:
    return F.softplus(input, beta, threshold)


def softsign(x: Tensor) -> Tensor:
    return F.softsign(x)


def tanhshrink(input: Tensor) -> Tensor:
    return F.tanhshrink(input)


def logsigmoid(x: Tensor) -> Tensor:
    return F.logsigmoid(x)


def threshold(input: Tensor, thr: Any, value: Any) -> Tensor:
    return F.threshold(input, thr, value)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    return F.prelu(input, weight)


def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> Tensor:
    """Leaky ReLU with slopes drawn from [lower, upper], always (torch draws in training only)."""
    return F.rrelu(input, lower, upper, training=True)


def gumbel_softmax(logits: Tensor, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Tensor:
    return F.gumbel_softmax(logits, tau, hard, dim=dim)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, seed: Any = None) -> Tensor:
    """Elements set to 0 with probability ``p``, the rest divided by ``1 - p``; ``seed`` is not supported."""
    check_default("dropout", seed=(seed, None))
    return F.dropout(input, p, training)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    return F.dropout1d(input, p, training)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    return F.dropout2d(input, p, training)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    return F.dropout3d(input, p, training)


def dropout_with_mask(x: Tensor, keep_prob: float) -> tuple[Tensor, Tensor]:
    """(x with elements kept with probability ``keep_prob`` and divided by it, the 0/1 mask in x's dtype)."""
    mask = torch.empty_like(x).bernoulli_(keep_prob)
    return x * mask / keep_prob, mask


def bias_add(input_x: Tensor, bias: Tensor) -> Tensor:
    """``bias`` added along axis 1."""
    return input_x + bias.reshape((1, -1) + (1,) * (input_x.ndim - 2))


def dense(input: Tensor, weight: Tensor, bias: Any = None) -> Tensor:
    return F.linear(input, weight, bias)


def bidense(input1: Tensor, input2: Tensor, weight: Tensor, bias: Any = None) -> Tensor:
    return F.bilinear(input1, input2, weight, bias)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: Any = None,
    max_norm: Any = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    return F.embedding(index(input), weight, padding_idx, max_norm, norm_type, scale_grad_by_freq)


def layer_norm(
    input: Tensor, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Tensor:
    return F.layer_norm(input, ints(normalized_shape), weight, bias, eps)


def layer_norm_stats(
    input_x: Tensor, gamma: Tensor, beta: Tensor, begin_norm_axis: int, begin_params_axis: int, epsilon: float
) -> tuple[Tensor, Tensor, Tensor]:
    """(normalised, mean, variance) over the axes from ``begin_norm_axis`` on; gamma and beta have the
    shape of the axes from ``begin_params_axis`` on."""
    dims = tuple(range(begin_norm_axis % input_x.ndim, input_x.ndim))
    x = input_x.float() if input_x.dtype in (torch.float16, torch.bfloat16) else input_x
    mean = x.mean(dims, keepdim=True)
    variance = torch.square(x - mean).mean(dims, keepdim=True)
    out = (x - mean) * torch.rsqrt(variance + epsilon)
    rank = input_x.ndim - begin_params_axis % input_x.ndim
    if gamma.ndim != rank:
        raise ValueError(f"LayerNorm: gamma has {gamma.ndim} axes, begin_params_axis asks for {rank}")
    return (out * gamma + beta).to(input_x.dtype), mean, variance


def group_norm(
    input: Tensor, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Tensor:
    return F.group_norm(input, num_groups, weight, bias, eps)


def batch_norm(
    input_x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Any,
    bias: Any,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    return F.batch_norm(input_x, running_mean, running_var, weight, bias, training, momentum, eps)


def lrn(
    x: Tensor,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
    norm_region: str = "ACROSS_CHANNELS",
) -> Tensor:
    """Local response normalisation: the sum of squares over 2 * depth_radius + 1 channels, not their mean."""
    size = 2 * depth_radius + 1
    return F.local_response_norm(x, size, alpha * size, beta, bias)
