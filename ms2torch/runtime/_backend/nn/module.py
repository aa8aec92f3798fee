"""The base class of a port's networks: torch.nn.Module with the contract of MindSpore's Cell."""

from __future__ import annotations

import copy
import functools
import threading
from typing import Any, TypeVar

import torch
from torch.overrides import TorchFunctionMode

from ..params import ParameterTuple, copy_marks, own, param_name, write
from . import walk

_M = TypeVar("_M", bound="Module")
_applying = threading.local()


class _BpropFunction(torch.autograd.Function):
    """Forward of a cell that has a ``bprop`` of its own, and that ``bprop`` as its gradient."""

    @staticmethod
    def forward(ctx: Any, cell: Any, names: tuple[str, ...], count: int, *inputs: Any) -> Any:
        args, kwargs = inputs[:count], dict(zip(names, inputs[count:], strict=True))
        with torch.no_grad():
            out = type(cell).forward(cell, *args, **kwargs)
        ctx.cell, ctx.count, ctx.extra = cell, count, len(inputs) - count
        many = isinstance(out, tuple | list)
        # A tensor handed through must be a new one, or torch would return the input with its old history.
        given = {id(x) for x in inputs if isinstance(x, torch.Tensor)}
        parts = [
            x.view_as(x) if isinstance(x, torch.Tensor) and id(x) in given else x
            for x in (out if many else (out,))
        ]
        ctx.inputs, ctx.many = inputs[:count], many
        ctx.out = tuple(x.detach() if isinstance(x, torch.Tensor) else x for x in parts)
        return tuple(parts) if many else parts[0]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        out, dout = (ctx.out, grads) if ctx.many else (ctx.out[0], grads[0])
        got = ctx.cell.bprop(*ctx.inputs, out, dout)
        if isinstance(got, tuple) and len(got) == 2 and isinstance(got[1], dict):
            got = got[0]
        got = got if isinstance(got, tuple | list) else (got,)
        if len(got) != ctx.count:
            raise TypeError(
                f"{type(ctx.cell).__name__}.bprop must return {ctx.count} gradients, one an input, "
                f"but gave {len(got)}"
            )
        kept = [
            g if isinstance(x, torch.Tensor) and isinstance(g, torch.Tensor) else None
            for x, g in zip(ctx.inputs, got, strict=True)
        ]
        return (None, None, None, *kept, *([None] * ctx.extra))


def _forward_with_bprop(cell: Any, *args: Any, **kwargs: Any) -> Any:
    for name, value in kwargs.items():
        if isinstance(value, torch.Tensor) and value.requires_grad:
            raise NotImplementedError(
                f"{type(cell).__name__} has its own bprop; pass the differentiable input {name!r} by position"
            )
    inputs = (*args, *kwargs.values())
    tracked = any(isinstance(x, torch.Tensor) and x.requires_grad for x in inputs)
    if not (tracked and torch.is_grad_enabled()):
        # Also what MindSpore does: the weights of such a cell get no gradient from it.
        with torch.no_grad():
            return type(cell).forward(cell, *args, **kwargs)
    return _BpropFunction.apply(  # type: ignore[no-untyped-call]
        cell, tuple(kwargs), len(args), *inputs
    )


def _forward_with_recompute(cell: Any, *args: Any, **kwargs: Any) -> Any:
    from torch.utils.checkpoint import checkpoint

    call = functools.partial(type(cell).forward, cell)
    if not torch.is_grad_enabled():
        return call(*args, **kwargs)
    return checkpoint(call, *args, use_reentrant=False, **kwargs)


class _FloatMode(TorchFunctionMode):
    """Inside a cell with ``to_float``, every operation takes its floating inputs in that dtype."""

    # Reads of a tensor's state, and writes into it, see the tensor as it is.
    _asis = frozenset(
        {"__get__", "__set__", "dim", "size", "numel", "to", "float", "half", "type", "detach", "__repr__"}
    )

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype

    def _cast(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.to(self.dtype) if value.is_floating_point() and value.dtype != self.dtype else value
        if isinstance(value, list | tuple) and type(value) in (list, tuple):
            return type(value)(self._cast(v) for v in value)
        return value

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in self._asis or (name.endswith("_") and not name.endswith("__")):
            return func(*args, **kwargs)
        return func(*(self._cast(a) for a in args), **{k: self._cast(v) for k, v in kwargs.items()})


class Module(torch.nn.Module):
    """torch.nn.Module with Cell's contract (MindSpore 2.10, mindspore.nn.Cell):

    - a fresh one is in inference mode (``training`` is False);
    - a tensor assigned to a parameter's attribute is written into that parameter, which keeps its dtype;
    - parameters get their MindSpore names (``_mf_name``) as children are assigned: the prefix rules of Cell;
    - replaced Parameters (``to_empty``, ``deepcopy``, sharding) keep names, tags and ties;
    - a method ``bprop(self, *inputs, out, dout)`` is the gradient.
    """

    _auto_prefix = True
    _mf_float: torch.dtype | None = None
    requires_grad = False  # what set_grad was last given; says nothing of the parameters

    def __init__(self, auto_prefix: bool = True, flags: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.training = False
        if not auto_prefix:
            self._auto_prefix = False
        if flags:
            walk.add_flags(self, **flags)
        if hasattr(type(self), "bprop"):
            self.__dict__["forward"] = functools.partial(_forward_with_bprop, self)

    def __bool__(self) -> bool:
        # A torch container without children is falsy through its length; a Cell never is.
        return True

    # ---- attributes ------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        params = self.__dict__.get("_parameters")
        if params is None:
            super().__setattr__(name, value)
        elif isinstance(value, torch.nn.Parameter):
            old = params.get(name)
            if old is not None and "_mf_name" not in value.__dict__:
                # Put there by torch (sharding, conversion), not by the model's author.
                copy_marks(old, value)
            own(value, name)
            super().__setattr__(name, value)
        elif isinstance(value, torch.Tensor):
            held = params.get(name)
            if held is not None:
                write(held, value)
                return
            params.pop(name, None)
            super().__setattr__(name, value)
        elif isinstance(value, torch.nn.Module):
            # A child put back where it is (wrapped in place, say) keeps its names: they may be longer.
            if self._auto_prefix and self._modules.get(name) is not value:
                walk.update_parameters_name(value, name + ".")
            super().__setattr__(name, value)
        elif isinstance(value, ParameterTuple):
            for item in value:
                walk.insert_param_to_cell(self, param_name(item), item, check_name_contain_dot=False)
            object.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)

    @property
    def _cells(self) -> dict[str, Any]:
        """MindSpore's name of ``_modules``."""
        return self._modules

    @property
    def _params(self) -> dict[str, Any]:
        """MindSpore's name of ``_parameters``."""
        return self._parameters

    @property
    def _mf_param_names(self) -> dict[str, str]:
        """Path to MindSpore name, for every parameter."""
        return {path: param_name(p) or path for path, p in self.named_parameters()}

    @property
    def cls_name(self) -> str:
        """The class's name."""
        return type(self).__name__

    @property
    def param_prefix(self) -> str:
        """What stands before the path in the names of the parameters."""
        return str(walk.param_prefix(self))

    def extra_repr(self) -> str:
        extend = getattr(self, "extend_repr", None)
        return str(extend()) if callable(extend) else super().extra_repr()

    # ---- replaced parameters ---------------------------------------------------------------------

    def _apply(self: _M, fn: Any, recurse: bool = True) -> _M:
        if getattr(_applying, "on", False):
            super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
            return self
        held = [
            (module, key, p)
            for module in (self.modules() if recurse else (self,))
            for key, p in module._parameters.items()
            if p is not None
        ]
        _applying.on = True
        try:
            super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        finally:
            _applying.on = False
        first: dict[int, torch.nn.Parameter] = {}
        for module, key, old in held:
            new = module._parameters[key]
            if new is None or new is old:
                continue
            tied = first.setdefault(id(old), new)
            if tied is not new:
                module._parameters[key] = tied
            else:
                copy_marks(old, new)
        return self

    def to_empty(self: _M, *, device: Any = None, recurse: bool = True) -> _M:
        """Uninitialised storage on ``device``, by default the current one."""
        if device is None:
            from ..device import current_device

            device = current_device()
        return super().to_empty(device=device, recurse=recurse)

    def __deepcopy__(self: _M, memo: dict[int, Any]) -> _M:
        new = type(self).__new__(type(self))
        memo[id(self)] = new
        for key, value in self.__dict__.items():
            new.__dict__[key] = copy.deepcopy(value, memo)
        for name, p in self._parameters.items():
            if p is not None:
                copy_marks(p, new._parameters[name])
        return new

    # ---- Cell's methods --------------------------------------------------------------------------

    cells_and_names = walk.cells_and_names
    parameters_and_names = walk.parameters_and_names
    get_parameters = walk.get_parameters
    trainable_params = walk.trainable_params
    untrainable_params = walk.untrainable_params
    parameters_dict = walk.parameters_dict
    parameters_broadcast_dict = walk.parameters_broadcast_dict
    name_cells = walk.name_cells
    cells = walk.cells
    update_parameters_name = walk.update_parameters_name
    check_names = walk.check_names
    insert_child_to_cell = walk.insert_child_to_cell
    insert_param_to_cell = walk.insert_param_to_cell
    set_train = walk.set_train
    set_grad = walk.set_grad
    add_flags = walk.add_flags
    add_flags_recursive = walk.add_flags_recursive
    get_flags = walk.get_flags
    init_parameters_data = walk.init_parameters_data
    set_comm_fusion = walk.set_comm_fusion
    shard = walk.no_shard

    @property
    def construct(self) -> Any:
        """MindSpore's name of ``forward``, for callers that still use it or look at its signature."""
        return self.forward

    @construct.setter
    def construct(self, value: Any) -> None:
        self.forward = value

    def to_float(self, dst_type: torch.dtype) -> Any:
        """This cell and those below compute in ``dst_type`` (float16, bfloat16 or float32); weights keep
        theirs."""
        return to_float(self, dst_type)

    def recompute(self, **kwargs: Any) -> Any:
        """The backward pass computes this cell's forward again instead of keeping its activations."""
        return recompute(self, **kwargs)

    def register_backward_hook(self, hook: Any) -> Any:
        """``hook(cell, grad_input, grad_output)`` may return new input gradients."""
        return self.register_full_backward_hook(hook)

    def register_backward_pre_hook(self, hook: Any) -> Any:
        """``hook(cell, grad_output)`` may return new output gradients."""
        return self.register_full_backward_pre_hook(hook)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._mf_float is None:
            return super().__call__(*args, **kwargs)
        with _FloatMode(self._mf_float):
            return super().__call__(*args, **kwargs)


def to_float(m: Any, dst_type: torch.dtype) -> Any:
    """``m.to_float(dst_type)``; a receiver that is no module of a port is refused. Returns ``m``."""
    if not isinstance(m, Module):
        if isinstance(m, torch.nn.Module):
            raise NotImplementedError("to_float works on the port's own modules; use torch.autocast here")
        return m.to_float(dst_type)
    if dst_type not in (torch.float16, torch.bfloat16, torch.float32):
        raise ValueError(f"to_float takes float32, float16 or bfloat16, but got {dst_type}")
    for each in m.modules():
        if isinstance(each, Module):
            each._mf_float = dst_type
    return m


def recompute(m: Any, **kwargs: Any) -> Any:
    """``cell.recompute()``: checkpoint this module's forward. Settings of graph-mode communication are
    refused when on. Returns ``m``."""
    if not isinstance(m, torch.nn.Module):
        return m.recompute(**kwargs)
    for name in ("mp_comm_recompute", "parallel_optimizer_comm_recompute", "output_recompute", "context_fn"):
        if kwargs.get(name) not in (None, False) and name in ("output_recompute", "context_fn"):
            raise NotImplementedError(f"recompute({name}=…) has no torch counterpart here")
    if hasattr(type(m), "bprop"):
        raise NotImplementedError(f"{type(m).__name__} has its own bprop and cannot be recomputed")
    m.__dict__["forward"] = functools.partial(_forward_with_recompute, m)
    return m
