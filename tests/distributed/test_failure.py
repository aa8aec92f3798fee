"""What does not work ends at once, on every rank, and says why."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

REFUSED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import torch.distributed as dist
import os, tiny
cases = json.loads(sys.argv[2])
for world, given, words in cases:
    os.environ["WORLD_SIZE"] = str(world)
    os.environ["RANK"] = "0"
    try:
        given = {"parallelism." + k if "." not in k else k: v for k, v in given.items()}
        tiny.trainer_for({"training.local_batch_size": 1, "training.global_batch_size": 24, **given}, 0, world)
    except ValueError as error:
        assert words in str(error), (str(error), words)
    else:
        raise AssertionError(f"{given} on {world} ranks was accepted")
    assert not dist.is_initialized(), given
"""
CASES = [
    (6, {"tensor_parallel": 4}, "world size (6) is no multiple of tensor_parallel (4)"),
    (3, {"tensor_parallel": 3}, "num_attention_heads (4) cannot be divided by tensor_parallel (3)"),
    (6, {"expert_parallel": 4}, "expert_parallel (4)"),
    (3, {"expert_parallel": 3}, "the number of experts (8) cannot be divided by expert_parallel (3)"),
    (3, {"pipeline_parallel": 3}, "the number of layers (4) cannot be divided by"),
    (2, {"pipeline_parallel": 2, "pipeline_parallel_interleave_num": 3}, "the number of layers (4)"),
    (
        4,
        {"data_parallel_shard": 3},
        "the data parallel size (4) cannot be divided by data_parallel_shard (3)",
    ),
    (
        3,
        {"context_parallel": 3},
        "seq_length (32) cannot be divided by tensor_parallel * context_parallel (3)",
    ),
    (
        8,
        {"context_parallel": 8, "context_parallel_method": "ulysses"},
        "cannot be divided by the ulysses degree (8)",
    ),
    (2, {"training.global_batch_size": 4, "training.local_batch_size": 3}, "global_batch_size (4)"),
]


@pytest.fixture
def environment(port, tmp_path):
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(port), str(Path(__file__).parent)]),
        "OMP_NUM_THREADS": "1",
        "MF_DEVICE_TYPE": "cpu",
        "LOG_MF_PATH": str(tmp_path / "log"),
    }


def test_layouts_that_do_not_divide_are_refused_before_any_group(environment, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", REFUSED, str(Path(__file__).parent), json.dumps(CASES)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


FAILING = """
import os, sys, tiny
rank, world, how = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), sys.argv[1]
trainer = tiny.trainer_for({"parallelism.tensor_parallel": 2, "training.steps": 50}, rank, world)
step = trainer.training_step
count = 0
def spied(*args, **kwargs):
    global count
    count += 1
    if rank == 1 and count == 2:
        if how == "dies":
            os.kill(os.getpid(), 9)
        raise OverflowError("bad data on rank 1")
    return step(*args, **kwargs)
trainer.training_step = spied
with open(f"pid-{rank}", "w") as file:  # not printed: lines of two ranks may mix
    file.write(str(os.getpid()))
trainer.train()
"""


@pytest.mark.parametrize("how", ["dies", "raises"])
def test_one_rank_that_fails_ends_all(how, environment, tmp_path):
    script = tmp_path / "failing.py"
    script.write_text(FAILING)
    start = time.monotonic()
    run = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc_per_node=2",
            str(script),
            how,
        ],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = run.communicate(timeout=120)
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
    assert run.returncode not in (0, None), output[-3000:]
    assert time.monotonic() - start < 110
    pids = [int(path.read_text()) for path in tmp_path.glob("pid-*")]
    assert len(pids) == 2, output[-3000:]
    for pid in pids:
        assert not Path(f"/proc/{pid}").exists()
    assert ("bad data on rank 1" if how == "raises" else "Signal 9") in output, output[-3000:]
