"""Functions of mindspore.ops that assign, order or stop: assign, depend, stop_gradient, print_.

Source: MindSpore 2.10, mindspore.ops.<name> of the same name.
"""

# torch leaves some of its functions untyped; which ones differs between its versions.
# mypy: disable-error-code="no-any-return, no-untyped-call"
from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor

from ._common import like


def stop_gradient(value: Any) -> Any:
    """``value`` without its history; tensors inside tuples, lists and dicts too."""
    if isinstance(value, Tensor):
        return value.detach()
    if isinstance(value, (tuple, list)):
        return type(value)(stop_gradient(v) for v in value)
    if isinstance(value, dict):
        return {key: stop_gradient(v) for key, v in value.items()}
    return value


def identity(x: Any) -> Any:
    return x


def depend(value: Any, expr: Any) -> Any:
    """``value``. In a graph it waits for ``expr``; here the arguments were evaluated before the call."""
    return value


def assign(variable: Tensor, value: Any) -> Tensor:
    """``value`` copied into the parameter ``variable``, outside of autograd.

    Returns a plain tensor on the parameter's memory, as MindSpore does, not the parameter itself.
    """
    with torch.no_grad():
        variable.copy_(like(value, variable))
    return variable.detach()


def assign_add(variable: Tensor, value: Any) -> Tensor:
    """``variable += value`` on a parameter, outside of autograd, in its dtype; returns a tensor on its
    memory."""
    with torch.no_grad():
        variable.add_(like(value, variable).to(variable.dtype))
    return variable.detach()


def assign_sub(variable: Tensor, value: Any) -> Tensor:
    with torch.no_grad():
        variable.sub_(like(value, variable).to(variable.dtype))
    return variable.detach()


def inplace_update(x: Tensor, v: Any, indices: Any) -> Tensor:
    """A copy of ``x`` with rows ``indices`` replaced by ``v`` (the name notwithstanding)."""
    return x.index_copy(0, _rows(indices, x), v)


def inplace_index_add(var: Tensor, indices: Any, updates: Tensor, axis: int) -> Tensor:
    """``updates`` added to the parameter ``var`` along ``axis`` at ``indices``, in place."""
    with torch.no_grad():
        var.index_add_(axis, _rows(indices, var), updates)
    return var.detach()


def inplace_add(x: Tensor, v: Any, indices: Any) -> Tensor:
    return x.index_add(0, _rows(indices, x), v)


def inplace_sub(x: Tensor, v: Any, indices: Any) -> Tensor:
    return x.index_add(0, _rows(indices, x), -v)


def _rows(indices: Any, x: Tensor) -> Tensor:
    return torch.as_tensor(indices, dtype=torch.int64, device=x.device).reshape(-1)


def deepcopy(input_x: Any) -> Any:
    return input_x.clone() if isinstance(input_x, Tensor) else copy.deepcopy(input_x)


def is_tensor(obj: Any) -> bool:
    return isinstance(obj, Tensor)


def print_(*input_x: Any) -> None:
    """Prints its arguments, a line each, as the Print primitive does."""
    for value in input_x:
        print(value)


def move_to(input: Tensor, to: str = "CPU", blocking: bool = True) -> Tensor:
    """``input`` on "CPU" or on the accelerator ("Ascend")."""
    if to == "CPU":
        return input.to("cpu", non_blocking=not blocking)
    if to != "Ascend":
        raise ValueError(f"move_to: to must be 'CPU' or 'Ascend', not {to!r}")
    from ..device import device_type

    return input.to(device_type(), non_blocking=not blocking)


def format_cast(input: Tensor, acl_format: Any) -> Tensor:
    """``input`` in an Ascend memory layout, which changes no value; other devices have one layout only."""
    if input.device.type == "npu":
        import torch_npu

        return torch_npu.npu_format_cast(input, int(acl_format))
    return input
