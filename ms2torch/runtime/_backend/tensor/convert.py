"""Values out of a tensor, dtypes, devices and bookkeeping."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .. import device as _device
from .. import dtypes
from ._receiver import as_dtype, attribute, method

__all__ = [
    "T",
    "asnumpy",
    "assign_value",
    "astype",
    "copy",
    "fill",
    "fills",
    "get_bytes",
    "has_init",
    "init",
    "init_data",
    "itemset",
    "move_to",
    "new_empty",
    "new_full",
    "new_ones",
    "new_zeros",
    "numpy",
    "size",
    "strides",
    "stub_sync",
    "to",
    "type",
    "value",
]


@method
def asnumpy(self: torch.Tensor) -> Any:
    """The values as a numpy array on the host; bfloat16 and float8 come as float32, which holds each of
    their values (numpy itself has neither). A DTensor gives its local shard.

    The array shares the memory of a CPU tensor, as MindSpore's does. MindSpore 2.10: Tensor.asnumpy.
    """
    local = self.to_local() if hasattr(self, "to_local") else self
    host = local.detach().cpu().resolve_conj().resolve_neg()
    if host.dtype is torch.bfloat16 or str(host.dtype).startswith("torch.float8"):
        host = host.float()
    return host.numpy()


@method
def numpy(self: torch.Tensor) -> Any:
    """The same as :func:`asnumpy`. MindSpore 2.10: Tensor.numpy."""
    return asnumpy(self)


@method
def astype(self: torch.Tensor, dtype: Any, copy: bool = True) -> torch.Tensor:
    """A copy in another dtype: a torch dtype, a name, a Python type (`int` is int64, `float` float64) or a
    numpy type. Without ``copy`` a tensor of that dtype is returned as it is.

    Raises TypeError for an unknown dtype. MindSpore 2.10: Tensor.astype.
    """
    return self.to(as_dtype(dtype), copy=copy)


@method
def to(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`to(dtype)`, `to(device, dtype)` or `to(other)`, where a device may be ``"Ascend"``, ``"GPU"`` or
    ``"CPU"``: the first two are the device this process computes on. MindSpore 2.10: Tensor.to.
    """
    if args and isinstance(args[0], str):
        args = (_named_device(args[0]), *args[1:])
    if isinstance(kwargs.get("device"), str):
        kwargs["device"] = _named_device(kwargs["device"])
    return self.to(*args, **kwargs)


@method
def move_to(self: torch.Tensor, to: str, blocking: bool = True) -> torch.Tensor:
    """A copy on ``"CPU"`` or on the device that computes (``"Ascend"``, ``"GPU"``).

    MindSpore 2.10: Tensor.move_to.
    """
    return self.to(_named_device(to), non_blocking=not blocking, copy=True)


def _named_device(name: str) -> Any:
    kind = name.split(":")[0].lower()
    if kind == "cpu":
        return torch.device("cpu")
    return _device.current_device() if kind in ("ascend", "gpu") else name


@method
def type(self: torch.Tensor, dtype: Any = None) -> Any:
    """MindSpore's name of the dtype (``"Float32"``), or the tensor cast to ``dtype``.

    MindSpore 2.10: Tensor.type.
    """
    return dtypes.dtype_name(self.dtype) if dtype is None else self.to(as_dtype(dtype))


@attribute
def size(self: torch.Tensor) -> int:
    """The number of elements (torch's ``size`` is a method). MindSpore 2.10: Tensor.size."""
    return self.numel()


@attribute
def strides(self: torch.Tensor) -> tuple[int, ...]:
    """Steps in bytes (``stride()`` counts elements). MindSpore 2.10: Tensor.strides."""
    return tuple(s * self.element_size() for s in self.stride())


@attribute
def T(self: torch.Tensor) -> torch.Tensor:
    """All dimensions reversed, for any number of them. MindSpore 2.10: Tensor.T."""
    return self.permute(tuple(range(self.ndim - 1, -1, -1)))


@attribute
def has_init(self: torch.Tensor) -> bool:
    """False: initializers fill at once here. MindSpore 2.10: Tensor.has_init."""
    return False


@attribute
def init(self: torch.Tensor) -> None:
    """None: initializers fill at once here. MindSpore 2.10: Tensor.init."""
    return None


@method
def init_data(
    self: torch.Tensor, slice_index: int | None = None, shape: Any = None, opt_shard_group: Any = None
) -> torch.Tensor:
    """The tensor itself: its data is there already. Slicing arguments raise NotImplementedError.

    MindSpore 2.10: Tensor.init_data.
    """
    if slice_index is not None or shape is not None or opt_shard_group is not None:
        raise NotImplementedError(
            "Tensor.init_data: slice_index, shape and opt_shard_group are graph-mode only"
        )
    return self


@method
def stub_sync(self: torch.Tensor) -> torch.Tensor:
    """The tensor itself: torch has no stub tensors. MindSpore 2.3: Tensor.stub_sync."""
    return self


@method
def value(self: torch.Tensor) -> torch.Tensor:
    """The tensor itself. MindSpore 2.10: Tensor.value."""
    return self


@method
def copy(self: torch.Tensor) -> torch.Tensor:
    """A copy that gradients pass through. MindSpore 2.10: Tensor.copy."""
    return self.clone()


@method
def assign_value(self: torch.Tensor, value: Any) -> torch.Tensor:
    """Takes over the values (shape and dtype too) of another tensor; returns itself.

    MindSpore 2.10: Tensor.assign_value.
    """
    source = value if isinstance(value, torch.Tensor) else torch.as_tensor(value)
    with torch.no_grad():
        if source.shape == self.shape and source.dtype == self.dtype:
            self.copy_(source)
        else:
            self.data = source.detach().clone().to(self.device)
    return self


@method
def itemset(self: torch.Tensor, *args: Any) -> torch.Tensor:
    """A copy with one element changed: ``itemset(value)``, ``itemset(flat_index, value)`` or
    ``itemset((i, j), value)``. The receiver keeps its values, as under MindSpore 2.10: Tensor.itemset.
    """
    *where, new = args
    out = self.clone()
    if not where:
        if out.numel() != 1:
            raise ValueError("Tensor.itemset: a tensor of more than one element needs an index")
        return out.fill_(new)
    place = where[0] if len(where) == 1 else tuple(where)
    if isinstance(place, tuple):
        out[place] = new
    else:
        out.reshape(-1)[place] = new
    return out


@method
def get_bytes(self: torch.Tensor) -> bytes:
    """The raw values. MindSpore 2.10: Tensor.get_bytes."""
    raw = self.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return bytes(np.ascontiguousarray(raw).tobytes())


@method
def fill(self: torch.Tensor, value: Any) -> Any:
    """A new tensor of this shape and dtype full of ``value``; the receiver keeps its values.

    MindSpore 2.10: Tensor.fill.
    """
    return torch.full_like(self, value)


@method
def fills(self: torch.Tensor, value: Any) -> Any:
    """The same as :func:`fill`. MindSpore 2.10: Tensor.fills."""
    return torch.full_like(self, value)


@method
def new_zeros(self: torch.Tensor, size: Any, dtype: Any = None) -> torch.Tensor:
    """Zeros of ``size``, in this dtype and on this device by default. MindSpore 2.10: Tensor.new_zeros."""
    return self.new_zeros(size, dtype=dtype)


@method
def new_ones(self: torch.Tensor, size: Any, dtype: Any = None) -> torch.Tensor:
    """Ones of ``size``, in this dtype and on this device by default. MindSpore 2.10: Tensor.new_ones."""
    return self.new_ones(size, dtype=dtype)


@method
def new_full(self: torch.Tensor, size: Any, fill_value: Any, *, dtype: Any = None) -> torch.Tensor:
    """``fill_value`` in ``size``. MindSpore 2.10: Tensor.new_full."""
    return self.new_full((size,) if isinstance(size, int) else size, fill_value, dtype=dtype)


@method
def new_empty(self: torch.Tensor, size: Any, *, dtype: Any = None, device: Any = None) -> torch.Tensor:
    """Unset values in ``size``. MindSpore 2.10: Tensor.new_empty."""
    where = self.device if device is None else _named_device(device) if isinstance(device, str) else device
    return _device.uninitialised(self.new_empty(size, dtype=dtype, device=where))
