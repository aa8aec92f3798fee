"""Every layout of a port against one process: the same losses and gradient norms?

    python tests/distributed/matrix.py --port PORT [--only TEXT] [--ranks 4] [--faults]

MindFormers is imported once; each layout's ranks are forks, in a process group of their own. `--faults`
plants known faults, one after another, and wants each to show.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import socket
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import faults
from layouts import LAYOUTS, REFERENCES


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def load(port: Path) -> None:
    """Import the port once for all layouts; nothing here starts a thread or a process group."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("MF_DEVICE_TYPE", "cpu")
    os.environ.setdefault("LOG_MF_PATH", tempfile.mkdtemp(prefix="layouts-log-"))
    sys.path.insert(0, str(port))
    for blocked in ("mindspore", "hyper_parallel"):
        sys.modules[blocked] = None  # type: ignore[assignment]
    import torch

    torch.set_num_threads(1)
    # What an optimizer's first step imports, and the entry points.
    import mindformers.core.lr.lr_schedule
    import mindformers.models.deepseek3
    import mindformers.pynative.trainer  # noqa: F401
    import torch._dynamo


def child(work: Path, job: Any, args: tuple[Any, ...], rank: int, world: int, port: int) -> None:
    """One rank: its output goes to a file, its result beside it."""
    log = os.open(work / f"rank{rank}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(work)
    os.environ.update(
        RANK=str(rank),
        WORLD_SIZE=str(world),
        LOCAL_RANK=str(rank),
        LOCAL_WORLD_SIZE=str(world),
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT=str(port),
        MF_TRACEBACK="1",
    )
    code = 1
    try:
        made = job(rank, world, *args)
        (work / f"rank{rank}.json").write_text(json.dumps(made))
        code = 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def launch(job: Any, args: tuple[Any, ...], world: int, timeout: float, folder: Path | None = None) -> Any:
    """``job(rank, world, *args)`` on every rank of a new world: ``(results, "")``, or ``(None, why)``."""
    with tempfile.TemporaryDirectory() as made:
        work = folder or Path(made)
        context = multiprocessing.get_context("fork")
        port = free_port()
        ranks = [
            context.Process(target=child, args=(work, job, args, rank, world, port), daemon=True)
            for rank in range(world)
        ]
        for process in ranks:
            process.start()
        end = time.monotonic() + timeout
        while time.monotonic() < end and any(p.is_alive() for p in ranks):
            if any(p.exitcode for p in ranks):
                time.sleep(0.3)  # others that fail for the same reason say so themselves
                break
            time.sleep(0.02)
        first = next((rank for rank, p in enumerate(ranks) if p.exitcode), None)
        late = first is None and any(p.is_alive() for p in ranks)
        for process in ranks:
            if process.is_alive():
                process.kill()
            process.join()
        if late:
            return None, f"no answer in {timeout:g} s"
        if first is not None:
            return None, f"rank {first}: {last_error(work / f'rank{first}.log')}"
        return [json.loads((work / f"rank{rank}.json").read_text()) for rank in range(world)], ""


def last_error(log: Path) -> str:
    """The first cause that a traceback gives, else the last line."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    causes = [line for line in lines if line[:1].isalpha() and "Error" in line.split(":")[0]]
    return (causes or lines[-1:] or ["nothing printed"])[0][:300]


def losses(rank: int, world: int, overrides: dict[str, Any], fault: str | None) -> Any:
    """What a rank of a layout reports: its steps, and whether a process group was up."""
    import tiny
    import torch.distributed as dist

    if fault:
        faults.FAULTS[fault]()
    trainer = tiny.trainer_for(overrides, rank, world)
    grouped = dist.is_initialized()
    return {"steps": tiny.train(trainer), "grouped": grouped}


def measure(overrides: dict[str, Any], world: int, timeout: float, fault: str | None = None) -> Any:
    """``([[loss, norm], …], "")`` of a layout, or ``(None, why)``."""
    made, why = launch(losses, (overrides, fault), world, timeout)
    if made is None:
        return None, why
    if not all(rank["grouped"] for rank in made):
        return None, "no process group"
    known = [rank["steps"] for rank in made if rank["steps"]]
    if any(steps != known[0] for steps in known):
        return None, f"ranks disagree: {known}"
    return known[0], ""


def compare(layout: Any, got: Any, want: Any) -> tuple[bool, str]:
    """Whether a layout's steps equal one process's, and by how much they differ."""
    loss = max(abs(a[0] - b[0]) for a, b in zip(got, want, strict=True))
    norm = max(abs(a[1] / layout.part - b[1]) / b[1] for a, b in zip(got, want, strict=True))
    same = loss < layout.loss and norm < layout.norm  # False for NaN
    return same, f"{len(got)} steps, loss off by {loss:.1e}, norm by {norm:.1e}"


class Matrix:
    """References as they are needed, and the count of what passed."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.known: dict[str, Any] = {}
        self.passed = self.tried = 0

    def reference(self, name: str) -> Any:
        if name not in self.known:
            self.known[name], why = measure(REFERENCES[name], 1, self.timeout)
            print(f"reference {name}: {self.known[name] or why}", flush=True)
        return self.known[name]

    def run(self, name: str, fault: str | None = None) -> None:
        """One line: whether the layout equals one process, or the fault shows in it."""
        layout = LAYOUTS[name]
        base = self.reference(layout.reference)
        start = time.monotonic()
        overrides = {**REFERENCES[layout.reference], **layout.overrides}
        got, why = measure(overrides, layout.ranks, self.timeout, fault)
        good = False
        if layout.refused:
            good = got is None and layout.refused in why
        elif got and base:
            good, why = compare(layout, got, base)
            good ^= fault is not None
        self.tried += 1
        self.passed += good
        title = f"{fault} in {name}" if fault else name
        took = f"{time.monotonic() - start:5.1f} s"
        print(f"{'pass' if good else 'FAIL'}  {title:33s} {layout.ranks} ranks {took}  {why}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", required=True, type=Path)
    parser.add_argument(
        "--only", default="", help="layouts whose name holds this; several with commas: names"
    )
    parser.add_argument("--ranks", type=int, default=4, help="no layouts with more ranks (default: 4)")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for each layout (default: 120)")
    parser.add_argument("--faults", action="store_true", help="then plant each known fault: it must show")
    args = parser.parse_args()
    names = args.only.split(",") if "," in args.only else None
    load(args.port.resolve())
    matrix = Matrix(args.timeout)
    for name, layout in LAYOUTS.items():
        if layout.ranks <= args.ranks and (name in names if names else args.only in name):
            matrix.run(name)
    for fault, shows in faults.SHOWS_IN.items() if args.faults else ():
        for name in shows:
            if LAYOUTS[name].ranks <= args.ranks:
                matrix.run(name, fault)
    print(f"{matrix.passed}/{matrix.tried} as one process" + (", planted faults seen" if args.faults else ""))
    return 0 if matrix.tried and matrix.passed == matrix.tried else 1


if __name__ == "__main__":
    sys.exit(main())
