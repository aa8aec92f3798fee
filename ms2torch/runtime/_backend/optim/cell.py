"""What an optimizer has of a Cell: parameters with names, flags, and small helpers for its step.

Source: MindSpore 2.10, mindspore.nn.Optimizer and mindspore.nn.Cell.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import torch

from ..params import param_name


class CellMembers:
    """Mixed into `Optimizer`, which fills ``_params`` and ``learning_rate``."""

    _params: OrderedDict[str, Any]
    learning_rate: Any
    training: bool

    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Any]]:
        """(name, parameter): global step, learning rate, the model's parameters and the states, each once."""
        seen: set[int] = set()
        for name, p in self._params.items():
            if id(p) not in seen:
                seen.add(id(p))
                yield (f"{name_prefix}.{name}" if name_prefix else name), p
        rates = self.learning_rate if isinstance(self.learning_rate, tuple) else (self.learning_rate,)
        for number, rate in enumerate(r for r in rates if isinstance(r, torch.nn.Module)):
            at = "learning_rate" if len(rates) == 1 else f"learning_rate.{number}"
            for path, p in rate.named_parameters(prefix=f"{name_prefix}.{at}" if name_prefix else at):
                if id(p) not in seen:
                    seen.add(id(p))
                    yield path, p

    def get_parameters(self, expand: bool = True) -> Iterator[Any]:
        """The parameters of `parameters_and_names`."""
        return (p for _, p in self.parameters_and_names(expand=expand))

    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Any]:
        """MindSpore name to parameter."""
        return OrderedDict((param_name(p) or name, p) for name, p in self.parameters_and_names())

    def trainable_params(self, recurse: bool = True) -> list[Any]:
        """The parameters that take a gradient."""
        return [p for p in self.get_parameters() if p.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Any]:
        """The parameters that take no gradient."""
        return [p for p in self.get_parameters() if not p.requires_grad]

    def cells_and_names(self, cells: Any = None, name_prefix: str = "") -> Iterator[tuple[str, Any]]:
        """The optimizer itself."""
        yield name_prefix, self

    def set_train(self, mode: bool = True) -> Any:
        """Marks the mode; nothing here depends on it."""
        self.training = bool(mode)
        return self

    def add_flags(self, **flags: Any) -> Any:
        """Each flag becomes an attribute."""
        for name, value in flags.items():
            setattr(self, name, value)
        return self

    def assignadd(self, param: torch.Tensor, value: Any) -> torch.Tensor:
        """Add in place."""
        with torch.no_grad():
            return param.add_(value)

    def flatten_gradients(self, gradients: Any) -> Any:
        """The gradients as they are: parameters of a port are never flattened into one buffer."""
        return gradients

    @staticmethod
    def hyper_map(fn: Callable[..., Any], *sequences: Any) -> Any:
        """``fn`` over the elements of nested tuples, in step."""
        if isinstance(sequences[0], list | tuple):
            return tuple(CellMembers.hyper_map(fn, *row) for row in zip(*sequences, strict=True))
        return fn(*sequences)

    map_ = hyper_map
