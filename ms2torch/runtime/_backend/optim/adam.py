"""Adam and its relatives in mindspore.nn. Source: MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import torch

from ..params import Parameter
from .sgd import _Rates, check_number


def _check_betas(beta1: Any, beta2: Any, eps: Any) -> None:
    for name, value in (("beta1", beta1), ("beta2", beta2)):
        if isinstance(value, bool) or not isinstance(value, float):
            raise TypeError(f"'{name}' must be float, but got {type(value).__name__}")
        if not 0.0 < value < 1.0:
            raise ValueError(f"'{name}' must be in (0, 1), but got {value}")
    if check_number("eps", eps) == 0.0:
        raise ValueError("'eps' must be greater than 0")


class Adam(_Rates):
    """Adam with the bias correction in the learning rate, so ``eps`` is added to the uncorrected root.

    ``use_lazy`` and ``use_offload`` are refused when on.
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        _check_betas(beta1, beta2, eps)
        for name in ("use_lazy", "use_offload"):
            if kwargs.pop(name, False):
                raise NotImplementedError(f"Adam({name}=True) is not supported")
        if kwargs:
            raise TypeError(f"Adam has no argument {sorted(kwargs)}")
        if use_amsgrad and use_nesterov:
            raise ValueError("'use_amsgrad' and 'use_nesterov' can not be used together")
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.use_nesterov, self.use_amsgrad = use_nesterov, use_amsgrad
        self.beta1_power = Parameter(1.0, name="beta1_power", requires_grad=False)
        self.beta2_power = Parameter(1.0, name="beta2_power", requires_grad=False)
        self.moment1 = self._parameters.clone(prefix="moment1", init="zeros")
        self.moment2 = self._parameters.clone(prefix="moment2", init="zeros")
        if use_amsgrad:
            self.vhat = self._parameters.clone(prefix="vhat", init="zeros")

    def step(self, gradients: Any) -> Any:  # type: ignore[override]
        """One step; a tuple of True."""
        gradients, rates = self._prepared(gradients), self._rates()
        self.beta1_power.mul_(self.beta1)
        self.beta2_power.mul_(self.beta2)
        correction = ((1 - self.beta2_power).sqrt() / (1 - self.beta1_power)).detach()
        hats = self.vhat if self.use_amsgrad else (None,) * self.param_length
        rows = zip(self._parameters, gradients, rates, self.moment1, self.moment2, hats, strict=True)
        for p, grad, lr, m, v, hat in rows:
            g = grad.to(m.dtype)
            m.mul_(self.beta1).add_(g, alpha=1 - self.beta1)
            v.mul_(self.beta2).addcmul_(g, g, value=1 - self.beta2)
            top = m * self.beta1 + g * (1 - self.beta1) if self.use_nesterov else m
            below = v
            if hat is not None:
                hat.copy_(torch.maximum(hat, v))
                below = hat
            p.sub_((lr * correction.to(p.device) * top / (below.sqrt() + self.eps)).to(p.dtype))
        return (True,) * self.param_length


class LazyAdam(Adam):
    """Adam: with dense gradients, the only ones a port has, MindSpore's LazyAdam is Adam."""

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(
            params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale
        )


class AdamWeightDecay(_Rates):
    """Adam without bias correction; decay is added to the step and leaves out parameters named beta or
    gamma."""

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        _check_betas(beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.moments1 = self._parameters.clone(prefix="adam_m", init="zeros")
        self.moments2 = self._parameters.clone(prefix="adam_v", init="zeros")

    def step(self, gradients: Any) -> Any:  # type: ignore[override]
        """One step; a tuple of True."""
        decay = self.get_weight_decay()
        decays = decay if self.is_group else (decay,) * self.param_length
        rates = self._rates()
        # MindSpore subtracts in float32: for 0.999 that is 5e-5 off the exact rest.
        rest1, rest2 = (float(1 - torch.tensor(b)) for b in (self.beta1, self.beta2))
        rows = zip(
            self._parameters,
            self.gradients_centralization(gradients),
            rates,
            decays,
            self.decay_flags,
            self.moments1,
            self.moments2,
            strict=True,
        )
        for p, grad, lr, wd, flag, m, v in rows:
            g = grad.float()
            m.mul_(self.beta1).add_(g, alpha=rest1)
            v.mul_(self.beta2).addcmul_(g, g, value=rest2)
            update = m / (v.sqrt() + self.eps)
            if flag:
                update = update + torch.as_tensor(wd).to(p.device) * p
            p.sub_((lr * update).to(p.dtype))
        return (True,) * self.param_length


class AdaMax(_Rates):
    """Adam with the largest decayed gradient in place of the second moment."""

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        _check_betas(beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.beta1_power = Parameter(float(beta1), name="beta1_power", requires_grad=False)
        self.moment1 = self._parameters.clone(prefix="moment1", init="zeros")
        self.moment2 = self._parameters.clone(prefix="moment2", init="zeros")

    def step(self, gradients: Any) -> Any:  # type: ignore[override]
        """One step; a tuple of True."""
        rows = zip(
            self._parameters,
            self._prepared(gradients),
            self._rates(),
            self.moment1,
            self.moment2,
            strict=True,
        )
        corrected = 1 - float(self.beta1_power)
        for p, grad, lr, m, v in rows:
            g = grad.to(p.dtype)
            m.mul_(self.beta1).add_(g, alpha=1 - self.beta1)
            v.copy_(torch.maximum(v * self.beta2, g.abs()))
            p.sub_((lr / corrected * m / (v + self.eps)).to(p.dtype))
        self.beta1_power.mul_(self.beta1)
        return (True,) * self.param_length
