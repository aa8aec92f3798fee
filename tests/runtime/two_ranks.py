"""What two ranks see; run by test_distributed, one process a rank."""

import sys
from datetime import timedelta

import torch

from ms2torch.runtime import _backend, dtensor_compat
from ms2torch.runtime._backend import comm_prims, compat, management
from ms2torch.runtime._backend import communication as comm
from ms2torch.runtime._backend import distributed as d

_backend.init_process_group(
    init_method=sys.argv[1], rank=int(sys.argv[2]), world_size=2, timeout=timedelta(seconds=60)
)
me = _backend.get_rank()
other = 1 - me


def same(value, expected):
    torch.testing.assert_close(value, torch.as_tensor(expected, dtype=value.dtype))


# in place
for op, expected in (("sum", 3), ("avg", 1.5), ("max", 2), ("min", 1), ("prod", 2)):
    t = torch.tensor([me + 1.0])
    d.all_reduce(t, op)
    same(t, [expected])
    t = torch.tensor([me + 1.0])
    h = d.all_reduce(t, op, async_op=True)
    h.wait()
    same(t, [expected])
t = torch.full((2, 4), me + 1.0)
d.all_reduce(t[:, ::2])
same(t[0], [3, me + 1, 3, me + 1])
out = torch.zeros(2)
d.reduce_scatter_tensor(out, torch.arange(4.0) + me)
same(out, [1 + 4 * me, 3 + 4 * me])
monkey = compat.reduce_scatter_single


def refuse(*a, **k):
    raise RuntimeError("does not support")


compat.reduce_scatter_single = refuse
out = torch.zeros(2)
d.reduce_scatter_tensor(out, torch.arange(4.0) + me, "avg")
same(out, [0.5 + 2 * me, 1.5 + 2 * me])
compat.reduce_scatter_single = monkey
out = torch.zeros(3)
d.all_gather_into_tensor_uneven(out, torch.full((me + 1,), me + 1.0), [1, 2])
same(out, [1, 2, 2])
out = torch.zeros(me + 1)
d.reduce_scatter_tensor_uneven(out, torch.arange(3.0) + me, [1, 2])
same(out, [[1.0], [3.0, 5.0]][me])
parts = [torch.zeros(1), torch.zeros(2)]
d.all_gather(parts, torch.full((me + 1,), me + 1.0))
same(torch.cat(parts), [1, 2, 2])
out = torch.zeros(2)
d.reduce_scatter(out, [torch.ones(2), torch.full((2,), 5.0)], "avg")
same(out, [[1, 1], [5, 5]][me])
out = [torch.zeros(1), torch.zeros(2)] if me == 0 else [torch.zeros(2), torch.zeros(3)]
d.all_to_all(out, [torch.full((1 + me,), me + 0.5), torch.full((2 + me,), me + 0.7)])
same(torch.cat(out), [0.5, 1.5, 1.5] if me == 0 else [0.7, 0.7, 1.7, 1.7, 1.7])
t = torch.full((1,), float(me))
d.reduce(t, 1)
same(t, [[0], [1]][me])
out = torch.zeros(2, 1)
d.gather_into_tensor(out, torch.full((1, 1), float(me)), dst=1)
same(out[1], [me])
out = torch.zeros(1)
d.scatter_tensor(out, torch.tensor([7.0, 8.0]), src=1)
same(out, [7 + me])
t = torch.zeros(2, 2)
ops = [d.P2POp("isend", torch.full((2,), me + 1.0), other), d.P2POp(d.irecv, t[:, 0], other)]
handles = d.batch_isend_irecv(ops)
assert len(handles) == 1
handles[0].wait()
same(t[:, 0], [other + 1.0] * 2)
t = torch.full((2,), float(me))
d.send(t, 1) if me == 0 else d.recv(t, 0)
same(t, [0, 0])
x = [None, None]
d.all_gather_object(x, {"r": me})
assert x == [{"r": 0}, {"r": 1}]
x = [None, None]
d.gather_object(me, x, dst=1)
assert x == [[None, None], [0, 1]][me]
x = [None]
d.scatter_object_list(x, ["a", "b"], src=1)
assert x == [["a"], ["b"]][me]
x = [me]
d.broadcast_object_list(x, src=1)
assert x == [1]
d.send_object_list(["o"], 1) if me == 0 else d.recv_object_list(x, 0)
assert x == [[1], ["o"]][me]

# groups: members only call, and creating one needs nobody else
mine = _backend.new_group([me])
assert _backend.get_world_size(mine) == 1
if me == 1:
    management.create_group("late", [1])
    assert management.get_group_size("late") == 1
both = _backend.new_group([1, 0])
assert d.get_process_group_ranks(both) == [0, 1]
assert d.get_global_rank(mine, 0) == me and d.get_group_rank(mine, me) == 0

# functional, with gradients
comm.set_comm_ops_inplace(False)
x = torch.tensor([1.0, 2.0]).add(me).requires_grad_()
y, h = comm.all_reduce(x)
assert h is None
same(y, [3, 5])
same(x, [1 + me, 2 + me])
(y * (me + 1)).sum().backward()
same(x.grad, [3, 3])
x.grad = None
y, _ = comm.all_reduce(x, "max")
y.sum().backward()
same(x.grad, [[0, 0], [2, 2]][me])
x.grad = None
y, _ = comm.all_reduce(x, "avg")
(y * (me + 1)).sum().backward()
same(x.grad, [1.5, 1.5])
x.grad = None
y, _ = comm.all_reduce(x, "prod")
same(y, [2, 6])
y.sum().backward()
same(x.grad, 2 * y / x)
x.grad = None
y, h = comm.all_gather_into_tensor(None, x, async_op=True)
h.wait()
same(y, [1, 2, 2, 3])
(y * torch.arange(4.0) * (me + 1)).sum().backward()
same(x.grad, [[0, 3], [6, 9]][me])
z = torch.arange(4.0).requires_grad_()
y, _ = comm.reduce_scatter_tensor(None, z)
same(y, [4 * me, 4 * me + 2])
(y * (me + 1)).sum().backward()
same(z.grad, [1, 1, 2, 2])
z = (torch.arange(3.0) + 10 * me).requires_grad_()
y, _ = comm.all_to_all_single(None, z, [[1, 2], [2, 1]][me], [[1, 2], [2, 1]][me])
same(y, [[0, 10, 11], [1, 2, 12]][me])
(y * (me + 1)).sum().backward()
same(z.grad, [[1, 2, 2], [1, 1, 2]][me])
a = torch.tensor([1.0 + me], requires_grad=True)
b = torch.tensor([5.0 + me], requires_grad=True)
(p, q), h = comm.all_to_all([(1,), torch.zeros(1)], (a, b))
same(torch.cat([p, q]), [[1, 2], [5, 6]][me])
((p + 2 * q) * (me + 1)).backward()
same(torch.cat([a.grad, b.grad]), [[1, 2], [2, 4]][me])
comm.barrier()

# primitives
w = torch.ones(1, requires_grad=True)
(g,) = comm_prims.Broadcast(1)((w * (me + 2),))
same(g, [3])
g.backward()
same(w.grad, [me + 2])
v = torch.arange(4.0).view(2, 2) + 10 * me
same(comm_prims.AlltoAll(2, 0, 1)(v), [[0, 1, 10, 11], [2, 3, 12, 13]][me : me + 1])
same(comm_prims.AlltoAllVC()(torch.arange(3.0), [[1, 2], [2, 1]]), [[0, 0, 1], [1, 2, 2]][me])
same(comm_prims.AllReduce()(torch.ones(1)), [2])

# distributed tensors
mesh = _backend.init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
w = dtensor_compat.distribute_tensor(torch.arange(8.0).view(4, 2), mesh, [dtensor_compat.Shard(0)])
assert dtensor_compat.local_shard(w, 0, 2) == me and dtensor_compat.local_shard(w, 1, 2) == 0
dtensor_compat.inplace_copy(w, torch.full((2, 2), float(me)))
same(w.full_tensor()[:, 0], [0, 0, 1, 1])
with torch.no_grad(), dtensor_compat.SkipDTensorDispatch():
    assert w.add_(1) is w and type(w + 1) is torch.Tensor and (w + 1).shape == (2, 2) and w.shape == (4, 2)
r = dtensor_compat.distribute_tensor(torch.ones(2), mesh, [dtensor_compat.Replicate()]).requires_grad_()
(dtensor_compat.to_local(r) * (me + 1)).sum().backward()
same(r.grad.full_tensor(), [3, 3])
_backend.destroy_process_group()
print("rank", me, "ok")
