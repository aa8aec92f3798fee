"""rms_norm, swiglu, grouped products, token grouping, rotary embedding and AdamW against plain torch."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ms2torch.runtime._backend import fused

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
DTYPES = list(TOLERANCE)


def make(*shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype).requires_grad_()


def same(got, want, dtype):
    torch.testing.assert_close(got.double(), want.double(), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def test_rms_norm_documented_example():
    y, rstd = fused.rms_norm(torch.tensor([[1.0, 2, 3], [1, 2, 3]]), torch.ones(3))
    torch.testing.assert_close(y, torch.tensor([[0.46290997, 0.92581993, 1.3887299]] * 2))
    torch.testing.assert_close(rstd, torch.tensor([[0.46290997]] * 2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("normed", [(8,), (3, 8)])
def test_rms_norm(dtype, normed):
    x, gamma = make(2, 3, 8, dtype=dtype), make(*normed, dtype=dtype, seed=1)
    y, rstd = fused.rms_norm(x, gamma, 1e-5)
    dims = tuple(range(-len(normed), 0))
    wide = x.double()
    want_rstd = (wide.square().mean(dims, keepdim=True) + 1e-5).rsqrt()
    want = wide * want_rstd * gamma.double()
    assert y.dtype == dtype and y.shape == x.shape
    assert rstd.dtype == (torch.float64 if dtype is torch.float64 else torch.float32)
    assert rstd.shape == want_rstd.shape
    same(y, want, dtype)
    torch.testing.assert_close(rstd.double(), want_rstd, rtol=1e-6, atol=1e-6)
    for got, expected in zip(
        torch.autograd.grad((y * y.detach()).double().sum(), (x, gamma)),
        torch.autograd.grad((want * want.detach()).sum(), (x, gamma)),
        strict=True,
    ):
        assert got.dtype == dtype
        torch.testing.assert_close(got.double(), expected.double(), rtol=5e-2, atol=5 * TOLERANCE[dtype])


def test_rms_norm_primitive_and_bad_gamma():
    x = make(2, 4)
    assert torch.equal(fused.RmsNorm(1e-3)(x, torch.ones(4))[0], fused.rms_norm(x, torch.ones(4), 1e-3)[0])
    with pytest.raises(ValueError, match="gamma"):
        fused.rms_norm(x, torch.ones(3))


def test_swiglu_documented_example():
    x = torch.tensor([[-0.12, 0.123, 31.122], [2.1223, 4.1212121217, 0.3123]])
    torch.testing.assert_close(fused.swiglu(x, 0), torch.tensor([[-0.11970687, 0.2690224, 9.7194]]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [-1, 0, 1])
def test_swiglu_and_its_gradient(dtype, dim):
    x = make(4, 6, 8, dtype=dtype)
    out = fused.swiglu(x, dim)
    gate, linear = x.double().chunk(2, dim)
    want = gate * gate.sigmoid() * linear
    assert out.dtype == dtype
    same(out, want, dtype)
    upstream = make(*out.shape, dtype=dtype, seed=5).detach()
    (auto,) = torch.autograd.grad(want, x, upstream.double())
    explicit = fused.SwigluGrad()(upstream, x, dim)
    assert explicit.dtype == dtype and explicit.shape == x.shape
    same(explicit, auto, dtype)
    same(torch.autograd.grad(out, x, upstream)[0], auto, dtype)
    assert torch.equal(fused.Swiglu()(x, dim), out)
    with pytest.raises(ValueError, match="odd"):
        fused.swiglu(x[:3], 0)


def test_grouped_matmul_documented_example():
    x = torch.tensor([[0] * 4, [1] * 4, [2] * 4, [2] * 4, [1] * 4, [1] * 4], dtype=torch.float32)
    weight = torch.arange(32.0).reshape(4, 4, 2)
    want = torch.tensor([[0, 0], [44, 48], [88, 96], [152, 160], [108, 112], [108, 112]], dtype=torch.float32)
    prim = fused.GroupedMatmul(split_item=3, group_type=0)
    for groups in (torch.tensor([1, 3, 4, 6]), [1, 3, 4, 6], (1, 3, 4, 6)):
        (out,) = prim([x], [weight], None, None, None, None, None, groups)
        assert torch.equal(out, want)
    out = fused.grouped_matmul_v4(
        [x], [weight], group_list=torch.tensor([1, 2, 1, 2]), split_item=3, group_type=0, group_list_type=1
    )
    assert torch.equal(out[0], want)
    (out,) = fused.GroupedMatmul(3, 0, transpose_b=True)(
        [x], [weight.transpose(1, 2).contiguous()], group_list=torch.tensor([1, 3, 4, 6])
    )
    assert torch.equal(out, want)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.integers(0, 3), st.sampled_from(DTYPES))
def test_grouped_matmul_any_groups(sizes, rest, dtype):
    x, weight = make(sum(sizes) + rest, 3, dtype=dtype), make(len(sizes), 3, 5, dtype=dtype, seed=1)
    ends = torch.tensor(sizes).cumsum(0)
    (out,) = fused.grouped_matmul([x], [weight], group_list=ends, split_item=3, group_type=0)
    owner = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    want = torch.einsum("mk,mkn->mn", x[: sum(sizes)].double(), weight.double()[owner])
    want = torch.cat((want, want.new_zeros(rest, 5)))
    assert out.shape == (sum(sizes) + rest, 5) and out.dtype == dtype
    same(out, want, dtype)
    got = torch.autograd.grad(out.double().square().sum(), (x, weight), allow_unused=True)
    expected = torch.autograd.grad(want.square().sum(), (x, weight))
    for a, b in zip(got, expected, strict=True):
        assert a.dtype == dtype
        torch.testing.assert_close(a.double(), b.double(), rtol=5e-2, atol=20 * TOLERANCE[dtype])


def test_grouped_matmul_lists_and_bias():
    xs, ws = [make(2, 3), make(4, 2, 3, seed=1)], [make(3, 5, seed=2), make(3, 2, seed=3)]
    bs = [make(5, seed=4), make(2, seed=5)]
    out = fused.grouped_matmul(xs, ws, bs)
    assert len(out) == 2
    for o, x, w, b in zip(out, xs, ws, bs, strict=True):
        torch.testing.assert_close(o, x @ w + b)
    (out,) = fused.grouped_matmul(
        [xs[0]], [make(2, 3, 5)], [make(2, 5, seed=9)], group_list=[1, 2], split_item=3, group_type=0
    )
    torch.testing.assert_close(out[1], xs[0][1] @ make(2, 3, 5)[1] + make(2, 5, seed=9)[1])


def test_grouped_matmul_refusals():
    x, w = [make(2, 3)], [make(1, 3, 4)]
    with pytest.raises(NotImplementedError, match="antiquant_scale"):
        fused.grouped_matmul(x, w, antiquant_scale=[torch.ones(1)])
    with pytest.raises(NotImplementedError, match="act_type"):
        fused.GroupedMatmulV4()(x, w, act_type=1)
    with pytest.raises(TypeError, match="split_item=2"):
        fused.grouped_matmul(x, w, split_item=2, group_type=0, group_list=[2])
    with pytest.raises(TypeError, match="group_list is required"):
        fused.grouped_matmul(x, w, split_item=3, group_type=0)
    with pytest.raises(ValueError, match="does not divide"):
        fused.grouped_matmul(x, w, split_item=3, group_type=0, group_list=[3])
    with pytest.raises(ValueError, match="2 groups for 1"):
        fused.grouped_matmul(x, w, split_item=3, group_type=0, group_list=[1, 2])


def test_token_permute_documented_example():
    tokens = torch.tensor(
        [[1, 1, 1], [7, 7, 7], [2, 2, 2], [1, 1, 1], [2, 2, 2], [3, 3, 3]], dtype=torch.bfloat16
    )
    out, places = fused.moe_token_permute(tokens, torch.tensor([5, 0, 3, 1, 2, 4], dtype=torch.int32))
    want = torch.tensor([[7] * 3, [1] * 3, [2] * 3, [2] * 3, [3] * 3, [1] * 3], dtype=torch.bfloat16)
    assert torch.equal(out, want)
    assert places.dtype == torch.int32 and places.tolist() == [5, 0, 3, 1, 2, 4]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 7), st.integers(1, 4), st.integers(1, 5), st.integers(0, 10**6), st.sampled_from(DTYPES)
)
def test_tokens_permute_and_return(count, k, experts, seed, dtype):
    tokens, probs = make(count, 3, dtype=dtype, seed=seed), make(count, k, dtype=dtype, seed=seed + 1)
    gen = torch.Generator().manual_seed(seed)
    indices = torch.randint(0, experts, (count, k), generator=gen, dtype=torch.int32)
    out, places = fused.moe_token_permute(tokens, indices)
    # a stable sort by expert, written as Python does it
    order = sorted(range(count * k), key=lambda i: int(indices.flatten()[i]))
    assert torch.equal(out, tokens[[i // k for i in order]])
    assert [order[p] for p in places.tolist()] == list(range(count * k))
    back = fused.moe_token_unpermute(out, places, probs)
    want = tokens.double() * probs.double().sum(1, keepdim=True)
    assert back.dtype == dtype and back.shape == tokens.shape
    torch.testing.assert_close(back.double(), want, rtol=3 * TOLERANCE[dtype], atol=3 * TOLERANCE[dtype])
    got = torch.autograd.grad(back.double().sum(), (tokens, probs))
    expected = torch.autograd.grad(want.sum(), (tokens, probs))
    for a, b in zip(got, expected, strict=True):
        assert a.dtype == dtype
        torch.testing.assert_close(a.double(), b.double(), rtol=5e-2, atol=10 * TOLERANCE[dtype])


def test_token_unpermute_without_probs_and_with_dropped_rows():
    tokens = make(3, 2)
    indices = torch.tensor([[1, 0], [0, 2], [2, 1]])
    out, places = fused.moe_token_permute(tokens, indices, num_out_tokens=4)
    assert out.shape == (4, 2) and places.shape == (6,)
    back = fused.moe_token_unpermute(out, places, torch.ones(3, 2))
    kept = torch.tensor([2.0, 1, 1])  # tokens 1 and 2 lose their copy for expert 2
    torch.testing.assert_close(back, tokens * kept.unsqueeze(1))
    out, places = fused.MoeTokenPermute()(tokens, torch.tensor([2, 0, 1]))
    assert torch.equal(fused.MoeTokenUnpermute()(out, places), tokens)


def test_token_grouping_refusals():
    tokens = make(3, 2)
    with pytest.raises(ValueError, match="padded_mode"):
        fused.moe_token_permute(tokens, torch.zeros(3, 1, dtype=torch.int64), padded_mode=True)
    with pytest.raises(ValueError, match="padded_mode"):
        fused.moe_token_unpermute(tokens, torch.arange(3), padded_mode=True)
    with pytest.raises(ValueError, match="do not fit"):
        fused.moe_token_permute(tokens, torch.zeros(2, 1, dtype=torch.int64))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("shape", [(5, 1, 1, 8), (5, 2, 1, 8), (5, 2, 3, 8)])
def test_rotary(dtype, mode, shape):
    x = make(5, 2, 3, 8, dtype=dtype)
    angle = make(*shape, seed=3).detach()
    cos, sin = angle.cos().to(dtype).requires_grad_(), angle.sin().to(dtype).requires_grad_()
    out = fused.RotaryPositionEmbedding()(x, cos, sin, mode)
    turned = torch.empty(5, 2, 3, 8, dtype=torch.float64)
    wide = x.double()
    for i in range(4):
        a, b = (i, i + 4) if mode == 0 else (2 * i, 2 * i + 1)
        turned = turned.clone()
        turned[..., a], turned[..., b] = -wide[..., b], wide[..., a]
    want = wide * cos.double() + turned * sin.double()
    assert out.dtype == dtype
    same(out, want, dtype)
    for got, expected in zip(
        torch.autograd.grad(out.double().square().sum(), (x, cos, sin)),
        torch.autograd.grad(want.square().sum(), (x, cos, sin)),
        strict=True,
    ):
        torch.testing.assert_close(got.double(), expected.double(), rtol=5e-2, atol=20 * TOLERANCE[dtype])


def test_rotary_refuses_other_modes():
    with pytest.raises(NotImplementedError, match="mode 2"):
        fused.rotary_position_embedding(make(1, 1, 2, 4), torch.ones(4), torch.ones(4), 2)


@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("maximize", [False, True])
def test_adamw_steps_like_torch(amsgrad, maximize):
    start = make(4, 3).detach()
    param = torch.nn.Parameter(start.clone())
    optimizer = torch.optim.AdamW(
        [param], lr=0.1, betas=(0.8, 0.95), eps=1e-7, weight_decay=0.2, amsgrad=amsgrad, maximize=maximize
    )
    var = torch.nn.Parameter(start.clone())
    m, v, max_v = (torch.zeros_like(start) for _ in range(3))
    for step in range(4):
        grad = make(4, 3, seed=step + 10).detach()
        param.grad = grad
        optimizer.step()
        out = fused.AdamW()(
            var, m, v, max_v, grad, torch.tensor([step]), 0.1, 0.8, 0.95, 0.2, 1e-7, amsgrad, maximize
        )
        assert out[0] is var and out[1] is m and out[2] is v
        torch.testing.assert_close(var, param, rtol=1e-5, atol=1e-6) if not amsgrad else None
    state = optimizer.state[param]
    torch.testing.assert_close(m, state["exp_avg"])
    torch.testing.assert_close(v, state["exp_avg_sq"])


def test_adamw_with_amsgrad_keeps_the_largest_corrected_moment():
    # MindSpore's formula takes the maximum after the bias correction; torch takes it before.
    var, m, v, max_v = torch.ones(1), torch.zeros(1), torch.zeros(1), torch.zeros(1)
    fused.AdamW()(var, m, v, max_v, torch.tensor([2.0]), 0, 0.1, 0.9, 0.99, 0.0, 0.0, True)
    torch.testing.assert_close(max_v, torch.tensor([4.0]))
    torch.testing.assert_close(var, torch.tensor([0.9]))
    fused.AdamW()(var, m, v, max_v, torch.tensor([0.0]), 1, 0.1, 0.9, 0.99, 0.0, 0.0, True)
    torch.testing.assert_close(max_v, torch.tensor([4.0]))
