"""``fully_shard``: ZeRO-3 data parallelism (HSDP over a mesh of two axes), parameter by parameter.

Source: hyper-parallel hyper_parallel/core/fully_shard/api.py (interface, defaults: gradients are averaged
until ``set_reduce_op_type("sum")``) and hyper_parallel/platform/torch/fully_shard/utils.py (policies).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from .hsdp_param import DataMesh, ShardedParam
from .mesh import init_device_mesh
from .placements import Placement, shard_dim_of
from .torch_dist import DeviceMesh

__all__ = ["CPUOffloadPolicy", "HSDPModule", "MixedPrecisionPolicy", "OffloadPolicy", "fully_shard"]


@dataclass
class MixedPrecisionPolicy:
    """Dtypes of compute, reduction and outputs (None: the parameter's own). With
    ``apply_grad_on_fp32_main_grad`` the reduced gradient is summed in fp32 on ``param.main_grad`` and
    ``param.grad`` stays None."""

    param_dtype: torch.dtype | None = None
    reduce_dtype: torch.dtype | None = None
    output_dtype: torch.dtype | None = None
    cast_forward_inputs: bool = True
    apply_grad_on_fp32_main_grad: bool = False


@dataclass
class OffloadPolicy:
    """No offloading."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Shards and gradients in host memory; not available yet."""

    pin_memory: bool = True


# What an output may hold without hiding a tensor.
_PLAIN = (torch.Tensor, int, float, str, bytes, torch.dtype, torch.device, type(None))


def _cast(value: Any, dtype: torch.dtype) -> Any:
    def one(item: Any) -> Any:
        return item.to(dtype) if isinstance(item, torch.Tensor) and item.is_floating_point() else item

    return tree_map(one, value)


class _State:
    """What a wrapped module does around its forward and its backward."""

    def __init__(self, module: nn.Module, params: list[ShardedParam], policy: MixedPrecisionPolicy) -> None:
        self.module = module
        self.params = params
        self.policy = policy
        self.reshard_after_forward = True
        self.reshard_after_backward = True
        self.forward_prefetch: list[HSDPModule] = []
        self.backward_prefetch: list[HSDPModule] = []
        self.in_backward = False
        self._task = -1
        self._seen: set[int] = set()
        for param in params:
            param.on_gradient = self._on_gradient

    def unshard(self) -> None:
        with torch.no_grad():
            for param in self.params:
                param.unshard()

    def reshard(self) -> None:
        with torch.no_grad():
            for param in self.params:
                param.reshard()

    def pre_forward(self, module: nn.Module, args: Any, kwargs: Any) -> Any:
        self.unshard()
        if self.policy.param_dtype is not None and self.policy.cast_forward_inputs:
            return _cast(args, self.policy.param_dtype), _cast(kwargs, self.policy.param_dtype)
        return None

    def post_forward(self, module: nn.Module, args: Any, output: Any) -> Any:
        if self.policy.output_dtype is not None:
            output = _cast(output, self.policy.output_dtype)
        leaves = tree_leaves(output) if torch.is_grad_enabled() else []
        graph = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
        if self.params:
            for leaf in graph:
                leaf.register_hook(self._pre_backward)  # type: ignore[no-untyped-call]
        # Where an output may hide tensors, nothing tells that backward comes: the parameters stay until it
        # did.
        opaque = any(not isinstance(leaf, _PLAIN) for leaf in leaves)
        # Recomputation runs a forward inside the backward: what backward gathered must stay until it is done.
        recomputing = self.in_backward and torch._C._current_graph_task_id() != -1
        if not recomputing and not opaque and (self.reshard_after_forward or not graph):
            self.reshard()
        return output

    def _pre_backward(self, grad: torch.Tensor) -> torch.Tensor:
        task = torch._C._current_graph_task_id()
        if not self.in_backward or task != self._task:
            # Another task: the backward before was broken off by an error.
            self.in_backward, self._task = True, task
            self._seen.clear()
            torch.autograd.Variable._execution_engine.queue_callback(self._post_backward)
        self.unshard()
        return grad

    def _on_gradient(self, param: ShardedParam) -> None:
        self._seen.add(id(param))
        # A frozen parameter gives no sign that backward is done with it: then wait for the end.
        if all(id(p) in self._seen for p in self.params) and self.reshard_after_backward:
            self.reshard()

    def _post_backward(self) -> None:
        self.in_backward = False
        self._seen.clear()
        if self.reshard_after_backward:
            self.reshard()


class _UnshardHandle:
    """What ``unshard(async_op=True)`` returns; the gathering is done when it is made."""

    def wait(self) -> None:
        return None


class HSDPModule:
    """Mixed into the class of a module that ``fully_shard`` wrapped."""

    _hsdp: _State

    def _states(self) -> Iterable[_State]:
        for module in self.modules():  # type: ignore[attr-defined]
            if isinstance(module, HSDPModule):
                yield module._hsdp

    def _set(self, name: str, flag: bool) -> None:
        if not isinstance(flag, bool):
            raise ValueError(f"{name} should be a bool, got {type(flag).__name__}")
        for state in self._states():
            for param in state.params:
                setattr(param, name, flag)

    def unshard(self, async_op: bool = False) -> _UnshardHandle | None:
        """Gather this module's parameters."""
        self._hsdp.unshard()
        return _UnshardHandle() if async_op else None

    def reshard(self) -> None:
        """Free this module's gathered parameters."""
        self._hsdp.reshard()

    def set_requires_gradient_sync(self, requires_grad_sync: bool) -> None:
        """Whether backward reduces gradients; else they add up unreduced until it does."""
        self._set("sync", requires_grad_sync)

    def set_requires_all_reduce(self, requires_all_reduce: bool, *, recurse: bool = True) -> None:
        """Whether backward reduces over the replicate axis; else shards add up until it does."""
        if not recurse:
            raise NotImplementedError("set_requires_all_reduce(recurse=False)")
        self._set("all_reduce", requires_all_reduce)

    def set_is_last_backward(self, is_last_backward: bool) -> None:
        """Accepted: reduction happens with each backward, nothing is left for the last one."""
        if not isinstance(is_last_backward, bool):
            raise ValueError(f"is_last_backward should be a bool, got {type(is_last_backward).__name__}")

    def set_reduce_op_type(self, reduce_op_type: str) -> None:
        """``"avg"`` (the default) or ``"sum"`` of the gradients of this module's own parameters."""
        op = str(reduce_op_type).lower()
        if op not in ("avg", "sum", "mean"):
            raise ValueError(f"reduce_op_type must be 'avg' or 'sum', got {reduce_op_type!r}")
        for param in self._hsdp.params:
            param.average = op != "sum"

    def set_reshard_after_forward(self, reshard_after_forward: bool, recurse: bool = True) -> None:
        """Whether gathered parameters are freed after forward."""
        for state in self._states() if recurse else (self._hsdp,):
            state.reshard_after_forward = bool(reshard_after_forward)

    def set_reshard_after_backward(self, reshard_after_backward: bool, recurse: bool = True) -> None:
        """Whether gathered parameters are freed after backward."""
        for state in self._states() if recurse else (self._hsdp,):
            state.reshard_after_backward = bool(reshard_after_backward)

    def set_modules_to_forward_prefetch(self, modules: Any) -> None:
        """Modules whose parameters may be gathered during this one's forward. A matter of speed only: kept,
        and not used yet. ``ValueError`` for anything but wrapped modules."""
        self._hsdp.forward_prefetch = _hsdp_modules(modules)

    def set_modules_to_backward_prefetch(self, modules: Any) -> None:
        """As ``set_modules_to_forward_prefetch``, for backward."""
        self._hsdp.backward_prefetch = _hsdp_modules(modules)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget gradients: ``grad`` and ``main_grad`` of every parameter, and sums not reduced yet."""
        for state in self._states():
            for param in state.params:
                param.zero_grad()
        super().zero_grad(set_to_none=True)  # type: ignore[misc]

    zero_grads = zero_grad

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        # torch swaps the whole of a DTensor parameter, names and tags with it.
        marks = [(p, dict(p.__dict__)) for p in self.parameters()]  # type: ignore[attr-defined]
        result = super()._apply(fn, recurse)  # type: ignore[misc]
        for managed in self._hsdp.params:
            managed.watched = False  # torch may have swapped the hook away as well; twice is no harm
        for param, own in marks:
            for key, value in own.items():
                if key != "main_grad":
                    param.__dict__.setdefault(key, value)
        return result


def _hsdp_modules(modules: Any) -> list[HSDPModule]:
    if not isinstance(modules, (tuple, list)) or not all(isinstance(m, HSDPModule) for m in modules):
        raise ValueError("modules must be a list of modules that fully_shard wrapped")
    return list(modules)


_CLASSES: dict[type, type] = {}


def _extend(module: nn.Module) -> None:
    base = type(module)
    if base not in _CLASSES:
        _CLASSES[base] = type(f"HSDP{base.__name__}", (HSDPModule, base), {"__module__": base.__module__})
    module.__class__ = _CLASSES[base]


def _owned(module: nn.Module, ignored: set[int]) -> dict[int, list[tuple[nn.Module, str]]]:
    """Parameters below ``module`` that no nested wrapped module manages: id -> where they are registered."""
    found: dict[int, list[tuple[nn.Module, str]]] = {}

    def walk(current: nn.Module) -> None:
        for name, param in current._parameters.items():
            if param is not None and id(param) not in ignored and not hasattr(param, "_hsdp_managed"):
                found.setdefault(id(param), []).append((current, name))
        for child in current.children():
            if not isinstance(child, HSDPModule):
                walk(child)

    walk(module)
    return found


def fully_shard(
    module: nn.Module,
    *,
    mesh: DeviceMesh | None = None,
    reshard_after_forward: bool | int | None = None,
    shard_placement_fn: Callable[[nn.Parameter], Placement | None] | None = None,
    mp_policy: MixedPrecisionPolicy | None = None,
    offload_policy: OffloadPolicy | None = None,
    ignored_params: Iterable[nn.Parameter] | None = None,
    replicate_params: Iterable[nn.Parameter] | None = None,
    comm_fusion: bool = False,
    device: Any = None,
) -> nn.Module:
    """Shard the parameters of ``module`` (those no wrapped submodule has) over ``mesh``, in place.

    Parameters become DTensors, gathered around forward and backward. Each is sharded on the dimension that
    ``shard_placement_fn`` gives (default 0); ``replicate_params`` and those that do not divide stay whole,
    their gradients are reduced all the same. ``ignored_params`` are left alone. Parameters may be on the meta
    device and be materialised (``to_empty``) and initialised later. ``reshard_after_forward`` None means
    True.

    ``TypeError`` for what is no module, ``ValueError`` for a module wrapped already or a mesh of more than
    two axes, ``NotImplementedError`` for CPU offload and for resharding to a smaller world (an int).
    ``comm_fusion`` is about speed and changes no number.
    """
    if not isinstance(module, nn.Module):
        raise TypeError(f"fully_shard needs a torch.nn.Module, got {type(module).__name__}")
    if isinstance(module, HSDPModule):
        raise ValueError(f"fully_shard was applied to this {type(module).__name__} already")
    if isinstance(offload_policy, CPUOffloadPolicy):
        raise NotImplementedError("fully_shard with CPUOffloadPolicy (parallelism.cpu_offload)")
    if isinstance(reshard_after_forward, int) and not isinstance(reshard_after_forward, bool):
        raise NotImplementedError("fully_shard(reshard_after_forward=<int>): resharding to a smaller world")
    policy = mp_policy or MixedPrecisionPolicy()
    mesh = mesh if mesh is not None else init_device_mesh(mesh_shape=(dist.get_world_size(),))
    data = DataMesh.of(mesh)
    replicated = {id(p) for p in replicate_params or ()}
    params = []
    for key, owners in _owned(module, {id(p) for p in ignored_params or ()}).items():
        param = owners[0][0]._parameters[owners[0][1]]
        assert param is not None
        dim: int | None = 0
        placement = shard_placement_fn(param) if shard_placement_fn is not None else None
        if placement is not None:
            dim = None if placement.is_replicate() else shard_dim_of(placement)
        managed = ShardedParam(
            owners,
            data,
            None if key in replicated else dim,
            policy.param_dtype,
            policy.reduce_dtype,
            policy.apply_grad_on_fp32_main_grad,
        )
        managed.sharded._hsdp_managed = True  # type: ignore[attr-defined]
        params.append(managed)
    _extend(module)
    state = _State(module, params, policy)
    state.reshard_after_forward = reshard_after_forward is not False
    object.__setattr__(module, "_hsdp", state)
    module.register_forward_pre_hook(state.pre_forward, prepend=True, with_kwargs=True)
    module.register_forward_hook(state.post_forward, prepend=False)
    return module
