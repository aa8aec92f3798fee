"""SGD and Momentum of mindspore.nn. Source: MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import torch

from ..params import Parameter
from .base import Optimizer


def check_number(name: str, value: Any, low: float = 0.0, high: float | None = None) -> float:
    """``value`` as a float if in [low, high]; TypeError for no number, ValueError outside."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"'{name}' must be a number, but got {type(value).__name__}")
    if value < low or (high is not None and value > high):
        raise ValueError(f"'{name}' must be in [{low}, {'inf' if high is None else high}], but got {value}")
    return float(value)


class _Rates(Optimizer):
    """What all of the optimizers here share: one learning rate for each parameter."""

    def _rates(self) -> tuple[torch.Tensor, ...]:
        """The learning rate of each parameter for this step; then the global step goes on by one."""
        lr = self.get_lr()
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        rates = lr if isinstance(lr, tuple) else (lr,) * self.param_length
        return tuple(r.detach().to(p.device) for r, p in zip(rates, self._parameters, strict=True))

    def _prepared(self, gradients: Any) -> Any:
        """Weight decay, centralization, loss scale, in MindSpore's order."""
        return self.scale_grad(self.gradients_centralization(self.decay_weight(gradients)))


class SGD(_Rates):
    """Stochastic gradient descent; the first step takes the gradient as momentum, without dampening."""

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: Any = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_number("momentum", momentum)
        check_number("dampening", dampening)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("'nesterov' needs a positive 'momentum' and no 'dampening'")
        self.dampening, self.nesterov = float(dampening), bool(nesterov)
        self.momentum = Parameter(float(momentum), name="momentum", requires_grad=False)
        self.accum = self._parameters.clone(prefix="accum", init="zeros")
        self.stat = self._parameters.clone(prefix="stat", init="ones")

    def step(self, gradients: Any) -> Any:  # type: ignore[override]
        """One step; a tuple of True."""
        momentum = float(self.momentum)
        rows = zip(
            self._parameters, self._prepared(gradients), self._rates(), self.accum, self.stat, strict=True
        )
        for p, grad, lr, accum, stat in rows:
            g = grad.to(p.dtype)
            if momentum > 0:
                first = stat > 0
                accum.copy_(torch.where(first, g, accum * momentum + g * (1 - self.dampening)))
                stat.zero_()
                g = g + accum * momentum if self.nesterov else accum
            p.sub_((lr * g).to(p.dtype))
        return (True,) * self.param_length


class Momentum(_Rates):
    """``v = momentum * v + g``, ``p -= lr * v`` (with Nesterov ``p -= lr * (g + momentum * v)``)."""

    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        momentum: float,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_number("momentum", momentum)
        self.use_nesterov = bool(use_nesterov)
        self.momentum = Parameter(float(momentum), name="momentum", requires_grad=False)
        self.moments = self._parameters.clone(prefix="moments", init="zeros")

    def step(self, gradients: Any) -> Any:  # type: ignore[override]
        """One step; a tuple of True."""
        momentum = float(self.momentum)
        for p, grad, lr, v in zip(
            self._parameters, self._prepared(gradients), self._rates(), self.moments, strict=True
        ):
            g = grad.to(p.dtype)
            v.mul_(momentum).add_(g)
            p.sub_((lr * (g + momentum * v if self.use_nesterov else v)).to(p.dtype))
        return (True,) * self.param_length
