"""The base of the Primitive classes, and a maker for those that only call a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any


class Primitive:
    """What MindSpore code may do with any primitive besides calling it.

    The hints for graph compilation and automatic parallelism (``shard``, ``set_stage``, ``recompute``,
    ``add_prim_attr``, …) change no value; they are kept as attributes and return the primitive.
    Source: MindSpore 2.10, mindspore.ops.Primitive.
    """

    given: Mapping[str, Any]

    def __init__(self, name: str | None = None) -> None:
        self.name = name or type(self).__name__
        self.attrs: dict[str, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"the primitive {self.name} has no torch counterpart")

    def __repr__(self) -> str:
        return f"{self.name}()"

    def add_prim_attr(self, name: str, value: Any) -> Primitive:
        self.attrs[name] = value
        return self

    def del_prim_attr(self, name: str) -> Primitive:
        self.attrs.pop(name, None)
        return self

    def shard(self, in_strategy: Any = None, out_strategy: Any = None) -> Primitive:
        return self.add_prim_attr("in_strategy", in_strategy).add_prim_attr("out_strategy", out_strategy)

    def set_stage(self, stage: int) -> Primitive:
        return self.add_prim_attr("stage", stage)

    def set_device(self, device_target: str) -> Primitive:
        return self.add_prim_attr("primitive_target", device_target)

    def recompute(self, mode: bool = True) -> Primitive:
        return self.add_prim_attr("recompute", mode)

    def init_prim_io_names(self, inputs: Any, outputs: Any) -> None:
        self.add_prim_attr("input_names", inputs).add_prim_attr("output_names", outputs)

    def set_prim_instance_name(self, instance_name: str) -> Primitive:
        return self.add_prim_attr("instance_name", instance_name)


def calls(name: str, function: Callable[..., Any]) -> type[Primitive]:
    """A primitive without attributes that calls ``function``, whose parameters are those of its call."""

    def init(self: Primitive) -> None:
        Primitive.__init__(self, name)

    def call(self: Primitive, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return _make(name, function, init, call)


def _make(name: str, function: Callable[..., Any], init: Any, call: Any) -> type[Primitive]:
    doc = f"mindspore.ops.{name}: {(function.__doc__ or name).strip().splitlines()[0]}"
    space = {"__init__": init, "__call__": call, "__doc__": doc, "__module__": __name__}
    return type(name, (Primitive,), space)


def attrs(function: Callable[..., Any]) -> type[Primitive]:
    """A primitive named as ``function``: its keyword-only parameters are the attributes the constructor
    takes, by position or by name, in that order; the others are the parameters of the call."""
    name = function.__name__.rstrip("_")
    own = [
        p.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
        for p in inspect.signature(function).parameters.values()
        if p.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    taken = inspect.Signature(own)

    def init(self: Primitive, *args: Any, **kwargs: Any) -> None:
        Primitive.__init__(self, name)
        bound = taken.bind(*args, **kwargs)
        bound.apply_defaults()
        self.given = bound.arguments
        for key, value in bound.arguments.items():
            setattr(self, key, value)

    def call(self: Primitive, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs, **self.given)

    return _make(name, function, init, call)
