"""Flash attention against plain float64 mathematics: layouts, masks, sparse modes, heads, statistics."""

import math

import pytest
import torch

from ms2torch.runtime._backend.fused import FlashAttentionScore, flash_attention_score
from ms2torch.runtime._backend.fused._deferred import Deferred

B, N, S, T, D = 2, 4, 6, 6, 8


def reference(q, k, v, scale, drop=None, shift=None):
    """[B, N, S, D] in float64; returns max, sum and output."""
    q, k, v = q.double(), k.double(), v.double()
    n = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(n, 1), v.repeat_interleave(n, 1)
    s = q @ k.transpose(-1, -2)
    if shift is not None:
        s = s + shift.double()
    s = s * scale
    if drop is not None:
        s = s.masked_fill(drop.bool(), -3e38)
    top = s.amax(-1, keepdim=True)
    e = (s - top).exp()
    return top, e.sum(-1, keepdim=True), (e / e.sum(-1, keepdim=True)) @ v


def make(*shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype).requires_grad_()


def to_layout(x, layout):
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return x.transpose(1, 2)
    if layout == "BSH":
        return x.transpose(1, 2).flatten(2)
    return x.permute(2, 0, 1, 3).flatten(2)


def causal(rows, columns, corner):
    return torch.ones(rows, columns).triu(1 + (columns - rows if corner else 0)).to(torch.uint8)


TRIANGLE = torch.ones(2048, 2048, dtype=torch.uint8).triu(1)


@pytest.mark.parametrize("layout", ["BNSD", "BSND", "BSH", "SBH"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("kv_heads", [4, 2, 1])
def test_layouts_dtypes_and_grouped_heads(layout, dtype, kv_heads):
    q = make(B, N, S, D, dtype=dtype)
    k, v = make(B, kv_heads, T, D, dtype=dtype, seed=1), make(B, kv_heads, T, D, dtype=dtype, seed=2)
    mask = causal(S, T, False)
    op = FlashAttentionScore(N, scale_value=0.3, input_layout=layout, next_tokens=0)
    top, total, nothing, out = op(*(to_layout(x, layout) for x in (q, k, v)), attn_mask=mask)
    want_top, want_total, want = reference(q, k, v, 0.3, mask)
    tol = {torch.float32: 1e-5, torch.float64: 1e-10, torch.float16: 3e-3, torch.bfloat16: 2e-2}[dtype]
    assert nothing is None
    assert out.dtype == dtype and out.shape == to_layout(q, layout).shape
    torch.testing.assert_close(out.double(), to_layout(want, layout), rtol=tol, atol=tol)
    assert top.shape == total.shape == (B, N, S, 8) and top.dtype == total.dtype == torch.float32
    torch.testing.assert_close(top + 0, want_top.expand(B, N, S, 8).float(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(total + 0, want_total.expand(B, N, S, 8).float(), rtol=1e-5, atol=1e-5)
    grads = torch.autograd.grad(out.double().square().sum(), (q, k, v))
    wants = torch.autograd.grad(want.square().sum(), (q, k, v))
    for got, expected in zip(grads, wants, strict=True):
        assert got.dtype == dtype
        torch.testing.assert_close(got.double(), expected.double(), rtol=5 * tol, atol=5 * tol)


@pytest.mark.parametrize(
    ("mode", "rows", "columns", "drop"),
    [
        (1, 5, 7, causal(5, 7, False)),
        (2, 5, 5, causal(5, 5, False)),
        (2, 5, 7, causal(5, 7, False)),
        (2, 7, 5, causal(7, 5, False)),
        (3, 5, 5, causal(5, 5, True)),
        (3, 5, 7, causal(5, 7, True)),
        (3, 3, 7, causal(3, 7, True)),
    ],
)
def test_sparse_modes(mode, rows, columns, drop):
    q, k, v = make(1, N, rows, D), make(1, N, columns, D, seed=1), make(1, N, columns, D, seed=2)
    mask = drop if mode == 1 else TRIANGLE
    top, total, _, out = FlashAttentionScore(N, scale_value=0.5, input_layout="BNSD", sparse_mode=mode)(
        q, k, v, attn_mask=mask
    )
    want_top, want_total, want = reference(q, k, v, 0.5, drop)
    torch.testing.assert_close(out, want.float())
    torch.testing.assert_close(top[..., :1], want_top.float())
    torch.testing.assert_close(total[..., :1], want_total.float())
    for got, expected in zip(
        torch.autograd.grad(out.sum(), (q, k)), torch.autograd.grad(want.sum(), (q, k)), strict=True
    ):
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-6)


def test_band_counts_from_the_bottom_right_corner():
    q, k, v = make(1, 1, 4, D), make(1, 1, 6, D, seed=1), make(1, 1, 6, D, seed=2)
    op = FlashAttentionScore(1, input_layout="BNSD", sparse_mode=4, pre_tokens=2, next_tokens=1)
    out = op(q, k, v, attn_mask=TRIANGLE)[3]
    across = torch.arange(6) - torch.arange(4).unsqueeze(1) - 2
    torch.testing.assert_close(out, reference(q, k, v, 1.0, (across > 1) | (across < -2))[2].float())


def test_mode_zero_takes_the_mask_as_it_is():
    # pre_tokens and next_tokens do not cut: this mask keeps what next_tokens=0 alone would drop.
    q, k, v = make(1, N, S, D), make(1, N, S, D, seed=1), make(1, N, S, D, seed=2)
    mask = torch.ones(S, S, dtype=torch.uint8).tril()
    out = FlashAttentionScore(N, input_layout="BNSD", next_tokens=0)(q, k, v, attn_mask=mask)[3]
    torch.testing.assert_close(out, reference(q, k, v, 1.0, mask)[2].float())
    torch.testing.assert_close(out[:, :, -1], v.mean(2))  # the last row drops everything
    torch.testing.assert_close(out[:, :, -2], v[:, :, -1])


def test_without_mask_all_is_seen_and_mask_zero_keeps():
    q, k, v = make(1, N, S, D), make(1, N, S, D, seed=1), make(1, N, S, D, seed=2)
    op = FlashAttentionScore(N, input_layout="BNSD", next_tokens=0)
    want = reference(q, k, v, 1.0)[2].float()
    torch.testing.assert_close(op(q, k, v)[3], want)
    torch.testing.assert_close(op(q, k, v, attn_mask=torch.zeros(1, 1, S, S, dtype=torch.uint8))[3], want)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("mode", [0, 3])
def test_rows_that_drop_everything_average_all_values(dtype, mode):
    q, k, v = (
        make(1, 1, 8, D, dtype=dtype),
        make(1, 1, S, D, dtype=dtype, seed=1),
        make(1, 1, S, D, dtype=dtype, seed=2),
    )
    drop = torch.zeros(8, S, dtype=torch.uint8)
    drop[:2] = 1
    if mode == 3:
        drop = causal(8, S, True)
    op = FlashAttentionScore(1, input_layout="BNSD", sparse_mode=mode)
    out = op(q, k, v, attn_mask=drop if mode == 0 else TRIANGLE)[3]
    torch.testing.assert_close(
        out[:, :, :2], v.mean(2, keepdim=True).expand(1, 1, 2, D), rtol=2e-2, atol=2e-2
    )
    want = reference(q, k, v, 1.0, drop)[2]
    got = torch.autograd.grad(out.double().square().sum(), (q, k, v))
    assert not got[0][:, :, :2].any()
    for a, b in zip(got, torch.autograd.grad(want.square().sum(), (q, k, v)), strict=True):
        torch.testing.assert_close(
            a.double(), b.double(), rtol=5e-2, atol=5e-2 if dtype != torch.float32 else 1e-4
        )


def test_real_shift_is_scaled_with_the_scores():
    q, k, v = make(B, N, S, D), make(B, N, S, D, seed=1), make(B, N, S, D, seed=2)
    shift = make(1, N, S, S, seed=3)
    for mode, mask in ((0, None), (0, causal(S, S, False)), (2, TRIANGLE)):
        top, _, _, out = FlashAttentionScore(N, scale_value=0.25, input_layout="BNSD", sparse_mode=mode)(
            q, k, v, real_shift=shift, attn_mask=mask
        )
        drop = causal(S, S, False) if mode == 2 else mask
        want = reference(q, k, v, 0.25, drop, shift)
        torch.testing.assert_close(out, want[2].float())
        torch.testing.assert_close(top[..., :1], want[0].float())
    with pytest.raises(NotImplementedError, match="compressed"):
        FlashAttentionScore(N, input_layout="BNSD")(q, k, v, real_shift=make(1, N, 4, S))


@pytest.mark.parametrize("layout", ["BNSD", "BSND", "BSH", "SBH"])
def test_values_may_have_another_head_size(layout):
    q, k, v = make(B, N, S, 12), make(B, 2, S, 12, seed=1), make(B, 2, S, 8, seed=2)
    out = FlashAttentionScore(N, input_layout=layout)(*(to_layout(x, layout) for x in (q, k, v)))[3]
    torch.testing.assert_close(out, to_layout(reference(q, k, v, 1.0)[2].float(), layout))


@pytest.mark.parametrize("mode", [0, 2, 3])
@pytest.mark.parametrize("as_tensor", [False, True])
def test_packed_sequences(mode, as_tensor):
    q_ends, k_ends = [2, 5, 9], [3, 6, 11]
    q, k, v = make(9, N, D), make(11, 2, D, seed=1), make(11, 2, D, seed=2)
    lengths = [torch.tensor(e) if as_tensor else e for e in (q_ends, k_ends)]
    op = FlashAttentionScore(N, scale_value=0.5, input_layout="TND", sparse_mode=mode)
    top, total, _, out = op(
        q, k, v, attn_mask=TRIANGLE if mode else None, actual_seq_qlen=lengths[0], actual_seq_kvlen=lengths[1]
    )
    wants, tops, sums = [], [], []
    for (a, b), (c, d) in zip([(0, 2), (2, 5), (5, 9)], [(0, 3), (3, 6), (6, 11)], strict=True):
        drop = causal(b - a, d - c, mode == 3) if mode else None
        one = (t.transpose(0, 1).unsqueeze(0) for t in (q[a:b], k[c:d], v[c:d]))
        t, s, o = reference(*one, 0.5, drop)
        wants.append(o.squeeze(0).transpose(0, 1))
        tops.append(t.reshape(-1))
        sums.append(s.reshape(-1))
    torch.testing.assert_close(out, torch.cat(wants).float())
    assert top.shape == (9, N, 8)
    torch.testing.assert_close(top.reshape(-1, 8)[:, 0], torch.cat(tops).float())
    torch.testing.assert_close(total.reshape(-1, 8)[:, 3], torch.cat(sums).float())
    grad = torch.autograd.grad(out.sum(), (q, k, v))
    want = torch.autograd.grad(torch.cat(wants).sum(), (q, k, v))
    for got, expected in zip(grad, want, strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)


def test_packed_rows_behind_the_last_end_are_zero():
    q, k, v = make(6, N, D), make(6, N, D, seed=1), make(6, N, D, seed=2)
    op = FlashAttentionScore(N, input_layout="TND")
    out = op(q, k, v, actual_seq_qlen=[2, 4, 0, 0], actual_seq_kvlen=[2, 4, 0, 0])[3]
    assert out.shape == q.shape and not out[4:].any() and out[:4].any()
    with pytest.raises(ValueError, match="actual_seq_qlen"):
        op(q, k, v)
    with pytest.raises(ValueError, match="ends at"):
        op(q, k, v, actual_seq_qlen=[9], actual_seq_kvlen=[6])


def test_functional_form_returns_the_output_alone():
    q, k, v = make(B, S, N * D), make(B, S, N * D, seed=1), make(B, S, N * D, seed=2)
    got = flash_attention_score(q, k, v, N, scalar_value=1 / math.sqrt(D))
    torch.testing.assert_close(got, FlashAttentionScore(N, scale_value=1 / math.sqrt(D))(q, k, v)[3])


def test_what_cannot_be_honoured_is_refused():
    q = make(B, S, N * D)
    with pytest.raises(NotImplementedError, match="keep_prob"):
        FlashAttentionScore(N, keep_prob=0.9)
    with pytest.raises(NotImplementedError, match="TH"):
        FlashAttentionScore(N, input_layout="TH")
    with pytest.raises(NotImplementedError, match="sparse_mode=5"):
        FlashAttentionScore(N, sparse_mode=5)
    with pytest.raises(NotImplementedError, match="prefix"):
        FlashAttentionScore(N)(q, q, q, prefix=[1])
    with pytest.raises(NotImplementedError, match="drop_mask"):
        FlashAttentionScore(N)(q, q, q, drop_mask=torch.zeros(1))
    with pytest.raises(ValueError, match="needs attn_mask"):
        FlashAttentionScore(N, sparse_mode=2)(q, q, q)


def test_statistics_are_computed_only_when_read():
    q, k, v = make(B, N, 700, D), make(B, N, 700, D, seed=1), make(B, N, 700, D, seed=2)
    top, total, _, _ = FlashAttentionScore(N, input_layout="BNSD", sparse_mode=2)(q, k, v, attn_mask=TRIANGLE)
    assert isinstance(top, Deferred) and top._made is None and not top.requires_grad
    want = reference(q, k, v, 1.0, causal(700, 700, False))
    assert torch.equal(torch.amax(top, (0, 2, 3)), top.amax((0, 2, 3)))
    torch.testing.assert_close(torch.amax(top, (0, 2, 3)), want[0].amax((0, 2, 3)).float())
    torch.testing.assert_close(total[..., 0], want[1][..., 0].float())
    assert top.detach().cpu().numpy().shape == (B, N, 700, 8)
    assert "tensor" in repr(total)


@pytest.mark.parametrize("layout", ["BNSD", "BSH"])
@pytest.mark.parametrize(("mode", "before", "after"), [(0, 9, 0), (1, 9, 0), (2, 9, 0), (3, 9, 0), (4, 2, 1)])
@pytest.mark.parametrize("columns", [6, 8])
def test_a_part_of_the_queries_is_that_part_of_the_whole(layout, mode, before, after, columns):
    q, k, v = make(B, N, 6, D), make(B, N, columns, D, seed=1), make(B, N, columns, D, seed=2)
    mask = causal(6, columns, False) if mode < 2 else TRIANGLE
    options = {"scale_value": 0.3, "input_layout": layout, "sparse_mode": mode}
    options |= {"pre_tokens": before, "next_tokens": after}
    whole = FlashAttentionScore(N, **options)
    top, _, _, want = whole(*(to_layout(x, layout) for x in (q, k, v)), attn_mask=mask)
    rows = 1 if layout == "BSH" else 2
    for index in range(3):
        part = FlashAttentionScore(N, **options)
        part.part = (index, 3)
        mine = q.detach()[:, :, 2 * index : 2 * index + 2]
        own_mask = mask[2 * index : 2 * index + 2] if mode < 2 else mask
        for given in (mask, own_mask):
            got = part(*(to_layout(x, layout) for x in (mine, k, v)), attn_mask=given)
            torch.testing.assert_close(got[3], want.chunk(3, rows)[index], rtol=1e-5, atol=1e-5)
            torch.testing.assert_close(got[0] + 0, (top + 0).chunk(3, 2)[index])


@pytest.mark.parametrize("masked", [True, False])
def test_a_part_of_packed_sequences(masked):
    q, k, v = (make(12, N, D, seed=seed) for seed in range(3))
    ends = torch.tensor([1, 5, 10, 12, 12])
    options = {"scale_value": 0.3, "input_layout": "TND", "sparse_mode": 3 if masked else 0}
    lengths = {"actual_seq_qlen": ends, "actual_seq_kvlen": ends}
    mask = TRIANGLE if masked else None
    want = FlashAttentionScore(N, **options)(q, k, v, attn_mask=mask, **lengths)[3]
    for index in range(3):
        part = FlashAttentionScore(N, **options)
        part.part = (index, 3)
        got = part(q[4 * index : 4 * index + 4], k, v, attn_mask=mask, **lengths)[3]
        torch.testing.assert_close(got, want.chunk(3)[index], rtol=1e-5, atol=1e-5)
    part.sparse_mode = 2
    with pytest.raises(NotImplementedError, match="sparse_mode=2"):
        part(q[8:], k, v, attn_mask=TRIANGLE, **lengths)
