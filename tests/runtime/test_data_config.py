"""Settings of mindspore.dataset.config: MindSpore's defaults, what is kept, what is refused."""

from typing import Any

import pytest

from ms2torch.runtime._backend.data import config

# name: (default, another value)
SETTINGS: dict[str, tuple[Any, Any]] = {
    "auto_num_workers": (False, True),
    "auto_offload": (False, True),
    "autotune_interval": (0, 30),
    "callback_timeout": (60, 90),
    "enable_shared_mem": (True, False),
    "enable_watchdog": (True, False),
    "fast_recovery": (True, False),
    "monitor_sampling_interval": (1000, 10),
    "multiprocessing_start_method": ("fork", "spawn"),
    "multiprocessing_timeout_interval": (300, 5),
    "numa_enable": (False, True),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_read_back(name: str) -> None:
    default, other = SETTINGS[name]
    read, write = getattr(config, f"get_{name}"), getattr(config, f"set_{name}")
    assert read() == default
    try:
        write(other)
        assert read() == other
    finally:
        write(default)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("callback_timeout", 0, ValueError),
        ("callback_timeout", 1.5, TypeError),
        ("monitor_sampling_interval", True, TypeError),
        ("multiprocessing_timeout_interval", 2**31, ValueError),
        ("multiprocessing_start_method", 1, TypeError),
        ("multiprocessing_start_method", "forkserver", ValueError),
    ],
)
def test_wrong_values(name: str, value: Any, error: type[Exception]) -> None:
    before = getattr(config, f"get_{name}")()
    with pytest.raises(error):
        getattr(config, f"set_{name}")(value)
    assert getattr(config, f"get_{name}")() == before


def test_no_tuner() -> None:
    config.set_enable_autotune(False)
    assert config.get_enable_autotune() is False
