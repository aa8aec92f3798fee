"""Tensors that are computed when first looked at.

Flash attention returns softmax statistics that nearly every caller drops; torch's fused kernels do not give
them. A deferred tensor costs nothing until an operator reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map

__all__ = ["Deferred", "deferred"]


class Deferred(torch.Tensor):
    """Stands for ``make()``; every operator on it sees the computed tensor, which is kept."""

    _make: Callable[[], torch.Tensor] | None
    _made: torch.Tensor | None

    @staticmethod
    def __new__(
        cls,
        shape: tuple[int, ...],
        dtype: torch.dtype,
        device: torch.device,
        make: Callable[[], torch.Tensor],
    ) -> Deferred:
        make_wrapper: Any = torch.Tensor._make_wrapper_subclass
        made: Deferred = make_wrapper(cls, shape, dtype=dtype, device=device, requires_grad=False)
        made._make = make
        made._made = None
        return made

    def compute(self) -> torch.Tensor:
        """The tensor itself; the function runs once."""
        if self._made is None:
            assert self._make is not None
            with torch.no_grad():
                self._made = self._make()
            self._make = None
        return self._made

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        def real(value: Any) -> Any:
            return value.compute() if isinstance(value, Deferred) else value

        return func(*tree_map(real, args), **tree_map(real, kwargs or {}))

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return repr(self.compute())


def deferred(
    shape: tuple[int, ...], dtype: torch.dtype, device: torch.device, make: Callable[[], torch.Tensor]
) -> torch.Tensor:
    """``make()`` put off until it is needed; at once where torch traces a graph."""
    if torch.compiler.is_compiling():
        return make()
    return Deferred(shape, dtype, device, make)
