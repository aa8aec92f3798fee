"""Layers of mindspore.mint.nn: torch's, in inference mode when fresh, with a ``dtype`` that may be given by
position.

Source: MindSpore 2.10, mindspore.mint.nn; parameters, defaults and field names are torch's.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch

from ..initializer import initializer
from ..params import Parameter
from .loss import classes
from .module import Module

# Layers whose last parameter in MindSpore is `dtype`, where torch has `device` before it.
_WITH_DTYPE = (
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose2d",
    "GroupNorm",
    "LayerNorm",
    "PReLU",
)
_PLAIN = (
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BCELoss",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "CosineEmbeddingLoss",
    "Dropout",
    "Dropout2d",
    "ELU",
    "Flatten",
    "Fold",
    "GELU",
    "GLU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "Identity",
    "KLDivLoss",
    "L1Loss",
    "LogSigmoid",
    "MSELoss",
    "MaxUnpool2d",
    "Mish",
    "PixelShuffle",
    "ReLU",
    "ReLU6",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "SELU",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "Softmax",
    "LogSoftmax",
    "Softshrink",
    "Tanh",
    "Threshold",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
)
# torch's signatures that differ from MindSpore's: reductions may be given by position there.
_KEYWORDS = {
    "BCELoss": ("weight", "reduction"),
    "KLDivLoss": ("reduction", "log_target"),
    "L1Loss": ("reduction",),
    "MSELoss": ("reduction",),
    "SmoothL1Loss": ("reduction", "beta"),
    "SoftMarginLoss": ("reduction",),
    "CosineEmbeddingLoss": ("margin", "reduction"),
}


def _buffers_to_parameters(module: Module) -> None:
    """MindSpore has no buffers: running statistics are parameters without gradient."""
    for name, value in list(module._buffers.items()):
        if value is not None:
            del module._buffers[name]
            setattr(module, name, Parameter(value, name=name, requires_grad=False))


def _bind(name: str, order: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    if len(args) > len(order):
        raise TypeError(f"{name} takes at most {len(order)} arguments, but got {len(args)}")
    bound = dict(zip(order, args, strict=False))
    twice = set(bound) & set(kwargs)
    if twice:
        raise TypeError(f"{name} got {sorted(twice)} twice")
    unknown = set(kwargs) - set(order)
    if unknown:
        raise TypeError(f"{name} has no argument {sorted(unknown)}")
    return {**bound, **kwargs}


def _layer(name: str) -> type[Module]:
    native: Any = getattr(torch.nn, name)
    names = [p for p in inspect.signature(native).parameters if p != "device"]
    fixed = _KEYWORDS.get(name)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if name in _WITH_DTYPE:
            kwargs = _bind(name, tuple(names), args, kwargs)
            args = ()
        elif fixed is not None:
            kwargs = _bind(name, fixed, args, kwargs)
            args = ()
        native.__init__(self, *args, **kwargs)
        self.training = False
        _buffers_to_parameters(self)

    made = type(
        name,
        (native, Module),
        {
            "__init__": __init__,
            "__doc__": f"torch.nn.{name}, in inference mode when fresh.",
            "__module__": __name__,
        },
    )
    return made


for _name in _WITH_DTYPE + _PLAIN:
    globals()[_name] = _layer(_name)


class Linear(torch.nn.Linear, Module):
    """torch.nn.Linear with ``weight_init`` and ``bias_init``: what `initializer` takes."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(in_features, out_features, bias, dtype=dtype)
        if weight_init is not None:
            self.weight = Parameter(
                initializer(weight_init, tuple(self.weight.shape), self.weight.dtype), "weight"
            )
        if bias_init is not None and bias:
            self.bias = Parameter(initializer(bias_init, tuple(self.bias.shape), self.bias.dtype), "bias")


class Embedding(torch.nn.Embedding, Module):
    """torch.nn.Embedding; MindSpore has no ``device`` before ``dtype``."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: torch.Tensor | None = None,
        _freeze: bool = False,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            num_embeddings,
            embedding_dim,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight,
            _freeze,
            dtype=dtype,
        )


class BCEWithLogitsLoss(torch.nn.BCEWithLogitsLoss, Module):
    """torch.nn.BCEWithLogitsLoss with MindSpore's order of arguments."""

    def __init__(self, weight: Any = None, reduction: str = "mean", pos_weight: Any = None) -> None:
        super().__init__(weight, reduction=reduction, pos_weight=pos_weight)


class CrossEntropyLoss(torch.nn.CrossEntropyLoss, Module):
    """torch.nn.CrossEntropyLoss that takes int32 labels and MindSpore's order of arguments."""

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(
            weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
        )

    def forward(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return super().forward(input, classes(target))


class NLLLoss(torch.nn.NLLLoss, Module):
    """torch.nn.NLLLoss that takes int32 labels and MindSpore's order of arguments."""

    def __init__(self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(weight, ignore_index=ignore_index, reduction=reduction)

    def forward(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return super().forward(input, classes(target))


class MaxPool2d(torch.nn.MaxPool2d, Module):
    """torch.nn.MaxPool2d with MindSpore's default kernel of 1."""

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(kernel_size, stride, padding, dilation, return_indices, ceil_mode)
