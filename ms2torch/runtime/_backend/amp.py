"""Loss scales of mindspore.amp, and HookBackward. Source: MindSpore 2.10, mindspore.amp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .nn.wrap import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell
from .params import Parameter

__all__ = [
    "DynamicLossScaleManager",
    "DynamicLossScaler",
    "FixedLossScaleManager",
    "HookBackward",
    "LossScaleManager",
    "LossScaler",
    "StaticLossScaler",
    "all_finite",
]


def _each(inputs: Any, function: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(inputs, torch.Tensor):
        return function(inputs)
    return type(inputs)([_each(one, function) for one in inputs])


def all_finite(inputs: Any) -> torch.Tensor:
    """One bool: whether every element of a tensor, or of the tensors of a list or tuple, is finite."""
    tensors = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
    if not tensors:
        raise ValueError("all_finite needs a tensor")
    return torch.stack([torch.isfinite(t.detach()).all() for t in tensors]).all()


class LossScaler:
    """Base of the loss scalers: ``scale``, ``unscale`` and ``adjust``."""

    scale_value: torch.Tensor

    def scale(self, inputs: Any) -> Any:
        """``inputs`` (a tensor, or a list or tuple of them) times the scale, each in its own dtype."""
        return _each(inputs, lambda t: t * self.scale_value.detach().to(t.device, t.dtype))

    def unscale(self, inputs: Any) -> Any:
        """``inputs`` divided by the scale."""
        return _each(inputs, lambda t: t * (1 / self.scale_value.detach()).to(t.device, t.dtype))

    def adjust(self, grads_finite: Any) -> bool:
        """Sets the scale for the next step; says whether it can change."""
        raise NotImplementedError(f"{type(self).__name__}.adjust")


class StaticLossScaler(LossScaler):
    """A scale that stays."""

    def __init__(self, scale_value: float) -> None:
        if scale_value <= 0:
            raise ValueError(f"scale_value must be positive, but got {scale_value}")
        self.scale_value = Parameter(
            torch.tensor(float(scale_value)), name="scale_value", requires_grad=False
        )

    def adjust(self, grads_finite: Any) -> bool:
        """Changes nothing."""
        return False


class DynamicLossScaler(LossScaler):
    """Divides the scale by ``scale_factor`` (not below 1) after a step that is not finite, multiplies it after
    ``scale_window`` finite steps in a row unless it would overflow."""

    def __init__(self, scale_value: float, scale_factor: int, scale_window: int) -> None:
        if scale_value < 1.0:
            raise ValueError(f"scale_value must be at least 1, but got {scale_value}")
        for name, number in (("scale_factor", scale_factor), ("scale_window", scale_window)):
            if not isinstance(number, int) or isinstance(number, bool) or number <= 0:
                raise ValueError(f"{name} must be a positive int, but got {number!r}")
        self.scale_factor, self.scale_window = scale_factor, scale_window
        self.scale_value = Parameter(
            torch.tensor(float(scale_value)), name="scale_value", requires_grad=False
        )
        self.counter = Parameter(
            torch.tensor(0, dtype=torch.int32), name="adjust_counter", requires_grad=False
        )

    def adjust(self, grads_finite: Any) -> bool:
        """Sets the scale by whether the gradients were finite."""
        with torch.no_grad():
            if not bool(grads_finite):
                self.scale_value.copy_((self.scale_value / self.scale_factor).clamp(min=1.0))
                self.counter.zero_()
                return True
            grown = self.scale_value * self.scale_factor
            if int(self.counter) == self.scale_window - 1 and bool(torch.isfinite(grown)):
                self.scale_value.copy_(grown)
            self.counter.fill_((int(self.counter) + 1) % self.scale_window)
        return True


class LossScaleManager:
    """Base of the managers of loss scales."""

    def get_loss_scale(self) -> float:
        """The scale."""
        raise NotImplementedError(f"{type(self).__name__}.get_loss_scale")

    def update_loss_scale(self, overflow: bool) -> None:
        """Sets the scale by whether the step overflowed."""
        raise NotImplementedError(f"{type(self).__name__}.update_loss_scale")

    def get_update_cell(self) -> Any:
        """The cell that TrainOneStepWithLossScaleCell takes, or None."""
        raise NotImplementedError(f"{type(self).__name__}.get_update_cell")


class FixedLossScaleManager(LossScaleManager):
    """A scale that stays."""

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True) -> None:
        if loss_scale < 1:
            raise ValueError(f"loss_scale must be at least 1, but got {loss_scale}")
        self._loss_scale, self._drop_overflow_update = loss_scale, drop_overflow_update

    def get_loss_scale(self) -> float:
        """The scale."""
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Whether a step that overflowed is left out."""
        return self._drop_overflow_update

    def update_loss_scale(self, overflow: bool) -> None:
        """Changes nothing."""

    def get_update_cell(self) -> Any:
        """A FixedLossScaleUpdateCell, or None where every step counts."""
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop_overflow_update else None


class DynamicLossScaleManager(LossScaleManager):
    """A scale divided by ``scale_factor`` on overflow (not below 1), multiplied after ``scale_window`` steps."""

    def __init__(
        self, init_loss_scale: float = 2**24, scale_factor: int = 2, scale_window: int = 2000
    ) -> None:
        if init_loss_scale < 1:
            raise ValueError(f"init_loss_scale must be at least 1, but got {init_loss_scale}")
        if scale_window < 1 or scale_factor < 1:
            raise ValueError("scale_factor and scale_window must be positive")
        self.loss_scale: float = init_loss_scale
        self.scale_factor, self.scale_window = scale_factor, scale_window
        self._steps = 0

    def get_loss_scale(self) -> float:
        """The scale."""
        return self.loss_scale

    def get_drop_overflow_update(self) -> bool:
        """True: a step that overflowed is left out."""
        return True

    def update_loss_scale(self, overflow: bool) -> None:
        """Sets the scale by whether the step overflowed."""
        if overflow:
            self.loss_scale = max(self.loss_scale / self.scale_factor, 1)
            self._steps = 0
            return
        self._steps += 1
        if self._steps == self.scale_window:
            self.loss_scale *= self.scale_factor
            self._steps = 0

    def get_update_cell(self) -> DynamicLossScaleUpdateCell:
        """A DynamicLossScaleUpdateCell of these settings."""
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)


class HookBackward:
    """Hands its argument on; ``hook_fn`` gets a tuple of the gradient on the way back, and what it returns
    (a gradient, or a tuple of one), if anything, replaces it."""

    def __init__(self, hook_fn: Callable[..., Any], cell_id: str = "") -> None:
        if not callable(hook_fn):
            raise TypeError(f"hook_fn must be a function, but got {type(hook_fn).__name__}")
        self.hook_fn, self.cell_id = hook_fn, cell_id

    def __call__(self, *args: torch.Tensor) -> Any:
        if len(args) != 1:
            raise NotImplementedError("HookBackward of more than one tensor")
        out = args[0].view_as(args[0])
        if out.requires_grad:
            out.register_hook(self._hook)  # type: ignore[no-untyped-call]
        return out

    def _hook(self, grad: torch.Tensor) -> Any:
        found = self.hook_fn((grad,))
        return found[0] if isinstance(found, tuple) else found
