"""The base of a port's optimizers: torch.optim.Optimizer with the contract of mindspore.nn.Optimizer.

Source: MindSpore 2.10, mindspore.nn.Optimizer. A subclass writes ``step(self, gradients)`` (MindSpore's
``construct``), reads ``self._parameters``, ``self.get_lr()``, ``self.get_weight_decay()``, and keeps its
states as attributes; states are saved under the names of their parameters.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

import torch

from ..params import Parameter, ParameterTuple, own, param_name, write
from .cell import CellMembers
from .rates import Always, Scaled, Steps, constant

_GROUP_KEYS = ("params", "lr", "weight_decay", "order_params", "grad_centralization")


def _without_grad(step: Callable[..., Any]) -> Callable[..., Any]:
    """Optimizers update outside autograd; called without gradients, ``step`` takes the parameters' own."""

    @functools.wraps(step)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        loss = None
        if len(args) == 1 and callable(args[0]) and not isinstance(args[0], torch.Tensor):
            with torch.enable_grad():
                loss = args[0]()
            args = ()
        with torch.no_grad():
            if not args and not kwargs:
                args = (tuple(torch.zeros_like(p) if p.grad is None else p.grad for p in self._parameters),)
                step(self, *args)
                return loss
            return step(self, *args, **kwargs)

    wrapped._mf_wrapped = True  # type: ignore[attr-defined]
    return wrapped


class Optimizer(CellMembers, torch.optim.Optimizer):
    """Groups, schedules, weight decay and states as MindSpore's optimizers have them.

    ``learning_rate``: number, 0-d tensor, 1-d tensor or iterable (one value a step), or a schedule called
    with the global step. ``parameters``: parameters, or groups as dicts with ``params`` and optionally
    ``lr``, ``weight_decay``, ``grad_centralization``, or one with ``order_params``. ``weight_decay``:
    number or schedule.

    ``optimizer(gradients)`` and ``optimizer.step(gradients)`` update; ``optimizer.step()`` takes
    ``p.grad``. Torch's machinery (``param_groups``, ``zero_grad``, ``state_dict``, schedulers that write
    ``group["lr"]``) works.

    Raises TypeError for a learning rate, weight decay or parameter of a wrong type; ValueError for negative
    values or no parameters; KeyError for an unknown key of a group; RuntimeError for a parameter in two
    groups.
    """

    cls_name = property(lambda self: type(self).__name__)
    _params: OrderedDict[str, Any]
    weight_decay: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        step = cls.__dict__.get("step")
        if step is not None and not hasattr(step, "_mf_wrapped"):
            cls.step = _without_grad(step)  # type: ignore[method-assign]

    def __init__(
        self, learning_rate: Any, parameters: Any, weight_decay: Any = 0.0, loss_scale: float = 1.0
    ) -> None:
        listed = self._listed(parameters, "parameters")
        grouped = all(isinstance(x, dict) for x in listed)
        if not grouped and not all(isinstance(x, torch.nn.Parameter) for x in listed):
            raise TypeError("all elements of 'parameters' must be Parameters, or all dicts")
        if isinstance(loss_scale, bool) or not isinstance(loss_scale, int | float):
            raise TypeError(f"'loss_scale' must be a float, but got {type(loss_scale).__name__}")
        if loss_scale <= 0:
            raise ValueError(f"'loss_scale' must be positive, but got {loss_scale}")
        self.loss_scale = float(loss_scale)
        self.training = False
        self.dynamic_lr = self.dynamic_weight_decay = False
        self.is_group, self.is_group_lr, self.is_group_params_ordered = grouped, False, False
        first = (
            self._listed(listed[0].get("params", listed[0].get("order_params")), "params")
            if grouped
            else listed
        )
        place = first[0].device
        self.global_step = Parameter(torch.zeros(1, dtype=torch.int32, device=place), "global_step", False)
        self.global_step_increase_tensor = torch.ones(1, dtype=torch.int32, device=place)
        rate = self._rate(learning_rate)
        decay = self._decay(weight_decay)
        if grouped:
            self._take_groups(listed, rate, weight_decay)
        else:
            self.learning_rate = self._built(rate, "learning_rate")
            self._parameters = ParameterTuple(listed)
            # MindSpore leaves normalisation's own parameters out, by name.
            names = [param_name(p) or "" for p in listed]
            self.decay_flags: tuple[bool, ...] = tuple("beta" not in n and "gamma" not in n for n in names)
            self.dynamic_decay_flags: Any = isinstance(decay, torch.nn.Module)
            self.weight_decay = decay if self.dynamic_decay_flags else torch.tensor(decay)
            self.exec_weight_decay = self.dynamic_decay_flags or decay > 0
        self.parameters = self._parameters
        self.param_length = len(self._parameters)
        self.optim_filter = (True,) * self.param_length
        self.need_scale = self.loss_scale != 1.0
        self.reciprocal_scale = torch.tensor(1.0 / self.loss_scale)
        super().__init__(self._torch_groups(), {"lr": 0.0, "weight_decay": 0.0})
        self._seen_lr = [group["lr"] for group in self.param_groups]

    # ---- construction ----------------------------------------------------------------------------

    @staticmethod
    def _listed(parameters: Any, what: str) -> list[Any]:
        if parameters is None:
            raise ValueError(f"'{what}' must not be None")
        if not isinstance(parameters, Iterable):
            raise TypeError(f"'{what}' must be iterable, but got {type(parameters).__name__}")
        listed = list(parameters)
        if not listed:
            raise ValueError(f"'{what}' must not be empty")
        return listed

    def _rate(self, value: Any) -> Any:
        """A float, a 0-d tensor, a 1-d tensor (one value a step) or a schedule; marks the last two as
        dynamic."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            if value < 0:
                raise ValueError(f"the learning rate must not be negative, but got {value}")
            return float(value)
        if isinstance(value, torch.Tensor) and value.dim() == 0:
            return value.detach().float()
        if isinstance(value, torch.nn.Module):
            self.dynamic_lr = True
            return value
        if isinstance(value, torch.Tensor) and value.dim() > 1:
            raise ValueError(f"a learning rate tensor has 0 or 1 dimensions, but got {value.dim()}")
        if isinstance(value, Iterable) and not isinstance(value, str):
            self.dynamic_lr = True
            return torch.as_tensor([float(v) for v in value], dtype=torch.float32)
        raise TypeError(
            "the learning rate must be int, float, Tensor, Iterable or LearningRateSchedule, "
            f"but got {type(value).__name__}"
        )

    def _built(self, rate: Any, name: str) -> Any:
        if isinstance(rate, torch.nn.Module):
            return rate
        if isinstance(rate, torch.Tensor) and rate.dim() == 1:
            return Steps(rate, name)
        held = constant(rate, name)
        return Always(held) if self.is_group_lr and self.dynamic_lr else held

    def _decay(self, value: Any) -> Any:
        if isinstance(value, torch.nn.Module):
            self.dynamic_weight_decay = True
            return Scaled(value, self.loss_scale)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"'weight_decay' must be int, float or a cell, but got {type(value).__name__}")
        if value < 0:
            raise ValueError(f"'weight_decay' must not be negative, but got {value}")
        return float(value) * self.loss_scale

    def _take_groups(self, groups: list[dict[str, Any]], rate: Any, weight_decay: Any) -> None:
        ordered: list[Any] = []
        for group in groups:
            unknown = [key for key in group if key not in _GROUP_KEYS]
            if unknown:
                raise KeyError(f"a group's keys must be among {_GROUP_KEYS}, but got {unknown}")
            if "order_params" in group:
                if len(group) > 1:
                    raise ValueError(
                        f"a group with 'order_params' must have no other key, but got {list(group)}"
                    )
                ordered, self.is_group_params_ordered = list(group["order_params"]), True
            elif "lr" in group:
                self.is_group_lr = True
                self._rate(group["lr"])
        default = self._built(rate, "learning_rate")
        rows: list[tuple[Any, Any, Any, bool]] = []
        seen: set[int] = set()
        for number, group in enumerate(groups):
            if "order_params" in group:
                continue
            lr = (
                self._built(self._rate(group["lr"]), f"learning_rate_group_{number}")
                if "lr" in group
                else default
            )
            decay = self._decay(group.get("weight_decay", weight_decay))
            central = group.get("grad_centralization", False)
            if not isinstance(central, bool):
                raise TypeError(f"'grad_centralization' must be bool, but got {type(central).__name__}")
            for p in self._listed(group["params"], "params"):
                if not isinstance(p, torch.nn.Parameter):
                    raise TypeError(f"a group holds Parameters, but got {type(p).__name__}")
                if id(p) in seen:
                    raise RuntimeError(f"the parameter {param_name(p)!r} is in the groups twice")
                seen.add(id(p))
                rows.append((p, lr, decay, central))
        if ordered:
            if len(ordered) != len(rows):
                raise ValueError(f"'order_params' has {len(ordered)} parameters, the groups have {len(rows)}")
            at = {id(row[0]): row for row in rows}
            rows = [at[id(p)] for p in ordered]
        self.group_params = [row[0] for row in rows]
        self.group_lr = [row[1] for row in rows]
        self.group_weight_decay = [row[2] for row in rows]
        self.group_grad_centralization = [row[3] for row in rows]
        self.grad_centralization_flags = tuple(self.group_grad_centralization)
        if not self.is_group_lr:
            self.learning_rate = default
        else:
            self.learning_rate = tuple(self.group_lr) if self.dynamic_lr else ParameterTuple(self.group_lr)
        self._parameters = ParameterTuple(self.group_params)
        self.dynamic_decay_flags = tuple(isinstance(d, torch.nn.Module) for d in self.group_weight_decay)
        self.decay_flags = tuple(
            dynamic or d > 0
            for d, dynamic in zip(self.group_weight_decay, self.dynamic_decay_flags, strict=True)
        )
        self.weight_decay = tuple(
            d if dynamic else torch.tensor(d)
            for d, dynamic in zip(self.group_weight_decay, self.dynamic_decay_flags, strict=True)
        )
        self.exec_weight_decay = any(self.decay_flags)

    def _torch_groups(self) -> list[dict[str, Any]]:
        """One torch group for each pair of learning rate and weight decay, in order of first use."""
        groups: dict[Any, dict[str, Any]] = {}
        for number, p in enumerate(self._parameters):
            lr = self.group_lr[number] if self.is_group and self.is_group_lr else self.learning_rate
            decay = self.group_weight_decay[number] if self.is_group else self.weight_decay
            fixed = decay if isinstance(decay, float) else 0.0
            if isinstance(decay, torch.Tensor):
                fixed = float(decay)
            key = (id(lr), id(decay) if isinstance(decay, torch.nn.Module) else fixed)
            group = groups.setdefault(key, {"params": [], "lr": 0.0, "weight_decay": fixed / self.loss_scale})
            group["params"].append(p)
            if isinstance(lr, torch.nn.Parameter):
                group["lr"] = float(lr)
        self._group_rates = [
            self.group_lr[self._place(g["params"][0])]
            if self.is_group and self.is_group_lr
            else self.learning_rate
            for g in groups.values()
        ]
        return list(groups.values())

    def _place(self, p: Any) -> int:
        return next(i for i, q in enumerate(self._parameters) if q is p)

    # ---- attributes: states are parameters too ---------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        params = self.__dict__.setdefault("_params", OrderedDict())
        if isinstance(value, torch.nn.Parameter):
            own(value, name)
            params[name] = value
        elif isinstance(value, ParameterTuple):
            for item in value:
                params[param_name(item)] = item
        elif isinstance(value, torch.Tensor) and isinstance(params.get(name), torch.nn.Parameter):
            write(params[name], value)
            return
        object.__setattr__(self, name, value)

    # ---- values of a step ------------------------------------------------------------------------

    def get_lr(self) -> Any:
        """The learning rate of this step: a 0-d tensor, or a tuple with one for each parameter if groups have
        their own."""
        self._take_torch_rates()
        lr = self.learning_rate
        if self.dynamic_lr:
            if self.is_group_lr:
                # One call a distinct schedule, however many parameters share it.
                known = {id(s): self._now(s) for s in lr}
                lr = tuple(known[id(s)] for s in lr)
            else:
                lr = self._now(lr)
        self._show_rates(lr)
        return lr

    def _now(self, schedule: Any) -> torch.Tensor:
        return torch.as_tensor(schedule(self.global_step)).reshape(())

    def _take_torch_rates(self) -> None:
        """What a torch scheduler wrote into ``group["lr"]`` since becomes the learning rate."""
        for number, group in enumerate(self.param_groups[: len(self._seen_lr)]):
            if group["lr"] == self._seen_lr[number]:
                continue
            rate = self._group_rates[number]
            if not isinstance(rate, torch.nn.Parameter):
                raise RuntimeError(
                    "group['lr'] was changed, but this optimizer's learning rate is a schedule of its own"
                )
            write(rate, float(group["lr"]))
            self._seen_lr[number] = group["lr"]

    def _show_rates(self, lr: Any) -> None:
        for number, group in enumerate(self.param_groups[: len(self._seen_lr)]):
            now = lr[self._place(group["params"][0])] if isinstance(lr, tuple) else lr
            group["lr"] = self._seen_lr[number] = float(now)

    def get_weight_decay(self) -> Any:
        """The weight decay of this step: a 0-d tensor, or a tuple with one for each parameter if grouped."""
        if not self.dynamic_weight_decay:
            return self.weight_decay
        if self.is_group:
            return tuple(
                d(self.global_step) if dynamic else d
                for d, dynamic in zip(self.weight_decay, self.dynamic_decay_flags, strict=True)
            )
        return self.weight_decay(self.global_step)

    def get_lr_parameter(self, param: Any) -> Any:
        """The learning rate (or schedule) of a parameter, or a list of them for a list."""
        many = isinstance(param, list)
        found = []
        for p in param if many else [param]:
            places = [i for i, q in enumerate(self._parameters) if q is p]
            if not places:
                raise ValueError(f"the parameter {param_name(p)!r} is not in the optimizer")
            rate = self.learning_rate[places[0]] if self.is_group_lr else self.learning_rate
            found.append(rate.learning_rate if isinstance(rate, Always | Steps) else rate)
        return found if many else found[0]

    def decay_weight(self, gradients: Any) -> Any:
        """Gradients plus weight decay times the weight, where `decay_flags` says so."""
        if not self.exec_weight_decay:
            return gradients
        decay = self.get_weight_decay()
        decays = decay if self.is_group else (decay,) * self.param_length
        return tuple(
            g + p.detach() * torch.as_tensor(d).to(p.dtype) if flag else g
            for d, flag, p, g in zip(decays, self.decay_flags, self._parameters, gradients, strict=True)
        )

    def gradients_centralization(self, gradients: Any) -> Any:
        """In groups that ask for it: minus the mean over all but the first dimension (second a multiple of
        16)."""
        if not self.is_group:
            return gradients
        return tuple(
            g - g.mean(tuple(range(1, g.dim())), keepdim=True)
            if flag and g.dim() > 1 and g.shape[1] % 16 == 0
            else g
            for flag, g in zip(self.grad_centralization_flags, gradients, strict=True)
        )

    def scale_grad(self, gradients: Any) -> Any:
        """Gradients divided by the loss scale."""
        if not self.need_scale:
            return gradients
        return tuple((g * self.reciprocal_scale.to(g.device)).to(g.dtype) for g in gradients)

    # ---- torch's interface -----------------------------------------------------------------------

    def __call__(self, *gradients: Any, **kwargs: Any) -> Any:
        """Update from gradients: ``optimizer(gradients)``."""
        return self.step(*gradients, **kwargs)

    def step(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no step")

    def _states(self) -> dict[str, torch.Tensor]:
        weights = {id(p) for p in self._parameters}
        return {name: p for name, p in self.parameters_dict().items() if id(p) not in weights}

    def state_dict(self) -> dict[str, Any]:
        """Torch's state dict, with MindSpore's named states under ``"named"``."""
        return {**super().state_dict(), "named": {name: p.detach() for name, p in self._states().items()}}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The inverse of `state_dict`; KeyError names a state that is missing."""
        named = state_dict.get("named", {})
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "named"})
        self._seen_lr = [group["lr"] for group in self.param_groups]
        for name, p in self._states().items():
            if name not in named:
                raise KeyError(f"the optimizer's state {name!r} is missing")
            write(p, named[name])

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()
