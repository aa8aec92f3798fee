"""HyperMap, Map, MultitypeFuncGraph and Partial of mindspore.ops.

Source: MindSpore 2.10, mindspore.ops.HyperMap, Map, MultitypeFuncGraph, Partial.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from .base import Primitive

# What the type names of MultitypeFuncGraph.register stand for.
_TYPES: dict[str, Any] = {
    "Tensor": torch.Tensor,
    "Parameter": torch.nn.Parameter,
    "Number": (int, float, complex),
    "Int": int,
    "Int32": int,
    "Int64": int,
    "Float": float,
    "Float32": float,
    "Float64": float,
    "Bool": bool,
    "String": str,
    "Tuple": tuple,
    "List": list,
    "Dictionary": dict,
    "NoneType": type(None),
    "None": type(None),
    "Function": Callable,
    "TypeType": torch.dtype,
}


class MultitypeFuncGraph:
    """A function chosen by the types of its arguments, one implementation for each registered list of types.

    ``@graph.register("Tensor", "Number")`` adds one; the last that fits is used, as in MindSpore. Calling
    with types that none fits raises ValueError."""

    def __init__(self, name: str, read_value: bool = False, doc_url: str = "") -> None:
        self.name = name
        self.entries: list[tuple[tuple[str, ...], Callable[..., Any]]] = []

    def register(self, *type_names: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        names = tuple(_type_name(n) for n in type_names)

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            self.entries.append((names, function))
            return function

        return add

    def set_doc_url(self, doc_url: str) -> None:
        """Where MindSpore's error messages point; nothing here prints it."""

    def __call__(self, *args: Any) -> Any:
        for names, function in reversed(self.entries):
            if len(names) == len(args) and all(map(_fits, names, args)):
                return function(*args)
        kinds = ", ".join(type(a).__name__ for a in args)
        raise ValueError(f"{self.name} has no implementation for ({kinds})")


def _type_name(given: Any) -> str:
    name = given if isinstance(given, str) else getattr(given, "__name__", str(given))
    if name not in _TYPES:
        raise NotImplementedError(f"MultitypeFuncGraph.register({name!r}): the type has no torch counterpart")
    return name


def _fits(name: str, value: Any) -> bool:
    kind = _TYPES[name]
    if kind is Callable:
        return callable(value)
    if isinstance(value, bool) and kind in (int, float):
        return False
    return isinstance(value, kind)


def _is_container(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and not isinstance(value, torch.Size)


class Map:
    """A function applied to each element of one sequence, or to the elements of several side by side.

    The sequences are tuples or lists; one of that kind comes back. The function is given to the
    constructor or, without one there, as the first argument of the call."""

    deep = False

    def __init__(self, ops: Callable[..., Any] | None = None, reverse: bool = False) -> None:
        self.ops = ops

    def __call__(self, *args: Any) -> Any:
        function, *rest = (self.ops, *args) if self.ops is not None else args
        assert function is not None
        if not rest:
            raise TypeError(f"{type(self).__name__} needs a sequence")
        return self._apply(function, rest, True)

    def _apply(self, function: Callable[..., Any], args: list[Any], top: bool) -> Any:
        first = args[0]
        if not (_is_container(first) and (top or self.deep)):
            return function(*args)
        sizes = {len(a) for a in args if _is_container(a)}
        if len(sizes) != 1 or not all(_is_container(a) for a in args):
            raise ValueError(f"{type(self).__name__}: the sequences differ in length or depth")
        made = [self._apply(function, list(items), False) for items in zip(*args, strict=True)]
        return made if isinstance(first, list) else tuple(made)


class HyperMap(Map):
    """As ``Map``, and into nested sequences."""

    deep = True


class Partial(Primitive):
    """``Partial()(function, *args)`` is the function with its first arguments bound."""

    def __call__(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return functools.partial(function, *args, **kwargs)


partial = functools.partial
