"""The random state of a process, written beside a checkpoint so that a resumed run draws what an unbroken one
would: torch on the CPU and on the device, numpy and Python's ``random``.

MindFormers writes none: there dropout after a resume starts again from the seed. Files are torch pickles of
tensors and plain values, read with ``weights_only``.
"""

from __future__ import annotations

import os
import random
from typing import Any

import numpy as np
import torch

from . import device, distributed


def Generator() -> torch.Generator:
    """A random generator on the device that computes. MindSpore 2.10: mindspore.Generator."""
    return torch.Generator(device.current_device())


def capture() -> dict[str, Any]:
    """The state of all generators, as tensors (uint8, uint32 as int64) and plain values."""
    name, keys, position, has_gauss, gauss = np.random.get_state(legacy=True)
    version, words, next_gauss = random.getstate()
    accelerator = device.accelerator()
    return {
        "cpu": torch.get_rng_state(),
        "device": None if accelerator is None else accelerator.get_rng_state().cpu(),
        "device_type": device.device_type(),
        "numpy": [
            str(name),
            torch.from_numpy(np.asarray(keys, dtype=np.int64)),
            int(position),
            int(has_gauss),
            float(gauss),
        ],
        "python": [int(version), torch.tensor(words, dtype=torch.int64), next_gauss],
    }


def apply(state: dict[str, Any]) -> None:
    """Puts a captured state back. The device's part is left alone where the kind of device differs."""
    torch.set_rng_state(state["cpu"])
    accelerator = device.accelerator()
    if accelerator is not None and state["device_type"] == device.device_type():
        accelerator.set_rng_state(state["device"])
    name, keys, position, has_gauss, gauss = state["numpy"]
    np.random.set_state((name, keys.numpy().astype(np.uint32), position, has_gauss, gauss))
    version, words, next_gauss = state["python"]
    random.setstate((version, tuple(words.tolist()), next_gauss))


def file_name(folder: str | os.PathLike[str]) -> str:
    """This rank's file in a checkpoint's folder; it names the rank and the number of ranks."""
    rank, size = distributed.get_rank(), distributed.get_world_size()
    return os.path.join(folder, f"random_state-{rank:07d}-{size:07d}.pt")


def save(folder: str | os.PathLike[str]) -> str:
    """Writes this rank's state into an existing folder, whole or not at all, and returns the file's path."""
    path = file_name(folder)
    temporary = f"{path}.{os.getpid()}.tmp"
    torch.save(capture(), temporary)
    os.replace(temporary, path)
    return path


def load(folder: str | os.PathLike[str]) -> dict[str, Any] | None:
    """What :func:`save` wrote for this rank and this number of ranks; None where there is no such file."""
    path = file_name(folder)
    if not os.path.isfile(path):
        return None
    state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return state
