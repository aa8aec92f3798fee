"""Elementwise methods whose meaning or arguments differ, random fills, linear algebra."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from ._receiver import method

__all__ = [
    "addcmul",
    "addr",
    "approximate_equal",
    "cauchy",
    "dot",
    "equal",
    "imag",
    "log_matrix_determinant",
    "log_normal",
    "multinomial",
    "random_",
    "random_categorical",
    "real",
    "remainder",
    "soft_shrink",
    "svd",
    "top_k",
    "topk",
    "uniform",
    "uniform_",
    "xdivy",
]


@method
def equal(self: torch.Tensor, other: Any) -> torch.Tensor:
    """Elementwise equality (torch's method of this name gives one bool). MindSpore 2.10: Tensor.equal."""
    return torch.eq(self, other)


@method
def approximate_equal(self: torch.Tensor, other: torch.Tensor, tolerance: float = 1e-5) -> torch.Tensor:
    """Where the difference is below the tolerance. MindSpore 2.10: Tensor.approximate_equal."""
    return torch.lt((self - other).abs(), tolerance)


@method
def addcmul(self: torch.Tensor, tensor1: torch.Tensor, tensor2: torch.Tensor, value: Any = 1) -> torch.Tensor:
    """``self + value * tensor1 * tensor2``. MindSpore 2.10: Tensor.addcmul."""
    if isinstance(value, torch.Tensor):
        return self + value * tensor1 * tensor2
    return self.addcmul(tensor1, tensor2, value=value)


@method
def addr(
    self: torch.Tensor, vec1: torch.Tensor, vec2: torch.Tensor, beta: Any = 1, alpha: Any = 1
) -> torch.Tensor:
    """``beta * self + alpha * outer(vec1, vec2)``. MindSpore 2.10: Tensor.addr."""
    return self.addr(vec1, vec2, beta=beta, alpha=alpha)


@method
def dot(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The dot product of vectors; of more dimensions, the last of one with the second last of the other.

    MindSpore 2.10: Tensor.dot (vectors on Ascend, mindspore.ops.dot elsewhere).
    """
    if self.ndim == 1 and other.ndim == 1:
        return self.dot(other)
    out: torch.Tensor = torch.tensordot(self, other, dims=([-1], [-2 if other.ndim > 1 else -1]))
    return out


@method
def remainder(self: torch.Tensor, other: Any = None, **kwargs: Any) -> torch.Tensor:
    """The remainder with the divisor's sign; the divisor's name is ``other`` or ``divisor``.

    MindSpore 2.10: Tensor.remainder.
    """
    return self.remainder(kwargs.pop("divisor", other), **kwargs)


@method
def real(self: torch.Tensor) -> torch.Tensor:
    """The real part (an attribute of torch's tensors). MindSpore 2.10: Tensor.real."""
    return torch.real(self)


@method
def imag(self: torch.Tensor) -> torch.Tensor:
    """The imaginary part, zeros for real numbers. MindSpore 2.10: Tensor.imag."""
    return torch.imag(self) if self.is_complex() else torch.zeros_like(self)


@method
def xdivy(self: torch.Tensor, y: Any) -> torch.Tensor:
    """``self / y``, 0 where this tensor is 0. MindSpore 2.10: Tensor.xdivy."""
    return torch.where(self == 0, torch.zeros_like(self), self / y)


@method
def soft_shrink(self: torch.Tensor, lambd: float = 0.5) -> torch.Tensor:
    """Shrunk towards 0 by ``lambd``. MindSpore 2.10: Tensor.soft_shrink."""
    return F.softshrink(self, lambd)


@method
def topk(
    self: torch.Tensor, k: int, dim: int | None = None, largest: bool = True, sorted: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """The ``k`` largest (smallest) along ``dim``, the last by default; indices int64.

    MindSpore 2.10: Tensor.topk.
    """
    values, indices = self.topk(k, -1 if dim is None else dim, largest, sorted)
    return values, indices


@method
def top_k(self: torch.Tensor, k: int, sorted: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    """The ``k`` largest along the last dimension; indices int32. MindSpore 2.10: Tensor.top_k."""
    values, indices = self.topk(k, -1, True, sorted)
    return values, indices.to(torch.int32)


@method
def uniform(self: torch.Tensor, from_: float = 0.0, to: float = 1.0, generator: Any = None) -> torch.Tensor:
    """A new tensor of this shape, uniform in [from_, to). MindSpore 2.10: Tensor.uniform."""
    return torch.empty_like(self).uniform_(from_, to, generator=generator)


def uniform_(self: Any, from_: float = 0, to: float = 1, *, generator: Any = None) -> Any:
    """Fills this tensor, uniform in [from_, to). MindSpore 2.10: Tensor.uniform_."""
    return self.uniform_(from_, to, generator=generator)


def random_(self: Any, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Any:
    """Fills this tensor with whole numbers of [from_, to). MindSpore 2.10: Tensor.random_."""
    return self.random_(from_, to, generator=generator)


@method
def log_normal(self: torch.Tensor, mean: float = 1.0, std: float = 2.0) -> torch.Tensor:
    """A new tensor of log-normal values. MindSpore 2.10: Tensor.log_normal."""
    return torch.empty_like(self).log_normal_(mean, std)


@method
def cauchy(self: torch.Tensor, median: float = 0.0, sigma: float = 1.0) -> torch.Tensor:
    """A new tensor of Cauchy values. MindSpore 2.10: Tensor.cauchy."""
    return torch.empty_like(self).cauchy_(median, sigma)


@method
def multinomial(
    self: torch.Tensor, num_samples: int, replacement: bool = True, seed: int | None = None
) -> torch.Tensor:
    """Row indices (int32) drawn with these weights, with replacement by default.

    MindSpore 2.10: Tensor.multinomial.
    """
    chance = None if seed is None else torch.Generator(self.device).manual_seed(seed)
    return torch.multinomial(self, num_samples, replacement, generator=chance).to(torch.int32)


@method
def random_categorical(
    self: torch.Tensor, num_sample: int, seed: int = 0, dtype: torch.dtype = torch.int64
) -> torch.Tensor:
    """Classes drawn from the rows' logits, with replacement. MindSpore 2.10: Tensor.random_categorical."""
    chance = torch.Generator(self.device).manual_seed(seed) if seed else None
    drawn = torch.multinomial(torch.softmax(self.float(), -1), num_sample, True, generator=chance)
    return drawn.to(dtype)


@method
def svd(self: torch.Tensor, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Singular values first, then U and V (not its transpose); the values alone without ``compute_uv``.

    MindSpore 2.10: Tensor.svd.
    """
    if not compute_uv:
        return torch.linalg.svdvals(self)
    u, s, vh = torch.linalg.svd(self, full_matrices=full_matrices)
    return s, u, vh.mH


@method
def log_matrix_determinant(self: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Sign and logarithm of the absolute determinant. MindSpore 2.10: Tensor.log_matrix_determinant."""
    sign, logarithm = torch.linalg.slogdet(self)
    return sign, logarithm
