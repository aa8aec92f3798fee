"""Activation checkpointing and swapping: what is kept for backward, what is computed again, what goes to the
host.

A wrapped module stays the same object, so that the names of its parameters stay what they were; only its
``forward`` is bracketed. Source: hyper-parallel
hyper_parallel/core/activation_checkpoint/activation_checkpoint.py and its use in MindFormers
pynative/distributed/activation_checkpoint.py.
"""

from __future__ import annotations

import contextlib
import contextvars
import enum
import functools
import inspect
from collections.abc import Callable
from typing import Any

import torch
import torch.utils.checkpoint as _checkpoint
from torch import nn
from torch.utils._pytree import tree_map

from .. import compat

__all__ = [
    "CheckpointExcludeWrapper",
    "CheckpointPolicy",
    "CheckpointWrapper",
    "checkpoint",
    "checkpoint_exclude_wrapper",
    "checkpoint_wrapper",
    "rewrap_forward",
]


class CheckpointPolicy(enum.Enum):
    """What becomes of an activation between forward and backward."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_SWAP = 4


class _Invocation:
    """Outputs that one checkpointed call keeps because they are excluded from recomputation."""

    def __init__(self) -> None:
        self.kept: list[Any] = []
        self.position = 0


# The innermost checkpointed call that is running, and whether it is running again.
_RUNNING: contextvars.ContextVar[tuple[_Invocation, bool] | None] = contextvars.ContextVar(
    "ms2torch_checkpoint", default=None
)


@contextlib.contextmanager
def _phase(invocation: _Invocation, again: bool, inner: Any) -> Any:
    token = _RUNNING.set((invocation, again))
    invocation.position = 0
    try:
        with inner:
            yield
    finally:
        _RUNNING.reset(token)


def _selective(policy_fn: Callable[..., Any]) -> tuple[Any, Any]:
    torch_policy = _checkpoint.CheckpointPolicy

    def decide(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
        policy = policy_fn(ctx, op, *args, **kwargs)
        if isinstance(policy, bool):
            return torch_policy.MUST_SAVE if policy else torch_policy.PREFER_RECOMPUTE
        if policy is CheckpointPolicy.MUST_SWAP:
            raise NotImplementedError("checkpoint policy MUST_SWAP inside a recomputed region")
        return torch_policy[policy.name]

    made: tuple[Any, Any] = compat.create_selective_checkpoint_contexts(decide)
    return made


_HAS_EARLY_STOP = "early_stop" in inspect.signature(_checkpoint.checkpoint).parameters


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    swap_inputs: bool = False,
    policy_fn: Callable[..., Any] | None = None,
    context_fn: Callable[[], tuple[Any, Any]] | None = None,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, computed again in backward instead of keeping its activations.

    ``context_fn`` gives two contexts, for the first and for the second run. ``policy_fn(ctx, op, *args)``
    decides operator by operator. ``ValueError`` for both; ``NotImplementedError`` for ``swap_inputs``.
    """
    if swap_inputs:
        raise NotImplementedError("checkpoint(swap_inputs=True)")
    if policy_fn is not None and context_fn is not None:
        raise ValueError("checkpoint takes policy_fn or context_fn, not both")

    def contexts() -> tuple[Any, Any]:
        invocation = _Invocation()
        if policy_fn is not None:
            first, second = _selective(policy_fn)
        elif context_fn is not None:
            first, second = context_fn()
        else:
            first, second = contextlib.nullcontext(), contextlib.nullcontext()
        return _phase(invocation, False, first), _phase(invocation, True, second)

    if _HAS_EARLY_STOP:
        return _checkpoint.checkpoint(
            function, *args, use_reentrant=False, context_fn=contexts, early_stop=early_stop, **kwargs
        )
    with _checkpoint.set_checkpoint_early_stop(early_stop):
        return _checkpoint.checkpoint(function, *args, use_reentrant=False, context_fn=contexts, **kwargs)


class CheckpointWrapper:
    """What a recomputed module is an instance of, beside its own class.

    ``checkpoint_kwargs`` are the options that it was wrapped with.
    """

    checkpoint_kwargs: dict[str, Any]


class CheckpointExcludeWrapper:
    """What a module that is kept out of recomputation is an instance of."""


def rewrap_forward(module: nn.Module, kind: type, run: Callable[..., Any]) -> nn.Module:
    """Make ``module.forward(*args)`` become ``run(forward, *args)``, on this object only.

    Once for each ``kind``, which its class then also is: MindSpore code that looks for a name among the cells
    and then among all attributes comes twice here, because torch's ``dir`` of a module lists its submodules.
    """
    base = type(module)
    if isinstance(module, kind):
        return module

    @functools.wraps(base.forward)  # signatures of forward are looked at (inputs bound by name)
    def forward(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        return run(functools.partial(base.forward, self), *args, **kwargs)

    namespace = {"forward": forward, "__module__": base.__module__, "__doc__": base.__doc__}
    module.__class__ = type(
        f"{kind.__name__.removesuffix('Wrapper')}{base.__name__}", (kind, base), namespace
    )
    return module


def checkpoint_wrapper(
    module: Any, *, output_recompute: bool = False, checkpoint_fn: Any = None, **options: Any
) -> Any:
    """Recompute a module (in place; it is returned) or a function in backward.

    ``options`` are those of :func:`checkpoint`. ``output_recompute`` asks to drop the result of a function as
    well; here the result stays as long as its consumers keep it: the same numbers, more memory.
    """
    run = checkpoint_fn or checkpoint
    if isinstance(module, nn.Module):
        if not isinstance(module, CheckpointWrapper):
            module.__dict__["checkpoint_kwargs"] = options
        return rewrap_forward(module, CheckpointWrapper, functools.partial(_run_checkpoint, run, options))

    @functools.wraps(module)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return run(module, *args, **options, **kwargs)

    return wrapped


def _run_checkpoint(run: Any, options: dict[str, Any], function: Any, *args: Any, **kwargs: Any) -> Any:
    return run(function, *args, **options, **kwargs)


def _run_excluded(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    running = _RUNNING.get()
    if running is None or not torch.is_grad_enabled():
        return function(*args, **kwargs)
    invocation, again = running
    if again:
        kept = invocation.kept[invocation.position]
        invocation.position += 1
        return tree_map(_give, kept)
    # Inside, tensors are kept as in any forward: the enclosing checkpoint must neither drop nor count them.
    token = _RUNNING.set(None)
    try:
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            output = function(*args, **kwargs)
    finally:
        _RUNNING.reset(token)
    invocation.kept.append(tree_map(_keep, output))
    return output


class _Kept:
    """A result without its graph, and whether it had one."""

    def __init__(self, value: torch.Tensor) -> None:
        self.value = value.detach()
        self.requires_grad = value.requires_grad


def _keep(value: Any) -> Any:
    return _Kept(value) if isinstance(value, torch.Tensor) else value


def _give(value: Any) -> Any:
    return value.value.detach().requires_grad_(value.requires_grad) if isinstance(value, _Kept) else value


def checkpoint_exclude_wrapper(module: Any) -> Any:
    """Keep the result of a module (in place; it is returned) or a function that runs inside a recomputed
    region, instead of running it again: collectives, random choices."""
    if isinstance(module, nn.Module):
        return rewrap_forward(module, CheckpointExcludeWrapper, _run_excluded)

    @functools.wraps(module)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return _run_excluded(module, *args, **kwargs)

    return wrapped
