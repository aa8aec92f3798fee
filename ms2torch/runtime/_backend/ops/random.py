"""Random numbers of mindspore.ops. The numbers themselves differ from MindSpore's; shapes, dtypes and
distributions agree. A ``seed`` argument seeds a generator of its own: the same seed gives the same numbers.

Source: MindSpore 2.10, mindspore.ops.<name> of the same name.
"""

# torch leaves some of its functions untyped; which ones differs between its versions.
# mypy: disable-error-code="no-any-return, no-untyped-call"
from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._common import ints, like


def generator(seed: Any, other: Any = None) -> torch.Generator | None:
    """A seeded generator on the device of ``other`` (or torch's default device), or None for torch's own."""
    if seed is None:
        return None
    device = other.device if isinstance(other, Tensor) else torch.empty(0).device
    return torch.Generator(device=device).manual_seed(int(seed))


def size_of(size: Any) -> tuple[int, ...]:
    """``(2, 3)`` of rand(2, 3), rand((2, 3)) and rand([2, 3])."""
    if len(size) == 1:
        return ints(size[0])
    return ints(size)


def rand(*size: Any, dtype: Any = None, seed: Any = None) -> Tensor:
    return torch.rand(size_of(size), generator=generator(seed), dtype=dtype or torch.float32)


def randn(*size: Any, dtype: Any = None, seed: Any = None) -> Tensor:
    return torch.randn(size_of(size), generator=generator(seed), dtype=dtype or torch.float32)


def rand_like(input: Tensor, seed: Any = None, *, dtype: Any = None) -> Tensor:
    kind = dtype or input.dtype
    return torch.rand(input.shape, generator=generator(seed, input), dtype=kind, device=input.device)


def randn_like(input: Tensor, seed: Any = None, *, dtype: Any = None) -> Tensor:
    kind = dtype or input.dtype
    return torch.randn(input.shape, generator=generator(seed, input), dtype=kind, device=input.device)


def randint(low: Any, high: Any, size: Any, seed: Any = None, *, dtype: Any = None) -> Tensor:
    """Integers of [low, high), int64 by default."""
    return torch.randint(
        int(low), int(high), ints(size), generator=generator(seed), dtype=dtype or torch.int64
    )


def randint_like(input: Tensor, low: Any, high: Any, seed: Any = None, *, dtype: Any = None) -> Tensor:
    kind = dtype or input.dtype
    made = torch.randint(
        int(low), int(high), tuple(input.shape), generator=generator(seed, input), device=input.device
    )
    return made.to(kind)


def randperm(n: Any, seed: Any = 0, offset: Any = 0, dtype: Any = torch.int64) -> Tensor:
    """A permutation of range(n); seed 0, the default, is none."""
    return torch.randperm(int(n), generator=generator(seed or None), dtype=dtype)


def uniform(shape: Any, minval: Any, maxval: Any, seed: Any = None, dtype: Any = torch.float32) -> Tensor:
    """Numbers of [minval, maxval); integers for an integer dtype. The bounds may be broadcast tensors."""
    low, high = like(minval), like(maxval)
    part = torch.rand(ints(shape), generator=generator(seed))
    if not dtype.is_floating_point:
        return torch.floor(low + part * (high - low)).to(dtype)
    return (low + part * (high - low)).to(dtype)


def normal(shape: Any, mean: Any, stddev: Any, seed: Any = None) -> Tensor:
    """Normal numbers in ``shape`` (torch's ``normal`` takes the shape last), broadcast with mean and
    stddev."""
    low, scale = like(mean), like(stddev)
    full = torch.broadcast_shapes(ints(shape), low.shape, scale.shape)
    made = torch.randn(full, generator=generator(seed)) * scale + low
    return made if made.is_floating_point() else made.float()


def standard_normal(shape: Any, seed: Any = None) -> Tensor:
    return torch.randn(ints(shape), generator=generator(seed))


def laplace(shape: Any, mean: Any, lambda_param: Any, seed: Any = None) -> Tensor:
    return standard_laplace(shape, seed) * like(lambda_param) + like(mean)


def standard_laplace(shape: Any, seed: Any = None) -> Tensor:
    part = torch.rand(ints(shape), generator=generator(seed)) - 0.5
    return -torch.sign(part) * torch.log1p(-2 * part.abs().clamp(max=0.5 - 1e-7))


def bernoulli(input: Tensor, p: Any = 0.5, seed: Any = None) -> Tensor:
    """0 or 1 in the shape and dtype of ``input``, 1 with probability ``p`` (torch reads it from
    ``input``)."""
    chance = like(p, input).to(torch.float32)
    part = torch.rand(input.shape, generator=generator(seed, input), device=input.device)
    return (part < chance).to(input.dtype)


def multinomial(input: Tensor, num_samples: int, replacement: bool = True, seed: Any = None) -> Tensor:
    """int32 indices drawn by weight, with replacement by default (torch's is without)."""
    made = torch.multinomial(input, num_samples, replacement, generator=generator(seed, input))
    return made.int()


def random_categorical(logits: Tensor, num_sample: int, seed: Any = 0, dtype: Any = torch.int64) -> Tensor:
    """Classes drawn by the softmax of ``logits`` [batch, classes]; seed 0, the default, is none."""
    chance = torch.softmax(logits.float(), -1)
    return torch.multinomial(chance, num_sample, True, generator=generator(seed or None, logits)).to(dtype)


def shuffle(x: Tensor, seed: Any = None) -> Tensor:
    """``x`` with the entries of the first axis in random order."""
    order = torch.randperm(x.shape[0], generator=generator(seed, x), device=x.device)
    return x[order]


def gamma(shape: Any, alpha: Any, beta: Any, seed: Any = None) -> Tensor:
    """Gamma numbers with shape parameter ``alpha`` and rate ``beta``."""
    a, b = torch.broadcast_tensors(like(alpha).float(), like(beta).float())
    base = a.expand(ints(shape) + tuple(a.shape)).contiguous()
    made = torch._standard_gamma(base, generator=generator(seed, base))
    return made / b


def poisson(shape: Any, mean: Any, seed: Any = None) -> Tensor:
    rate = like(mean).float()
    base = rate.expand(ints(shape) + tuple(rate.shape)).contiguous()
    return torch.poisson(base, generator=generator(seed, base))
