"""The two call shapes of ops.communication and the named groups; values over ranks are in two_ranks.py."""

from __future__ import annotations

import pytest
import torch

from ms2torch.runtime import _backend
from ms2torch.runtime._backend import comm_func, comm_prims, management
from ms2torch.runtime._backend import communication as comm


@pytest.fixture(autouse=True)
def one(monkeypatch):
    monkeypatch.setenv("MF_DEVICE_TYPE", "cpu")
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    _backend.init_process_group()
    yield
    comm.set_comm_ops_inplace(True)
    _backend.destroy_process_group()


def test_in_place_is_the_default():
    t, out = torch.ones(2), torch.zeros(2)
    assert comm.all_reduce(t) is None
    assert comm.all_gather_into_tensor(out, t) is None
    assert comm.reduce_scatter_tensor(out, t) is None
    assert comm.all_to_all_single(out, t) is None
    assert comm.all_to_all([out], [t]) is None
    assert comm.all_reduce(t, async_op=True).wait()
    assert out.tolist() == [1, 1]


def test_without_an_output_the_call_is_functional():
    t = torch.ones(2, requires_grad=True)
    for call in (comm.all_gather_into_tensor, comm.reduce_scatter_tensor, comm.all_to_all_single):
        out, handle = call(None, t)
        assert handle is None and out.requires_grad and out.tolist() == [1, 1]


def test_functional_leaves_its_input_alone():
    comm.set_comm_ops_inplace(False)
    t = torch.ones(2)
    out, handle = comm.all_reduce(t, async_op=True)
    handle.wait()
    assert out is not t and out.data_ptr() != t.data_ptr()
    out, handle = comm.all_gather_into_tensor(torch.zeros(2), t)
    assert handle is None and out.tolist() == [1, 1]


def test_one_function_at_a_time():
    comm.set_comm_ops_inplace(False, ["all_reduce"])
    t, out = torch.ones(1), torch.zeros(1)
    assert isinstance(comm.all_reduce(t), tuple)
    assert comm.all_gather_into_tensor(out, t) is None


@pytest.mark.parametrize(
    ("arguments", "error"),
    [((1,), TypeError), ((True, "all_reduce"), TypeError), ((True, ["nope"]), ValueError)],
)
def test_set_comm_ops_inplace_refuses(arguments, error):
    with pytest.raises(error, match="set_comm_ops_inplace"):
        comm.set_comm_ops_inplace(*arguments)


@pytest.mark.parametrize("name", ["all_gather", "broadcast", "reduce", "gather", "batch_isend_irecv"])
def test_functions_without_a_functional_form(name):
    comm.set_comm_ops_inplace(False)
    with pytest.raises(ValueError, match=f"{name}: non-inplace mode is not supported"):
        getattr(comm, name)()


def test_no_gradient_for_other_reductions():
    t = torch.ones(2, requires_grad=True)
    out, _ = comm.reduce_scatter_tensor(None, t, "max")
    with pytest.raises(NotImplementedError, match="sum and avg only"):
        out.sum().backward()


def test_shapes_must_divide(monkeypatch):
    monkeypatch.setattr(comm, "get_world_size", lambda group=None: 2)
    with pytest.raises(ValueError, match="3 rows do not divide"):
        comm.reduce_scatter_tensor(None, torch.ones(3))


def test_second_derivative_is_not_silently_wrong():
    """The backward pass communicates outside autograd: its result carries no graph."""
    t = torch.ones(2, requires_grad=True)
    out, _ = comm.all_gather_into_tensor(None, t)
    (grad,) = torch.autograd.grad((out**2).sum(), t, create_graph=True)
    with pytest.raises(RuntimeError, match=r"once_differentiable|does not require grad"):
        grad.sum().backward()


def test_all_to_all_v_c():
    out = torch.zeros(2)
    comm.all_to_all_v_c(out, torch.ones(2), [2])
    assert out.tolist() == [1, 1]
    with pytest.raises(TypeError, match="expected 1 counts"):
        comm.all_to_all_v_c(out, out, [1, 2])


def test_management():
    assert management.GlobalComm.INITED is True
    assert management.GlobalComm.WORLD_COMM_GROUP == "mccl_world_group"
    assert management.GlobalComm.BACKEND == "mccl"
    management.init()
    assert (
        management.get_rank() == 0 and management.get_group_size(management.GlobalComm.WORLD_COMM_GROUP) == 1
    )
    assert management.get_local_rank() == 0 and management.get_local_rank_size() == 1
    management.create_group("g", [0])
    assert management._get_group_map()["g"] == [0]
    assert management.get_world_rank_from_group_rank("g", 0) == 0
    assert management.get_group_rank_from_world_rank(0, "g") == 0
    assert management.get_comm_name("g")
    with pytest.raises(NotImplementedError, match="options"):
        management.create_group("h", [0], options=object())
    management.destroy_group("g")
    management._remove_group_info("g")
    assert "g" not in management._get_group_map()
    with pytest.raises(ValueError, match="does not support destruction"):
        management.destroy_group(management.GlobalComm.WORLD_COMM_GROUP)
    management.release()
    assert not management._is_initialized()


def test_primitives_of_a_group_of_one():
    x = torch.arange(4.0).view(2, 2).requires_grad_()
    for prim in (
        comm_prims.AllReduce("max"),
        comm_prims.AllGather(),
        comm_prims.ReduceScatter(),
        comm_prims.AlltoAll(1, 0, 1),
        lambda t: comm_prims.Broadcast(0)((t,))[0],
    ):
        x.grad = None
        out = prim(x)
        assert torch.equal(out, x)
        out.sum().backward()
        assert torch.equal(x.grad, torch.ones(2, 2))
    assert comm_prims.AlltoAllV(block_size=2)(torch.ones(4), [2], [2]).shape == (4,)
    assert comm_prims.Barrier()() is None
    assert "group=None" in repr(comm_prims.AllGather())
    with pytest.raises(TypeError, match="tuple"):
        comm_prims.Broadcast(0)(x)
    with pytest.raises(ValueError, match="in 2 parts"):
        comm_prims.AlltoAll(2, 0, 0)(x)


def test_comm_func_keeps_its_input_and_gives_a_pair():
    t = torch.ones(2, requires_grad=True)
    for call in (comm_func.all_reduce, comm_func.all_gather_into_tensor, comm_func.reduce_scatter_tensor):
        out, handle = call(t)
        assert handle is None and out.requires_grad and out is not t and out.tolist() == [1, 1]
        assert call(t, async_op=True)[1].wait()
    assert comm_func.all_reduce(torch.ones(1, dtype=torch.int8), "max")[0].dtype == torch.int8
    assert comm_func.barrier() is None
