"""``shard_module``: parameters of a module become DTensors by a plan.

Source: hyper-parallel hyper_parallel/core/shard/api.py and core/shard/sharding_plan.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from .dtensor import distribute_tensor, is_dtensor, redistribute, to_local
from .layout import Layout
from .placements import Placement
from .torch_dist import DeviceMesh

__all__ = ["ShardingPlan", "replace_parameter", "shard_module"]


@dataclass
class ShardingPlan:
    """Placements of parameters (``plan``, by name), of inputs and outputs (``input_plan``, ``output_plan``:
    keys ``"input"``, ``"sub.module.output"``, ...), and modules whose outputs become local tensors."""

    plan: dict[str, Any] | None = None
    input_plan: dict[str, Any] | None = None
    output_plan: dict[str, Any] | None = None
    return_local_tensor: list[str] | None = None


def replace_parameter(owner: nn.Module, name: str, data: torch.Tensor) -> nn.Parameter:
    """Put a Parameter of ``data`` in the place of ``owner``'s parameter ``name``.

    The new one keeps ``requires_grad`` and whatever was set on the old one: names, optimizer tags, sync
    groups.
    """
    old = owner._parameters[name]
    if old is None:
        raise ValueError(f"{type(owner).__name__} has no parameter {name!r}")
    new = nn.Parameter(data, requires_grad=old.requires_grad)
    new.__dict__.update(old.__dict__)
    owner._parameters[name] = new
    return new


def _placements(spec: Any, mesh: DeviceMesh) -> tuple[Placement, ...]:
    if isinstance(spec, Layout):
        return spec.placements or spec.tensor_map_to_placement()
    if isinstance(spec, Placement):
        return (spec,)
    if isinstance(spec, (tuple, list)) and all(isinstance(item, Placement) for item in spec):
        return tuple(spec)
    return Layout.from_device_mesh(mesh)(*spec).placements or ()


def _owner(model: nn.Module, path: str) -> tuple[nn.Module, str]:
    head, _, name = path.rpartition(".")
    return model.get_submodule(head), name


def shard_module(model: nn.Module, device_mesh: DeviceMesh, sharding_plan: ShardingPlan) -> nn.Module:
    """Shard ``model`` in place after ``sharding_plan`` and return it.

    Also on one card, where the shard is the whole. A parameter that is a DTensor on another mesh axis already
    raises ``ValueError``; a plan that is no ShardingPlan ``TypeError``; an unknown parameter
    ``AttributeError``.
    """
    if not isinstance(sharding_plan, ShardingPlan):
        raise TypeError(f"sharding_plan must be a ShardingPlan, got {type(sharding_plan).__name__}")
    if not isinstance(model, nn.Module):
        raise NotImplementedError("shard_module of a function: only modules can be sharded")
    for path, spec in (sharding_plan.plan or {}).items():
        owner, name = _owner(model, path)
        param: Any = owner._parameters.get(name)
        if param is None:
            raise AttributeError(f"{type(model).__name__} has no parameter {path!r}")
        where = _placements(spec, device_mesh)
        if is_dtensor(param):
            if tuple(param.placements) == where and param.device_mesh == device_mesh:
                continue
            raise ValueError(f"parameter {path!r} is already distributed over {param.device_mesh}")
        replace_parameter(owner, name, distribute_tensor(param, device_mesh, where))
    for plan, suffix in ((sharding_plan.input_plan, "input"), (sharding_plan.output_plan, "output")):
        for key, spec in (plan or {}).items():
            head, _, last = key.rpartition(".")
            if last != suffix:
                raise ValueError(f"the key {key!r} of an {suffix} plan must end with {suffix!r}")
            _redistribute_hook(model.get_submodule(head), device_mesh, spec, suffix)
    for path in sharding_plan.return_local_tensor or ():
        model.get_submodule(path).register_forward_hook(lambda module, args, output: _map_local(output))
    return model


def _redistribute_hook(module: nn.Module, mesh: DeviceMesh, spec: Any, which: str) -> None:
    many = bool(spec) and isinstance(spec, (tuple, list)) and not isinstance(spec[0], (str, Placement))
    specs = [_placements(s, mesh) for s in (spec if many else (spec,))]

    def move(values: Any) -> Any:
        items = values if isinstance(values, (tuple, list)) else (values,)
        moved = [redistribute(v, mesh, s) if is_dtensor(v) else v for v, s in zip(items, specs, strict=False)]
        return (*moved, *items[len(moved) :])

    if which == "input":
        module.register_forward_pre_hook(lambda module, args: move(args))
    else:
        module.register_forward_hook(
            lambda module, args, out: move(out) if isinstance(out, (tuple, list)) else move(out)[0]
        )


def _map_local(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(_map_local(item) for item in value)
    return to_local(value) if is_dtensor(value) else value
