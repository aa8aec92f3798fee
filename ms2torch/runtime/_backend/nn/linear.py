"""Dense, BiDense and Embedding of mindspore.nn. Source: MindSpore 2.10."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F

from ..initializer import HeUniform, Uniform, initializer
from ..params import Parameter
from .activation import as_activation, bound_of
from .module import Module


class Dense(Module):
    """``x @ weight.T + bias``, then the activation.

    ``x``: (..., in_channels), result (..., out_channels). Without ``weight_init`` the weight is uniform
    with bound 1 / sqrt(in_channels), and so is the bias without ``bias_init``. ``activation``: None, a name
    or a layer. Raises ValueError for an initial tensor of a wrong shape.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        activation: Any = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels, self.has_bias = in_channels, out_channels, has_bias
        init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.weight = Parameter(initializer(init, (out_channels, in_channels), dtype), name="weight")
        self.bias = None
        if has_bias:
            start = Uniform(bound_of(in_channels)) if bias_init is None else bias_init
            self.bias = Parameter(initializer(start, (out_channels,), dtype), name="bias")
        self.activation = as_activation(activation, self.cls_name)
        self.activation_flag = self.activation is not None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = F.linear(x, self.weight, self.bias)
        return self.activation(out) if self.activation_flag else out

    def extra_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"has_bias={self.has_bias}"
        )


class BiDense(Module):
    """``input1 @ weight @ input2 + bias``; weight (out, in1, in2)."""

    def __init__(
        self,
        in1_channels: int,
        in2_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.in1_channels, self.in2_channels, self.out_channels = in1_channels, in2_channels, out_channels
        self.has_bias = has_bias
        shape, bound = (out_channels, in1_channels, in2_channels), bound_of(in1_channels)
        self.weight = Parameter(
            initializer(Uniform(bound) if weight_init is None else weight_init, shape, dtype)
        )
        self.bias = None
        if has_bias:
            start = Uniform(bound) if bias_init is None else bias_init
            self.bias = Parameter(initializer(start, (out_channels,), dtype), name="bias")

    def forward(self, input1: torch.Tensor, input2: torch.Tensor) -> torch.Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)


class Embedding(Module):
    """Rows of ``embedding_table`` (vocab_size, embedding_size) by id: ids (...) give (..., embedding_size).

    The row ``padding_idx`` starts at zero and, unlike torch's, gets its gradient. With ``use_one_hot`` an id
    outside the table gives a row of zeros.
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        use_one_hot: bool = False,
        embedding_table: Any = "normal",
        dtype: torch.dtype = torch.float32,
        padding_idx: int | None = None,
    ) -> None:
        super().__init__()
        self.vocab_size, self.embedding_size, self.use_one_hot = vocab_size, embedding_size, use_one_hot
        self.padding_idx = padding_idx
        table = initializer(embedding_table, (vocab_size, embedding_size), dtype).clone()
        if padding_idx is not None:
            if not 0 <= padding_idx < vocab_size:
                raise ValueError(f"'padding_idx' must be in [0, {vocab_size}), but got {padding_idx}")
            table[padding_idx] = 0
        self.embedding_table = Parameter(table, name="embedding_table")

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        if not self.use_one_hot:
            return F.embedding(ids, self.embedding_table)
        inside = (ids >= 0) & (ids < self.vocab_size)
        rows = F.embedding(ids.clamp(0, self.vocab_size - 1), self.embedding_table)
        return rows * inside.unsqueeze(-1).to(rows.dtype)

    def extra_repr(self) -> str:
        return (
            f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, "
            f"use_one_hot={self.use_one_hot}, padding_idx={self.padding_idx}"
        )
