"""Learning rates of mindspore.nn: schedules called with the global step, and lists with one value a step.

Source: MindSpore 2.10, mindspore.nn.learning_rate_schedule and mindspore.nn.dynamic_lr.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from .module import Module


class LearningRateSchedule(Module):
    """Base: a subclass gives the learning rate from the global step in ``forward``."""

    def forward(self, global_step: Any) -> Any:
        raise NotImplementedError


def _positive(**values: Any) -> None:
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"'{name}' must be a number, but got {type(value).__name__}")
        if value <= 0:
            raise ValueError(f"'{name}' must be positive, but got {value}")


def _float(step: Any) -> torch.Tensor:
    return torch.as_tensor(step).float()


class _Decay(LearningRateSchedule):
    def __init__(
        self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False
    ) -> None:
        super().__init__()
        _positive(learning_rate=learning_rate, decay_rate=decay_rate, decay_steps=decay_steps)
        self.learning_rate, self.decay_rate = learning_rate, decay_rate
        self.decay_steps, self.is_stair = decay_steps, is_stair

    def _progress(self, global_step: Any) -> torch.Tensor:
        p = _float(global_step) / self.decay_steps
        return torch.floor(p) if self.is_stair else p


class ExponentialDecayLR(_Decay):
    """``learning_rate * decay_rate ** (step / decay_steps)``; whole powers with ``is_stair``."""

    def forward(self, global_step: Any) -> torch.Tensor:
        return self.learning_rate * self.decay_rate ** self._progress(global_step)


class NaturalExpDecayLR(_Decay):
    """``learning_rate * exp(-decay_rate * step)``; the step in multiples of ``decay_steps`` with
    ``is_stair``."""

    def forward(self, global_step: Any) -> torch.Tensor:
        step = self._progress(global_step) * self.decay_steps if self.is_stair else _float(global_step)
        return self.learning_rate * torch.exp(-self.decay_rate * step)


class InverseDecayLR(_Decay):
    """``learning_rate / (1 + decay_rate * step / decay_steps)``; whole quotients with ``is_stair``."""

    def forward(self, global_step: Any) -> torch.Tensor:
        return self.learning_rate / (1 + self.decay_rate * self._progress(global_step))


class CosineDecayLR(LearningRateSchedule):
    """Half a cosine from ``max_lr`` to ``min_lr`` over ``decay_steps``, then ``min_lr``."""

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        _positive(max_lr=max_lr, decay_steps=decay_steps)
        if min_lr < 0 or min_lr >= max_lr:
            raise ValueError(f"'min_lr' must be in [0, max_lr), but got {min_lr} and {max_lr}")
        self.min_lr, self.max_lr, self.decay_steps = min_lr, max_lr, decay_steps

    def forward(self, global_step: Any) -> torch.Tensor:
        p = _float(global_step).clamp(max=self.decay_steps) / self.decay_steps
        return self.min_lr + 0.5 * (self.max_lr - self.min_lr) * (1 + torch.cos(math.pi * p))


class PolynomialDecayLR(LearningRateSchedule):
    """``(start - end) * (1 - step / decay_steps) ** power + end``; ``update_decay_steps`` lengthens the
    decay to the next multiple once it is over."""

    def __init__(
        self,
        learning_rate: float,
        end_learning_rate: float,
        decay_steps: int,
        power: float,
        update_decay_steps: bool = False,
    ) -> None:
        super().__init__()
        _positive(learning_rate=learning_rate, decay_steps=decay_steps, power=power)
        if end_learning_rate < 0:
            raise ValueError(f"'end_learning_rate' must not be negative, but got {end_learning_rate}")
        self.start_learning_rate, self.end_learning_rate = learning_rate, end_learning_rate
        self.decay_steps, self.power, self.update_decay_steps = decay_steps, power, update_decay_steps

    def forward(self, global_step: Any) -> torch.Tensor:
        step, length = _float(global_step), torch.tensor(float(self.decay_steps))
        if self.update_decay_steps:
            length = length.to(step.device) * torch.ceil(step / self.decay_steps).clamp(min=1)
        else:
            step = step.clamp(max=self.decay_steps)
        left = (1 - step / length) ** self.power
        return (self.start_learning_rate - self.end_learning_rate) * left + self.end_learning_rate


class WarmUpLR(LearningRateSchedule):
    """``learning_rate`` times the share of ``warmup_steps`` that is over."""

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        _positive(warmup_steps=warmup_steps)
        if learning_rate < 0:
            raise ValueError(f"'learning_rate' must not be negative, but got {learning_rate}")
        self.learning_rate, self.warmup_steps = learning_rate, warmup_steps

    def forward(self, global_step: Any) -> torch.Tensor:
        return self.learning_rate * _float(global_step).clamp(max=self.warmup_steps) / self.warmup_steps


def _by_epoch(total_step: int, step_per_epoch: int, rate: Callable[[int], float]) -> list[float]:
    _positive(total_step=total_step, step_per_epoch=step_per_epoch)
    return [rate(step // step_per_epoch) for step in range(total_step)]


def piecewise_constant_lr(milestone: Any, learning_rates: Any) -> list[float]:
    """``learning_rates[i]`` until step ``milestone[i]``."""
    if len(milestone) != len(learning_rates):
        raise ValueError(f"{len(milestone)} milestones need as many rates, but got {len(learning_rates)}")
    rates: list[float] = []
    last = 0
    for end, rate in zip(milestone, learning_rates, strict=True):
        if end < last:
            raise ValueError(f"the milestones must rise, but got {list(milestone)}")
        rates += [rate] * (end - last)
        last = end
    return rates


def exponential_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """``learning_rate * decay_rate ** (epoch / decay_epoch)`` for each step."""
    _positive(learning_rate=learning_rate, decay_rate=decay_rate, decay_epoch=decay_epoch)
    return _by_epoch(
        total_step,
        step_per_epoch,
        lambda e: learning_rate * decay_rate ** (e // decay_epoch if is_stair else e / decay_epoch),
    )


def natural_exp_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """``learning_rate * exp(-decay_rate * epoch)`` for each step."""
    _positive(learning_rate=learning_rate, decay_rate=decay_rate, decay_epoch=decay_epoch)
    return _by_epoch(
        total_step,
        step_per_epoch,
        lambda e: learning_rate * math.exp(-decay_rate * (e // decay_epoch * decay_epoch if is_stair else e)),
    )


def inverse_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """``learning_rate / (1 + decay_rate * epoch / decay_epoch)`` for each step."""
    _positive(learning_rate=learning_rate, decay_rate=decay_rate, decay_epoch=decay_epoch)
    return _by_epoch(
        total_step,
        step_per_epoch,
        lambda e: learning_rate / (1 + decay_rate * (e // decay_epoch if is_stair else e / decay_epoch)),
    )


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:
    """Half a cosine from ``max_lr`` to ``min_lr`` over ``decay_epoch`` epochs, for each step."""
    _positive(max_lr=max_lr, decay_epoch=decay_epoch)
    if min_lr < 0 or min_lr >= max_lr:
        raise ValueError(f"'min_lr' must be in [0, max_lr), but got {min_lr} and {max_lr}")
    return _by_epoch(
        total_step,
        step_per_epoch,
        lambda e: (
            min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * min(e, decay_epoch) / decay_epoch))
        ),
    )


def polynomial_decay_lr(
    learning_rate: float,
    end_learning_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    power: float,
    update_decay_epoch: bool = False,
) -> list[float]:
    """``(start - end) * (1 - epoch / decay_epoch) ** power + end`` for each step."""
    _positive(learning_rate=learning_rate, decay_epoch=decay_epoch, power=power)

    def rate(epoch: int) -> float:
        length = decay_epoch * max(math.ceil(epoch / decay_epoch), 1) if update_decay_epoch else decay_epoch
        left = (1 - min(epoch, length) / length) ** power
        return float((learning_rate - end_learning_rate) * left + end_learning_rate)

    return _by_epoch(total_step, step_per_epoch, rate)


def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> list[float]:
    """``learning_rate`` times the share of ``warmup_epoch`` that is over, for each step."""
    if warmup_epoch < 0:
        raise ValueError(f"'warmup_epoch' must not be negative, but got {warmup_epoch}")
    return _by_epoch(
        total_step,
        step_per_epoch,
        lambda e: learning_rate * min(e, warmup_epoch) / warmup_epoch if warmup_epoch else learning_rate,
    )
