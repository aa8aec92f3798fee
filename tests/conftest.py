"""The real MindFormers and its port, made once for all test processes."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ms2torch import cli, fetch

MINDFORMERS = "mindformers==2.1.0"


@pytest.fixture(scope="session")
def upstream() -> Path:
    """The wheel of MindFormers, downloaded once into the command's own cache."""
    return fetch.wheel_for(MINDFORMERS, fetch.cache_directory())


@pytest.fixture(scope="session")
def port(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """MindFormers ported by the command; tests read it and write elsewhere."""
    shared = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        shared = shared.parent  # each worker of pytest-xdist has a folder of its own in there
    out = shared / "mindformers-port"
    with (shared / "mindformers-port.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not out.exists():
            assert cli.main(["rewrite", MINDFORMERS, "-o", str(out), "--report", f"{out}.json"]) == 0
    return out


@pytest.fixture(scope="session")
def once(port: Path, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Callable[..., Any]:
    """`once(script, *arguments)`: the JSON that `script PORT *arguments` writes to `out.json` in a folder of
    its own. It runs once, whatever the number of test processes."""
    shared = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        shared = shared.parent

    def run(script: Path, *arguments: str) -> Any:
        work = shared / script.stem
        with (shared / f"{script.stem}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not work.exists():
                work.mkdir()
                environment = os.environ | {
                    "OMP_NUM_THREADS": "1",
                    "MF_DEVICE_TYPE": "cpu",
                    "LOG_MF_PATH": str(work / "log"),
                }
                command = [sys.executable, str(script), str(port), *arguments]
                with (work / "output.txt").open("w") as output:
                    subprocess.run(
                        command, cwd=work, env=environment, stdout=output, stderr=output, check=False
                    )
            made = work / "out.json"
            assert made.exists(), (work / "output.txt").read_text()[-4000:]
        return json.loads(made.read_text())

    return run
