"""Augmented assignment as MindSpore means it: ``x += y`` makes a new tensor, other names keep the old one.

torch changes the tensor that ``x`` names in place. The rewrite writes ``x = x + y`` where it knows that ``x``
is a tensor, and ``x = augmented.add(x, y)`` where it does not: a tensor gets the new value, everything else
(a list, a number, an array) its own in-place operator.

Source: MindSpore 2.10 on CPU: after ``h = x; h += 1`` the tensor ``x`` is unchanged, for Parameters too.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch

from .tensor.item import setitem

__all__ = [
    "add",
    "and_",
    "floordiv",
    "item",
    "lshift",
    "matmul",
    "mod",
    "mul",
    "or_",
    "pow",
    "rshift",
    "sub",
    "truediv",
    "xor",
]

Operation = Callable[[Any, Any], Any]


def _pair(plain: Operation, in_place: Operation) -> Operation:
    def operation(left: Any, right: Any) -> Any:
        if isinstance(left, torch.Tensor):
            return plain(left, right)
        return in_place(left, right)

    operation.__doc__ = (
        f"``left {in_place.__name__} right``: a new tensor for a tensor, else the object's own operator."
    )
    return operation


add = _pair(operator.add, operator.iadd)
sub = _pair(operator.sub, operator.isub)
mul = _pair(operator.mul, operator.imul)
matmul = _pair(operator.matmul, operator.imatmul)
truediv = _pair(operator.truediv, operator.itruediv)
floordiv = _pair(operator.floordiv, operator.ifloordiv)
mod = _pair(operator.mod, operator.imod)
pow = _pair(operator.pow, operator.ipow)
and_ = _pair(operator.and_, operator.iand)
or_ = _pair(operator.or_, operator.ior)
xor = _pair(operator.xor, operator.ixor)
lshift = _pair(operator.lshift, operator.ilshift)
rshift = _pair(operator.rshift, operator.irshift)
_SIGNS = {
    "+=": add, "-=": sub, "*=": mul, "@=": matmul, "/=": truediv, "//=": floordiv, "%=": mod,
    "**=": pow, "&=": and_, "|=": or_, "^=": xor, "<<=": lshift, ">>=": rshift,
}  # fmt: skip


def item(container: Any, index: Any, sign: str, value: Any) -> None:
    """``container[index] += value`` and the like, by ``sign``: part of a tensor is changed in place; a tensor
    that a list, a dict or another container holds is replaced by a new one."""
    setitem(container, index, _SIGNS[sign](container[index], value))
