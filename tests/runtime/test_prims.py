"""Primitives: their base, composites, and those without a MindSpore CPU kernel."""

import pytest

torch = pytest.importorskip("torch")

from ms2torch.runtime._backend import ops  # noqa: E402


def t(*values):
    return torch.tensor(values)


def test_hints_change_nothing_and_chain():
    add = ops.Add().shard(((1,), (1,))).add_prim_attr("keep_alive", True)
    add.recompute()
    assert isinstance(add, ops.Primitive) and add.attrs["keep_alive"] is True
    assert add(t(1.0), 2).tolist() == [3.0]
    assert ops.ReduceMean(True).name == "ReduceMean"


def test_attributes_by_position_and_name():
    softmax = ops.Softmax(axis=0)
    assert softmax.axis == 0
    assert ops.Softmax(0)(torch.zeros(2, 1)).tolist() == [[0.5], [0.5]]
    with pytest.raises(TypeError):
        ops.Softmax(dim=0)
    with pytest.raises(TypeError):
        ops.Cast(torch.float32)


def test_instances_are_independent():
    keep, drop = ops.ReduceSum(keep_dims=True), ops.ReduceSum()
    x = torch.ones(2, 2)
    assert keep(x, 1).shape == (2, 1) and drop(x, 1).shape == (2,)


def test_reduce_sum_skip_mode():
    x = torch.ones(2, 2)
    assert ops.ReduceSum(skip_mode=True)(x) is x
    assert ops.ReduceSum(skip_mode=True)(x, 0).tolist() == [2.0, 2.0]


def test_softmax_over_two_axes():
    out = ops.Softmax(axis=(0, 1))(torch.zeros(2, 2))
    torch.testing.assert_close(out, torch.full((2, 2), 0.25))


def test_hyper_map_goes_into_nested_sequences():
    double = ops.HyperMap(lambda x: x * 2)
    assert double([1, [2, (3,)]]) == [2, [4, (6,)]]
    assert ops.HyperMap()(lambda a, b: a + b, (1, (2, 3)), (10, (20, 30))) == (11, (22, 33))


def test_map_stays_on_the_first_level():
    assert ops.Map(len)(((1, 2), (3,))) == (2, 1)
    with pytest.raises(ValueError, match="differ"):
        ops.HyperMap()(lambda a, b: a, (1, 2), (1,))
    with pytest.raises(TypeError):
        ops.Map(len)()


def test_map_keeps_kwargs_out_of_tensors():
    grads = (torch.ones(2), torch.zeros(3))
    made = ops.HyperMap(ops.partial(lambda scale, g: g / scale, 4.0))(grads)
    assert isinstance(made, tuple) and made[0].tolist() == [0.25, 0.25]


def test_multitype_func_graph_chooses_by_types():
    scale = ops.MultitypeFuncGraph("scale")

    @scale.register("Tensor", "Number")
    def _tensor(x, s):
        return x * s

    @scale.register("Number", "Number")
    def _number(x, s):
        return -x * s

    assert scale(t(2.0), 3).tolist() == [6.0]
    assert scale(2, 3) == -6
    assert ops.HyperMap(scale)((t(1.0), t(2.0)), (2, 3))[1].tolist() == [6.0]
    with pytest.raises(ValueError, match="scale"):
        scale("a", 3)
    with pytest.raises(NotImplementedError, match="RowTensor"):
        scale.register("RowTensor")


def test_partial_primitive():
    assert ops.Partial()(lambda a, b: a - b, 5)(3) == 2


def test_insert_gradient_of():
    x = t(1.0, 2.0).requires_grad_()
    (ops.InsertGradientOf(lambda g: g * 10)(x) * 3).sum().backward()
    assert x.grad.tolist() == [30.0, 30.0]


def test_dropout_returns_output_and_mask():
    torch.manual_seed(0)
    x = torch.ones(10000)
    out, mask = ops.Dropout(keep_prob=0.8)(x)
    assert set(mask.tolist()) == {0.0, 1.0}
    assert abs(mask.mean().item() - 0.8) < 0.02
    torch.testing.assert_close(out, mask / 0.8)
    with pytest.raises(NotImplementedError, match="Seed0"):
        ops.Dropout(0.5, Seed0=3)(x)


def test_embedding_lookup_zeroes_what_is_outside():
    table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    out = ops.EmbeddingLookup()(table, t(5, 4, 9), 4)
    assert out.tolist() == [[3.0, 4.0], [1.0, 2.0], [0.0, 0.0]]


def test_assign_keeps_the_parameter_and_its_graph():
    weight = torch.nn.Parameter(t(1.0))
    made = ops.Assign()(weight, t(5.0))
    assert made is not weight and made.data_ptr() == weight.data_ptr() and not made.requires_grad
    ops.AssignAdd()(weight, 1)
    assert weight.item() == 6.0 and weight.requires_grad and weight.is_leaf
    counter = torch.nn.Parameter(torch.tensor(0, dtype=torch.int32), requires_grad=False)
    ops.assign_add(counter, torch.tensor(1, dtype=torch.int32))
    assert counter.item() == 1 and counter.dtype == torch.int32


def test_scatter_primitives_change_the_parameter():
    weight = torch.nn.Parameter(torch.tensor([[1.0, 1.0], [2.0, 2.0]]))
    ops.ScatterAdd(use_locking=True)(weight, torch.tensor([0, 0], dtype=torch.int32), torch.ones(2, 2))
    assert weight.tolist() == [[3.0, 3.0], [2.0, 2.0]]
    ops.ScatterDiv()(weight, torch.tensor([1]), torch.full((1, 2), 4.0))
    assert weight.tolist() == [[3.0, 3.0], [0.5, 0.5]]


def test_split_makes_that_many_parts():
    with pytest.raises(ValueError, match="output_num"):
        ops.Split(0, 3)(torch.ones(4))
    assert [p.tolist() for p in ops.SplitV((1, -1), 0, 2)(t(1, 2, 3))] == [[1], [2, 3]]


def test_strided_slice_masks():
    x = torch.arange(6.0).reshape(1, 2, 3)
    out = ops.StridedSlice(ellipsis_mask=1)(x, (0, 1), (0, 3), (1, 1))
    assert out.tolist() == [[[1.0, 2.0], [4.0, 5.0]]]
    out = ops.StridedSlice(new_axis_mask=1)(x[0], (0, 1, 0), (0, 2, 2), (1, 1, 1))
    assert out.tolist() == [[[3.0, 4.0]]]


def test_squeeze_refuses_other_sizes():
    with pytest.raises(ValueError, match="axis 0"):
        ops.Squeeze(0)(torch.ones(2, 1))


def test_space_to_batch_and_back():
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    blocks = ops.SpaceToBatchND([2, 2], [[0, 0], [0, 0]])(x)
    assert blocks.shape == (4, 1, 2, 2) and blocks[1, 0].tolist() == [[1.0, 3.0], [9.0, 11.0]]
    assert torch.equal(ops.BatchToSpaceND([2, 2], [[0, 0], [0, 0]])(blocks), x)


def test_layer_norm_parameters_fit_their_axis():
    x = torch.randn(2, 3, 4)
    out, mean, variance = ops.LayerNorm(begin_norm_axis=1, begin_params_axis=2)(
        x, torch.ones(4), torch.zeros(4)
    )
    assert out.shape == x.shape and mean.shape == variance.shape == (2, 1, 1)
    with pytest.raises(ValueError, match="begin_params_axis"):
        ops.LayerNorm(begin_norm_axis=1, begin_params_axis=1)(x, torch.ones(4), torch.zeros(4))


def test_argmax_with_value_gradient_goes_to_the_value():
    x = torch.tensor([[1.0, 3.0]], requires_grad=True)
    where, value = ops.ArgMaxWithValue(axis=1)(x)
    value.sum().backward()
    assert where.tolist() == [1] and x.grad.tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize("seed", [1, 7])
def test_a_seed_repeats_its_numbers(seed):
    assert torch.equal(ops.randn(4, seed=seed), ops.randn(4, seed=seed))
    assert torch.equal(ops.StandardNormal(seed)((4,)), ops.StandardNormal(seed)((4,)))
    assert torch.equal(ops.uniform((4,), 0.0, 1.0, seed), ops.uniform((4,), 0.0, 1.0, seed))


def test_random_distributions():
    torch.manual_seed(0)
    assert set(ops.UniformInt()((1000,), torch.tensor(2), torch.tensor(5)).tolist()) == {2, 3, 4}
    part = ops.uniform((10000,), torch.tensor(-1.0), torch.tensor(3.0))
    assert part.min() >= -1 and part.max() < 3 and abs(part.mean().item() - 1) < 0.1
    assert abs(ops.standard_laplace((20000,)).abs().mean().item() - 1) < 0.05
    assert abs(ops.gamma((20000,), torch.tensor(4.0), torch.tensor(2.0)).mean().item() - 2) < 0.05
    assert ops.TruncatedNormal()((5000,)).abs().max() <= 2
    drawn = ops.multinomial(torch.tensor([0.0, 1.0]), 3)
    assert drawn.tolist() == [1, 1, 1] and drawn.dtype == torch.int32
    assert sorted(ops.RandomShuffle()(torch.arange(5)).tolist()) == [0, 1, 2, 3, 4]
    assert sorted(ops.RandpermV2()(4).tolist()) == [0, 1, 2, 3]


def test_clip_by_norm_leaves_its_argument():
    x = torch.tensor([3.0, 4.0])
    out = ops.clip_by_norm(x, 1.0)
    torch.testing.assert_close(out, torch.tensor([0.6, 0.8]), atol=1e-6, rtol=1e-6)
    assert x.tolist() == [3.0, 4.0]
    assert ops.clip_by_norm(x, 10.0).tolist() == [3.0, 4.0]


def test_scatter_of_mint():
    x, where = torch.zeros(1, 2), torch.tensor([[0, 0]], dtype=torch.int32)
    assert ops.Scatter()(x, 1, where, torch.ones(1, 2), "add").tolist() == [[2.0, 0.0]]
    assert ops.Scatter()(x, 1, where, torch.ones(1, 2)).tolist() == [[1.0, 0.0]]
    with pytest.raises(ValueError, match="multiply"):
        ops.Scatter()(x, 1, where, torch.ones(1, 2), "multiply")


def test_stop_gradient_goes_into_containers():
    x = torch.ones(1, requires_grad=True)
    made = ops.stop_gradient({"a": (x, 3)})
    assert not made["a"][0].requires_grad and made["a"][1] == 3


def test_exported_primitives_have_names_of_their_own():
    made = [v for v in vars(ops).values() if isinstance(v, type) and issubclass(v, ops.Primitive)]
    assert len(made) > 250
    for kind in made:
        assert kind.__doc__ and kind.__name__[0].isupper(), kind
