"""Receivers of adapted methods, and what their arguments mean."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import torch

from .. import dtypes

F = TypeVar("F", bound=Callable[..., Any])


def method(function: F) -> F:
    """An adapter `f(receiver, …)`: any receiver but a torch tensor gets the call through its own method.

    Ported code calls methods on values whose type no tool knows; numpy's `repeat`, str's `split` and a
    class's own `copy` must stay what they are.
    """
    name = function.__name__

    @functools.wraps(function)
    def call(receiver: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(receiver, torch.Tensor):
            return getattr(receiver, name)(*args, **kwargs)
        return function(receiver, *args, **kwargs)

    return call  # type: ignore[return-value]


def attribute(function: F) -> F:
    """An adapter for a property: any receiver but a torch tensor answers with its own attribute."""
    name = function.__name__

    @functools.wraps(function)
    def read(receiver: Any) -> Any:
        return function(receiver) if isinstance(receiver, torch.Tensor) else getattr(receiver, name)

    return read  # type: ignore[return-value]


def as_dtype(value: Any) -> torch.dtype:
    """A torch dtype from a dtype, a name in any spelling, or a Python or numpy type.

    Raises TypeError for anything else. `float` is float64 and `int` int64, as in MindSpore.
    """
    if isinstance(value, torch.dtype):
        return value
    if isinstance(value, str):
        return dtypes.by_name("bool" if value == "bool_" else value)
    if isinstance(value, np.dtype):
        value = value.type
    if isinstance(value, type):
        return dtypes.pytype_to_dtype(value)
    raise TypeError(f"{value!r} is no dtype")


def plain_axes(axis: Any) -> int | tuple[int, ...] | None:
    """An axis argument without MindSpore's spellings of "all": None, () and [] are None."""
    if axis is None or isinstance(axis, int):
        return axis
    if isinstance(axis, torch.Tensor):
        axis = axis.reshape(-1).tolist()
    found = tuple(int(a) for a in axis)
    return found or None


def one_of(op: str, kwargs: dict[str, Any], *names: str, default: Any = None) -> Any:
    """Takes one argument out of kwargs under whichever of its names it was given."""
    given = [n for n in names if n in kwargs]
    if len(given) > 1:
        raise TypeError(f"Tensor.{op}: {' and '.join(given)} are the same argument")
    return kwargs.pop(given[0]) if given else default


def no_more(op: str, kwargs: dict[str, Any]) -> None:
    """Raise TypeError for arguments that were not taken."""
    if kwargs:
        raise TypeError(f"Tensor.{op} got an unexpected argument {next(iter(kwargs))!r}")
