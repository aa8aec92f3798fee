"""Adagrad, RMSProp, Adadelta, FTRL and ProximalAdagrad of mindspore.nn. Source: MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import torch

from .sgd import _Rates, check_number


class Adagrad(_Rates):
    """``accum += g²``, ``p -= lr * g / sqrt(accum)``; the sum starts at ``accum`` (0.1)."""

    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        update_slots: bool = True,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_number("accum", accum)
        self.update_slots = bool(update_slots)
        self.accum = self._parameters.clone(prefix="accum", init=float(accum))

    def step(self, gradients: Any) -> Any:  # type: ignore[override]
        """One step; a tuple of True."""
        for p, grad, lr, accum in zip(
            self._parameters, self._prepared(gradients), self._rates(), self.accum, strict=True
        ):
            g = grad.to(p.dtype)
            if self.update_slots:
                accum.addcmul_(g, g)
            p.sub_((lr * g / accum.sqrt()).to(p.dtype))
        return (True,) * self.param_length


class RMSProp(_Rates):
    """``s = decay * s + (1 - decay) * g²``, ``m = momentum * m + lr * g / sqrt(s + epsilon)``, ``p -= m``.

    ``s`` starts at one; with ``centered`` the square of the mean gradient is taken off it.
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.decay = check_number("decay", decay)
        self.momentum, self.epsilon = check_number("momentum", momentum), check_number("epsilon", epsilon)
        self.centered = bool(centered)
        if centered:
            self.mg = self._parameters.clone(prefix="mean_grad", init="zeros")
        self.ms = self._parameters.clone(prefix="mean_square", init="ones")
        self.moment = self._parameters.clone(prefix="moment", init="zeros")

    def step(self, gradients: Any) -> Any:  # type: ignore[override]
        """One step; a tuple of True."""
        means = self.mg if self.centered else (None,) * self.param_length
        rows = zip(
            self._parameters,
            self._prepared(gradients),
            self._rates(),
            self.ms,
            self.moment,
            means,
            strict=True,
        )
        for p, grad, lr, square, moment, mean in rows:
            g = grad.to(p.dtype)
            square.mul_(self.decay).addcmul_(g, g, value=1 - self.decay)
            below = square
            if mean is not None:
                mean.mul_(self.decay).add_(g, alpha=1 - self.decay)
                below = square - mean.square()
            moment.mul_(self.momentum).add_(lr * g / (below + self.epsilon).sqrt())
            p.sub_(moment.to(p.dtype))
        return (True,) * self.param_length


class Adadelta(_Rates):
    """Steps scaled by the root mean square of past steps over that of past gradients."""

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1.0,
        rho: float = 0.9,
        epsilon: float = 1e-6,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.rho, self.epsilon = check_number("rho", rho, 0.0, 1.0), check_number("epsilon", epsilon)
        self.accum = self._parameters.clone(prefix="accum", init=0.0)
        self.accum_update = self._parameters.clone(prefix="accum_update", init=0.0)

    def step(self, gradients: Any) -> Any:  # type: ignore[override]
        """One step; a tuple of True."""
        rows = zip(
            self._parameters,
            self._prepared(gradients),
            self._rates(),
            self.accum,
            self.accum_update,
            strict=True,
        )
        for p, grad, lr, accum, past in rows:
            g = grad.to(p.dtype)
            accum.mul_(self.rho).addcmul_(g, g, value=1 - self.rho)
            update = (past + self.epsilon).sqrt() / (accum + self.epsilon).sqrt() * g
            past.mul_(self.rho).addcmul_(update, update, value=1 - self.rho)
            p.sub_((lr * update).to(p.dtype))
        return (True,) * self.param_length


class FTRL(_Rates):
    """Follow the regularised leader."""

    def __init__(
        self,
        params: Any,
        initial_accum: float = 0.1,
        learning_rate: Any = 0.001,
        lr_power: float = -0.5,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if self.dynamic_lr or self.is_group_lr:
            raise ValueError("FTRL takes one fixed learning rate")
        check_number("initial_accum", initial_accum)
        self.l1, self.l2 = check_number("l1", l1), check_number("l2", l2)
        self.lr_power = check_number("lr_power", lr_power, float("-inf"), 0.0)
        self.moments = self._parameters.clone(prefix="moments", init=float(initial_accum))
        self.linear = self._parameters.clone(prefix="linear", init="zeros")

    def step(self, gradients: Any) -> Any:  # type: ignore[override]
        """One step; a tuple of True."""
        rows = zip(
            self._parameters,
            self._prepared(gradients),
            self._rates(),
            self.moments,
            self.linear,
            strict=True,
        )
        for p, grad, lr, accum, linear in rows:
            g = grad.to(p.dtype)
            new = accum + g * g
            after = new.pow(-self.lr_power)
            linear.add_(g - (after - accum.pow(-self.lr_power)) / lr * p)
            quadratic = after / lr + 2 * self.l2
            pre = torch.sign(linear) * self.l1 - linear
            p.copy_(torch.where(linear.abs() > self.l1, pre / quadratic, torch.zeros_like(p)))
            accum.copy_(new)
        return (True,) * self.param_length


class ProximalAdagrad(_Rates):
    """Adagrad followed by shrinking: ``l1`` towards zero, ``l2`` by division."""

    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_number("accum", accum)
        self.l1, self.l2 = check_number("l1", l1), check_number("l2", l2)
        self.accum = self._parameters.clone(prefix="accum", init=float(accum))

    def step(self, gradients: Any) -> Any:  # type: ignore[override]
        """One step; a tuple of True."""
        for p, grad, lr, accum in zip(
            self._parameters, self._prepared(gradients), self._rates(), self.accum, strict=True
        ):
            g = grad.to(p.dtype)
            accum.addcmul_(g, g)
            rate = lr / accum.sqrt()
            moved = p - rate * g
            shrunk = torch.sign(moved) * (moved.abs() - rate * self.l1).clamp(min=0) if self.l1 > 0 else moved
            p.copy_(shrunk / (1 + rate * self.l2))
        return (True,) * self.param_length
