"""Networks that train networks, from mindspore.nn.wrap. Source: MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import torch

from ..autograd import GradOperation
from ..params import Parameter, ParameterTuple, write
from .module import Module


class WithLossCell(Module):
    """``loss_fn(backbone(data), label)``."""

    def __init__(self, backbone: Any, loss_fn: Any) -> None:
        super().__init__(auto_prefix=False)
        self._backbone, self._loss_fn = backbone, loss_fn

    def forward(self, data: Any, label: Any) -> Any:
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Any:
        """The network inside."""
        return self._backbone


class WithEvalCell(Module):
    """(loss, outputs, label); outputs and label in float32 with ``add_cast_fp32``."""

    def __init__(self, network: Any, loss_fn: Any, add_cast_fp32: bool = False) -> None:
        super().__init__(auto_prefix=False)
        self._network, self._loss_fn, self.add_cast_fp32 = network, loss_fn, add_cast_fp32

    def forward(self, data: Any, label: Any) -> tuple[Any, Any, Any]:
        outputs = self._network(data)
        if self.add_cast_fp32:
            label, outputs = label.float(), outputs.float()
        return self._loss_fn(outputs, label), outputs, label


class ForwardValueAndGrad(Module):
    """(loss, gradients) of a network."""

    def __init__(
        self,
        network: Any,
        weights: Any = None,
        get_all: bool = False,
        get_by_list: bool = False,
        sens_param: bool = False,
    ) -> None:
        super().__init__(auto_prefix=False)
        self.network, self.get_all, self.get_by_list, self.sens_param = (
            network,
            get_all,
            get_by_list,
            sens_param,
        )
        object.__setattr__(self, "weights", weights)
        self.grad = GradOperation(get_all, get_by_list, sens_param)

    def forward(self, *inputs: Any) -> tuple[Any, Any]:
        data = inputs[:-1] if self.sens_param else inputs
        with torch.no_grad():
            loss = self.network(*data)
        return loss, self.grad(self.network, self.weights)(*inputs)


class TrainOneStepCell(Module):
    """One step: loss of ``network(*inputs)``, its gradients, ``optimizer(gradients)``; returns the loss.

    ``network`` gives one loss. ``sens`` scales the gradients (1 by default). With ``return_grad`` the
    result is (loss, {parameter name: gradient}).
    """

    weights: Any

    def __init__(
        self, network: Any, optimizer: Any, sens: float | None = None, return_grad: bool = False
    ) -> None:
        super().__init__(auto_prefix=False)
        self.network, self.optimizer = network, optimizer
        # The weights belong to the network; a second registration here would only repeat them.
        object.__setattr__(self, "weights", optimizer.parameters)
        self.grad = GradOperation(get_by_list=True, sens_param=True)
        self.grad_no_sens = GradOperation(get_by_list=True)
        self.sens = 1.0 if sens is None else float(sens)
        self.return_grad = return_grad
        self.grad_reducer = torch.nn.Identity()
        self.reducer_flag = False

    def forward(self, *inputs: Any) -> Any:
        with torch.enable_grad():
            loss = self.network(*inputs)
        heads = [loss] if isinstance(loss, torch.Tensor) else list(loss)
        tracked = [(h, torch.full_like(h, self.sens)) for h in heads if h.requires_grad]
        trained = [w for w in self.weights if w.requires_grad]
        found = torch.autograd.grad(
            [h for h, _ in tracked], trained, [s for _, s in tracked], allow_unused=True
        )
        by_id = {id(w): g for w, g in zip(trained, found, strict=True)}
        grads = tuple(
            g if (g := by_id.get(id(w))) is not None else torch.zeros_like(w, requires_grad=False)
            for w in self.weights
        )
        self.optimizer(self.grad_reducer(grads))
        out = loss.detach() if isinstance(loss, torch.Tensor) else tuple(h.detach() for h in heads)
        if self.return_grad:
            from ..params import param_name

            return out, {param_name(w): g for w, g in zip(self.weights, grads, strict=True)}
        return out


class FixedLossScaleUpdateCell(Module):
    """A loss scale that stays; tells whether the step overflowed."""

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self) -> float:
        """The scale."""
        return self.loss_scale_value

    def forward(self, _: Any, overflow: Any) -> Any:
        return overflow


class DynamicLossScaleUpdateCell(Module):
    """Divides the loss scale by ``scale_factor`` (not below 1) on overflow, multiplies it after
    ``scale_window`` steps without. Called with the scale parameter, which it writes, and the overflow flag,
    which it returns."""

    def __init__(self, loss_scale_value: float, scale_factor: int, scale_window: int) -> None:
        super().__init__()
        self.loss_scale_value, self.scale_factor, self.scale_window = (
            loss_scale_value,
            scale_factor,
            scale_window,
        )
        self.cur_iter = Parameter(torch.tensor(1, dtype=torch.int32), name="current_iterator_step")
        self.last_overflow_iter = Parameter(
            torch.tensor(0, dtype=torch.int32), name="last_overflow_iterator_step"
        )

    def get_loss_scale(self) -> float:
        """The scale at the start."""
        return self.loss_scale_value

    def forward(self, loss_scale: torch.Tensor, overflow: Any) -> Any:
        with torch.no_grad():
            now = int(self.cur_iter)
            if bool(overflow):
                loss_scale.copy_((loss_scale / self.scale_factor).clamp(min=1.0))
                self.last_overflow_iter.fill_(now)
            elif now - int(self.last_overflow_iter) >= self.scale_window:
                loss_scale.copy_(loss_scale * self.scale_factor)
                self.last_overflow_iter.fill_(now)
            self.cur_iter.fill_(now + 1)
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """One step with a loss scale; returns (loss, overflow, scale). An overflowing step leaves the weights
    alone.

    ``scale_sense``: a tensor of one value, or an update cell.
    """

    def __init__(self, network: Any, optimizer: Any, scale_sense: Any) -> None:
        super().__init__(network, optimizer)
        self.loss_scaling_manager = None
        if isinstance(scale_sense, torch.nn.Module):
            self.loss_scaling_manager = scale_sense
            start = torch.tensor(float(scale_sense.get_loss_scale()))  # type: ignore[operator]
        elif isinstance(scale_sense, torch.Tensor) and scale_sense.numel() == 1:
            start = scale_sense.detach().reshape(()).float()
        else:
            raise TypeError(
                f"'scale_sense' must be an update cell or a tensor of one value, but got {scale_sense!r}"
            )
        self.scale_sense = Parameter(start, name="scale_sense", requires_grad=False)

    def set_sense_scale(self, sens: torch.Tensor) -> None:
        """Set the scale."""
        write(self.scale_sense, sens)

    def forward(self, *inputs: Any) -> Any:
        scale = self.scale_sense.detach().clone()
        with torch.enable_grad():
            loss = self.network(*inputs)
        trained = ParameterTuple(w for w in self.weights if w.requires_grad)
        found = torch.autograd.grad(loss, trained, scale.to(loss.dtype).expand_as(loss), allow_unused=True)
        by_id = {
            id(w): torch.zeros_like(w) if g is None else g / scale.to(g.device, g.dtype)
            for w, g in zip(trained, found, strict=True)
        }
        grads = tuple(by_id[id(w)] if id(w) in by_id else torch.zeros_like(w) for w in self.weights)
        overflow: Any = torch.tensor(any(not bool(torch.isfinite(g).all()) for g in grads))
        if self.loss_scaling_manager is not None:
            overflow = self.loss_scaling_manager(self.scale_sense, overflow)
        if not bool(overflow):
            self.optimizer(self.grad_reducer(grads))
        return loss.detach(), overflow, scale
