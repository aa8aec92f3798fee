"""The real MindFormers and its port, made once for all test processes."""

import fcntl
from pathlib import Path

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
