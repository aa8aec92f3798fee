"""Several ranks give one rank's numbers: data, tensor and pipeline parallelism on gloo.

Run as a script it is one rank of a check; the tests start the ranks.
"""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn

from ms2torch.runtime import _backend
from ms2torch.runtime._backend import parallel

ROOT = Path(__file__).parents[2]
SUM32 = parallel.MixedPrecisionPolicy(reduce_dtype=torch.float32, apply_grad_on_fp32_main_grad=True)


class Mlp(nn.Module):
    """Norm, column-split and row-split weights; ``group`` makes it one shard of a tensor-parallel one."""

    def __init__(self, width=8, hidden=12):
        super().__init__()
        self.gamma = nn.Parameter(torch.randn(width))
        self.up = nn.Parameter(torch.randn(hidden, width) / 3)
        self.down = nn.Parameter(torch.randn(width, hidden) / 3)
        self.odd = nn.Parameter(torch.randn(7, width) / 3)
        self.group = None

    def forward(self, x):
        gamma, up, down, odd = (
            parallel.to_local(p) if parallel.is_dtensor(p) else p
            for p in (self.gamma, self.up, self.down, self.odd)
        )
        y = x * gamma  # each rank has its part of the sequence, hence of gamma's gradient
        y = y + (y @ odd.t()) @ odd
        if self.group is not None:
            y = Gather.apply(y, self.group)
        y = torch.tanh(y @ up.t()) @ down.t()
        return y if self.group is None else Scatter.apply(y, self.group)


class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return parallel_gather(x, group)

    @staticmethod
    def backward(ctx, grad):
        return parallel_scatter(grad, ctx.group), None


class Scatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return parallel_scatter(x, group)

    @staticmethod
    def backward(ctx, grad):
        return parallel_gather(grad, ctx.group), None


def parallel_gather(x, group):
    from ms2torch.runtime._backend.parallel.collectives import all_gather_dim

    return all_gather_dim(x, 0, group)


def parallel_scatter(x, group):
    from ms2torch.runtime._backend.parallel.collectives import reduce_scatter_dim

    return reduce_scatter_dim(x, 0, group)


def layers(count=2):
    torch.manual_seed(5)
    return nn.Sequential(*(Mlp() for _ in range(count)))


def batch(rows=8):
    torch.manual_seed(6)
    return torch.randn(rows, 8)


def reference(count=2, micros=1):
    net = layers(count)
    for part in batch().chunk(micros):
        net(part).square().sum().backward()
    return net


def wrapped(net, mesh, **options):
    for layer in net:
        parallel.fully_shard(layer, mesh=mesh, mp_policy=SUM32, **options)
    parallel.fully_shard(net, mesh=mesh, mp_policy=SUM32)
    for module in net.modules():
        if isinstance(module, parallel.HSDPModule):
            module.set_reduce_op_type("sum")
    return net


def compare(net, plain):
    for (name, p), q in zip(net.named_parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(
            p.main_grad.full_tensor(), q.grad, rtol=1e-5, atol=1e-5, msg=lambda m, name=name: f"{name}: {m}"
        )


def mesh_of(shape, names):
    return parallel.init_device_mesh("npu", shape, mesh_dim_names=names)


# --- checks, one function each, run by every rank ---


def check_fsdp(rank, size):
    mesh = mesh_of((size,), ("fsdp",))
    for reshard in (True, False):
        net = layers()
        parallel.checkpoint_wrapper(net[0])
        wrapped(net, mesh, reshard_after_forward=reshard)
        assert net[0].up.placements == (parallel.Shard(0),) and net[0].odd.placements == (
            parallel.Replicate(),
        )
        assert parallel.local_shape(net[0].up) == (12 // size, 8)
        net(batch().chunk(size)[rank]).square().sum().backward()
        compare(net, reference())


def check_average(rank, size):
    mesh = mesh_of((size,), ("fsdp",))
    net = layers()
    for module in [*net, net]:
        parallel.fully_shard(module, mesh=mesh, shard_placement_fn=lambda p: parallel.Shard(p.ndim - 1))
    net(batch().chunk(size)[rank]).square().sum().backward()
    for p, q in zip(net.parameters(), reference().parameters(), strict=True):
        assert p.placements == (parallel.Shard(p.ndim - 1),)
        torch.testing.assert_close(p.grad.full_tensor() * size, q.grad, rtol=1e-5, atol=1e-5)


def check_meshes(rank, size):
    world = mesh_of((size,), ("world",))
    mesh = parallel.unflatten(
        world, 0, (2, 1, size // 2), ("pp", "batch", "cp"), backend_override={"batch": "fake"}
    )
    loss = parallel.flatten(mesh["batch", "cp"], "loss")
    half = list(range(rank // 2 * 2, rank // 2 * 2 + 2))
    assert parallel.rank_list(loss) == tuple(half)
    total = torch.tensor([rank])
    dist.all_reduce(total, group=loss.get_group())
    assert total.item() == sum(half)
    assert parallel.get_rank_list_along_axis(mesh["pp"], "pp") == [rank % 2, rank % 2 + 2]
    assert parallel.root_mesh(mesh["cp"]) is mesh
    with pytest.raises(ValueError, match="no common mesh"):
        from ms2torch.runtime._backend.parallel.mesh import common_mesh

        common_mesh(mesh["cp"], loss)


def check_hsdp(rank, size):
    mesh = mesh_of((2, size // 2), ("replicate", "shard"))
    net = wrapped(layers(), mesh)
    for last, part in enumerate(batch().chunk(2)):
        net.set_requires_all_reduce(bool(last))
        net(part.chunk(size)[rank]).square().sum().backward()
        assert last or getattr(net[0].up, "main_grad", None) is None
    compare(net, reference(micros=2))


def check_tensor_parallel(rank, size):
    names = ("fsdp", "tp")
    mesh = mesh_of((size // 2, 2), names)
    tp = mesh["tp"]
    net = layers()
    plan = {
        "gamma": (parallel.Replicate(),),
        "odd": (parallel.Replicate(),),
        "up": (parallel.Shard(0),),
        "down": (parallel.Shard(1),),
    }
    for layer in net:
        parallel.shard_module(layer, tp, parallel.ShardingPlan(plan=plan))
        layer.group = tp.get_group()
    wrapped(net, mesh["fsdp"])
    assert net[0].up.device_mesh.mesh_dim_names == names
    net(batch().chunk(size)[rank]).square().sum().backward()
    plain = reference()
    for (name, p), q in zip(net.named_parameters(), plain.named_parameters(), strict=True):
        grad = p.main_grad
        area = parallel.infer_slice_area_by_rank(
            parallel.layout(grad).mesh_shape, parallel.layout(grad).tensor_map, rank, q[1].shape
        )
        want = q[1].grad[tuple(slice(a, b) for a, b in area)]
        torch.testing.assert_close(
            parallel.to_local(grad),
            want,
            rtol=1e-5,
            atol=1e-5,
            msg=lambda m, name=name, area=area: f"{name} {area}: {m}",
        )


def check_pipeline(rank, size):
    group = mesh_of((size,), ("pp",))
    plain = layers(4)
    x = batch()
    plain_out = plain(x)
    plain_out.sum().backward()
    for kind, chunks in (("ScheduleGPipe", 1), ("Schedule1F1B", 1), ("ScheduleInterleaved1F1B", 2)):
        count = size * chunks
        per = 4 // count
        whole = layers(4)
        stages = []
        for chunk in range(chunks):
            index = chunk * size + rank
            part = nn.Sequential(*list(whole)[index * per : (index + 1) * per])
            stages.append(parallel.PipelineStage(part, index, count, mesh=group, group=group.get_group()))
        schedule = getattr(parallel, kind)(stages, 4)
        losses = schedule.run(x)
        assert len(losses) == (4 if rank == size - 1 else 0)
        if losses:
            torch.testing.assert_close(torch.cat(losses), plain_out)
        for stage in stages:
            first = stage.stage_index * per
            for layer, twin in zip(stage.submodule, list(plain)[first : first + per], strict=True):
                for p, q in zip(layer.parameters(), twin.parameters(), strict=True):
                    torch.testing.assert_close(p.grad, q.grad, rtol=1e-5, atol=1e-5)


def check_tensors(rank, size):
    mesh = mesh_of((size,), ("tp",))
    whole = torch.arange(4.0 * size).view(2 * size, 2)
    x = parallel.distribute_tensor(whole, mesh, [parallel.Shard(0)])
    assert torch.equal(parallel.to_local(x), whole.chunk(size)[rank])
    assert parallel.layout(x).get_split_id(0) == rank
    assert torch.equal(x.full_tensor(), whole)
    partial = parallel.from_local(torch.ones(2), mesh, [parallel.Partial()])
    assert parallel.to_local(parallel.reduce_partial(partial)).tolist() == [float(size)] * 2
    assert sorted(parallel.get_global_layout(nn.Linear(1, 1))) == [str(r) for r in range(size)]
    y = torch.ones(1, requires_grad=True)
    total = parallel.get_platform().differentiable_all_reduce(y * (rank + 1), "sum", mesh.get_group())
    assert total.item() == size * (size + 1) / 2


class Attention(nn.Module):
    def forward(self, query, key, value):
        weights = query @ key.transpose(-1, -2)
        keep = torch.ones(weights.shape[-2:]).tril().bool()
        return weights.masked_fill(~keep, -1e9).softmax(-1) @ value


class Flash(nn.Module):
    """Knows its part of the sequence, so that queries stay sharded."""

    def __init__(self):
        super().__init__()
        self.kernel = _backend.ops.FlashAttentionScore(4, input_layout="BNSD", sparse_mode=2)

    def forward(self, query, key, value):
        return self.kernel(query, key, value, attn_mask=torch.ones(1, 1))[3]


def check_context_parallel(rank, size):
    for attention in (Attention, Flash):
        compare_context_parallel(rank, size, attention)


def compare_context_parallel(rank, size, attention):
    mesh = mesh_of((size,), ("cp",))
    torch.manual_seed(7)
    whole = torch.randn(3, 2, 4, 8, 5)  # query, key, value: batch, heads, sequence, width
    leaf = whole.clone().requires_grad_()
    expected = attention()(*leaf)
    expected.square().sum().backward()
    for degree in {1, 2, size}:
        net = parallel.ContextParallel(seq_dim=2, head_dim=1, ulysses_degree=degree).apply(attention(), mesh)
        mine = whole.chunk(size, 3)[rank].clone().requires_grad_()
        out = net(mine[0], key=mine[1], value=mine[2])
        torch.testing.assert_close(out, expected.chunk(size, 2)[rank])
        out.square().sum().backward()
        torch.testing.assert_close(mine.grad, leaf.grad.chunk(size, 3)[rank])
    with pytest.raises(ValueError, match="does not divide"):
        parallel.ContextParallel(2, 1, ulysses_degree=3).apply(attention(), mesh)
    with pytest.raises(ValueError, match="cannot be split"):
        parallel.ContextParallel(2, 0, ulysses_degree=size).apply(attention(), mesh)(
            *torch.randn(3, 3, 1, 2, 2)
        )


CHECKS = {
    2: (
        check_fsdp,
        check_average,
        check_tensor_parallel,
        check_pipeline,
        check_tensors,
        check_context_parallel,
    ),
    4: (check_meshes, check_hsdp, check_tensor_parallel, check_context_parallel),
}


@pytest.mark.parametrize("size", sorted(CHECKS))
def test_ranks_agree_with_one(size, tmp_path):
    done = subprocess.run(
        [sys.executable, __file__, str(size), str(tmp_path / "store")],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "MF_DEVICE_TYPE": "cpu"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def run_rank(rank, size, store):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), LOCAL_RANK=str(rank))
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=size)
    for check in CHECKS[size]:
        check(rank, size)
        dist.barrier()
    dist.destroy_process_group()


def main():
    # Forked, so that torch is imported once for all ranks.
    size, store = int(sys.argv[1]), sys.argv[2]
    context = multiprocessing.get_context("fork")
    ranks = [context.Process(target=run_rank, args=(rank, size, store), daemon=True) for rank in range(size)]
    for process in ranks:
        process.start()
    alive = list(ranks)
    while alive:
        alive[0].join(0.2)
        if any(process.exitcode for process in ranks):
            sys.exit(1)  # the others wait for the one that failed; they end with this process
        alive = [process for process in ranks if process.exitcode is None]


if __name__ == "__main__":
    main()
