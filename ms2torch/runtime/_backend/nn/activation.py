"""Activation layers of mindspore.nn with its defaults. Source: MindSpore 2.10, mindspore.nn."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F

from ..initializer import initializer
from ..params import Parameter
from .module import Module


class ReLU(Module):
    """max(x, 0)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(x)


class ReLU6(Module):
    """min(max(x, 0), 6)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu6(x)


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, input_x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(input_x)


class LogSigmoid(Module):
    """log(sigmoid(x))."""

    def forward(self, input_x: torch.Tensor) -> torch.Tensor:
        return F.logsigmoid(input_x)


class Tanh(Module):
    """tanh(x)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x)


class Tanhshrink(Module):
    """x - tanh(x)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - torch.tanh(x)


class Softsign(Module):
    """x / (1 + |x|)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.softsign(x)


class SiLU(Module):
    """x * sigmoid(x)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.silu(x)


class Mish(Module):
    """x * tanh(softplus(x))."""

    def forward(self, input_x: torch.Tensor) -> torch.Tensor:
        return F.mish(input_x)


class HSwish(Module):
    """x * relu6(x + 3) / 6."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return F.hardswish(input)


class HSigmoid(Module):
    """max(0, min(1, (x + 3) / 6))."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return F.hardsigmoid(input)


class SeLU(Module):
    """Scaled exponential linear unit."""

    def forward(self, input_x: torch.Tensor) -> torch.Tensor:
        return F.selu(input_x)


class FastGelu(Module):
    """x * sigmoid(1.702 x)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(1.702 * x)


class GELU(Module):
    """Gaussian error linear unit; the tanh form unless ``approximate=False``."""

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        if not isinstance(approximate, bool):
            raise TypeError(f"'approximate' must be bool, but got {type(approximate).__name__}")
        self.approximate = approximate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(x, approximate="tanh" if self.approximate else "none")


class LeakyReLU(Module):
    """x where positive, else ``alpha`` x (0.2 by default)."""

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        self.alpha = alpha

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.leaky_relu(x, float(self.alpha))


class ELU(Module):
    """x where positive, else ``alpha`` (exp(x) - 1)."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.elu(x, self.alpha)


class CELU(Module):
    """max(0, x) + min(0, ``alpha`` (exp(x / alpha) - 1))."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.celu(x, self.alpha)


class HShrink(Module):
    """0 where |x| <= ``lambd``."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input_x: torch.Tensor) -> torch.Tensor:
        return F.hardshrink(input_x, self.lambd)


class SoftShrink(Module):
    """x moved by ``lambd`` towards 0."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return F.softshrink(input, self.lambd)


class Hardtanh(Module):
    """x clipped to [``min_val``, ``max_val``]."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        super().__init__()
        self.min_val, self.max_val = min_val, max_val

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.hardtanh(x, self.min_val, self.max_val)


class Threshold(Module):
    """x where greater than ``threshold``, else ``value``."""

    def __init__(self, threshold: float, value: float) -> None:
        super().__init__()
        self.threshold, self.value = threshold, value

    def forward(self, input_x: torch.Tensor) -> torch.Tensor:
        return F.threshold(input_x, self.threshold, self.value)


class Softmax(Module):
    """Softmax over ``axis`` (the last by default)."""

    def __init__(self, axis: Any = -1) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        axes = self.axis
        if isinstance(axes, tuple | list):
            if len(axes) != 1:
                raise NotImplementedError(f"Softmax over several axes {tuple(axes)} is not supported")
            axes = axes[0]
        return F.softmax(input, axes)


class LogSoftmax(Module):
    """Logarithm of softmax over ``axis`` (the last by default)."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.log_softmax(x, self.axis)


class Softmin(Module):
    """Softmax of -x over ``axis``."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.softmin(x, self.axis)


class Softmax2d(Module):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d takes 3 or 4 dimensions, but got {input.dim()}")
        return F.softmax(input, -3)


class GLU(Module):
    """First half times the sigmoid of the second, along ``axis``."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.glu(x, self.axis)


class PReLU(Module):
    """x where positive, else a learned slope times x; the slope is the parameter ``w``, named ``a``."""

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        if isinstance(w, int | float):
            data = torch.full((channel,), float(w))
        else:
            data = initializer(torch.as_tensor(w, dtype=torch.float32).reshape(-1), (channel,))
        self.w = Parameter(data, name="a")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.prelu(x, self.w)


class RReLU(Module):
    """Leaky ReLU with a slope drawn from [``lower``, ``upper``] for each element: outside of training too,
    unlike torch's."""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> None:
        super().__init__()
        if lower > upper:
            raise ValueError(f"'lower' must not exceed 'upper', but got {lower} and {upper}")
        self.lower, self.upper = lower, upper

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.rrelu(x, self.lower, self.upper, training=True)


_BY_NAME: dict[str, type[Module]] = {
    "softmax": Softmax,
    "softmax2d": Softmax2d,
    "softmin": Softmin,
    "logsoftmax": LogSoftmax,
    "relu": ReLU,
    "relu6": ReLU6,
    "rrelu": RReLU,
    "silu": SiLU,
    "tanh": Tanh,
    "gelu": GELU,
    "fast_gelu": FastGelu,
    "elu": ELU,
    "sigmoid": Sigmoid,
    "prelu": PReLU,
    "leakyrelu": LeakyReLU,
    "hswish": HSwish,
    "hsigmoid": HSigmoid,
    "logsigmoid": LogSigmoid,
    "softsign": Softsign,
    "softshrink": SoftShrink,
    "hshrink": HShrink,
    "tanhshrink": Tanhshrink,
    "mish": Mish,
}


def get_activation(name: Any, prim_name: str | None = None) -> Any:
    """A new activation layer by MindSpore's name of it; None for None. KeyError for an unknown name."""
    if name is None:
        return None
    if name not in _BY_NAME:
        where = f"For '{prim_name}', the" if prim_name else "The"
        raise KeyError(f"{where} activation must be among {sorted(_BY_NAME)}, but got {name!r}")
    return _BY_NAME[name]()


def as_activation(given: Any, owner: str) -> Any:
    """A layer from what a ``Dense`` takes as ``activation``: None, a name, or a layer. TypeError
    otherwise."""
    made = get_activation(given, owner) if isinstance(given, str) else given
    if made is not None and not isinstance(made, torch.nn.Module) and not callable(made):
        raise TypeError(
            f"For '{owner}', the activation must be str or a cell, but got {type(given).__name__}"
        )
    return made


def bound_of(fan_in: int) -> float:
    """Bound of the uniform default of a bias: 1 / sqrt(fan_in)."""
    return 1.0 / math.sqrt(fan_in) if fan_in > 0 else 0.0
