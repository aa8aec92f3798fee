"""``mindspore.runtime``: streams and events of the device, memory and host settings.

On a CPU there is one queue and it runs at once, so that every order asked for already holds.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from . import device
from .device import empty_cache as empty_cache
from .device import max_memory_allocated as max_memory_allocated
from .device import max_memory_reserved as max_memory_reserved
from .device import memory_allocated as memory_allocated
from .device import memory_reserved as memory_reserved
from .device import memory_stats as memory_stats
from .device import memory_summary as memory_summary
from .device import reset_peak_memory_stats as reset_peak_memory_stats
from .device import synchronize as synchronize

_log = logging.getLogger(__name__)

reset_max_memory_allocated = reset_max_memory_reserved = reset_peak_memory_stats


class Event:
    """A point in a stream. Source: MindSpore 2.10, mindspore.runtime.Event."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False) -> None:
        module = device.accelerator()
        self._timed = enable_timing
        self._at: float | None = None
        self._event = None if module is None else module.Event(enable_timing=enable_timing, blocking=blocking)

    def record(self, stream: Stream | None = None) -> None:
        """Marks the end of what ``stream`` (default: the current one) was given so far."""
        self._at = time.perf_counter()
        if self._event is not None:
            self._event.record((stream or current_stream()).native)

    def wait(self, stream: Stream | None = None) -> None:
        """Makes ``stream`` wait for the mark."""
        if self._event is not None:
            self._event.wait((stream or current_stream()).native)

    def synchronize(self) -> None:
        """Makes the host wait for the mark."""
        if self._event is not None:
            self._event.synchronize()

    def query(self) -> bool:
        """Whether the mark was reached."""
        return True if self._event is None else bool(self._event.query())

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to the other. RuntimeError without ``enable_timing`` or marks."""
        if not (self._timed and end_event._timed):
            raise RuntimeError("elapsed_time: both events need enable_timing=True")
        if self._at is None or end_event._at is None:
            raise RuntimeError("elapsed_time: both events must be recorded first")
        if self._event is not None:
            return float(self._event.elapsed_time(end_event._event))
        return (end_event._at - self._at) * 1e3


class Stream:
    """A queue of the device. Source: MindSpore 2.10, mindspore.runtime.Stream."""

    def __init__(self, priority: int = 0, *, native: Any = None) -> None:
        module = device.accelerator()
        self.native = native if native is not None or module is None else module.Stream(priority=priority)

    def record_event(self, event: Event | None = None) -> Event:
        """Marks this stream with ``event`` (default: a new one) and returns it."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Makes this stream wait for the mark."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Makes this stream wait for all that ``stream`` was given so far."""
        if self.native is not None:
            self.native.wait_stream(stream.native)

    def synchronize(self) -> None:
        """Makes the host wait for all that this stream was given."""
        if self.native is not None:
            self.native.synchronize()

    def query(self) -> bool:
        """Whether all that this stream was given has run."""
        return True if self.native is None else bool(self.native.query())

    @property
    def id(self) -> int:
        """The stream's number; 0 on a CPU."""
        return 0 if self.native is None else int(self.native.stream_id)

    stream_id = id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.native == other.native

    def __hash__(self) -> int:
        return hash(self.native)

    def __repr__(self) -> str:
        return f"Stream({device.device_type()}, id={self.id})"


class StreamCtx:
    """Work inside the ``with`` goes to the stream (None: stays where it is). Source: MindSpore 2.10,
    mindspore.runtime.StreamCtx."""

    def __init__(self, ctx_stream: Stream | None) -> None:
        if ctx_stream is not None and not isinstance(ctx_stream, Stream):
            raise TypeError(f"StreamCtx: expected a Stream, not {type(ctx_stream).__name__}")
        module = device.accelerator()
        self.stream = ctx_stream
        self._inner = None if module is None or ctx_stream is None else module.stream(ctx_stream.native)

    def __enter__(self) -> StreamCtx:
        if self._inner is not None:
            self._inner.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._inner is not None:
            self._inner.__exit__(*error)


def current_stream() -> Stream:
    """The stream that work goes to now."""
    module = device.accelerator()
    return Stream() if module is None else Stream(native=module.current_stream())


def default_stream() -> Stream:
    """The stream that work goes to outside any context."""
    module = device.accelerator()
    return Stream() if module is None else Stream(native=module.default_stream())


def set_cur_stream(stream: Stream) -> None:
    """Sends work to ``stream`` from here on."""
    module = device.accelerator()
    if module is not None:
        module.set_stream(stream.native)


def _bytes(size: str) -> int:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*GB\s*", size)
    if found is None:
        raise ValueError(f"a memory size looks like '10GB', got {size!r}")
    return int(float(found[1]) * 1024**3)


def set_memory(
    init_size: str = "2GB",
    increase_size: str = "2GB",
    max_size: str = "1024GB",
    optimize_level: str = "O0",
    huge_page_reserve_size: str = "0GB",
) -> None:
    """Caps the memory this process takes of the device at ``max_size``.

    The other settings shape MindSpore's own pool and do not change results; torch's allocator grows by
    itself, so they are checked and logged. A CPU has no cap. Raises ValueError for a malformed size or level.
    Source: MindSpore 2.10, mindspore.runtime.set_memory.
    """
    limit = _bytes(max_size)
    for size in (init_size, increase_size, huge_page_reserve_size):
        _bytes(size)
    if optimize_level not in ("O0", "O1"):
        raise ValueError(f"set_memory: optimize_level must be O0 or O1, got {optimize_level!r}")
    module = device.accelerator()
    if module is None:
        _log.info("set_memory: there is no device pool on a CPU")
        return
    total = module.mem_get_info()[1]
    if limit < total:
        module.set_per_process_memory_fraction(limit / total)
    _log.info("set_memory: at most %s; torch's allocator chooses its own steps", max_size)


def _cpus(spec: Any) -> set[int]:
    if isinstance(spec, str):
        first, _, last = spec.partition("-")
        return set(range(int(first), int(last or first) + 1))
    if isinstance(spec, int):
        return {spec}
    return set().union(*(_cpus(each) for each in spec))


def set_cpu_affinity(
    enable_affinity: bool,
    affinity_cpu_list: Any = None,
    module_to_cpu_dict: Mapping[str, Sequence[int]] | None = None,
    bind_file: str | None = None,
) -> None:
    """Binds this process to cores.

    ``affinity_cpu_list`` is ``["0-9", "12"]`` for this process, or ``{"device0": [...], ...}`` by local rank.
    Binding MindSpore's inner threads one by one (``module_to_cpu_dict``) or from a file has no counterpart:
    NotImplementedError. Enabled with no list MindSpore picks cores by the board's topology; the operating
    system keeps that choice here. Source: MindSpore 2.10, mindspore.runtime.set_cpu_affinity.
    """
    if not enable_affinity:
        return
    if module_to_cpu_dict or bind_file:
        raise NotImplementedError("set_cpu_affinity: only whole processes can be bound (affinity_cpu_list)")
    if isinstance(affinity_cpu_list, Mapping):
        key = f"device{os.environ.get('LOCAL_RANK', '0')}"
        affinity_cpu_list = affinity_cpu_list.get(key)
    if not affinity_cpu_list:
        _log.info("set_cpu_affinity: no cores named, the operating system chooses")
        return
    if not hasattr(os, "sched_setaffinity"):
        raise NotImplementedError("set_cpu_affinity: this operating system cannot bind a process")
    os.sched_setaffinity(0, _cpus(affinity_cpu_list))


def set_kernel_launch_group(thread_num: int = 2, kernel_group_num: int = 8) -> None:
    """Threads that launch kernels in MindSpore's graph mode: nothing here launches that way.
    Source: MindSpore 2.10, mindspore.runtime.set_kernel_launch_group."""
    _log.info("set_kernel_launch_group(%d, %d): torch launches eagerly", thread_num, kernel_group_num)


def launch_blocking() -> None:
    """Makes each launch wait for its kernel, from the next start of the device on.
    Source: MindSpore 2.10, mindspore.runtime.launch_blocking."""
    names = {"cuda": "CUDA_LAUNCH_BLOCKING", "npu": "ASCEND_LAUNCH_BLOCKING"}
    name = names.get(device.device_type())
    if name is not None:
        os.environ[name] = "1"


def dispatch_threads_num(threads_num: int) -> None:
    """Threads that run operators on the host: torch's intra-operator threads.
    Source: MindSpore 2.10, mindspore.runtime.dispatch_threads_num."""
    torch.set_num_threads(threads_num)
