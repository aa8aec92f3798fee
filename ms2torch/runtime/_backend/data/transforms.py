"""``mindspore.dataset.transforms`` that pipelines of models use. Source: MindSpore 2.10."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .pipeline import Array
from .sources import numpy_dtype


class TypeCast:
    """Array cast to a dtype (torch's, numpy's or a name; bfloat16 raises TypeError, as numpy has none)."""

    def __init__(self, output_type: Any) -> None:
        self.dtype = numpy_dtype(output_type)

    def __call__(self, array: Any) -> Array:
        return np.asarray(array).astype(self.dtype)


class Compose:
    """Transforms one after the other."""

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        if not transforms or not all(callable(t) for t in transforms):
            raise ValueError("transforms must be a list of callables that is not empty.")
        self.transforms = list(transforms)

    def __call__(self, *values: Any) -> Any:
        for transform in self.transforms:
            result = transform(*values)
            values = result if isinstance(result, tuple) else (result,)
        return values[0] if len(values) == 1 else values
