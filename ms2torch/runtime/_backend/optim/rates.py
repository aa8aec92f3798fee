"""Learning rates and weight decays as modules that an optimizer asks for the value of a step."""

from __future__ import annotations

from typing import Any

import torch

from ..params import Parameter


def constant(value: Any, name: str) -> torch.nn.Parameter:
    return Parameter(torch.as_tensor(value, dtype=torch.float32).reshape(()), name, requires_grad=False)


class Steps(torch.nn.Module):
    """A learning rate given as one value a step; the last one holds on."""

    def __init__(self, values: torch.Tensor, name: str) -> None:
        super().__init__()
        self.learning_rate = Parameter(values, name, requires_grad=False)

    def forward(self, global_step: torch.Tensor) -> torch.Tensor:
        index = int(global_step.reshape(()))
        return self.learning_rate[min(index, len(self.learning_rate) - 1)]


class Always(torch.nn.Module):
    """A fixed learning rate among scheduled ones."""

    def __init__(self, value: torch.nn.Parameter) -> None:
        super().__init__()
        self.learning_rate = value

    def forward(self, global_step: torch.Tensor) -> torch.Tensor:
        return self.learning_rate.detach()


class Scaled(torch.nn.Module):
    """A weight decay schedule times the loss scale."""

    def __init__(self, schedule: Any, scale: float) -> None:
        super().__init__()
        self.schedule, self.scale = schedule, scale

    def forward(self, global_step: torch.Tensor) -> torch.Tensor:
        scaled: torch.Tensor = self.schedule(global_step) * self.scale
        return scaled
