"""Lightning indexer, sparse attention, indexer loss and hyper-connections against loops and autograd."""

import pytest
import torch

from ms2torch.runtime._backend import fused


def make(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


B, S, T, N, D, R = 2, 5, 7, 3, 4, 2


def index_scores(q, k, w):
    """One sequence, by loops over heads."""
    return sum(w[:, h : h + 1] * (q[:, h] @ k[:, 0].T).clamp(min=0) for h in range(q.shape[1]))


def seen(rows, columns, mode):
    return [[mode == 0 or t <= s + columns - rows for t in range(columns)] for s in range(rows)]


@pytest.mark.parametrize("mode", [0, 3])
@pytest.mark.parametrize("count", [3, 10])
def test_lightning_indexer(mode, count):
    q, k, w = make(B, S, N, D), make(B, T, 1, D, seed=1), make(B, S, N, seed=2)
    places, values = fused.lightning_indexer(q, k, w, sparse_count=count, sparse_mode=mode, return_value=True)
    assert places.shape == values.shape == (B, S, 1, count)
    assert places.dtype == torch.int32 and values.dtype == q.dtype
    for b in range(B):
        scores = index_scores(q[b], k[b], w[b])
        for s, row in enumerate(seen(S, T, mode)):
            visible = [t for t in range(T) if row[t]]
            best = sorted((scores[s, t].item() for t in visible), reverse=True)[:count]
            found = places[b, s, 0].tolist()
            assert len(set(found[: len(best)])) == len(best) and set(found[: len(best)]) <= set(visible)
            assert found[len(best) :] == [-1] * (count - len(best))
            assert scores[s, found[: len(best)]].tolist() == pytest.approx(best)  # equal scores in any order
            assert values[b, s, 0, : len(best)].tolist() == pytest.approx(best)
            assert (values[b, s, 0, len(best) :] == float("-inf")).all()
    assert fused.lightning_indexer(q, k, w, sparse_count=count)[1].numel() == 0


def test_lightning_indexer_packed():
    q, k, w = make(5, N, D), make(7, 1, D, seed=1), make(5, N, seed=2)
    ends = {"actual_seq_lengths_query": torch.tensor([2, 5]), "actual_seq_lengths_key": torch.tensor([3, 7])}
    places, values = fused.lightning_indexer(
        q, k, w, layout_query="TND", layout_key="TND", sparse_count=2, return_value=True, **ends
    )
    assert places.shape == values.shape == (5, 1, 2)
    for a, b, c, d in ((0, 2, 0, 3), (2, 5, 3, 7)):
        one, _ = fused.lightning_indexer(q[None, a:b], k[None, c:d], w[None, a:b], sparse_count=2)
        assert torch.equal(places[a:b], one[0])
    with pytest.raises(ValueError, match="cumulative"):
        fused.lightning_indexer(q, k, w, layout_query="TND", layout_key="TND")
    with pytest.raises(NotImplementedError, match="block_table"):
        fused.lightning_indexer(q, k, w, block_table=torch.zeros(1))
    with pytest.raises(NotImplementedError, match="sparse_mode=2"):
        fused.lightning_indexer(q, k, w, sparse_mode=2)


def sparse_reference(q, k, v, picked, scale, mode):
    """One sequence: q [S, N, D], k and v [T, D], picked [S, K]."""
    out, tops, sums = [], [], []
    for s, row in enumerate(seen(q.shape[0], k.shape[0], mode)):
        keys = [t for t in picked[s].tolist() if t >= 0 and row[t]]
        logits = q[s] @ k[keys].T * scale
        out.append(logits.softmax(-1) @ v[keys])
        tops.append(logits.amax(-1))
        sums.append((logits - logits.amax(-1, keepdim=True)).exp().sum(-1))
    return torch.stack(out), torch.stack(tops), torch.stack(sums)


@pytest.mark.parametrize("layout", ["BSND", "TND"])
@pytest.mark.parametrize("mode", [0, 3])
def test_sparse_flash_attention(layout, mode):
    leaves = [make(B, S, N, D), make(B, S, 1, D, seed=1), make(B, S, 1, D, seed=2)]
    leaves += [make(B, S, N, R, seed=3), make(B, S, 1, R, seed=4)]
    q, k, v, qr, kr = (t.requires_grad_() for t in leaves)
    picked = torch.stack(
        [torch.randperm(S - 1, generator=torch.Generator().manual_seed(s))[:3] for s in range(B * S)]
    )
    picked = picked.reshape(B, S, 1, 3).to(torch.int32)
    picked = picked + 1
    picked[..., 0] = 0  # every query may see the first key
    picked[:, :, :, 2] = -1
    args = [q, k, v, picked]
    rope = [qr, kr]
    ends = {}
    if layout == "TND":
        args, rope = [t.flatten(0, 1) for t in args], [t.flatten(0, 1) for t in rope]
        ends = {"actual_seq_lengths_query": [S, 2 * S], "actual_seq_lengths_kv": [S, 2 * S]}
    out, top, total = fused.sparse_flash_attention(
        *args, 0.3, query_rope=rope[0], key_rope=rope[1], layout_query=layout, layout_kv=layout,
        sparse_mode=mode, attention_mode=2, return_softmax_lse=True, **ends,
    )  # fmt: skip
    wants = []
    for b in range(B):
        whole_q, whole_k = torch.cat((q[b], qr[b]), -1), torch.cat((k[b, :, 0], kr[b, :, 0]), -1)
        want, want_top, want_sum = sparse_reference(whole_q, whole_k, v[b, :, 0], picked[b, :, 0], 0.3, mode)
        wants.append(want)
        rows = (b, 0) if layout == "BSND" else (0, slice(b * S, b * S + S))
        torch.testing.assert_close(top[rows], want_top.float())
        torch.testing.assert_close(total[rows], want_sum.float())
    want = torch.stack(wants)
    assert out.shape == args[0].shape
    torch.testing.assert_close(out.reshape(want.shape), want)
    got = torch.autograd.grad(out.square().sum(), leaves)
    for a, e in zip(got, torch.autograd.grad(want.square().sum(), leaves), strict=True):
        torch.testing.assert_close(a, e)
    assert (
        fused.sparse_flash_attention(*args, 0.3, layout_query=layout, layout_kv=layout, **ends)[1].numel()
        == 0
    )


def test_sparse_flash_attention_refusals():
    q, k, i = make(1, S, N, D), make(1, S, 1, D), torch.zeros(1, S, 1, 1, dtype=torch.int32)
    with pytest.raises(NotImplementedError, match="attention_mode=1"):
        fused.sparse_flash_attention(q, k, k, i, 1.0, attention_mode=1)
    with pytest.raises(NotImplementedError, match="sparse_block_size"):
        fused.sparse_flash_attention(q, k, k, i, 1.0, sparse_block_size=2)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("layout", ["BSND", "TND"])
def test_indexer_loss_and_its_gradients(sparse, layout):
    q, k = make(B, S, N, D), make(B, S, 1, D, seed=1)
    qi, ki, w = (
        t.requires_grad_()
        for t in (make(B, S, 2, D, seed=2), make(B, S, 1, D, seed=3), make(B, S, 2, seed=4))
    )
    picked = torch.tensor([[[0, -1], [1, 0], [2, 0], [3, 1], [4, 2]]] * B, dtype=torch.int32).unsqueeze(2)
    loss, tops, sums = 0, [], []
    for b in range(B):
        scores = index_scores(qi[b], ki[b], w[b])
        logits = torch.einsum("snd,td->snt", q[b], k[b, :, 0]) * 0.5
        allowed = torch.tensor(seen(S, S, 3))
        if sparse:
            chosen = torch.zeros(S, S, dtype=torch.bool)
            for s in range(S):
                chosen[s, [t for t in picked[b, s, 0].tolist() if t >= 0]] = True
            allowed = allowed & chosen
        logits = logits.masked_fill(~allowed.unsqueeze(1), -torch.inf)
        tops.append(logits.amax(-1))
        sums.append((logits - logits.amax(-1, keepdim=True)).exp().sum(-1))
        p = logits.softmax(-1).sum(1)
        p = p / p.sum(-1, keepdim=True)
        for s in range(S):
            keys = allowed[s].nonzero().flatten()
            loss = loss + torch.nn.functional.kl_div(
                scores[s, keys].log_softmax(-1), p[s, keys], reduction="sum"
            )
    top, total = (torch.stack(t).unsqueeze(1).float() for t in (tops, sums))  # [B, 1, S, N]
    tensors = [q, k, qi, ki, w]
    ends = {}
    if layout == "TND":
        tensors = [t.flatten(0, 1) for t in tensors]
        picked = picked.flatten(0, 1)
        top, total = (t.transpose(0, 1).flatten(1, 2) for t in (top, total))
        ends = {"actual_seq_qlen": [S, 2 * S], "actual_seq_klen": [S, 2 * S]}
    if sparse:
        got = fused.npu_sparse_lightning_indexer_grad_kl_loss(
            *tensors, picked, top, total, 0.5, layout=layout, **ends
        )
    else:
        lse = fused.npu_dense_lightning_indexer_softmax_lse(*tensors[2:], layout=layout, **ends)
        assert lse[0].shape == ((B, 1, S) if layout == "BSND" else (1, B * S))
        got = fused.npu_dense_lightning_indexer_grad_kl_loss(
            *tensors, top, total, *lse, 0.5, layout=layout, **ends
        )
    assert got[3].shape == (1,)
    torch.testing.assert_close(got[3].double(), loss.reshape(1), rtol=1e-5, atol=1e-6)
    for a, e in zip(got[:3], torch.autograd.grad(loss, (qi, ki, w)), strict=True):
        torch.testing.assert_close(a.reshape(e.shape), e, rtol=1e-5, atol=1e-6)


def test_dense_statistics_of_the_index_scores():
    q, k, w = make(B, S, N, D), make(B, T, 1, D, seed=1), make(B, S, N, seed=2)
    top, total = fused.npu_dense_lightning_indexer_softmax_lse(q, k, w)
    for b in range(B):
        scores = index_scores(q[b], k[b], w[b]).masked_fill(~torch.tensor(seen(S, T, 3)), -torch.inf)
        torch.testing.assert_close(top[b, 0], scores.amax(-1))
        torch.testing.assert_close(total[b, 0].log() + top[b, 0], scores.logsumexp(-1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_hyper_connections(dtype):
    n, d = 4, 6
    x = make(2, 3, n, d, dtype=torch.float32).to(dtype)
    phi, bias = make(n * n + 2 * n, n * d, seed=1).float(), make(n * n + 2 * n, seed=2).float()
    alpha = torch.tensor([0.5, 0.7, 0.9])
    h_in, h_post, h_res = fused.npu_mhc_pre_sinkhorn(x, phi, alpha, bias, hc_mult=n, num_iters=100)
    assert h_in.shape == (2, 3, d) and h_in.dtype == dtype
    assert h_post.shape == (2, 3, n) and h_res.shape == (2, 3, n * n)
    flat = x.float().reshape(2, 3, n * d)
    raw = torch.nn.functional.rms_norm(flat, (n * d,), eps=1e-6) @ phi.T
    pre = torch.sigmoid(raw[..., :n] * 0.5 + bias[:n]) + 1e-6
    torch.testing.assert_close(
        h_in.float(), torch.einsum("bsn,bsnd->bsd", pre, x.float()), rtol=1e-2, atol=2e-2
    )
    torch.testing.assert_close(h_post, 2 * torch.sigmoid(raw[..., n : 2 * n] * 0.7 + bias[n : 2 * n]))
    matrix = h_res.reshape(2, 3, n, n)
    assert (matrix > 0).all()
    torch.testing.assert_close(matrix.sum(-1), torch.ones(2, 3, n), rtol=5e-3, atol=5e-3)
    torch.testing.assert_close(matrix.sum(-2), torch.ones(2, 3, n), rtol=1e-4, atol=1e-4)
    one = fused.npu_mhc_pre_sinkhorn(x, phi, alpha, bias, hc_mult=n, num_iters=1)[2].reshape(2, 3, n, n)
    logits = (raw[..., 2 * n :] * 0.9 + bias[2 * n :]).reshape(2, 3, n, n).softmax(-1) + 1e-6
    torch.testing.assert_close(one, logits / (logits.sum(-2, keepdim=True) + 1e-6))
    out = make(2, 3, d, seed=5).to(dtype)
    new = fused.npu_mhc_post(x, matrix, out, h_post)
    want = torch.einsum("bsij,bsid->bsjd", matrix, x.float()) + h_post[..., None] * out.float()[..., None, :]
    assert new.dtype == dtype
    torch.testing.assert_close(new.float(), want, rtol=1e-2, atol=2e-2)
    torch.testing.assert_close(
        fused.npu_mhc_post(x, None, out, h_post).float(),
        x.float() + h_post[..., None] * out.float()[..., None, :],
        rtol=1e-2,
        atol=2e-2,
    )


def test_hyper_connections_are_differentiable():
    x, phi, bias = (
        make(1, 2, 4, 3, dtype=torch.float32),
        make(24, 12, seed=1).float(),
        make(24, seed=2).float(),
    )
    leaves = [t.requires_grad_() for t in (x, phi, torch.ones(3), bias)]
    h_in, h_post, h_res = fused.npu_mhc_pre_sinkhorn(*leaves, hc_mult=4, num_iters=3)
    new = fused.npu_mhc_post(leaves[0], h_res.unflatten(-1, (4, 4)), h_in, h_post)
    for g in torch.autograd.grad(new.square().sum(), leaves):
        assert g.isfinite().all() and g.any()
