"""Products joined with collectives, and attention on DTensors, on two processes."""

import os

import pytest
import torch
import torch.multiprocessing as mp

WORLD = 2


def _start(rank, folder):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(WORLD), LOCAL_RANK=str(rank))
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=WORLD
    )


def _products(rank, folder):
    _start(rank, folder)
    from ms2torch.runtime._backend import fused

    parts = [torch.randn(4, 3, generator=torch.Generator().manual_seed(r)) for r in range(WORLD)]
    weights = [torch.randn(5, 3, generator=torch.Generator().manual_seed(10 + r)) for r in range(WORLD)]
    x, w = parts[rank].requires_grad_(), weights[rank].requires_grad_()
    out, gathered = fused.all_gather_matmul(x, w, "hccl_world_group", WORLD, trans_x2=True)
    whole = torch.cat([p.detach() for p in parts])
    torch.testing.assert_close(gathered, whole)
    torch.testing.assert_close(out, whole @ w.T)
    dx, dw = torch.autograd.grad(out.sum(), (x, w))
    # Every rank's loss counts: the gradient of x sums over the ranks' weights.
    torch.testing.assert_close(dx, sum(v.detach().sum(0) for v in weights).expand(4, 3))
    torch.testing.assert_close(dw, whole.sum(0).expand(5, 3))
    assert fused.all_gather_matmul(x, w.T, None, WORLD, gather_output=False)[1].numel() == 0

    out = fused.matmul_reduce_scatter(x, w, None, WORLD, trans_x2=True)
    want = sum(p.detach() @ v.detach().T for p, v in zip(parts, weights, strict=True))
    torch.testing.assert_close(out, want[rank * 2 : rank * 2 + 2])
    dx, dw = torch.autograd.grad((out * (rank + 1)).sum(), (x, w))
    upstream = torch.tensor([1.0, 1, 2, 2]).unsqueeze(1).expand(4, 5)
    torch.testing.assert_close(dx, upstream @ w)
    torch.testing.assert_close(dw, upstream.T @ x)
    for call, error in (
        (lambda: fused.all_gather_matmul(x, w.T, None, 3), RuntimeError),
        (lambda: fused.all_gather_matmul(x, w.T, None, WORLD, bias=w), NotImplementedError),
        (lambda: fused.matmul_reduce_scatter(x[:3], w.T, None, WORLD), RuntimeError),
        (lambda: fused.matmul_reduce_scatter(x, w.T, None, WORLD, reduce_op="max"), NotImplementedError),
    ):
        with pytest.raises(error):
            call()
    torch.distributed.destroy_process_group()


def _attention(rank, folder):
    _start(rank, folder)
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    from ms2torch.runtime._backend.fused import FlashAttentionScore

    mesh = init_device_mesh("cpu", (WORLD,))
    full = [torch.randn(2, 6, 8, generator=torch.Generator().manual_seed(s)) for s in range(3)]
    mask = torch.ones(6, 6, dtype=torch.uint8).triu(1)
    op = FlashAttentionScore(4, scale_value=0.5, input_layout="BSH")
    want_top, _, _, want = op(*full, attn_mask=mask)
    for place in (Shard(2), Shard(0), Replicate()):
        q, k, v = (distribute_tensor(t, mesh, [place]).requires_grad_() for t in full)
        top, _, _, out = op(q, k, v, attn_mask=mask)
        assert tuple(out.placements) == (place,)
        torch.testing.assert_close(out.full_tensor(), want)
        torch.testing.assert_close(top.full_tensor(), want_top + 0)
        out.to_local().sum().backward()
        assert q.grad.placements == q.placements
    q, k, v = (distribute_tensor(t, mesh, [Shard(1)]) for t in full)
    with pytest.raises(NotImplementedError, match="placed"):
        op(q, k, v)
    with pytest.raises(TypeError, match="all be DTensors"):
        op(q, full[1], full[2])
    torch.distributed.destroy_process_group()


@pytest.mark.parametrize("work", [_products, _attention])
def test_two_processes(work, tmp_path):
    mp.spawn(work, args=(str(tmp_path),), nprocs=WORLD)
