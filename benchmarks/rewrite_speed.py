"""How fast `ms2torch rewrite` ports MindFormers, beside LibCST's parse-and-emit of the files it rewrote.

    python benchmarks/rewrite_speed.py [--source mindformers==2.1.0] [--jobs 2] [--repeat 3]

Each measurement runs in fresh processes with cold caches of ms2torch and Python's byte code in place; the
download is not part of it. Prints files, lines, seconds, lines a second and the peak memory of a process.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from ms2torch import fetch, source

# Parses and emits the named files in `jobs` processes, as cheaply as LibCST can.
ROUND_TRIP = """
import sys
from concurrent.futures import ProcessPoolExecutor
import libcst
def one(path):
    with open(path, "rb") as stream:
        data = stream.read()
    if libcst.parse_module(data).bytes != data:
        sys.exit(f"{path}: LibCST does not give back what it read")
if __name__ == "__main__":
    with ProcessPoolExecutor(int(sys.argv[1])) as pool:
        list(pool.map(one, sys.stdin.read().split("\\0"), chunksize=4))
"""


@dataclass
class Measured:
    """Wall-clock seconds of a command, and the largest resident set of any of its processes."""

    seconds: float
    peak_mb: float


def measure(command: list[str], stdin: str = "") -> Measured:
    """Runs a command, watching the memory of it and of every process below it."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    peaks: dict[int, int] = {}
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            for pid in family(process.pid):
                peaks[pid] = max(peaks.get(pid, 0), peak_kb(pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    process.communicate(stdin)
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    if process.returncode:
        sys.exit(f"{' '.join(command[:4])} … ended with {process.returncode}")
    return Measured(seconds, max(peaks.values(), default=0) / 1024)


def family(root: int) -> list[int]:
    """A process and all below it (Linux)."""
    found = [root]
    for pid in found:
        with contextlib.suppress(OSError):  # it ended meanwhile
            for task in Path(f"/proc/{pid}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
    return found


def peak_kb(pid: int) -> int:
    """VmHWM: the kernel's own record of the largest resident set, so that no peak falls between two looks."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0)


def lines(paths: list[Path]) -> int:
    """Newlines in the files."""
    return sum(path.read_bytes().count(b"\n") for path in paths)


def row(name: str, paths: list[Path], best: Measured) -> str:
    """One line of the printed table."""
    count = lines(paths)
    return (
        f"{name:<34}{len(paths):>7}{count:>9}{best.seconds:>9.2f}"
        f"{count / best.seconds:>11.0f}{best.peak_mb:>9.0f}"
    )


def main() -> None:
    """Unpacks the source, measures both, prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", default="mindformers==2.1.0", help="directory, wheel or requirement")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3, help="the best of this many runs counts")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    args = parser.parse_args()
    tree = source.read(args.source, fetch.cache_directory())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        src, out = folder / "src", folder / "out"
        for file in tree.files:
            path = src / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.data)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        ours, plain = [], []
        command = [
            sys.executable,
            "-m",
            "ms2torch",
            "rewrite",
            str(src),
            "-o",
            str(out),
            "--jobs",
            str(args.jobs),
        ]
        for _ in range(args.repeat):
            for stale in (out, folder / "cache"):
                shutil.rmtree(stale, ignore_errors=True)
            ours.append(measure(command))
            python = [path for path in src.rglob("*.py") if path.is_file()]
            ported = [path for path in python if (out / path.relative_to(src)).exists()]
            changed = [p for p in ported if (out / p.relative_to(src)).read_bytes() != p.read_bytes()]
            names = "\0".join(map(str, changed))
            plain.append(measure([sys.executable, "-c", ROUND_TRIP, str(args.jobs)], names))
        best, best_plain = (min(runs, key=lambda run: run.seconds) for runs in (ours, plain))
        print(f"{tree.name} {tree.version}, {args.jobs} processes, best of {args.repeat}")
        print(f"{'':<34}{'files':>7}{'lines':>9}{'seconds':>9}{'lines/s':>11}{'peak MB':>9}")
        print(row("ms2torch rewrite: read", python, best))
        print(row("ms2torch rewrite: in the port", ported, best))
        print(row("ms2torch rewrite: rewritten", changed, best))
        print(row("LibCST parse and emit: rewritten", changed, best_plain))
        if args.json:
            figures = {"seconds": best.seconds, "peak_mb": best.peak_mb, "plain_seconds": best_plain.seconds}
            args.json.write_text(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
