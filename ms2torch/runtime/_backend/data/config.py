"""``mindspore.dataset.config``: settings of the data pipeline. Source: MindSpore 2.10.

Settings that change what the pipeline gives (the seed) act. Settings that only change how fast it runs are
kept and read back; the number of workers and the prefetch size act as defaults of the datasets made later.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from .. import device

_INT32_MAX = 2147483647
_UINT32_MAX = 4294967295
# std::mt19937's default; with it, unseeded shuffles differ from run to run.
UNSEEDED = 5489

_seed = UNSEEDED
# The global seed when this module's was set: a later global seed takes over, as in MindSpore.
_global_seed: int | None = None
_num_parallel_workers = 1
_prefetch_size = 16
_numa_enable = False
_settings: dict[str, Any] = {
    "auto_num_workers": False,
    "auto_offload": False,
    "autotune_interval": 0,
    "callback_timeout": 60,
    "enable_shared_mem": True,
    "enable_watchdog": True,
    "monitor_sampling_interval": 1000,
    "multiprocessing_timeout_interval": 300,
    "multiprocessing_start_method": "fork",
    "fast_recovery": True,
}


def _positive(value: Any, what: str, unit: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{unit} isn't of type int.")
    if not 0 < value <= _INT32_MAX:
        raise ValueError(f"{what} given is not within the required range (0, INT32_MAX(2147483647)].")
    return value


def set_seed(seed: int) -> None:
    """Seed of samplers and shuffles; also seeds ``random`` and ``numpy.random``, as MindSpore does.

    Raises TypeError for no int, ValueError outside [0, 2**32 - 1].
    """
    global _seed, _global_seed
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise TypeError("seed isn't of type int.")
    if not 0 <= seed <= _UINT32_MAX:
        raise ValueError("seed given is not within the required range [0, UINT32_MAX(4294967295)].")
    _seed, _global_seed = seed, device.get_seed()
    random.seed(seed)
    np.random.seed(seed)


def get_seed() -> int:
    """The seed set here or by ``set_seed`` of the device; 5489 where none was set."""
    overall = device.get_seed()
    return _seed if overall is None or overall == _global_seed else overall


def order_seed() -> int:
    """The seed that a new iterator shuffles with: a fresh random one where none was set."""
    seed = get_seed()
    return random.SystemRandom().randint(0, _UINT32_MAX) if seed == UNSEEDED else seed


def set_num_parallel_workers(num: int) -> None:
    """Default number of workers of datasets made later. Raises TypeError, ValueError for no positive int."""
    global _num_parallel_workers
    _num_parallel_workers = _positive(num, "Number of parallel workers", "num")


def get_num_parallel_workers() -> int:
    return _num_parallel_workers


def set_prefetch_size(size: int) -> None:
    """How many rows workers read ahead. Raises TypeError, ValueError for no positive int."""
    global _prefetch_size
    _prefetch_size = _positive(size, "size", "size")


def get_prefetch_size() -> int:
    return _prefetch_size


def set_numa_enable(numa_enable: bool) -> None:
    """Kept and read back: where the process' memory lies is the launcher's to say. Raises TypeError."""
    global _numa_enable
    if not isinstance(numa_enable, bool):
        raise TypeError("numa_enable must be a boolean dtype.")
    _numa_enable = numa_enable


def get_numa_enable() -> bool:
    return _numa_enable


def set_auto_num_workers(enable: bool) -> None:
    _settings["auto_num_workers"] = enable


def get_auto_num_workers() -> bool:
    return bool(_settings["auto_num_workers"])


def set_auto_offload(offload: bool) -> None:
    _settings["auto_offload"] = offload


def get_auto_offload() -> bool:
    return bool(_settings["auto_offload"])


def set_autotune_interval(interval: int) -> None:
    _settings["autotune_interval"] = interval


def get_autotune_interval() -> int:
    return int(_settings["autotune_interval"])


def set_enable_autotune(enable: bool, filepath_prefix: str | None = None) -> None:
    """Tuning of worker counts; there is no tuner here, so only False is taken. Raises NotImplementedError."""
    if enable:
        raise NotImplementedError(
            "mindspore.dataset.config.set_enable_autotune(True) has no torch equivalent"
        )


def get_enable_autotune() -> bool:
    return False


def set_callback_timeout(timeout: int) -> None:
    _settings["callback_timeout"] = _positive(timeout, "timeout", "timeout")


def get_callback_timeout() -> int:
    return int(_settings["callback_timeout"])


def set_enable_shared_mem(enable: bool) -> None:
    _settings["enable_shared_mem"] = enable


def get_enable_shared_mem() -> bool:
    return bool(_settings["enable_shared_mem"])


def set_enable_watchdog(enable: bool) -> None:
    _settings["enable_watchdog"] = enable


def get_enable_watchdog() -> bool:
    return bool(_settings["enable_watchdog"])


def set_fast_recovery(fast_recovery: bool) -> None:
    """Kept and read back: resuming here always gives the order that slow recovery gives."""
    _settings["fast_recovery"] = fast_recovery


def get_fast_recovery() -> bool:
    return bool(_settings["fast_recovery"])


def set_monitor_sampling_interval(interval: int) -> None:
    _settings["monitor_sampling_interval"] = _positive(interval, "interval", "interval")


def get_monitor_sampling_interval() -> int:
    return int(_settings["monitor_sampling_interval"])


def set_multiprocessing_timeout_interval(interval: int) -> None:
    _settings["multiprocessing_timeout_interval"] = _positive(interval, "interval", "interval")


def get_multiprocessing_timeout_interval() -> int:
    return int(_settings["multiprocessing_timeout_interval"])


def set_multiprocessing_start_method(start_method: str = "fork") -> None:
    """How worker processes start: fork or spawn. Raises TypeError, ValueError."""
    if not isinstance(start_method, str):
        raise TypeError("start_method isn't of type str.")
    if start_method not in ("fork", "spawn"):
        raise ValueError("start_method is not within the supported methods: fork, spawn.")
    _settings["multiprocessing_start_method"] = start_method


def get_multiprocessing_start_method() -> str:
    return str(_settings["multiprocessing_start_method"])
