"""The device this process computes on: ``MF_DEVICE_TYPE`` = npu | cuda | cpu, else what is there."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import logging
import os
import random
from typing import Any, NamedTuple

import numpy as np
import torch

_log = logging.getLogger(__name__)

DEVICE_TYPES = ("npu", "cuda", "cpu")
_BACKENDS = {"npu": "hccl", "cuda": "nccl", "cpu": "gloo"}
# MindSpore's names for the same things.
_VENDOR_NAMES = {"ascend": "npu", "davinci": "npu", "gpu": "cuda", "cpu": "cpu", "npu": "npu", "cuda": "cuda"}
_TARGETS = {"npu": "Ascend", "cuda": "GPU", "cpu": "CPU"}


def _npu() -> Any | None:
    """``torch.npu``, or None where there is no usable NPU. torch_npu is imported here and nowhere else."""
    if not hasattr(torch, "npu"):
        if importlib.util.find_spec("torch_npu") is None:
            return None
        importlib.import_module("torch_npu")  # it registers torch.npu
    npu = getattr(torch, "npu", None)
    return npu if npu is not None and npu.is_available() else None


@functools.cache
def device_type() -> str:
    """``npu``, ``cuda`` or ``cpu``; decided at the first call.

    Raises ValueError for an ``MF_DEVICE_TYPE`` that is none of these, RuntimeError where the device it names
    is not there.
    """
    asked = os.environ.get("MF_DEVICE_TYPE", "").strip().lower()
    if asked and asked not in DEVICE_TYPES:
        raise ValueError(f"MF_DEVICE_TYPE is {asked!r}; it must be one of {', '.join(DEVICE_TYPES)}")
    if asked == "cpu":
        return asked
    if asked in ("", "npu"):
        try:
            found = _npu() is not None
        except (ImportError, OSError) as error:
            if asked:
                raise RuntimeError(
                    f"MF_DEVICE_TYPE is npu, but torch_npu does not import: {error}"
                ) from error
            _log.warning("torch_npu is installed but does not import (%s); looking for another device", error)
            found = False
        if found:
            return "npu"
        if asked:
            raise RuntimeError("MF_DEVICE_TYPE is npu, but there is no NPU that torch_npu can use")
    if torch.cuda.is_available():
        return "cuda"
    if asked:
        raise RuntimeError("MF_DEVICE_TYPE is cuda, but torch finds no CUDA device")
    return "cpu"


def backend_name() -> str:
    """The collective library of the device: ``hccl``, ``nccl`` or ``gloo``."""
    return _BACKENDS[device_type()]


def accelerator() -> Any | None:
    """``torch.npu`` or ``torch.cuda``; None on a CPU."""
    kind = device_type()
    return None if kind == "cpu" else getattr(torch, kind)


def current_device() -> torch.device:
    """The device on which this process makes its tensors, with its index (``cpu`` has none)."""
    module = accelerator()
    return torch.device("cpu") if module is None else torch.device(device_type(), module.current_device())


def device_count() -> int:
    """How many devices of this kind the process sees; 1 on a CPU."""
    module = accelerator()
    return 1 if module is None else int(module.device_count())


def device_target() -> str:
    """MindSpore's name of the device: ``Ascend``, ``GPU`` or ``CPU``."""
    return _TARGETS[device_type()]


class DeviceInfo(NamedTuple):
    """What :func:`get_current_device` returns."""

    device_target: str
    device_id: int


def get_current_device() -> DeviceInfo:
    """MindSpore's name of the device and its index. Source: MindSpore 2.10, mindspore.get_current_device."""
    return DeviceInfo(device_target(), current_device().index or 0)


def set_device(
    device_target: str | int | torch.device | None = None, device_id: int | None = None
) -> torch.device:
    """Selects the device of this process and returns it.

    Takes an index, a ``torch.device``, a name with or without an index, or MindSpore's
    ``(device_target, device_id)``. Without an index: ``LOCAL_RANK``, else 0. The kind of device is
    ``MF_DEVICE_TYPE``'s to say; a ``device_target`` of another kind is logged and not followed, so that a
    configuration written for Ascend runs elsewhere. Source: MindSpore 2.10, mindspore.set_device.
    Raises ValueError for an unknown name or an index that is not there.
    """
    index = device_id
    if isinstance(device_target, int):
        index = device_target
    elif device_target is not None:
        name, _, suffix = str(device_target).partition(":")
        kind = _VENDOR_NAMES.get(name.lower())
        if kind is None or (suffix and not suffix.isdigit()):
            raise ValueError(f"set_device: unknown device {device_target!r}")
        if kind != device_type():
            _log.warning("set_device(%r): this process runs on %s", str(device_target), device_type())
        elif suffix:
            index = int(suffix)
    module = accelerator()
    if module is None:
        return torch.device("cpu")
    if index is None:
        index = int(os.environ.get("LOCAL_RANK", "0"))
    if not 0 <= index < module.device_count():
        raise ValueError(f"set_device: index {index}, but there are {module.device_count()} devices")
    module.set_device(index)
    return torch.device(device_type(), index)


_seed: int | None = None


def manual_seed(seed: int) -> torch.Generator:
    """Seeds torch on every device and returns the CPU generator. Source: mindspore.manual_seed."""
    return torch.manual_seed(seed)


def set_seed(seed: int) -> None:
    """Seeds numpy, Python's ``random`` and torch on every device.

    MindSpore's ``set_seed`` seeds numpy, its initialisers and its data pipeline; in a port those draw from
    numpy, torch and ``random``. Raises TypeError for anything but an int, ValueError for a negative one.
    Source: MindSpore 2.10, mindspore.set_seed.
    """
    global _seed
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise TypeError(f"set_seed: the seed must be an int, not {type(seed).__name__}")
    if seed < 0:
        raise ValueError(f"set_seed: the seed must not be negative, got {seed}")
    np.random.seed(seed)
    random.seed(seed)
    torch.manual_seed(seed)
    _seed = seed


def get_seed() -> int | None:
    """The seed last given to :func:`set_seed`, else None. Source: MindSpore 2.10, mindspore.get_seed."""
    return _seed


def set_deterministic(deterministic: bool = True) -> None:
    """Deterministic kernels where there are any, an error where an operation has none.

    torch would fill uninitialised memory with NaN as well; MindSpore does not, and its code may leave a bias that
    no checkpoint holds as it was made. Here such memory is zero: see `uninitialised`.
    Source: MindSpore 2.10, mindspore.set_deterministic; `mint.empty` under it, run on CPU.
    """
    if not isinstance(deterministic, bool):
        raise TypeError(f"set_deterministic: expected a bool, not {type(deterministic).__name__}")
    kind = device_type()
    if kind == "cuda":
        if deterministic:
            # cuBLAS reads it when its handle is made; torch refuses deterministic matmul without it.
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.backends.cudnn.benchmark = False
    elif kind == "npu":
        os.environ["HCCL_DETERMINISTIC"] = "true" if deterministic else "false"
    torch.use_deterministic_algorithms(deterministic)
    torch.utils.deterministic.fill_uninitialized_memory = not deterministic  # type: ignore[attr-defined]


def uninitialised(tensor: torch.Tensor) -> torch.Tensor:
    """A new tensor that nobody has written: as it is, but zero where deterministic results are asked for."""
    return tensor.zero_() if torch.are_deterministic_algorithms_enabled() else tensor


def synchronize() -> None:
    """Waits until the device has run everything given to it. Source: MindSpore 2.10, runtime.synchronize."""
    module = accelerator()
    if module is not None:
        module.synchronize()


def memory_allocated() -> int:
    """Bytes of device memory in tensors; 0 on a CPU, whose memory torch does not count."""
    module = accelerator()
    return 0 if module is None else int(module.memory_allocated())


def max_memory_allocated() -> int:
    """The highest :func:`memory_allocated` since the start or the last reset."""
    module = accelerator()
    return 0 if module is None else int(module.max_memory_allocated())


def memory_reserved() -> int:
    """Bytes of device memory that the allocator holds; 0 on a CPU."""
    module = accelerator()
    return 0 if module is None else int(module.memory_reserved())


def max_memory_reserved() -> int:
    """The highest :func:`memory_reserved` since the start or the last reset."""
    module = accelerator()
    return 0 if module is None else int(module.max_memory_reserved())


def memory_stats() -> dict[str, Any]:
    """MindSpore's totals: reserved, allocated, idle, eager-free and reserved/allocated peaks, in bytes.
    Source: MindSpore 2.10, runtime.memory_stats."""
    reserved, allocated = memory_reserved(), memory_allocated()
    return {
        "total_reserved_memory": reserved,
        "total_allocated_memory": allocated,
        "total_idle_memory": reserved - allocated,
        "total_eager_free_memory": 0,
        "max_reserved_memory": max_memory_reserved(),
        "max_allocated_memory": max_memory_allocated(),
        "common_mem_pool_stats": {},
        "persistent_mem_pool_stats": {},
    }


def memory_summary() -> str:
    """A readable account of the device's memory; on a CPU one line that says there is none."""
    module = accelerator()
    return "cpu: torch keeps no memory statistics" if module is None else str(module.memory_summary())


def reset_peak_memory_stats() -> None:
    """Restarts the peaks."""
    module = accelerator()
    if module is not None:
        module.reset_peak_memory_stats()


def empty_cache() -> None:
    """Gives memory that the allocator holds and no tensor uses back to the device."""
    module = accelerator()
    if module is not None:
        module.empty_cache()


class _OpPrecision:
    """``mindspore.device_context.ascend.op_precision``: how matrix units round. What a device cannot be told
    raises NotImplementedError rather than running with other numbers."""

    def cube_math_type(self, value: int) -> None:
        """4: bfloat16 matrix products add in float32. A CPU computes so; CUDA does once reduced-precision
        reductions are off; an NPU has the same switch."""
        if value != 4:
            raise NotImplementedError(
                f"op_precision.cube_math_type({value!r}): only 4 has a torch counterpart"
            )
        kind = device_type()
        if kind == "cuda":
            torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        elif kind == "npu":
            npu = torch.get_device_module("npu")
            if not hasattr(npu, "CubeMathType"):
                raise RuntimeError("op_precision.cube_math_type: this torch_npu has no CubeMathType")
            npu.matmul.cube_math_type = npu.CubeMathType(value)

    def precision_mode(self, mode: str) -> None:
        """Only the modes that keep each operation's dtype: torch has no global rewriting of dtypes."""
        if mode not in ("must_keep_origin_dtype", "allow_fp32_to_fp16", "force_fp32", "allow_mix_precision"):
            raise ValueError(f"op_precision.precision_mode: unknown mode {mode!r}")
        if mode != "must_keep_origin_dtype":
            raise NotImplementedError(
                f"op_precision.precision_mode({mode!r}): torch keeps each operation's dtype"
            )

    def matmul_allow_hf32(self, value: bool) -> None:
        """Lets float32 matrix products round their inputs (HF32 on an NPU, TF32 on CUDA)."""
        kind = device_type()
        if kind == "npu":
            torch.get_device_module("npu").matmul.allow_hf32 = value
        elif kind == "cuda":
            torch.backends.cuda.matmul.allow_tf32 = value
        elif value:
            _log.info("matmul_allow_hf32: a CPU computes in float32")

    def conv_allow_hf32(self, value: bool) -> None:
        """The same for convolutions."""
        kind = device_type()
        if kind == "npu":
            torch.get_device_module("npu").conv.allow_hf32 = value
        elif kind == "cuda":
            torch.backends.cudnn.allow_tf32 = value
        elif value:
            _log.info("conv_allow_hf32: a CPU computes in float32")


op_precision = _OpPrecision()
