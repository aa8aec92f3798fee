"""Optimizers of mindspore.mint.optim: torch's, called with the gradients. Source: MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import torch


class _Called:
    """``optimizer(gradients)`` beside torch's ``step()``."""

    param_groups: list[dict[str, Any]]

    @property
    def parameters(self) -> list[Any]:
        """All parameters, group by group."""
        return [p for group in self.param_groups for p in group["params"]]

    def __call__(self, gradients: Any) -> tuple[bool, ...]:
        """Update from one gradient for each parameter. ValueError if their numbers differ."""
        listed = self.parameters
        if len(gradients) != len(listed):
            raise ValueError(f"{len(listed)} parameters need as many gradients, but got {len(gradients)}")
        held = [p.grad for p in listed]
        try:
            for p, g in zip(listed, gradients, strict=True):
                p.grad = g.to(p.dtype)
            self.step()  # type: ignore[attr-defined]
        finally:
            for p, g in zip(listed, held, strict=True):
                p.grad = g
        return (True,) * len(listed)


class Adam(_Called, torch.optim.Adam):
    """torch.optim.Adam with MindSpore's arguments."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: Any = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, tuple(betas), eps, weight_decay, amsgrad, maximize=maximize)


class AdamW(_Called, torch.optim.AdamW):
    """torch.optim.AdamW with MindSpore's arguments."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: Any = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, tuple(betas), eps, weight_decay, amsgrad, maximize=maximize)


class FusedAdamW(AdamW):
    """`AdamW`; the fused kernel computes the same."""


class SGD(_Called, torch.optim.SGD):
    """torch.optim.SGD with MindSpore's arguments."""

    def __init__(
        self,
        params: Any,
        lr: Any,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, momentum, dampening, weight_decay, nesterov, maximize=maximize)
