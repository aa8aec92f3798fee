"""``mindspore.profiler`` on ``torch.profiler``, and on ``torch_npu.profiler`` where the device is an NPU."""

from __future__ import annotations

import dataclasses
import enum
import importlib
import logging
import os
import socket
from collections.abc import Callable, Iterable
from typing import Any

import torch.profiler

from . import device
from .groups import get_rank

_log = logging.getLogger(__name__)


class ProfilerActivity(enum.Enum):
    """What is recorded: the host, or the device. NPU and GPU both mean this process's device."""

    NPU = "NPU"
    GPU = "GPU"
    CPU = "CPU"


class ProfilerLevel(enum.Enum):
    """How much an NPU records. Elsewhere there is one level."""

    LevelNone = "LevelNone"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


class AicoreMetrics(enum.Enum):
    """Counters of an NPU's cores."""

    PipeUtilization = "PipeUtilization"
    ArithmeticUtilization = "ArithmeticUtilization"
    Memory = "Memory"
    MemoryL0 = "MemoryL0"
    MemoryUB = "MemoryUB"
    ResourceConflictRatio = "ResourceConflictRatio"
    L2Cache = "L2Cache"
    MemoryAccess = "MemoryAccess"
    AiCoreNone = "None"


class ExportType(enum.Enum):
    """The files an NPU's profiler writes."""

    Db = "db"
    Text = "text"


@dataclasses.dataclass
class _ExperimentalConfig:
    """Settings of an NPU's profiler; elsewhere only their defaults mean anything.
    Source: MindSpore 2.10, mindspore.profiler._ExperimentalConfig."""

    profiler_level: ProfilerLevel = ProfilerLevel.Level0
    aic_metrics: AicoreMetrics = AicoreMetrics.AiCoreNone
    l2_cache: bool = False
    mstx: bool = False
    data_simplification: bool = True
    export_type: list[ExportType] | None = None
    mstx_domain_include: list[str] | None = None
    mstx_domain_exclude: list[str] | None = None
    sys_io: bool = False
    sys_interconnection: bool = False
    host_sys: list[Any] | None = None


def _npu_config(config: _ExperimentalConfig) -> Any:
    torch_npu: Any = importlib.import_module("torch_npu")
    levels = torch_npu.profiler.ProfilerLevel
    exports = torch_npu.profiler.ExportType
    level = config.profiler_level.value
    return torch_npu.profiler._ExperimentalConfig(
        profiler_level=levels.Level_none if level == "LevelNone" else getattr(levels, level),
        aic_metrics=getattr(torch_npu.profiler.AiCMetrics, config.aic_metrics.name),
        l2_cache=config.l2_cache,
        mstx=config.mstx,
        data_simplification=config.data_simplification,
        export_type=[getattr(exports, each.name) for each in config.export_type or [ExportType.Text]],
        mstx_domain_include=config.mstx_domain_include,
        mstx_domain_exclude=config.mstx_domain_exclude,
        sys_io=config.sys_io,
        sys_interconnection=config.sys_interconnection,
    )


def _module() -> Any:
    """The profiler of this device."""
    if device.device_type() == "npu":
        torch_npu: Any = importlib.import_module("torch_npu")
        return torch_npu.profiler
    return torch.profiler


def schedule(
    *, wait: int, active: int, warmup: int = 0, repeat: int = 0, skip_first: int = 0
) -> Callable[[int], Any]:
    """Which steps are recorded. Source: MindSpore 2.10, mindspore.profiler.schedule."""
    made = _module().schedule(wait=wait, warmup=warmup, active=active, repeat=repeat, skip_first=skip_first)
    return made  # type: ignore[no-any-return]


def tensorboard_trace_handler(
    dir_name: str | None = None,
    worker_name: str | None = None,
    analyse_flag: bool = True,
    async_mode: bool = False,
) -> Callable[[Any], None]:
    """Writes each recorded cycle under ``dir_name`` (default ``./data``) when it is ready.
    Source: MindSpore 2.10, mindspore.profiler.tensorboard_trace_handler."""
    folder = dir_name or os.path.join(os.getcwd(), "data")
    if device.device_type() == "npu":
        torch_npu: Any = importlib.import_module("torch_npu")
        made = torch_npu.profiler.tensorboard_trace_handler(
            folder, worker_name, analyse_flag=analyse_flag, async_mode=async_mode
        )
    else:
        worker = worker_name or f"{socket.gethostname()}_rank{get_rank()}"
        made = torch.profiler.tensorboard_trace_handler(folder, worker)
    return made  # type: ignore[no-any-return]


def _activities(asked: Iterable[ProfilerActivity] | None) -> list[Any] | None:
    if asked is None:
        return None
    known = _module().ProfilerActivity
    names = {"cpu": "CPU", "cuda": "CUDA", "npu": "NPU"}
    here = names[device.device_type()]
    wanted = {"CPU" if each is ProfilerActivity.CPU else here for each in asked}
    return [getattr(known, name) for name in sorted(wanted)]


class profile:
    """Records steps between ``start`` and ``stop``, or inside ``with``.
    Source: MindSpore 2.10, mindspore.profiler.profile."""

    def __init__(
        self,
        activities: Iterable[ProfilerActivity] | None = None,
        with_stack: bool = False,
        profile_memory: bool = False,
        data_process: bool = False,
        parallel_strategy: bool = False,
        start_profile: bool = True,
        hbm_ddr: bool = False,
        pcie: bool = False,
        sync_enable: bool = True,
        record_shapes: bool = False,
        schedule: Callable[[int], Any] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        experimental_config: _ExperimentalConfig | None = None,
    ) -> None:
        del start_profile, sync_enable  # start() and the context start; torch always synchronises
        for name, value in (
            ("data_process", data_process),
            ("parallel_strategy", parallel_strategy),
            ("hbm_ddr", hbm_ddr),
            ("pcie", pcie),
        ):
            if value:
                _log.warning(
                    "profile: %s is collected by MindSpore's own runtime and not recorded here", name
                )
        options: dict[str, Any] = {
            "activities": _activities(activities),
            "schedule": schedule,
            "on_trace_ready": on_trace_ready,
            "record_shapes": record_shapes,
            "profile_memory": profile_memory,
            "with_stack": with_stack,
        }
        if experimental_config is not None and device.device_type() == "npu":
            options["experimental_config"] = _npu_config(experimental_config)
        self._inner = _module().profile(**options)

    def start(self) -> None:
        """Begins recording as the schedule says."""
        self._inner.start()

    def stop(self) -> None:
        """Ends recording and hands over what is left."""
        self._inner.stop()

    def step(self) -> None:
        """Says that a step is over."""
        self._inner.step()

    def add_metadata(self, key: str, value: str) -> None:
        """Adds a string to the trace."""
        self._inner.add_metadata(key, value)

    def add_metadata_json(self, key: str, value: str) -> None:
        """Adds a JSON text to the trace."""
        self._inner.add_metadata_json(key, value)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


class Profiler:
    """The older interface: records from the start (or from ``start()``) to ``stop()`` and writes under
    ``output_path``. Source: MindSpore 2.10, mindspore.profiler.Profiler.

    Raises NotImplementedError for an argument without a counterpart here.
    """

    def __init__(
        self,
        *,
        start_profile: bool = True,
        output_path: str = "./data",
        profiler_level: ProfilerLevel | None = None,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], Any] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        profile_memory: bool = False,
        with_stack: bool = False,
        record_shapes: bool = False,
        aic_metrics: AicoreMetrics = AicoreMetrics.AiCoreNone,
        l2_cache: bool = False,
        mstx: bool = False,
        **others: Any,
    ) -> None:
        asked = sorted(name for name, value in others.items() if value)
        if asked:
            raise NotImplementedError(f"Profiler: no counterpart of {', '.join(asked)}")
        config = _ExperimentalConfig(
            profiler_level=profiler_level or ProfilerLevel.Level0,
            aic_metrics=aic_metrics,
            l2_cache=l2_cache,
            mstx=mstx,
        )
        self._inner = profile(
            activities=activities,
            schedule=schedule,
            on_trace_ready=on_trace_ready or tensorboard_trace_handler(output_path),
            profile_memory=profile_memory,
            with_stack=with_stack,
            record_shapes=record_shapes,
            experimental_config=config,
        )
        self._running = False
        if start_profile:
            self.start()

    def start(self) -> None:
        """Begins recording."""
        self._inner.start()
        self._running = True

    def step(self) -> None:
        """Says that a step is over."""
        self._inner.step()

    def stop(self) -> None:
        """Ends recording and writes it."""
        if self._running:
            self._inner.stop()
            self._running = False

    def analyse(self, *args: Any, **kwargs: Any) -> None:
        """Ends recording; the handler has written what there is to analyse."""
        self.stop()

    def __enter__(self) -> Profiler:
        if not self._running:
            self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
