"""mindspore.common.initializer on torch: values drawn from torch's generator, on the device in force.

Distributions and defaults are MindSpore 2.10's; the numbers drawn are torch's, so a seed does not give
MindSpore's values.
"""

from __future__ import annotations

import math
from typing import Any

import numpy
import torch


def _fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """(fan_in, fan_out) of a weight; ValueError below two dimensions."""
    if len(shape) < 2:
        raise ValueError(f"fan_in and fan_out need a weight of at least 2 dimensions, but got shape {shape}")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _gain(nonlinearity: str, slope: Any) -> float:
    if nonlinearity == "leaky_relu":
        a = 0.01 if slope is None else float(slope)
        return math.sqrt(2.0 / (1.0 + a * a))
    known = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3.0, "relu": math.sqrt(2.0)}
    if nonlinearity in known or nonlinearity.startswith("conv"):
        return known.get(nonlinearity, 1.0)
    raise ValueError(f"the nonlinearity {nonlinearity!r} is unknown")


class Initializer:
    """Base of the initializers. A subclass of one's own writes ``_initialize(self, arr)``, which fills a
    numpy array."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    def _initialize(self, arr: Any) -> None:
        raise NotImplementedError("Must be overridden!")

    def _fill(self, tensor: torch.Tensor) -> None:
        if tensor.is_meta:
            return
        array = numpy.zeros(tuple(tensor.shape), dtype=numpy.float32)
        self._initialize(array)
        tensor.copy_(torch.as_tensor(array))

    def __call__(self, arr: Any) -> Any:
        """Fill a tensor or a numpy array in place; returns what the fill left in it."""
        if isinstance(arr, torch.Tensor):
            with torch.no_grad():
                self._fill(arr)
        elif type(self)._initialize is not Initializer._initialize:
            self._initialize(arr)
        else:
            wide = torch.empty(arr.shape, dtype=torch.float32, device="cpu")
            self._fill(wide)
            arr[...] = wide.numpy()
        return arr


class Zero(Initializer):
    """All zeros."""

    def _fill(self, tensor: torch.Tensor) -> None:
        tensor.zero_()


class One(Initializer):
    """All ones."""

    def _fill(self, tensor: torch.Tensor) -> None:
        tensor.fill_(1)


class Constant(Initializer):
    """One value, or an array of the parameter's shape."""

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def _fill(self, tensor: torch.Tensor) -> None:
        if isinstance(self.value, int | float):
            tensor.fill_(self.value)
        else:
            tensor.copy_(torch.as_tensor(self.value))


class Normal(Initializer):
    """Normal of mean ``mean`` and standard deviation ``sigma`` (0.01 by default)."""

    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        super().__init__(sigma=sigma, mean=mean)
        self.sigma, self.mean = sigma, mean

    def _fill(self, tensor: torch.Tensor) -> None:
        tensor.normal_(float(self.mean), float(self.sigma))


class TruncatedNormal(Initializer):
    """Normal cut at the values ``a`` and ``b`` (not at multiples of the deviation)."""

    def __init__(self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0) -> None:
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        self.sigma, self.mean, self.a, self.b = sigma, mean, a, b

    def _fill(self, tensor: torch.Tensor) -> None:
        torch.nn.init.trunc_normal_(tensor, float(self.mean), float(self.sigma), float(self.a), float(self.b))


class Uniform(Initializer):
    """Uniform over ``(-scale, scale)`` (0.07 by default)."""

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _fill(self, tensor: torch.Tensor) -> None:
        tensor.uniform_(-float(self.scale), float(self.scale))


class XavierUniform(Initializer):
    """Uniform of bound ``gain * sqrt(6 / (fan_in + fan_out))``."""

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def _fill(self, tensor: torch.Tensor) -> None:
        bound = self.gain * math.sqrt(6.0 / sum(_fans(tuple(tensor.shape))))
        tensor.uniform_(-bound, bound)


class XavierNormal(Initializer):
    """Normal of deviation ``gain * sqrt(2 / (fan_in + fan_out))``."""

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def _fill(self, tensor: torch.Tensor) -> None:
        tensor.normal_(0.0, self.gain * math.sqrt(2.0 / sum(_fans(tuple(tensor.shape)))))


class _He(Initializer):
    def __init__(
        self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
    ) -> None:
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity

    def _deviation(self, tensor: torch.Tensor) -> float:
        if self.mode not in ("fan_in", "fan_out"):
            raise ValueError(f"'mode' must be 'fan_in' or 'fan_out', but got {self.mode!r}")
        fan_in, fan_out = _fans(tuple(tensor.shape))
        fan = fan_in if self.mode == "fan_in" else fan_out
        return _gain(self.nonlinearity, self.negative_slope) / math.sqrt(fan)


class HeUniform(_He):
    """Uniform of bound ``sqrt(3) * gain / sqrt(fan)``."""

    def _fill(self, tensor: torch.Tensor) -> None:
        bound = math.sqrt(3.0) * self._deviation(tensor)
        tensor.uniform_(-bound, bound)


class HeNormal(_He):
    """Normal of deviation ``gain / sqrt(fan)``."""

    def _fill(self, tensor: torch.Tensor) -> None:
        tensor.normal_(0.0, self._deviation(tensor))


class VarianceScaling(Initializer):
    """Variance ``scale / n`` with n by ``mode`` (fan_in, fan_out, fan_avg), from the named distribution."""

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal"
    ) -> None:
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        if scale <= 0.0:
            raise ValueError(f"'scale' must be greater than 0, but got {scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"'mode' must be fan_in, fan_out or fan_avg, but got {mode!r}")
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(
                "'distribution' must be uniform, truncated_normal or untruncated_normal, "
                f"but got {distribution!r}"
            )
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def _fill(self, tensor: torch.Tensor) -> None:
        fan_in, fan_out = _fans(tuple(tensor.shape))
        size = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        variance = self.scale / max(1.0, size)
        if self.distribution == "uniform":
            tensor.uniform_(-math.sqrt(3 * variance), math.sqrt(3 * variance))
        elif self.distribution == "untruncated_normal":
            tensor.normal_(0.0, math.sqrt(variance))
        else:
            # The divisor is the deviation of a unit normal cut at two deviations.
            sigma = math.sqrt(variance) / 0.87962566103423978
            torch.nn.init.trunc_normal_(tensor, 0.0, sigma, -2 * sigma, 2 * sigma)


class Identity(Initializer):
    """The identity matrix; the shape must have two dimensions."""

    def _fill(self, tensor: torch.Tensor) -> None:
        if tensor.dim() != 2:
            raise ValueError(f"Identity needs 2 dimensions, but got shape {tuple(tensor.shape)}")
        torch.nn.init.eye_(tensor)


class Dirac(Initializer):
    """Keeps the input's identity through a convolution, per group."""

    def __init__(self, groups: int = 1) -> None:
        super().__init__(groups=groups)
        self.groups = groups

    def _fill(self, tensor: torch.Tensor) -> None:
        torch.nn.init.dirac_(tensor, self.groups)


class Orthogonal(Initializer):
    """A (semi-)orthogonal matrix times ``gain``."""

    def __init__(self, gain: float = 1.0) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def _fill(self, tensor: torch.Tensor) -> None:
        torch.nn.init.orthogonal_(tensor, self.gain)


class Sparse(Initializer):
    """Normal with a share ``sparsity`` of each column zero."""

    def __init__(self, sparsity: float, sigma: float = 0.01) -> None:
        super().__init__(sparsity=sparsity, sigma=sigma)
        self.sparsity, self.sigma = sparsity, sigma

    def _fill(self, tensor: torch.Tensor) -> None:
        torch.nn.init.sparse_(tensor, self.sparsity, self.sigma)


_BY_NAME: dict[str, type[Initializer]] = {
    "zeros": Zero,
    "zero": Zero,
    "ones": One,
    "one": One,
    "normal": Normal,
    "truncatednormal": TruncatedNormal,
    "uniform": Uniform,
    "xavier_uniform": XavierUniform,
    "xavieruniform": XavierUniform,
    "xavier_normal": XavierNormal,
    "xaviernormal": XavierNormal,
    "he_uniform": HeUniform,
    "heuniform": HeUniform,
    "he_normal": HeNormal,
    "henormal": HeNormal,
    "variancescaling": VarianceScaling,
    "identity": Identity,
    "dirac": Dirac,
    "orthogonal": Orthogonal,
}


def initializer(init: Any, shape: Any = None, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A tensor of ``shape`` and ``dtype`` filled by ``init``: a name, a number, an Initializer or a tensor.

    A tensor is returned as it is (in ``dtype``) if its shape is ``shape`` or none is given, else ValueError.
    Unlike MindSpore's, the data is there at once; under ``torch.device("meta")`` there is none, as elsewhere.
    Source: MindSpore 2.10, mindspore.common.initializer.initializer.
    """
    if isinstance(init, torch.Tensor):
        if shape is not None and tuple(init.shape) != _shape(shape):
            raise ValueError(
                f"init is a tensor of shape {tuple(init.shape)}, but 'shape' is {tuple(_shape(shape))}"
            )
        return init.to(dtype)
    if shape is None:
        raise ValueError("'shape' is needed where 'init' is no tensor")
    if isinstance(init, str):
        made = _BY_NAME.get(init.lower())
        if made is None:
            raise ValueError(f"The initializer {init!r} is unknown; known are {sorted(_BY_NAME)}")
        filler: Initializer = made()
    elif isinstance(init, Initializer):
        filler = init
    elif isinstance(init, int | float) and not isinstance(init, bool):
        filler = Constant(init)
    else:
        raise TypeError(
            f"'init' must be a tensor, a name, a number or an Initializer, but got {type(init).__name__}"
        )
    dims = _shape(shape)
    with torch.no_grad():
        if dtype.is_floating_point and dtype.itemsize >= 4:
            out = torch.empty(dims, dtype=dtype)
            filler._fill(out)
            return out
        wide = torch.empty(dims, dtype=torch.float32)
        filler._fill(wide)
        return wide.to(dtype)


def _shape(shape: Any) -> tuple[int, ...]:
    return (int(shape),) if isinstance(shape, int | numpy.integer) else tuple(int(d) for d in shape)
