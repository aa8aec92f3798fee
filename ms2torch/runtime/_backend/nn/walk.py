"""The methods of MindSpore's Cell as functions of any torch module.

The rewrite turns a method call on a receiver of known type, or by a name that only Cell has, into these, so
that plain torch modules serve too. A receiver that is no torch module (an optimizer, say) answers with its
own method. Source: MindSpore 2.10, mindspore.nn.Cell.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

import torch

from ..params import is_generated_name, own, param_name

_Torch = torch.nn.Module
F = TypeVar("F", bound=Callable[..., Any])


def method(function: F) -> F:
    """An adapter `f(module, …)`: any receiver but a torch module gets the call, as it was made, by its own
    method."""
    name = function.__name__

    @functools.wraps(function)
    def call(m: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(m, _Torch):
            return getattr(m, name)(*args, **kwargs)
        return function(m, *args, **kwargs)

    return call  # type: ignore[return-value]


@method
def cells_and_names(m: Any, cells: Any = None, name_prefix: str = "") -> Any:
    """(path, module) of the module itself (path ``name_prefix``) and of all below it, each once."""
    return m.named_modules(memo=cells, prefix=name_prefix)


def construct(m: Any) -> Any:
    """What ``m.construct`` names on torch: ``forward`` of a module, ``step`` of an optimizer.

    Any other object's own ``construct`` is left as it is.
    """
    if isinstance(m, _Torch) or (isinstance(m, type) and issubclass(m, _Torch)):
        return m.forward
    return m.step if isinstance(m, torch.optim.Optimizer) else m.construct


def set_construct(m: Any, function: Any) -> None:
    """``m.construct = function``: sets ``forward`` of a module, ``step`` of an optimizer."""
    if isinstance(m, _Torch) or (isinstance(m, type) and issubclass(m, _Torch)):
        m.forward = function
    elif isinstance(m, torch.optim.Optimizer):
        m.step = function  # type: ignore[method-assign]
    else:
        m.construct = function


@method
def parameters_and_names(m: Any, name_prefix: str = "", expand: bool = True) -> Any:
    """(path, parameter), each parameter once; ``expand=False`` gives the module's own."""
    return m.named_parameters(prefix=name_prefix, recurse=expand)


@method
def get_parameters(m: Any, expand: bool = True) -> Any:
    """The parameters, each once."""
    return m.parameters(recurse=expand)


@method
def trainable_params(m: Any, recurse: bool = True) -> Any:
    """The parameters that take a gradient."""
    return [p for p in m.parameters(recurse=recurse) if p.requires_grad]


@method
def untrainable_params(m: Any, recurse: bool = True) -> Any:
    """The parameters that take no gradient."""
    return [p for p in m.parameters(recurse=recurse) if not p.requires_grad]


@method
def parameters_dict(m: Any, recurse: bool = True) -> Any:
    """MindSpore name to parameter."""
    return OrderedDict((param_name(p) or path, p) for path, p in m.named_parameters(recurse=recurse))


@method
def parameters_broadcast_dict(m: Any, recurse: bool = True) -> Any:
    """MindSpore name to parameter, without those that are parallel by layer; None if there is none."""
    found = OrderedDict(
        (name, p)
        for name, p in parameters_dict(m, recurse).items()
        if not getattr(p, "layerwise_parallel", False)
    )
    return found or None


def name_cells(m: Any) -> Any:
    """Name to module, direct children only."""
    return OrderedDict(m.named_children()) if isinstance(m, _Torch) else m.name_cells()


def cells(m: Any) -> Any:
    """The direct children."""
    return name_cells(m).values() if isinstance(m, _Torch) else m.cells()


@method
def update_parameters_name(m: Any, prefix: str = "", recurse: bool = True) -> None:
    """Every parameter is named ``prefix`` + its path from ``m``; an empty prefix changes nothing."""
    if not isinstance(prefix, str):
        raise TypeError(f"the prefix must be a str, but got {type(prefix).__name__}")
    if prefix:
        for path, p in m.named_parameters(recurse=recurse):
            p._mf_name = prefix + path


@method
def check_names(m: Any) -> None:
    """ValueError if two parameters have one name."""
    seen: set[str] = set()
    for path, p in m.named_parameters():
        name = param_name(p) or path
        if name in seen:
            raise ValueError(f"The value of parameter {path} has the name {name!r}, which already exists")
        seen.add(name)


@method
def insert_child_to_cell(m: Any, child_name: str, child_cell: Any) -> None:
    """Add a child under ``child_name``; the names of its parameters stay as they are.

    Raises TypeError for a child that is no module or a name that is no str, KeyError for a name in use.
    """
    if not isinstance(child_name, str):
        raise TypeError(f"the child's name must be a str, but got {type(child_name).__name__}")
    if child_name == "":
        raise KeyError("the child's name must not be empty")
    if hasattr(m, child_name) and child_name not in m._modules:
        raise KeyError(f"duplicate child name {child_name!r}")
    if not isinstance(child_cell, _Torch) and child_cell is not None:
        raise TypeError(f"the child {child_name!r} must be a module, but got {type(child_cell).__name__}")
    m._modules[child_name] = child_cell


@method
def insert_param_to_cell(m: Any, param_name: str, param: Any, check_name_contain_dot: bool = True) -> None:
    """Add a parameter under ``param_name``, which names it too if it has no name of its own.

    Raises KeyError for an empty name, one with a dot (unless the check is off) or one in use, TypeError for a
    value that is no parameter.
    """
    if not param_name:
        raise KeyError("the parameter's name must not be empty")
    if check_name_contain_dot and "." in param_name:
        raise KeyError(f"the parameter's name must not contain '.', but got {param_name!r}")
    if "_parameters" in m.__dict__ and hasattr(m, param_name) and param_name not in m._parameters:
        raise KeyError(f"duplicate parameter name {param_name!r}")
    if not isinstance(param, torch.nn.Parameter) and param is not None:
        raise TypeError(f"{param_name!r} must be a Parameter, but got {type(param).__name__}")
    if param is not None:
        own(param, param_name)
    m._parameters[param_name] = param


def set_train(m: Any, mode: bool = True) -> Any:
    """Training or inference mode for the module and all below; returns it."""
    return m.train(mode) if isinstance(m, _Torch) else m.set_train(mode)


def set_grad(m: Any, requires_grad: bool = True) -> Any:
    """MindSpore's mark that a gradient network will be built: only the attribute ``requires_grad`` of the
    module, for torch records by itself; returns it."""
    if not isinstance(m, _Torch):
        return m.set_grad(requires_grad)
    m.__dict__["requires_grad"] = requires_grad
    return m


@method
def add_flags(m: Any, **flags: Any) -> Any:
    """Each flag becomes an attribute; returns ``m``."""
    held = m.__dict__.setdefault("_mf_flags", {})
    for name, value in flags.items():
        held[name] = value
        setattr(m, name, value)
    return m


@method
def add_flags_recursive(m: Any, **flags: Any) -> Any:
    """`add_flags` on the module and all below."""
    for each in m.modules():
        add_flags(each, **flags)
    return m


def get_flags(m: Any) -> Any:
    """The flags added so far."""
    return m.__dict__.get("_mf_flags", {}) if isinstance(m, _Torch) else m.get_flags()


def param_prefix(m: Any) -> Any:
    """The part that the names of the module's own parameters share: what stands before the path."""
    if not isinstance(m, _Torch):
        return m.param_prefix
    for path, p in m.named_parameters():
        name = param_name(p) or path
        if is_generated_name(name) or not name.endswith(path):
            continue
        return name[: -len(path)].rstrip(".")
    return ""


@method
def init_parameters_data(m: Any, auto_parallel_mode: bool = False) -> Any:
    """Data of a port's parameters exists from the start, so none is replaced: an empty dict."""
    if auto_parallel_mode:
        raise NotImplementedError(
            "init_parameters_data(auto_parallel_mode=True) belongs to graph-mode auto parallel"
        )
    return {}


@method
def set_comm_fusion(m: Any, fusion_type: int, recurse: bool = True) -> Any:
    """Keeps the fusion number on the parameters; it groups graph-mode communication and changes no value."""
    for p in trainable_params(m, recurse):
        p.comm_fusion = fusion_type
    return m


def unchanged(m: Any, *args: Any, **kwargs: Any) -> Any:
    """For settings of MindSpore's graph compiler, which have nothing to set in torch; returns ``m``."""
    return m


def no_shard(m: Any, *args: Any, **kwargs: Any) -> Any:
    """``cell.shard``: graph-mode auto parallel, refused."""
    if isinstance(m, _Torch):
        raise NotImplementedError(
            "Cell.shard belongs to graph-mode auto parallel; use a device mesh and DTensor"
        )
    return m.shard(*args, **kwargs)
