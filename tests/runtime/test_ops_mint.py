"""Adapters of mindspore.mint that MindSpore's CPU build has no kernel for: values by definition."""

import pytest

torch = pytest.importorskip("torch")

from ms2torch.runtime._backend import ops  # noqa: E402

mint = ops.mint


def same(value, want, dtype):
    assert value.dtype == dtype
    torch.testing.assert_close(value, torch.tensor(want, dtype=dtype))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_histc_counts_integers_as_bincount(dtype):
    x = torch.tensor([0, 3, 3, 1, 7, 4], dtype=dtype)
    same(mint.histc(x, bins=4, min=0, max=4), [1, 1, 0, 3], dtype)
    counts = torch.bincount(x.long(), minlength=8)
    same(mint.histc(x, 8, 0, 7), counts.tolist(), dtype)


def test_histc_takes_the_range_of_the_data():
    same(mint.histc(torch.tensor([2, 4, 6]), 2), [1, 2], torch.int64)
    same(mint.histc(torch.tensor([5, 5]), 3), [0, 2, 0], torch.int64)
    same(mint.histc(torch.tensor([1.0, 2.0, 2.0]), 2, 1, 2), [1.0, 2.0], torch.float32)


def test_histc_of_nothing():
    same(mint.histc(torch.tensor([], dtype=torch.int32), 3, 0, 3), [0, 0, 0], torch.int32)


def test_indices_may_be_int32():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    where = torch.tensor([[1], [0]], dtype=torch.int32)
    picked = mint.gather(x, 1, where)
    same(picked, [[2.0], [3.0]], torch.float32)
    picked.sum().backward()
    same(x.grad, [[0.0, 1.0], [1.0, 0.0]], torch.float32)
    same(mint.scatter(x.detach(), 1, where, 9.0), [[1.0, 9.0], [9.0, 4.0]], torch.float32)
    same(mint.scatter_add(x.detach(), 1, where, torch.ones(2, 1)), [[1.0, 3.0], [4.0, 4.0]], torch.float32)
    same(mint.take(x.detach(), torch.tensor([3], dtype=torch.int32)), [4.0], torch.float32)
    same(mint.one_hot(torch.tensor([1, 0], dtype=torch.int32), 3), [[0, 1, 0], [1, 0, 0]], torch.int64)
    labels = torch.tensor([1, -100], dtype=torch.int32)
    same(mint.nll_loss(torch.tensor([[-1.0, -2.0], [-3.0, -4.0]]), labels), 2.0, torch.float32)
    loss = mint.cross_entropy(torch.tensor([[0.0, 0.0], [1.0, 2.0]]), labels, reduction="none")
    same(loss, [0.6931472, 0.0], torch.float32)


def test_dtype_by_position():
    x = torch.tensor([1, 2], dtype=torch.int32)
    same(mint.cumsum(x, 0, torch.float32), [1.0, 3.0], torch.float32)
    same(mint.cumsum(x, 0), [1, 3], torch.int64)
    same(mint.cumprod(x, 0, torch.float32), [1.0, 2.0], torch.float32)
    same(mint.eye(2, 3, torch.int32), [[1, 0, 0], [0, 1, 0]], torch.int32)
    same(mint.softmax(torch.zeros(1, 2), -1, torch.float64), [[0.5, 0.5]], torch.float64)


def test_no_axis_is_all_axes():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    same(mint.prod(x), 24.0, torch.float32)
    same(mint.prod(x, None, True), [[24.0]], torch.float32)
    same(mint.prod(x, 1, dtype=torch.float64), [2.0, 12.0], torch.float64)
    same(mint.median(x), 2.0, torch.float32)
    values, where = mint.median(x, 1)
    same(values, [1.0, 3.0], torch.float32)
    same(where, [0, 0], torch.int64)


def test_argsort_takes_stable_by_position():
    x = torch.tensor([1.0, 0.0, 1.0, 0.0])
    same(mint.argsort(x, -1, True, True), [0, 2, 1, 3], torch.int64)


def test_repeats_may_be_a_tuple():
    same(mint.repeat_interleave(torch.tensor([1, 2]), (1, 2), 0), [1, 2, 2], torch.int64)


def test_empty_knows_ascend():
    assert mint.empty(2, 3, dtype=torch.int32, device="CPU").shape == (2, 3)
    assert mint.empty_like(torch.ones(2, dtype=torch.float16)).dtype == torch.float16
    assert mint.empty((2,), device="meta").is_meta


def test_normal_shapes():
    assert mint.normal(0.0, 1.0, (2, 3)).shape == (2, 3)
    assert mint.normal(torch.zeros(2, 1), torch.ones(3)).shape == (2, 3)
    assert mint.normal(5.0, 0.0).item() == 5.0


def test_randint_like_bounds():
    x = torch.zeros(1000, dtype=torch.int64)
    assert set(mint.randint_like(x, 3).tolist()) == {0, 1, 2}
    assert set(mint.randint_like(x, 3, 5).tolist()) == {3, 4}


def test_triangular_solve():
    a = torch.tensor([[2.0, 1.0], [0.0, 4.0]])
    b = torch.tensor([[4.0], [8.0]])
    solution, back = mint.triangular_solve(b, a)
    same(solution, [[1.0], [2.0]], torch.float32)
    assert back is a
    turned, _ = mint.triangular_solve(b, a, transpose=True)
    torch.testing.assert_close(a.T @ turned, b)


def test_losses_take_reduction_by_position():
    x, y = torch.tensor([1.0, 3.0]), torch.tensor([2.0, 5.0])
    same(mint.mse_loss(x, y, "sum"), 5.0, torch.float32)
    same(mint.l1_loss(x, y, "none"), [1.0, 2.0], torch.float32)
    same(mint.smooth_l1_loss(x, y, "sum", 2.0), 0.25 + 1.0, torch.float32)
    same(mint.soft_margin_loss(torch.zeros(2), torch.ones(2), "sum"), 2 * 0.6931472, torch.float32)
    half = torch.tensor([0.5, 0.5])
    same(mint.binary_cross_entropy(half, torch.tensor([1.0, 0.0]), None, "sum"), 1.3862944, torch.float32)


def test_layer_norm_takes_an_int():
    out = mint.layer_norm(torch.tensor([[1.0, 3.0]]), 2)
    torch.testing.assert_close(out, torch.tensor([[-1.0, 1.0]]), atol=1e-4, rtol=0)


def test_random_shapes():
    assert mint.randn(2, 3).shape == mint.randn((2, 3)).shape == mint.rand([2, 3]).shape == (2, 3)
    assert mint.rand(4, dtype=torch.float64).dtype is torch.float64
    # MindSpore ignores what follows a shape, a dtype too
    assert mint.randn((2, 3), torch.float16).dtype is mint.rand((1,), torch.float16).dtype is torch.float32
    same(mint.rand(3, generator=torch.Generator().manual_seed(1)) < 1, [True] * 3, torch.bool)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_mean_of_cubes_in_half_precision(dtype):
    x = torch.arange(16, dtype=dtype).reshape(1, 1, 4, 2, 2)
    same(mint.avg_pool3d(x, 2), [[[[[3.5]], [[11.5]]]]], dtype)
    same(mint.avg_pool3d(x, (2, 1, 2), stride=2, divisor_override=2), [[[[[5.0]], [[21.0]]]]], dtype)
    same(ops.avg_pool3d(x, 2, 2), [[[[[3.5]], [[11.5]]]]], dtype)
