"""The Tensor constructor."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils import _device as _torch_context

from .. import device as _device
from ._receiver import as_dtype

__all__ = ["Tensor", "from_numpy", "tensor"]


def Tensor(
    input_data: Any = None,
    dtype: Any = None,
    shape: Any = None,
    init: Any = None,
    const_arg: bool = False,
    device: str | None = None,
) -> torch.Tensor:
    """A new tensor on the current device (under DeviceCtx on that one), with MindSpore's dtypes.

    Python floats (alone or in lists) give float32, ints int64, bools bool, complex numbers complex128; numpy
    arrays and scalars keep theirs; lists of arrays count as lists, so float64 in them becomes float32; a
    tensor is copied without its graph.

    With ``init`` (an initializer) in place of data: ``shape`` and ``dtype`` filled by it, at once.

    Raises TypeError for other data (strings, dicts, ranges, None), ValueError for ``shape`` together with
    data, or for nothing to make a tensor of. ``const_arg`` matters in graph mode only.
    MindSpore 2.10: mindspore.Tensor.
    """
    del const_arg
    wanted = None if dtype is None else as_dtype(dtype)
    if input_data is None:
        if init is None or shape is None or wanted is None:
            raise TypeError("Tensor: needs data, or init together with shape and dtype")
        from ..initializer import initializer

        return _place(initializer(init, shape, wanted), device)
    if shape is not None or init is not None:
        raise ValueError("Tensor: shape and init are for tensors without data")
    if isinstance(input_data, torch.Tensor):
        copy = input_data.detach().clone()
        copy = copy if wanted is None else copy.to(wanted)
        around = _around()
        return copy if around is None else copy.to(around)
    return _place(_from_data(input_data, wanted), device)


def tensor(input_data: Any = None, dtype: Any = None, shape: Any = None, init: Any = None) -> torch.Tensor:
    """The same as :func:`Tensor`. MindSpore 2.10: mindspore.tensor."""
    return Tensor(input_data, dtype, shape, init)


def from_numpy(array: Any) -> torch.Tensor:
    """A tensor over the array's memory where that is contiguous and the device is the CPU, else a copy.

    Raises TypeError if ``array`` is no numpy array. MindSpore 2.10: mindspore.Tensor.from_numpy.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"from_numpy: expected a numpy array, got {type(array).__name__}")
    if not array.flags.writeable or not array.flags.c_contiguous:
        array = np.array(array)
    # Not to the device of a `with`: MindSpore's keeps its data under DeviceCtx("meta").
    return torch.from_numpy(array).to(_device.current_device())


def _place(made: torch.Tensor, device: str | None) -> torch.Tensor:
    """On the device of a `with torch.device(…)` around the call, else on the one that computes."""
    if device is not None:
        named = str(device).lower()
        return made.to(named) if named in ("cpu", "meta") else made.to(_device.current_device())
    around = _around()
    return made.to(_device.current_device() if around is None else around)


def _around() -> Any:
    """The device that a `with torch.device(…)` (or set_default_device) set, or None.

    torch.get_default_device does not tell `with torch.device("cpu")` from no such block at all.
    """
    stack: Any = torch.overrides._get_current_function_mode_stack
    for mode in reversed(stack()):
        if isinstance(mode, _torch_context.DeviceContext):
            return mode.device
    return getattr(_torch_context, "CURRENT_DEVICE", None)


def _from_data(data: Any, wanted: torch.dtype | None) -> torch.Tensor:
    if isinstance(data, np.ndarray | np.generic):
        # numpy cannot hold bfloat16 itself; packages that add it (ml_dtypes) register it under this name.
        if data.dtype.name == "bfloat16":
            made = torch.from_numpy(np.array(data).view(np.int16)).view(torch.bfloat16)
        else:
            made = _from_array(np.array(data, order="C"))
    elif isinstance(data, bool | int | float | complex):
        made = torch.tensor(data, dtype=_scalar_dtype(data))
    elif isinstance(data, list | tuple):
        made = _from_list(data)
    else:
        raise TypeError(f"Tensor: cannot make a tensor of {type(data).__name__}")
    return made if wanted is None else made.to(wanted)


def _from_list(data: list[Any] | tuple[Any, ...]) -> torch.Tensor:
    try:
        array = np.array(_without_tensors(data))
    except ValueError as error:  # rows of different lengths
        raise TypeError(f"Tensor: {data!r:.60} holds elements of different shapes") from error
    made = _from_array(array)
    if made.dtype is torch.float64:
        return made.float()
    return made.long() if made.dtype in (torch.int8, torch.int16, torch.int32, torch.uint8) else made


def _without_tensors(data: Any) -> Any:
    if isinstance(data, torch.Tensor):
        plain = data.detach().cpu()
        return plain.float().numpy() if plain.dtype is torch.bfloat16 else plain.numpy()
    return [_without_tensors(item) for item in data] if isinstance(data, list | tuple) else data


def _from_array(array: np.ndarray[Any, Any]) -> torch.Tensor:
    if array.dtype.kind not in "biufc":
        raise TypeError(f"Tensor: no dtype for numpy's {array.dtype}")
    return torch.from_numpy(array)


def _scalar_dtype(value: Any) -> torch.dtype:
    if isinstance(value, bool):
        return torch.bool
    if isinstance(value, int):
        return torch.uint64 if value >= 2**63 else torch.int64
    return torch.float32 if isinstance(value, float) else torch.complex128
