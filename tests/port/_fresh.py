"""Runs scenarios on a port, each in a process of its own, forked from one that has torch and its neighbours.

Usage: python _fresh.py PORT SCENARIOS.json OUT.jsonl

A scenario: {"name", "import": [module, …]} imports each module first in a process of its own;
{"name", "train": [override, …], "hide": [dotted torch name, …], "path": [folder, …]} trains with those names
hidden from the port's own files (torch itself keeps them). Every process refuses MindSpore and
hyper_parallel and records who asks.
"""

import builtins
import contextlib
import importlib
import importlib.abc
import json
import os
import re
import sys
import traceback
from pathlib import Path
from typing import Any

CONFIG = "configs/deepseek3/pretrain_deepseek3_single_card.yaml"
FORBIDDEN = ("mindspore", "hyper_parallel")
LOSS = re.compile(r" loss:\s+([0-9.]+)")
# What the port's modules import from elsewhere: loaded once, before any fork.
NEIGHBOURS = (
    "torch.distributed.fsdp",
    "transformers",
    "datasets",
    "scipy.linalg",
    "sentencepiece",
    "tiktoken",
)


class Guard(importlib.abc.MetaPathFinder):
    """Refuses the framework, and remembers each attempt."""

    def __init__(self) -> None:
        self.attempts: list[str] = []

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raises for the framework's names."""
        if name.partition(".")[0] in FORBIDDEN:
            self.attempts.append(name)
            raise ModuleNotFoundError(f"{name} is blocked", name=name)


def hide(names: list[str], port: str) -> None:
    """Lets the port's files find no module or member of these names."""
    if not names:
        return
    importing, asking = importlib.import_module, builtins.__import__

    def caller() -> str:
        frame = sys._getframe(2)
        while frame.f_back is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        return frame.f_code.co_filename

    def import_module(name: str, package: str | None = None) -> Any:
        if name in names and caller().startswith(port):
            raise ModuleNotFoundError(f"{name} is hidden", name=name)
        return importing(name, package)

    def import_(name: str, space: Any = None, local: Any = None, wanted: Any = (), level: int = 0) -> Any:
        # A list is what torch's own C code passes.
        asked = {name, *(f"{name}.{part}" for part in wanted or ())}
        if asked & {*names} and not isinstance(wanted, list) and not level and caller().startswith(port):
            raise ModuleNotFoundError(f"{name} is hidden", name=name)
        return asking(name, space, local, wanted, level)

    importlib.import_module, builtins.__import__ = import_module, import_
    for name in names:
        module, _, member = name.rpartition(".")
        if callable(getattr(sys.modules.get(module), member, None)):  # torch's own modules have taken it
            delattr(sys.modules[module], member)


def source(found: Any, modules: list[str], hidden: list[str]) -> str | None:
    """The first module, of those the version layer asks in turn, that it can have an object from."""
    for name in modules:
        if name not in hidden and getattr(sys.modules.get(name), found.__name__, None) is found:
            return name
    return None


def train(scenario: dict[str, Any], port: str, guard: Guard) -> dict[str, Any]:
    """Losses, what the version layer chose, and which of the port's modules were loaded."""
    hidden = scenario.get("hide", [])
    hide(hidden, port)
    sys.path[:0] = scenario.get("path", [])
    if scenario.get("path"):  # a package that is there, and that nobody may import
        sys.meta_path.remove(guard)
    import torch
    from mindformers.pynative import _backend
    from mindformers.pynative._backend import compat

    used = []
    own = compat._own_rms_norm
    compat._own_rms_norm = lambda *values: used.append(1) or own(*values)
    x = torch.arange(6.0).reshape(2, 3)
    norm = _backend.rms_norm(x, (3,), torch.ones(3), 1e-6)
    assert torch.allclose(norm, x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt())
    runner = importlib.import_module("run_pynative")
    with Path("train.log").open("w") as log, contextlib.redirect_stdout(log):
        runner.main(["--config", f"{port}/{CONFIG}", *scenario["train"]])
    text = "".join(p.read_text() for p in [*Path(os.environ["LOG_MF_PATH"]).rglob("*.log")] if p.is_file())
    return {
        "losses": [float(loss) for loss in LOSS.findall(text)],
        "DTensor": compat.HAS_DTENSOR and source(compat.DTensor, compat._TENSOR, hidden),
        "fully_shard": compat.HAS_FULLY_SHARD and source(compat.fully_shard, compat._FSDP, hidden),
        "rms_norm": len(used),
        "device": str(_backend.current_device()),
        "modules": sorted(name for name in sys.modules if name.partition(".")[0] == "mindformers"),
    }


def forked(work: Any) -> dict[str, Any]:
    """The result of a function in a process of its own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            result = work()
        except BaseException:
            result = {"error": traceback.format_exc()[-3000:]}
        with os.fdopen(write, "w") as stream:
            json.dump(result, stream)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"error": "the process died"}


def imported(modules: list[str], guard: Guard) -> dict[str, Any]:
    """Failures and attempts of each module that is imported first, after the top package."""

    def first(name: str) -> dict[str, Any]:
        importlib.import_module(name)
        return {"attempts": guard.attempts}

    importlib.import_module(modules[0].partition(".")[0])
    results = {name: forked(lambda name=name: first(name)) for name in modules}
    return {
        "failed": {n: r for n, r in results.items() if "error" in r or r["attempts"]},
        "count": len(results),
    }


def main() -> None:
    """Runs every scenario, in a folder of its own."""
    port, scenarios, out = os.path.realpath(sys.argv[1]), *map(Path, sys.argv[2:])
    guard = Guard()
    sys.meta_path.insert(0, guard)
    for name in NEIGHBOURS:
        importlib.import_module(name)
    asked, guard.attempts[:] = [*guard.attempts], []
    with out.open("w") as stream:
        for scenario in json.loads(scenarios.read_text()):
            folder = Path(scenario["name"]).absolute()
            folder.mkdir()

            def work(scenario: dict[str, Any] = scenario, folder: Path = folder) -> dict[str, Any]:
                os.chdir(folder)
                os.environ["LOG_MF_PATH"] = str(folder / "log")
                sys.path.insert(0, scenario.get("port", port))
                if "import" in scenario:
                    result = imported(scenario["import"], guard)
                else:
                    result = train(scenario, os.path.realpath(scenario.get("port", port)), guard)
                return result | {"attempts": guard.attempts}

            print(
                json.dumps({"name": scenario["name"], "neighbours": asked} | forked(work)),
                file=stream,
                flush=True,
            )


if __name__ == "__main__":
    main()
