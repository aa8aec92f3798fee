"""Process groups and collectives: a group of one in this process, two ranks in subprocesses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from ms2torch.runtime import _backend
from ms2torch.runtime._backend import collectives, distributed, groups, p2p

ENVIRONMENT = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


@pytest.fixture
def bare(monkeypatch):
    """No launcher, no group; and none left behind."""
    monkeypatch.setenv("MF_DEVICE_TYPE", "cpu")
    for name in ENVIRONMENT:
        monkeypatch.setenv(name, "")  # so that monkeypatch restores what the code below sets
        monkeypatch.delenv(name)
    yield
    _backend.destroy_process_group()


@pytest.fixture
def one(bare):
    _backend.init_process_group()


def test_rank_and_size_before_initialisation_come_from_the_environment(bare, monkeypatch):
    assert (_backend.get_rank(), _backend.get_world_size()) == (0, 1)
    monkeypatch.setenv("RANK_ID", "3")
    monkeypatch.setenv("RANK_SIZE", "8")
    assert (_backend.get_rank(), _backend.get_world_size()) == (3, 8)
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert (_backend.get_rank(), _backend.get_world_size()) == (1, 2)


def test_bare_process_gets_a_real_group_of_one(bare):
    _backend.init_process_group()
    _backend.init_process_group()
    assert dist.is_initialized() and dist.get_world_size() == 1
    assert [os.environ[name] for name in ENVIRONMENT[:5]] == ["0", "1", "0", "1", "127.0.0.1"]
    assert int(os.environ["MASTER_PORT"]) > 0
    assert distributed.get_backend() == "gloo"
    _backend.destroy_process_group()
    _backend.destroy_process_group()
    assert not _backend.is_initialized()
    _backend.init_process_group("hccl")  # again, under the environment left by the first
    assert _backend.get_world_size() == 1


def test_both_store_and_method_are_refused(bare):
    with pytest.raises(ValueError, match="only one"):
        _backend.init_process_group(init_method="tcp://127.0.0.1:1", store=object())


def test_group_of_one_makes_real_calls(one, monkeypatch):
    called = []
    real = dist.all_reduce
    monkeypatch.setattr(dist, "all_reduce", lambda *a, **k: called.append(1) or real(*a, **k))
    t = torch.ones(2)
    assert _backend.all_reduce(t) is None
    assert called == [1]


def test_groups_by_handle_name_and_mesh(one):
    group = _backend.new_group([0])
    assert _backend.new_group([0]) is group
    groups.create_named_group("tp", [0])
    groups.create_named_group("tp", [0])
    with pytest.raises(ValueError, match="has been created"):
        groups.create_named_group("tp", [1])
    with pytest.raises(RuntimeError, match="not one of them"):
        groups.create_named_group("other", [1])
    mesh = _backend.init_device_mesh("Ascend", (1,), mesh_dim_names=("tp",))
    world = ("", None, "hccl_world_group", groups.world_name())
    for name in (group, "tp", mesh, *world, group.group_name):
        assert _backend.get_rank(name) == 0
        t = torch.full((2,), 3.0)
        _backend.all_reduce(t, "avg", name)
        assert t.tolist() == [3.0, 3.0]
    assert groups.group_ranks() == {groups.world_name(): [0], "tp": [0]}
    with pytest.raises(ValueError, match="no process group named 'nope'"):
        _backend.get_rank("nope")
    with pytest.raises(ValueError, match="distinct"):
        _backend.new_group([0, 0])
    _backend.destroy_process_group("tp")
    with pytest.raises(ValueError, match="no process group named 'tp'"):
        _backend.all_reduce(torch.ones(1), group="tp")


def test_new_group_of_everyone_is_the_world(one):
    assert _backend.new_group() is dist.group.WORLD
    assert distributed.get_process_group_ranks() == [0]
    assert distributed.get_global_rank(None, 0) == distributed.get_group_rank(None, 0) == 0
    assert (distributed.get_local_rank(), distributed.get_local_world_size()) == (0, 1)


@pytest.mark.parametrize("op", ["sum", "prod", "min", "max", "avg", "SUM", _backend.ReduceOp.MAX])
def test_ops_by_name(one, op):
    t = torch.tensor([2.0, 5.0])
    _backend.all_reduce(t, op)
    assert t.tolist() == [2.0, 5.0]


def test_unknown_op(one):
    with pytest.raises(TypeError, match="must be one of sum"):
        _backend.all_reduce(torch.ones(1), "median")


def test_strided_results_are_written_back(one):
    t = torch.zeros(3, 4)
    handle = _backend.broadcast(t[:, 1:3], 0, async_op=True)
    assert handle.wait() and handle.wait() and handle.is_completed()
    whole = torch.zeros(4, 3).T
    _backend.all_gather_into_tensor(whole, torch.arange(12.0).view(3, 4))
    assert torch.equal(whole, torch.arange(12.0).view(3, 4))


def test_collectives_stay_outside_autograd(one):
    p = torch.nn.Parameter(torch.ones(2))
    _backend.all_reduce(p)
    assert p.requires_grad and p.is_leaf


def test_p2p_refuses_what_mindspore_refuses(one):
    t = torch.ones(1)
    with pytest.raises(ValueError, match="itself"):
        p2p.isend(t, 0)
    with pytest.raises(TypeError, match="isend or irecv"):
        p2p.P2POp("send", t, 1)
    with pytest.raises(TypeError, match="must be an int"):
        p2p.P2POp("irecv", t, "1")
    with pytest.raises(TypeError, match="expected a tensor"):
        p2p.P2POp("irecv", 1, 1)
    with pytest.raises(NotImplementedError, match="tags"):
        p2p.P2POp(p2p.irecv, t, 1, tag=2)
    with pytest.raises(TypeError, match="not empty"):
        p2p.batch_isend_irecv([])
    with pytest.raises(TypeError, match="one group"):
        p2p.batch_isend_irecv([p2p.P2POp("irecv", t, 1), p2p.P2POp("irecv", t, 1, "g")])
    with pytest.raises(TypeError, match="not empty"):
        p2p.broadcast_object_list([])


def test_split_sizes():
    assert collectives.split_sizes([1, 2], 3, None, "f") == [1, 2]


def test_split_sizes_must_divide(one, monkeypatch):
    monkeypatch.setattr(dist, "get_world_size", lambda group=None: 2)
    assert collectives.split_sizes(None, 4, None, "f") == [2, 2]
    with pytest.raises(ValueError, match="f: 3 rows"):
        collectives.split_sizes((), 3, None, "f")


def test_reduce_scatter_without_library_support(one, monkeypatch):
    def refuse(*args, **kwargs):
        raise RuntimeError("ProcessGroupGloo does not support reduce_scatter")

    monkeypatch.setattr(collectives.compat, "reduce_scatter_single", refuse)
    out = torch.zeros(2, 3)
    _backend.reduce_scatter_tensor(out, torch.arange(6.0).view(2, 3), "avg")
    assert torch.equal(out, torch.arange(6.0).view(2, 3))


def test_two_ranks(tmp_path):
    script = Path(__file__).with_name("two_ranks.py")
    environment = {k: v for k, v in os.environ.items() if k not in ENVIRONMENT}
    environment.update(PYTHONPATH=os.getcwd(), OMP_NUM_THREADS="1", MF_DEVICE_TYPE="cpu")
    # A file to meet at: no port that another test could take.
    command = [sys.executable, str(script), f"file://{tmp_path / 'store'}"]
    ranks = [
        subprocess.Popen(
            [*command, str(rank)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    shown = [process.communicate(timeout=120)[0] for process in ranks]
    for rank, (process, output) in enumerate(zip(ranks, shown, strict=True)):
        assert process.returncode == 0, f"rank {rank}:\n{output}"
        assert f"rank {rank} ok" in output
