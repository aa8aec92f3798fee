"""Normalisation and gated activation: rms_norm, swiglu and its gradient."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from ._device import load_torch_npu, on_npu, widen

__all__ = ["RmsNorm", "Swiglu", "SwigluGrad", "rms_norm", "swiglu", "swiglu_grad"]


def rms_norm(
    x: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6
) -> tuple[torch.Tensor, torch.Tensor]:
    """Root mean square normalisation over the trailing dimensions that ``gamma`` has.

    Returns ``(y, rstd)``: ``y`` has the shape and dtype of ``x``; ``rstd`` is float32 (float64 for float64
    input) with the normalised dimensions kept as 1. The sum runs in float32 for the half types and the
    result is rounded once.

    Raises ValueError if ``gamma`` has more dimensions than ``x`` or another shape than its tail.
    MindSpore 2.10: mindspore.ops.rms_norm.
    """
    if gamma.ndim > x.ndim or tuple(x.shape[x.ndim - gamma.ndim :]) != tuple(gamma.shape):
        raise ValueError(f"rms_norm: gamma of shape {tuple(gamma.shape)} does not end x's {tuple(x.shape)}")
    if on_npu(x):
        torch_npu = load_torch_npu()
        y, rstd = torch_npu.npu_rms_norm(x, gamma, epsilon=epsilon)
        return y, rstd
    dims = tuple(range(-gamma.ndim, 0))
    wide = widen(x)
    rstd = torch.rsqrt(wide.square().mean(dims, keepdim=True) + epsilon)
    return (wide * rstd * widen(gamma)).to(x.dtype), rstd


def swiglu(input: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """``silu(a) * b`` for the halves ``a`` (the gate) and ``b`` of ``input`` along ``dim``.

    Same dtype as ``input``; the split dimension is halved. Raises ValueError if it is odd.
    MindSpore 2.10: mindspore.ops.swiglu.
    """
    if input.shape[dim] % 2:
        raise ValueError(f"swiglu: dimension {dim} of {tuple(input.shape)} is odd")
    if on_npu(input):
        torch_npu = load_torch_npu()
        result: torch.Tensor = torch_npu.npu_swiglu(input, dim=dim)
        return result
    gate, linear = widen(input).chunk(2, dim)
    return (F.silu(gate) * linear).to(input.dtype)


def swiglu_grad(grad_output: torch.Tensor, input: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Gradient of :func:`swiglu` with respect to ``input``, of ``input``'s shape and dtype.

    MindSpore 2.10: mindspore.ops.auto_generate.swiglu_grad.
    """
    if on_npu(input):
        torch_npu = load_torch_npu()
        result: torch.Tensor = torch_npu.npu_swiglu_backward(grad_output, input, dim)
        return result
    grad, (gate, linear) = widen(grad_output), widen(input).chunk(2, dim)
    share = torch.sigmoid(gate)
    silu = gate * share
    d_gate = grad * linear * (share + silu * (1 - share))
    return torch.cat((d_gate, grad * silu), dim).to(input.dtype)


class RmsNorm:
    """``RmsNorm(epsilon)(x, gamma)``. MindSpore 2.10: mindspore.ops.auto_generate.RmsNorm."""

    def __init__(self, epsilon: float = 1e-6) -> None:
        self.epsilon = epsilon

    def __call__(self, x: torch.Tensor, gamma: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return rms_norm(x, gamma, self.epsilon)


class Swiglu:
    """``Swiglu()(input, dim)``. MindSpore 2.10: mindspore.ops.auto_generate.Swiglu."""

    def __call__(self, input: torch.Tensor, dim: int = -1) -> torch.Tensor:
        return swiglu(input, dim)


class SwigluGrad:
    """``SwigluGrad()(grad_output, input, dim)``. MindSpore 2.10: mindspore.ops.auto_generate.SwigluGrad."""

    def __call__(self, grad_output: torch.Tensor, input: torch.Tensor, dim: int = -1) -> Any:
        return swiglu_grad(grad_output, input, dim)
