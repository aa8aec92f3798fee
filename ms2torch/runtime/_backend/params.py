"""MindSpore's Parameter on torch.nn.Parameter: construction, names, marks, and its methods as functions.

A parameter of a port is a plain ``torch.nn.Parameter``. What MindSpore keeps besides the data (its name above
all) are attributes on it, called marks here. Torch replaces Parameter objects in several places
(``to_empty``, sharding, ``deepcopy``) and forgets attributes then: `copy_marks` carries them over.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy
import torch

_GENERATED = "Parameter#"
_counter = itertools.count()

# Belong to one storage or to torch itself, so a replaced Parameter must not inherit them.
_NOT_MARKS = frozenset(
    {"_local_tensor", "_spec", "_is_param", "main_grad", "grad_dtype", "_post_accumulate_grad_hooks"}
)


def param_name(p: Any) -> Any:
    """The MindSpore name of a parameter: ``name`` where the object has one, else the port's mark, else
    None. An object that is no tensor answers with its own ``name``, an AttributeError included."""
    if not isinstance(p, torch.Tensor):
        return p.name
    return getattr(p, "name", None) or getattr(p, "_mf_name", None)


def set_param_name(p: Any, name: Any) -> None:
    """``p.name = name``: the port's mark on a tensor, whose own ``name`` cannot be written; any other
    object's own attribute."""
    if isinstance(p, torch.Tensor):
        p._mf_name = name  # type: ignore[attr-defined]
    else:
        p.name = name


def is_generated_name(name: Any) -> bool:
    """Whether MindSpore would have made the name up, because none was given."""
    return isinstance(name, str) and name.startswith(_GENERATED)


def copy_marks(source: Any, target: Any) -> Any:
    """Give ``target`` the attributes (name, tags) of ``source`` that it does not have itself; returns
    ``target``.

    Attributes that torch keeps on a tensor, and gradient buffers tied to one storage, stay behind.
    """
    if source is target:
        return target
    own = target.__dict__
    for key, value in source.__dict__.items():
        if key not in own and key not in _NOT_MARKS:
            own[key] = value
    return target


def _as_tensor(data: Any) -> torch.Tensor:
    """A tensor by the rules of MindSpore's Parameter: float gives float32, int gives int32, lists of ints
    int64."""
    if isinstance(data, torch.Tensor):
        return data.detach()
    if isinstance(data, bool):
        raise ValueError("Parameter data can not be `bool`")
    if isinstance(data, float):
        return torch.tensor(data, dtype=torch.float32)
    if isinstance(data, int):
        return torch.tensor(data, dtype=torch.int32)
    if isinstance(data, numpy.ndarray | numpy.generic):
        return torch.as_tensor(numpy.array(data))
    if isinstance(data, list | tuple):
        array = numpy.array(data)
        return torch.as_tensor(array.astype(numpy.float32) if array.dtype == numpy.float64 else array)
    raise TypeError(
        "The input of Parameter must be a Tensor, numpy array, int, float, tuple or list, "
        f"but got {type(data).__name__}."
    )


def Parameter(
    default_input: Any,
    name: str | None = None,
    requires_grad: bool = True,
    layerwise_parallel: bool = False,
    parallel_optimizer: bool = True,
    storage_format: str = "",
    device: Any = None,
) -> torch.nn.Parameter:
    """A ``torch.nn.Parameter`` holding a copy of ``default_input``, with MindSpore's name as the mark
    ``_mf_name``.

    Integer data may be given: torch cannot differentiate it, so ``requires_grad`` is False then, whatever was
    asked. Without ``name`` the parameter has a generated one until a module owns it. ``storage_format`` other
    than empty is refused.

    Source: MindSpore 2.10, mindspore.Parameter.
    """
    if storage_format:
        raise NotImplementedError(f"Parameter(storage_format={storage_format!r}) has no torch counterpart")
    if isinstance(name, list | tuple | dict | int | float | bytes):
        raise TypeError(
            f"The type of the Parameter's name should be str or None, but got {type(name).__name__}."
        )
    if isinstance(default_input, torch.nn.Parameter) and name is None:
        name = param_name(default_input)
    value = _as_tensor(default_input)
    if device is not None:
        kind = str(device).lower()
        value = value.to("meta" if kind == "meta" else "cpu" if kind == "cpu" else device)
    # MindSpore's parameter never shares memory with what it was made from.
    value = value.clone()
    trains = bool(requires_grad) and (value.is_floating_point() or value.is_complex())
    made = torch.nn.Parameter(value, requires_grad=trains)
    made._mf_name = name if name is not None else f"{_GENERATED}{next(_counter)}"  # type: ignore[attr-defined]
    if layerwise_parallel:
        made.layerwise_parallel = True  # type: ignore[attr-defined]
    if not parallel_optimizer:
        made.parallel_optimizer = False  # type: ignore[attr-defined]
    return made


def own(p: torch.nn.Parameter, attribute: str) -> None:
    """A module takes the parameter under ``attribute``: a parameter without a name of its own is named so."""
    name = getattr(p, "_mf_name", None)
    if name is None or is_generated_name(name):
        p._mf_name = attribute  # type: ignore[attr-defined]


def write(p: torch.Tensor, data: Any) -> torch.Tensor:
    """Write ``data`` into the same tensor object: the dtype stays, the shape follows the data.

    A distributed parameter takes its local part or the whole value, whichever the shape says.
    """
    value = _as_tensor(data)
    with torch.no_grad():
        if hasattr(p, "to_local") and not hasattr(value, "to_local"):
            local = p.to_local()
            if value.shape == local.shape:
                local.copy_(value)
            elif value.shape == p.shape:
                from torch.distributed.tensor import distribute_tensor

                target: Any = p
                p.copy_(
                    distribute_tensor(value.to(local.device, p.dtype), target.device_mesh, target.placements)
                )
            else:
                raise ValueError(
                    f"cannot set parameter {param_name(p)!r} of shape {tuple(p.shape)}, local shape "
                    f"{tuple(local.shape)}, from data of shape {tuple(value.shape)}"
                )
        elif value.shape == p.shape:
            p.copy_(value)
        else:
            p.data = value.to(p.device, p.dtype, copy=True)
    return p


def set_data(p: Any, data: Any, *args: Any, **kwargs: Any) -> Any:
    """``p.set_data(data, slice_shape=False)`` of MindSpore: writes in place, keeps p's dtype, returns p.

    A receiver that is no tensor answers with its own method.
    """
    if not isinstance(p, torch.Tensor):
        return p.set_data(data, *args, **kwargs)
    if len(args) > 1 or set(kwargs) - {"slice_shape"}:
        raise TypeError(f"set_data() takes data and slice_shape, got {args} {kwargs}")
    return write(p, data)


def assign_value(p: Any, data: Any) -> Any:
    """``Tensor.assign_value`` of MindSpore: the data of ``data`` in the same object."""
    return write(p, data) if isinstance(p, torch.Tensor) else p.assign_value(data)


def value(p: Any) -> Any:
    """``p.value()`` of MindSpore: the tensor held, differentiable. Other receivers answer themselves."""
    return p if isinstance(p, torch.Tensor) else p.value()


def init_data(p: Any, layout: Any = None, set_sliced: bool = False) -> Any:
    """``p.init_data()``: data of a port's parameter exists from the start, so this returns ``p``."""
    if not isinstance(p, torch.Tensor):
        return p.init_data(layout, set_sliced)
    if layout is not None:
        raise NotImplementedError("init_data(layout=…) belongs to graph-mode auto parallel")
    return p


def _fill(p: torch.Tensor, init: Any) -> torch.Tensor:
    from .initializer import initializer

    if init == "same":
        return p.detach()
    if isinstance(init, str) and init in ("zeros", "ones"):
        return (torch.zeros_like if init == "zeros" else torch.ones_like)(p.detach())
    made = initializer(init, tuple(p.shape), p.dtype)
    return made.to(p.device)


def clone(p: Any, *args: Any, **kwargs: Any) -> Any:
    """``p.clone(init='same')``: a parameter of the same shape, dtype and name, filled by ``init``.

    ``init``: ``'same'``, the name of an initializer, an Initializer, a tensor or a number. Every other
    receiver (also a tensor that is no parameter) answers with its own ``clone``. Source: MindSpore 2.10
    Parameter.clone.
    """
    if not isinstance(p, torch.nn.Parameter) or set(kwargs) - {"init"} or len(args) > 1:
        return p.clone(*args, **kwargs)
    init = args[0] if args else kwargs.get("init", "same")
    data = _fill(p, init)
    made = torch.nn.Parameter(data.clone(), requires_grad=p.requires_grad)
    copy_marks(p, made)
    if getattr(made, "_mf_param_info", None) is not None:
        made._mf_param_info = made._mf_param_info.clone()  # type: ignore[attr-defined]
    return made


class ParamInfo:
    """What ``parameter.param_info`` of MindSpore holds: settings beside the data."""

    def __init__(self, **values: Any) -> None:
        self.is_pipeline_shared_param = False
        self.layerwise_parallel = False
        self.parallel_optimizer = True
        self.comm_fusion = 1
        self.cloned_obj: list[Any] = []
        self.__dict__.update(values)

    def clone(self) -> ParamInfo:
        """A copy that no clones hang on."""
        return ParamInfo(**{**self.__dict__, "cloned_obj": []})


def param_info(p: Any) -> Any:
    """``p.param_info``: made on first use and kept on the parameter."""
    if not isinstance(p, torch.Tensor):
        return p.param_info
    info = getattr(p, "_mf_param_info", None)
    if info is None:
        info = p._mf_param_info = ParamInfo(  # type: ignore[attr-defined]
            name=param_name(p), requires_grad=p.requires_grad
        )
    return info


class ParameterTuple(tuple):  # type: ignore[type-arg]
    """A tuple of parameters whose names are unique. Source: MindSpore 2.10, mindspore.ParameterTuple."""

    def __new__(cls, iterable: Iterable[Any]) -> ParameterTuple:
        """Raises TypeError for an element that is no parameter, ValueError for a name that occurs twice."""
        seen: dict[str, Any] = {}
        data = tuple(iterable)
        for number, item in enumerate(data):
            if not isinstance(item, torch.nn.Parameter):
                raise TypeError(
                    f"ParameterTuple input should be `Parameter` collection, but got {type(item)}"
                )
            name = param_name(item)
            if name is None or is_generated_name(name):
                name = item._mf_name = f"Parameter${number}"  # type: ignore[attr-defined]
            if seen.setdefault(name, item) is not item:
                raise ValueError(f"the name {name!r} of a parameter occurs twice; give each a unique name")
        return super().__new__(cls, data)

    def clone(self, prefix: str, init: Any = "same") -> ParameterTuple:
        """Clones named ``prefix.name``, each filled by ``init``."""
        made = []
        for item in self:
            copied = clone(item, init)
            copied._mf_name = f"{prefix}.{param_name(item)}"
            made.append(copied)
        return ParameterTuple(made)
