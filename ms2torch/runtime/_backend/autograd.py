"""Gradients of MindSpore on torch.autograd: Function, grad, value_and_grad, GradOperation, stop_gradient.

Source: MindSpore 2.10: mindspore.grad, mindspore.value_and_grad, mindspore.ops.GradOperation,
mindspore.common._grad_function._Function.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch

from .params import param_name

no_grad = torch.no_grad
enable_grad = torch.enable_grad
_depth = threading.local()


def set_enable_grad(flag: bool) -> None:
    """Switch recording of gradients on or off for this thread."""
    torch.set_grad_enabled(bool(flag))


class Function(torch.autograd.Function):
    """Custom forward and backward. MindSpore's ctx has torch's contract: ``save_for_backward``,
    ``saved_tensors``, ``needs_input_grad``, ``mark_non_differentiable``, ``mark_dirty``,
    ``set_materialize_grads``, any attribute.
    """


def stop_gradient(value: Any) -> Any:
    """``value`` without its history; tensors in tuples, lists and dicts too, anything else unchanged."""
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, tuple | list) and type(value) in (tuple, list):
        return type(value)(stop_gradient(v) for v in value)
    if isinstance(value, dict):
        return {k: stop_gradient(v) for k, v in value.items()}
    return value


def _tensors_in(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, tuple | list):
        return [t for v in value for t in _tensors_in(v)]
    if isinstance(value, dict):
        return [t for v in value.values() for t in _tensors_in(v)]
    return []


def _differentiable(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def _run(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    positions: tuple[int, ...],
    weights: tuple[Any, ...],
    has_aux: bool,
    sens: Any,
    strict: bool = True,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """(outputs, gradients by position, gradients by weight) of the sum of all outputs (of the first with
    aux)."""
    depth = getattr(_depth, "value", 0)
    given = list(args)
    leaves: dict[int, torch.Tensor] = {}
    outer = any(isinstance(a, torch.Tensor) and a.requires_grad for a in args)
    with torch.enable_grad():
        for i in positions:
            if not -len(given) <= i < len(given):
                raise IndexError(f"grad_position {i} is out of range for {len(given)} arguments")
            if strict and isinstance(given[i], torch.Tensor) and not _differentiable(given[i]):
                raise TypeError(
                    f"argument {i} is a {given[i].dtype} tensor: torch has no gradient for it; "
                    "cast it to float first"
                )
            if _differentiable(given[i]):
                x = given[i]
                leaf = x.view_as(x) if x.requires_grad else x.detach().requires_grad_(True)
                leaves[i] = leaf
                # The function may write into its argument, which torch forbids for a leaf.
                given[i] = leaf.clone()
        _depth.value = depth + 1
        try:
            outputs = fn(*given, **kwargs)
        finally:
            _depth.value = depth
        head = outputs[0] if has_aux else outputs
        parts = _tensors_in(head)
        heads = [(o, s) for o, s in zip(parts, _senses(parts, sens), strict=True) if o.requires_grad]
        wanted = [*leaves.values(), *(w for w in weights if w.requires_grad)]
        found: Any = [None] * len(wanted)
        if heads and wanted:
            found = torch.autograd.grad(
                [o for o, _ in heads],
                wanted,
                [s for _, s in heads],
                create_graph=outer or depth > 0,
                allow_unused=True,
            )
    by_id = {id(t): g for t, g in zip(wanted, found, strict=True)}

    def gradient(key: Any, shape_of: Any) -> Any:
        g = by_id.get(id(key)) if key is not None else None
        return torch.zeros_like(shape_of, requires_grad=False) if g is None else g

    inputs = tuple(
        gradient(leaves.get(i), args[i]) if isinstance(args[i], torch.Tensor) else None for i in positions
    )
    return outputs, inputs, tuple(gradient(w, w) for w in weights)


def _senses(parts: list[torch.Tensor], sens: Any) -> list[torch.Tensor]:
    if sens is None:
        return [torch.ones_like(p) for p in parts]
    given = (
        _tensors_in(sens) if not isinstance(sens, int | float) else [torch.full_like(p, sens) for p in parts]
    )
    if len(given) != len(parts):
        raise ValueError(f"{len(parts)} outputs need as many sens values, but got {len(given)}")
    return [s.to(p.dtype).expand_as(p) for s, p in zip(given, parts, strict=True)]


def _take_sens(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    for name in ("sens", "sens_param"):
        if name in kwargs:
            kwargs = dict(kwargs)
            return args, kwargs, kwargs.pop(name)
    if not args:
        raise TypeError("with sens_param the last argument is the gradient of the output, but there is none")
    return args[:-1], kwargs, args[-1]


def _weights(weights: Any) -> tuple[Any, ...]:
    if weights is None:
        return ()
    return (weights,) if isinstance(weights, torch.Tensor) else tuple(weights)


def _shaped(
    position: Any, weights: Any, inputs: tuple[Any, ...], of_weights: tuple[Any, ...], return_ids: bool
) -> Any:
    positions = () if position is None else (position,) if isinstance(position, int) else tuple(position)
    pairs = [(p, g) for p, g in zip(positions, inputs, strict=True) if g is not None]
    left: Any = tuple(pairs) if return_ids else tuple(g for _, g in pairs)
    if len(left) == 1:
        # Also for a tuple of one position, as MindSpore has it.
        left = left[0]
    right: Any = of_weights
    if weights is not None:
        listed = _weights(weights)
        if return_ids:
            right = tuple((param_name(w), g) for w, g in zip(listed, of_weights, strict=True))
        if isinstance(weights, torch.Tensor):
            right = right[0]
    if position is None:
        return right
    return left if weights is None else (left, right)


def value_and_grad(
    fn: Callable[..., Any],
    grad_position: Any = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., Any]:
    """A function giving ``(fn(*args), gradients)``.

    Gradients are of the sum of all outputs, or of the first with ``has_aux``: one for one position, a tuple
    for several, none for None; with ``weights`` as well ``(inputs, weights)``. What does not depend has
    zeros; arguments that are no tensors are left out. ``sens_param``: the last argument is the output's
    gradient. Raises ValueError where there is nothing to differentiate by, IndexError for a position
    without an argument, TypeError for an integer tensor.
    """
    if grad_position is None and weights is None:
        raise ValueError("`grad_position` and `weights` can not be None at the same time.")
    if has_aux and sens_param:
        raise ValueError("'has_aux' and 'sens_param' can not be True together")
    positions = (
        () if grad_position is None else (grad_position,) if isinstance(grad_position, int) else grad_position
    )

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        sens = None
        if sens_param:
            args, kwargs, sens = _take_sens(args, kwargs)
        outputs, inputs, of_weights = _run(
            fn, args, kwargs, tuple(positions), _weights(weights), has_aux, sens
        )
        if getattr(_depth, "value", 0) == 0 and not any(
            isinstance(a, torch.Tensor) and a.requires_grad for a in args
        ):
            outputs = stop_gradient(outputs)
        return outputs, _shaped(grad_position, weights, inputs, of_weights, return_ids)

    return wrapped


def grad(
    fn: Callable[..., Any],
    grad_position: Any = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., Any]:
    """As `value_and_grad`, giving the gradients only, or ``(gradients, aux)`` with ``has_aux``."""
    both = value_and_grad(fn, grad_position, weights, has_aux, return_ids, sens_param)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        outputs, gradients = both(*args, **kwargs)
        return (gradients, tuple(outputs[1:])) if has_aux else gradients

    return wrapped


def backward(x: Any, gradient: Any = None, *args: Any, **kwargs: Any) -> Any:
    """``x.backward(gradient, …)``, where a sense of one element serves a result of one element of any shape.

    A receiver that is no tensor answers with its own method. Source: MindFormers 2.1.0, whose trainer hands a
    sense of shape [1] to losses of shape [1] and of shape [].
    """
    if not isinstance(x, torch.Tensor):
        return x.backward(gradient, *args, **kwargs) if gradient is not None else x.backward(*args, **kwargs)
    if (
        isinstance(gradient, torch.Tensor)
        and gradient.shape != x.shape
        and gradient.numel() == x.numel() == 1
    ):
        gradient = gradient.reshape(x.shape)
    return x.backward(gradient, *args, **kwargs)  # type: ignore[no-untyped-call]


def get_grad(gradients: Any, identifier: Any) -> Any:
    """The gradient of a position or parameter among those that ``return_ids=True`` gave. RuntimeError if
    absent."""
    key = param_name(identifier) if isinstance(identifier, torch.Tensor) else identifier

    def look(entry: Any) -> Any:
        if (
            isinstance(entry, tuple)
            and len(entry) == 2
            and isinstance(entry[0], int | str)
            and entry[0] == key
        ):
            return entry[1]
        if isinstance(entry, tuple):
            for each in entry:
                hit = look(each)
                if hit is not None:
                    return hit
        return None

    found = look(gradients)
    if found is None:
        raise RuntimeError(f"no gradient of {key!r} is among the gradients")
    return found


class GradOperation:
    """``GradOperation(get_all, get_by_list, sens_param)(fn, weights)(*inputs)``: the gradients of ``fn``.

    By default of the first input; of all inputs with ``get_all``; of ``weights`` with ``get_by_list`` (both:
    ``(inputs, weights)``). Without ``weights`` those of ``fn`` that take a gradient. With ``sens_param``
    the last argument is the output's gradient.
    """

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        for name, flag in (("get_all", get_all), ("get_by_list", get_by_list), ("sens_param", sens_param)):
            if not isinstance(flag, bool):
                raise TypeError(
                    f"For 'GradOperation', '{name}' should be bool, but got {type(flag).__name__}"
                )
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param

    def __call__(self, fn: Callable[..., Any], weights: Any = None) -> Callable[..., Any]:
        """A function of the same inputs that gives the gradients."""
        if self.get_by_list and weights is None:
            if not isinstance(fn, torch.nn.Module):
                raise TypeError("with get_by_list a function needs 'weights'")
            weights = tuple(p for p in fn.parameters() if p.requires_grad)

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            sens = None
            if self.sens_param:
                args, kwargs, sens = _take_sens(args, kwargs)
            if self.get_all:
                positions = tuple(i for i, a in enumerate(args) if isinstance(a, torch.Tensor))
            else:
                positions = () if self.get_by_list else (0,)
            listed = _weights(weights) if self.get_by_list else ()
            _, inputs, of_weights = _run(fn, args, kwargs, positions, listed, False, sens, False)
            by_weight: Any = of_weights[0] if isinstance(weights, torch.Tensor) else of_weights
            if self.get_by_list:
                return (inputs, by_weight) if self.get_all else by_weight
            return inputs if self.get_all else inputs[0]

        return wrapped


def jit_class(cls: Any) -> Any:
    """Keeps the class."""
    return cls


def lazy_inline(fn: Any = None, attrs: Any = None, policy: Any = None) -> Any:
    """Keeps the constructor: a setting of MindSpore's graph compiler. Also a decorator factory."""
    return fn if callable(fn) else lambda f: f


def recompute(block: Callable[..., Any], *args: Any, use_reentrant: bool = True, **kwargs: Any) -> Any:
    """``block(*args, **kwargs)``, whose backward pass computes the forward again instead of keeping
    activations."""
    for name in ("output_recompute", "context_fn"):
        if kwargs.pop(name, None):
            raise NotImplementedError(f"recompute({name}=…) has no torch counterpart here")
    kwargs.pop("early_stop", None)
    from torch.utils.checkpoint import checkpoint

    if not torch.is_grad_enabled():
        return block(*args, **kwargs)
    return checkpoint(block, *args, use_reentrant=False, **kwargs)


def vmap(fn: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """``fn`` over an axis of its inputs."""
    return torch.vmap(fn, in_dims=in_axes, out_dims=out_axes)


def jvp(fn: Callable[..., Any], inputs: Any, v: Any, has_aux: bool = False) -> Any:
    """(outputs, Jacobian times ``v``)."""
    return torch.func.jvp(
        fn,
        tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,),
        tuple(v) if isinstance(v, tuple | list) else (v,),
        has_aux=has_aux,
    )


def vjp(fn: Callable[..., Any], *inputs: Any, weights: Any = None, has_aux: bool = False) -> Any:
    """(outputs, function from output gradients to a tuple of input gradients)."""
    if weights is not None:
        raise NotImplementedError("vjp(weights=…) is not supported; use value_and_grad")
    got = torch.func.vjp(fn, *inputs, has_aux=has_aux)
    return tuple(got)
