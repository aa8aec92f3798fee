"""Activation swap: what backward needs of a layer waits in host memory.

Source: hyper-parallel hyper_parallel/core/activation_checkpoint/swap.py. The copies are made when a tensor is
kept and when backward asks for it; the order in which layers are fetched ahead is a matter of speed only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from .activation_checkpoint import CheckpointPolicy, rewrap_forward

__all__ = ["SwapManager", "SwapWrapper", "swap_wrapper"]


class SwapWrapper:
    """What a module whose activations are swapped is an instance of, beside its own class.

    ``policy_fn`` is the policy that it was wrapped with.
    """

    policy_fn: Callable[[torch.Tensor], Any] | None


class SwapManager:
    """The one registry of which layer to fetch ahead of which."""

    _instance: SwapManager | None = None
    prefetch: list[tuple[Any, Any]]

    def __new__(cls) -> SwapManager:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance.prefetch = []
        return cls._instance

    def set_forward_prefetch_layer(self, first_layer: Any, second_layer: Any) -> None:
        """Say that ``second_layer`` runs after ``first_layer``. A matter of speed only: kept, and not used
        yet."""
        self.prefetch.append((first_layer, second_layer))


def _decide(policy_fn: Callable[[torch.Tensor], Any] | None, tensor: torch.Tensor) -> bool:
    if tensor.is_leaf and tensor.requires_grad:
        return False  # a parameter: it stays on the device anyway
    if policy_fn is None:
        return True
    policy = policy_fn(tensor)
    if policy in (CheckpointPolicy.MUST_RECOMPUTE, CheckpointPolicy.PREFER_RECOMPUTE):
        raise ValueError("a swap policy says MUST_SWAP or MUST_SAVE; recomputing is checkpoint_wrapper's")
    return policy is CheckpointPolicy.MUST_SWAP


def _host_copy(tensor: torch.Tensor) -> torch.Tensor:
    """A copy in host memory with the same strides: another layout would choose another matmul kernel, whose
    sums round otherwise."""
    tensor = tensor.detach()
    base = tensor
    for axis in range(tensor.ndim):
        if tensor.stride(axis) == 0 and tensor.size(axis) > 1:
            base = base.narrow(axis, 0, 1)
    reach = 0
    for stride, size in sorted(zip(base.stride(), base.size(), strict=True)):
        if size > 1 and stride <= reach:  # elements share memory: no such tensor can be written
            return tensor.to("cpu", copy=True)
        reach += stride * (size - 1)
    made = torch.empty_strided(base.size(), base.stride(), dtype=tensor.dtype, device="cpu")
    return made.copy_(base).expand(tensor.size())


def _run(policy_fn: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    def pack(tensor: torch.Tensor) -> Any:
        if not _decide(policy_fn, tensor):
            return tensor
        plain = type(tensor) in (torch.Tensor, torch.nn.Parameter)
        return tensor.device, _host_copy(tensor) if plain else tensor.detach().to("cpu", copy=True)

    def unpack(packed: Any) -> torch.Tensor:
        return packed[1].to(packed[0]) if isinstance(packed, tuple) else packed  # type: ignore[no-any-return]

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        return function(*args, **kwargs)


def swap_wrapper(module: Any, policy_fn: Callable[[torch.Tensor], Any] | None = None) -> Any:
    """Keep what backward needs of a module (in place; it is returned) or a function in host memory.

    ``policy_fn(tensor)`` says for each tensor ``MUST_SWAP`` or ``MUST_SAVE`` (``ValueError`` for another
    policy).
    """
    if isinstance(module, nn.Module):
        if not isinstance(module, SwapWrapper):
            module.__dict__["policy_fn"] = policy_fn
        return rewrap_forward(module, SwapWrapper, functools.partial(_run, policy_fn))

    @functools.wraps(module)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return _run(policy_fn, module, *args, **kwargs)

    return wrapped
