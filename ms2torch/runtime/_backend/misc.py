"""Names of MindSpore that belong nowhere else: its version, the executor, parts of its C++ module."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from . import device, streams

# The release whose behaviour this package follows: what a comparison with `mindspore.__version__` should see.
MINDSPORE_VERSION = "2.10.0"


def mutable(input_data: Any, dynamic_len: bool = False) -> Any:
    """``mindspore.mutable``: marks a value that a graph must not fold in. Here: the value itself.

    Raises TypeError for anything but bool, int, float, Tensor, or tuples, lists and dicts of them.
    """
    pending = [input_data]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += list(value.values())
        elif isinstance(value, (tuple, list)):
            pending += list(value)
        elif not isinstance(value, (bool, int, float, torch.Tensor)):
            raise TypeError(
                "For 'mutable', the 'input_data' should be one of (bool, int, float, Tensor, tuple, list, "
                f"dict) or their nested structures, but got {type(input_data).__name__}: {input_data}."
            )
    if dynamic_len and not isinstance(input_data, (tuple, list)):
        raise TypeError(
            "For mutable, when the dynamic_len is True, the input_data should be list or tuple, but got: "
            f"{input_data}"
        )
    return input_data


class _PynativeExecutor:
    """``mindspore.common.api._pynative_executor``, as far as models use it."""

    def sync(self) -> None:
        """Waits for the device."""
        streams.synchronize()

    def set_async_for_graph(self, flag: bool) -> None:
        """How MindSpore launches graphs; there are none."""

    def set_enable_grad(self, flag: bool) -> None:
        """Turns the recording of gradients on or off for this thread."""
        torch.set_grad_enabled(flag)

    def enable_grad(self) -> bool:
        """Whether gradients are recorded."""
        return torch.is_grad_enabled()


_pynative_executor = _PynativeExecutor()


class MSContext:
    """``mindspore._c_expression.MSContext``: what the device is."""

    @staticmethod
    @functools.cache
    def get_instance() -> MSContext:
        return MSContext()

    def get_ascend_soc_version(self) -> str:
        """Such as ``ascend910b``; an empty string where there is no Ascend device."""
        if device.device_type() != "npu":
            return ""
        module = device.accelerator()
        assert module is not None
        # torch_npu has the full name, such as Ascend910B3; MindSpore gives the series
        name = str(module.get_device_name(module.current_device())).lower()
        for series in ("ascend910_93", "ascend910b", "ascend310p", "ascend910"):
            if name.startswith(series):
                return series
        return name


def is_reboot_node() -> bool:
    """Whether MindSpore's fault tolerance restarted this process: it is not there, so False."""
    return False


def DeviceCtx(name: str, device_id: int | None = None) -> torch.device:
    """``mindspore.DeviceCtx``: for ``with``, makes tensors on a device: CPU, GPU, Ascend or meta.

    A name of a kind of accelerator means the device of this process. Raises ValueError for another name or a
    negative index.
    """
    if name not in ("CPU", "GPU", "Ascend", "meta"):
        raise ValueError(
            f"For DeviceCtx, the name must be one of ['CPU', 'GPU', 'Ascend', 'meta'], but got {name}."
        )
    if device_id is not None and device_id < 0:
        raise ValueError("For DeviceCtx, the device_id must be greater than or equal to 0.")
    if name in ("CPU", "meta"):
        return torch.device(name.lower())
    here = device.current_device()
    return here if device_id is None or here.type == "cpu" else torch.device(here.type, device_id)


class _BFloatFamily(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return instance is torch.bfloat16


class BFloat(metaclass=_BFloatFamily):
    """``mindspore._c_expression.typing.BFloat``: ``isinstance(torch.bfloat16, BFloat)`` holds."""


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """``mindspore.jit``: compiles a function to a graph. Here the function runs as it is written.

    Used as ``@jit``, ``@jit(...)`` or ``jit(f)``. Raises TypeError for anything but a callable.
    """
    if function is None:
        return lambda decorated: jit(decorated)
    if not callable(function):
        raise TypeError(f"jit takes a function, but got {type(function).__name__}")
    return function


def fault_tolerance(**options: Any) -> None:
    """``mindspore.utils._tft_handler.init`` restarts MindSpore's own runtime after a fault: refused.

    Raises NotImplementedError. Source: MindSpore 2.10, mindspore/utils.
    """
    raise NotImplementedError(
        "MS_ENABLE_TFT asks for MindSpore's fault tolerance; use torchrun --max-restarts instead"
    )
