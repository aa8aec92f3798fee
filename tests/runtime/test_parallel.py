"""hyper_parallel's names in one process: real groups of one, DTensor parameters, unchanged numbers."""

import copy
import warnings

import pytest
import torch
import torch.distributed as dist
from torch import nn

from ms2torch.runtime import _backend
from ms2torch.runtime._backend import parallel
from ms2torch.runtime._backend.parallel.swap import _host_copy

AXES = ("pp", "dp_replicate", "fsdp", "tp")


@pytest.fixture(scope="module", autouse=True)
def world():
    started = not dist.is_initialized()
    if started:
        _backend.init_process_group()
    yield
    if started:
        dist.destroy_process_group()


@pytest.fixture(scope="module")
def dense():
    root = parallel.init_device_mesh("npu", (1,), mesh_dim_names=("world",))
    return parallel.unflatten(root, 0, (1, 1, 1, 1), AXES, backend_override={"pp": "fake", "tp": "fake"})


class Block(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.scale = nn.Parameter(torch.tensor(1.5))
        self.calls = 0

    def forward(self, x, *, bias=None):
        self.calls += 1
        y = self.norm(torch.relu(self.inner(x))) * self.scale
        return y if bias is None else y + bias


def model():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 8), Block(), Block(), nn.Linear(8, 2, bias=False))


def wrap(net, mesh, **options):
    options.setdefault(
        "mp_policy",
        parallel.MixedPrecisionPolicy(reduce_dtype=torch.float32, apply_grad_on_fp32_main_grad=True),
    )
    for child in net:
        parallel.fully_shard(child, mesh=mesh, **options)
    parallel.fully_shard(net, mesh=mesh, **options)
    for module in net.modules():
        if isinstance(module, parallel.HSDPModule):
            module.set_reduce_op_type("sum")
    return net


def backward(net, seed=0):
    torch.manual_seed(seed)
    out = net(torch.randn(5, 4))
    out.square().sum().backward()
    return out.detach()


def same_gradients(reference, net, exact=False):
    pairs = dict(net.named_parameters())
    assert list(pairs) == [n for n, _ in reference.named_parameters()]
    for name, p in reference.named_parameters():
        got = pairs[name].main_grad.to_local()
        torch.testing.assert_close(got, p.grad, rtol=0 if exact else 1e-5, atol=0 if exact else 1e-6)


# --- meshes ---


def test_every_axis_of_size_one_has_a_real_group(dense):
    assert parallel.mesh_shape(dense) == (1, 1, 1, 1)
    for axis in AXES:
        group = dense[axis].get_group()
        assert isinstance(group, dist.ProcessGroup)
        total = torch.ones(2)
        dist.all_reduce(total, group=group)
        assert total.tolist() == [1.0, 1.0]
        assert parallel.get_rank_list_along_axis(dense[axis], axis) == [0]


def test_a_slice_knows_its_root_and_a_flattened_mesh_its_name(dense):
    assert parallel.root_mesh(dense["fsdp"]) is dense
    assert parallel.root_mesh(dense) is None
    assert parallel.flatten(dense["dp_replicate", "fsdp"], "loss").mesh_dim_names == ("loss",)
    assert parallel.rank_list(dense["tp"]) == (0,)
    assert parallel.get_device_num_along_axis(dense, "tp") == 1


def test_mesh_errors(dense):
    with pytest.raises(ValueError, match="does not hold"):
        parallel.init_device_mesh("cpu", (2,), rank_list=[0])
    with pytest.raises(NotImplementedError, match="backend_override"):
        parallel.unflatten(dense["tp"], 0, (1,), ("x",), backend_override={"x": "nccl"})
    with pytest.raises(ValueError, match="not found"):
        parallel.get_rank_list_along_axis(dense, "ep")


# --- distributed tensors ---


def test_to_local_hands_out_the_shard_and_its_gradient(dense):
    p = nn.Parameter(
        parallel.distribute_tensor(torch.arange(6.0).view(2, 3), dense["tp"], [parallel.Replicate()])
    )
    local = parallel.to_local(p)
    assert not parallel.is_dtensor(local)
    (local * 2).sum().backward()
    assert p.grad.placements[0].is_partial()
    with torch.no_grad():
        parallel.to_local(p).zero_()
    assert p.full_tensor().abs().sum() == 0


class Foreign:
    layout = "mine"
    local_shape = (1,)
    rank_list = (9,)

    def to_local(self):
        return "local"


def test_adapters_leave_foreign_objects_alone():
    assert parallel.to_local(Foreign()) == "local"
    assert parallel.layout(Foreign()) == "mine"
    assert parallel.local_shape(Foreign()) == (1,)
    assert parallel.rank_list(Foreign()) == (9,)
    assert parallel.layout(torch.ones(2)) is torch.strided


def test_make_and_distribute_errors(dense):
    mesh = dense["tp"]
    with pytest.raises(ValueError, match="needs a device_mesh"):
        parallel.make_dtensor(torch.ones(2))
    with pytest.raises(NotImplementedError, match="Partial"):
        parallel.distribute_tensor(torch.ones(2), mesh, [parallel.Partial()])
    with pytest.raises(ValueError, match="out of bounds"):
        parallel.from_local(torch.ones(2), mesh, [parallel.Shard(1)])
    with pytest.raises(ValueError, match="2 placements"):
        parallel.from_local(torch.ones(2), mesh, [parallel.Replicate()] * 2)
    with pytest.raises(TypeError, match="Placement"):
        parallel.from_local(torch.ones(2), mesh, ["dp"])


def test_functions_of_local_tensors(dense):
    class Double(parallel.DFunction):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = torch.ones(2, requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    with pytest.raises(NotImplementedError, match="Double"):
        Double.apply(parallel.from_local(torch.ones(2), dense["tp"], [parallel.Replicate()]))


def test_negative_shard_dimensions_count_from_the_end(dense):
    x = parallel.from_local(torch.ones(2, 3), dense["tp"], [parallel.Shard(-1)])
    assert x.placements == (parallel.Shard(1),)
    assert parallel.layout(x).tensor_map == (-1, 0)


def test_skip_dispatch_works_on_shards_and_writes_them(dense):
    x = parallel.distribute_tensor(torch.ones(2, 3), dense["tp"], [parallel.Shard(0)])
    with parallel.SkipDTensorDispatch(), torch.no_grad():
        y = x.to(torch.float64) * 2
        assert type(y) is torch.Tensor and y.dtype == torch.float64
        assert x.shape == (2, 3) and type(x.T) is torch.Tensor
        assert x.mul_(3.0) is x
        stacked = torch.stack([x, x])
        assert type(stacked) is torch.Tensor
        assert torch.equal(torch.ones(2).mul(2), torch.full((2,), 2.0))
    assert isinstance(x * 1, parallel.DTensor)
    assert x.to_local().eq(3).all()


# --- layouts ---


@pytest.mark.parametrize(
    ("tensor_map", "rank", "area"),
    [
        ((1, 0), 3, [(2, 4), (3, 6)]),
        ((0, -1), 3, [(2, 4), (0, 6)]),
        (((1, 0), -1), 2, [(2, 3), (0, 6)]),
        (((0, 1), -1), 2, [(1, 2), (0, 6)]),
    ],
)
def test_slice_area_follows_the_tensor_map(tensor_map, rank, area):
    assert parallel.infer_slice_area_by_rank((2, 2), tensor_map, rank, (4, 6)) == area


def test_layout_from_names_and_back():
    base = parallel.Layout((2, 4), ("dp", "mp"))
    made = base("mp", ("dp", "None"))
    assert made.tensor_map == (0, (1, -1))
    assert made.alias_tensor_map == ("mp", ("dp", "None"))
    assert made.get_global_shape((3, 5)) == (12, 10)
    assert base("dp", "None").repeat_num() == 4
    assert list(made.to_dict()) == [
        "device_matrix",
        "tensor_map",
        "interleaved_parallel",
        "alias_name",
        "rank_list",
    ]
    assert base.tensor_map is None
    with pytest.raises(ValueError, match="used twice"):
        base("dp", "dp")
    with pytest.raises(ValueError, match="not found"):
        base("cp")


def test_layout_round_trip_through_placements():
    layout = parallel.Layout((2, 2, 2), ("a", "b", "c"))
    layout.set_placements([parallel.Shard(1), parallel.Replicate(), parallel.Shard(1)])
    assert layout.placement_to_tensor_map(2) == [-1, (2, 0)]
    again = copy.deepcopy(layout)
    again.set_placements([parallel.Replicate()] * 3)
    again.placement_to_tensor_map(2)
    assert again.tensor_map == (-1, -1) and layout.tensor_map == (-1, (2, 0))
    assert layout != again


def test_current_layout_of_a_model(dense):
    net = wrap(model(), dense["fsdp"])
    found = parallel.get_current_layout(net)["0"]
    assert found["0.weight"]["type"] == "Float32" and found["0.weight"]["full_shape"] == (8, 4)
    assert found["0.weight"]["tensor_map"] == (0, -1) and found["0.weight"]["rank_list"] == [0]
    assert parallel.get_global_layout(net) == {"0": found}


def test_redistribution_to_a_whole_tensor():
    infer = parallel.RedistributionOperatorInfer((2, 2), [0, -1], [-1, -1])
    assert infer.infer_ops_list(1, [0, 1, 2, 3]) == [("all_concat", (0, 2, [0, 1]))]
    assert parallel.DevMat([2, 2]).get_devices_along_dim(1, [0, 1, 2, 3], [0]) == [1, 3]
    with pytest.raises(NotImplementedError, match="tensor map"):
        parallel.RedistributionOperatorInfer((2,), [-1], [0]).infer_ops_list(0, [0, 1])


# --- sharding plans ---


def test_shard_module_keeps_what_was_set_on_parameters(dense):
    net = nn.Linear(4, 2)
    net.weight.tag = "kept"
    plan = parallel.ShardingPlan(plan={"weight": (parallel.Shard(0),), "bias": (parallel.Replicate(),)})
    assert parallel.shard_module(net, dense["tp"], plan) is net
    assert net.weight.tag == "kept" and net.weight.placements == (parallel.Shard(0),)
    parallel.shard_module(net, dense["tp"], plan)  # the same layout again is no change
    with pytest.raises(ValueError, match="already distributed"):
        parallel.shard_module(net, dense["tp"], parallel.ShardingPlan(plan={"weight": (parallel.Shard(1),)}))
    with pytest.raises(AttributeError, match="no parameter"):
        parallel.shard_module(
            net, dense["tp"], parallel.ShardingPlan(plan={"gamma": (parallel.Replicate(),)})
        )
    with pytest.raises(TypeError, match="ShardingPlan"):
        parallel.shard_module(net, dense["tp"], {"weight": 1})


# --- data parallelism ---


def test_gradients_equal_those_of_the_plain_model(dense):
    reference, net = model(), wrap(model(), dense["fsdp"])
    for _ in range(2):  # gradients add up
        assert torch.equal(backward(reference), backward(net))
    same_gradients(reference, net)
    assert all(p.grad is None for p in net.parameters())
    net.zero_grad()
    assert all(p.main_grad is None for p in net.parameters())
    assert isinstance(net[1], Block) and isinstance(net[1], parallel.HSDPModule)


def test_parameters_are_shards_outside_and_whole_inside(dense):
    net = wrap(model(), dense["fsdp"], reshard_after_forward=False)
    shard = net[0].weight
    assert parallel.is_dtensor(shard)
    out = net(torch.randn(2, 4))
    assert not parallel.is_dtensor(net[0].weight)
    out.sum().backward()
    assert net[0].weight is shard
    with torch.no_grad():
        net(torch.randn(2, 4))
    assert net[0].weight is shard  # no backward will come


def test_meta_parameters_are_materialised_after_wrapping(dense):
    with torch.device("meta"):
        net = wrap(model(), dense["fsdp"])
    net[0].weight.tag = "kept"
    weight = net[0].weight
    net.to_empty(device="cpu")
    assert net[0].weight is weight and weight.tag == "kept"
    reference = model()
    with torch.no_grad():
        for mine, theirs in zip(net.parameters(), reference.parameters(), strict=True):
            parallel.to_local(mine).copy_(theirs)
    assert torch.equal(backward(reference), backward(net))
    same_gradients(reference, net)


def test_two_dtypes_in_one_module_and_fp32_gradients(dense):
    reference = model()
    reference[1].inner.bfloat16()
    reference[1].forward = lambda x, m=reference[1]: m.norm(m.inner(x.bfloat16()).float()) * m.scale
    net = copy.deepcopy(model())
    net[1].inner.bfloat16()
    net[1].forward = lambda x, m=net[1]: m.norm(m.inner(x.bfloat16()).float()) * m.scale
    wrap(net, dense["fsdp"])
    assert torch.equal(backward(reference), backward(net))
    assert net[1].inner.weight.dtype == torch.bfloat16
    assert net[1].inner.weight.main_grad.dtype == torch.float32
    torch.testing.assert_close(
        net[1].inner.weight.main_grad.to_local(), reference[1].inner.weight.grad.float()
    )


def test_ignored_and_replicated_parameters(dense):
    net = model()
    ignored = net[1].scale
    replicated = net[1].inner.weight
    parallel.fully_shard(net[1], mesh=dense["fsdp"], ignored_params={ignored}, replicate_params=[replicated])
    assert net[1].scale is ignored and not parallel.is_dtensor(net[1].scale)
    assert net[1].inner.weight.placements == (parallel.Replicate(),)
    assert net[1].inner.bias.placements == (parallel.Shard(0),)


def test_placement_function_chooses_the_dimension(dense):
    net = model()
    parallel.fully_shard(
        net[0], mesh=dense["fsdp"], shard_placement_fn=lambda p: parallel.Shard(1) if p.ndim == 2 else None
    )
    assert net[0].weight.placements == (parallel.Shard(1),)
    assert net[0].bias.placements == (parallel.Shard(0),)
    reference = model()
    backward(reference)
    backward(net)
    torch.testing.assert_close(net[0].weight.grad.full_tensor(), reference[0].weight.grad)


def test_frozen_parameters_stay_frozen(dense):
    reference, net = model(), wrap(model(), dense["fsdp"])
    for m in (reference, net):
        m[1].inner.weight.requires_grad_(False)
        m[3].weight.requires_grad_(False)
    assert torch.equal(backward(reference), backward(net))
    assert getattr(net[1].inner.weight, "main_grad", None) is None
    torch.testing.assert_close(net[0].weight.main_grad.to_local(), reference[0].weight.grad)


def test_gradient_sync_can_wait(dense):
    reference, net = model(), wrap(model(), dense["fsdp"])
    for sync in (False, True):
        net.set_requires_gradient_sync(sync)
        backward(reference, seed=int(sync))
        backward(net, seed=int(sync))
        assert sync or getattr(net[0].weight, "main_grad", None) is None
    same_gradients(reference, net)


def test_configurations_that_are_not_available(dense):
    mesh = dense["fsdp"]
    with pytest.raises(NotImplementedError, match="cpu_offload"):
        parallel.fully_shard(model(), mesh=mesh, offload_policy=parallel.CPUOffloadPolicy())
    with pytest.raises(NotImplementedError, match="reshard_after_forward"):
        parallel.fully_shard(model(), mesh=mesh, reshard_after_forward=2)
    with pytest.raises(TypeError, match="Module"):
        parallel.fully_shard(torch.relu, mesh=mesh)
    net = parallel.fully_shard(model(), mesh=mesh)
    with pytest.raises(ValueError, match="already"):
        parallel.fully_shard(net, mesh=mesh)
    with pytest.raises(ValueError, match="wrapped"):
        net.set_modules_to_forward_prefetch([nn.Linear(1, 1)])
    with pytest.raises(ValueError, match="avg"):
        net.set_reduce_op_type("max")
    for made in (
        parallel.DSAIndexerContextParallel,
        parallel.CommComputeOverlap,
        parallel.HookCoordinator,
    ):
        with pytest.raises(NotImplementedError):
            made()


class Tied(nn.Module):
    """The embedding's weight is used by its module and, outside it, by the head."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(6, 4)
        self.mix = nn.Linear(4, 4)

    def forward(self, ids):
        weight = self.embed.weight
        return (
            self.mix(self.embed(ids))
            @ (parallel.to_local(weight) if parallel.is_dtensor(weight) else weight).t()
        )


@pytest.mark.parametrize("main_grad", [True, False])
def test_a_tied_weight_gets_both_gradients(dense, main_grad):
    torch.manual_seed(0)
    reference = Tied()
    net = copy.deepcopy(reference)
    policy = parallel.MixedPrecisionPolicy(apply_grad_on_fp32_main_grad=main_grad)
    for module in (net.embed, net.mix, net):
        parallel.fully_shard(module, mesh=dense["fsdp"], mp_policy=policy)
    ids = torch.tensor([[0, 3], [5, 3]])
    for _ in range(2):
        for m in (reference, net):
            m(ids).square().sum().backward()
    got = net.embed.weight.main_grad if main_grad else net.embed.weight.grad
    torch.testing.assert_close(got.to_local(), reference.embed.weight.grad)
    assert not main_grad or net.embed.weight.grad is None


def test_outputs_of_unknown_type_keep_their_parameters(dense):
    class Output:
        def __init__(self, value):
            self.value = value

    class Opaque(Block):
        def forward(self, x):
            return Output(super().forward(x))

    torch.manual_seed(0)
    reference = Opaque()
    net = parallel.fully_shard(copy.deepcopy(reference), mesh=dense["fsdp"])
    x = torch.randn(3, 8)
    for m in (reference, net):
        m(x).value.square().sum().backward()
    assert parallel.is_dtensor(net.inner.weight)
    torch.testing.assert_close(net.inner.weight.grad.full_tensor(), reference.inner.weight.grad)


def test_a_broken_backward_leaves_no_trace(dense):
    net = wrap(model(), dense["fsdp"])
    out = net(torch.randn(2, 4))
    out.register_hook(lambda grad: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        out.sum().backward()
    net.zero_grad()
    reference = model()
    assert torch.equal(backward(reference), backward(net))
    same_gradients(reference, net)
    assert parallel.is_dtensor(net[0].weight)


# --- activation checkpointing ---


@pytest.mark.parametrize("sharded", [False, True])
def test_recomputation_gives_the_same_gradients_and_names(dense, sharded):
    reference, net = model(), model()
    for i in (1, 2):
        assert parallel.checkpoint_wrapper(net[i], early_stop=False) is net[i]
        assert isinstance(net[i], parallel.CheckpointWrapper)
        parallel.checkpoint_wrapper(net[i], output_recompute=True)  # found again: no second wrapping
    assert [n for n, _ in net.named_parameters()] == [n for n, _ in reference.named_parameters()]
    if sharded:
        wrap(net, dense["fsdp"])
    assert torch.equal(backward(reference), backward(net))
    assert net[1].calls == 2 and isinstance(net[1], Block)
    if sharded:
        same_gradients(reference, net)


def test_context_function_brackets_both_runs():
    seen = []

    class Note:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            seen.append(self.name)

        def __exit__(self, *exc):
            return None

    block = parallel.checkpoint_wrapper(Block(), context_fn=lambda: (Note("first"), Note("again")))
    block(torch.randn(2, 8, requires_grad=True)).sum().backward()
    assert seen == ["first", "again"]


def test_selective_recomputation_keeps_what_the_policy_says():
    kept = []

    def policy(ctx, op, *args, **kwargs):
        if "mm" in str(op) and not ctx.is_recompute:
            kept.append(op)
        return (
            parallel.CheckpointPolicy.MUST_SAVE
            if "mm" in str(op)
            else parallel.CheckpointPolicy.PREFER_RECOMPUTE
        )

    reference, net = Block(), None
    net = parallel.checkpoint_wrapper(copy.deepcopy(reference), policy_fn=policy)
    x = torch.randn(3, 8)
    for m in (reference, net):
        m(x).square().sum().backward()
    assert kept
    for p, q in zip(reference.parameters(), net.parameters(), strict=True):
        torch.testing.assert_close(p.grad, q.grad)


@pytest.mark.parametrize("early_stop", [True, False])
def test_excluded_modules_run_once(early_stop):
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second, self.third = Block(), Block(), Block()

        def forward(self, x):
            return self.third(torch.tanh(self.second(torch.sin(self.first(x)))))

    torch.manual_seed(0)
    reference = Outer()
    net = copy.deepcopy(reference)
    parallel.checkpoint_exclude_wrapper(net.second)
    parallel.checkpoint_wrapper(net, early_stop=early_stop)
    x = torch.randn(3, 8)
    grads = []
    for m in (reference, net):
        leaf = x.clone().requires_grad_()
        m(leaf).square().sum().backward()
        grads.append([leaf.grad, *(p.grad for p in m.parameters())])
    assert net.first.calls == 2 and net.second.calls == 1 and net.third.calls == 2
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(a, b)


def test_swap_keeps_numbers_and_asks_its_policy():
    asked = []

    def policy(tensor):
        asked.append(tensor.shape)
        return parallel.CheckpointPolicy.MUST_SWAP

    reference = Block()
    net = parallel.swap_wrapper(copy.deepcopy(reference), policy_fn=policy)
    x = torch.randn(3, 8)
    for m in (reference, net):
        m(x).square().sum().backward()
    assert asked
    assert torch.equal(reference.inner.weight.grad, net.inner.weight.grad)
    assert parallel.SwapManager() is parallel.SwapManager()


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.t(),
        lambda x: x[:, 1:3],
        lambda x: x[:, :1].expand(4, 5),
        lambda x: x[0, 0],
        lambda x: x.reshape(-1).unfold(0, 3, 1),  # elements share memory
    ],
)
def test_swapped_tensors_keep_values_and_strides(make):
    tensor = make(torch.arange(24.0).reshape(4, 6))
    copied = _host_copy(tensor)
    assert torch.equal(copied, tensor) and copied.data_ptr() != tensor.data_ptr()
    shares = tensor.shape == (22, 3)
    assert copied.stride() == ((3, 1) if shares else tensor.stride())


def test_checkpoint_of_a_function_and_its_errors():
    x = torch.randn(3, requires_grad=True)
    double = parallel.checkpoint_wrapper(lambda t: (t * 2).sin(), output_recompute=True)
    double(x).sum().backward()
    torch.testing.assert_close(x.grad, 2 * (2 * x.detach()).cos())
    with pytest.raises(ValueError, match="not both"):
        parallel.checkpoint(torch.sin, x, policy_fn=print, context_fn=print)
    with pytest.raises(NotImplementedError, match="swap_inputs"):
        parallel.checkpoint(torch.sin, x, swap_inputs=True)


# --- pipelines and platform ---


@pytest.mark.parametrize("schedule", [parallel.ScheduleGPipe, parallel.Schedule1F1B])
def test_a_pipeline_of_one_rank_equals_the_plain_model(schedule):
    reference, net = model(), model()
    x = torch.randn(4, 4)
    losses = schedule(parallel.PipelineStage(net, 0, 1), 2).run(x)
    reference(x).sum().backward()
    assert len(losses) == 2 and torch.equal(torch.cat(losses), reference(x))
    for p, q in zip(reference.parameters(), net.parameters(), strict=True):
        torch.testing.assert_close(p.grad, q.grad)


@pytest.mark.parametrize(
    ("ranks", "chunks", "micros"), [(2, 1, 4), (4, 1, 2), (2, 2, 4), (4, 2, 3), (3, 3, 7)]
)
def test_transfers_meet_in_the_same_order(ranks, chunks, micros):
    from ms2torch.runtime._backend.parallel.pipeline import orders

    plan = orders.with_transfers(orders.interleaved(ranks, micros, chunks), ranks * chunks)
    sends = (parallel.MetaStepType.FWD_SEND, parallel.MetaStepType.BWD_SEND)
    receives = (parallel.MetaStepType.FWD_RECV, parallel.MetaStepType.BWD_RECV)

    def key(step):
        forward = step.type in (parallel.MetaStepType.FWD_SEND, parallel.MetaStepType.FWD_RECV)
        target = step.stage_index
        if step.type in sends:
            target += 1 if forward else -1
        return (forward, step.micro_index, target)

    def peer(step, rank):
        if step.type in sends:
            return (step.stage_index + (1 if step.type is sends[0] else -1)) % ranks
        return (step.stage_index - (1 if step.type is receives[0] else -1)) % ranks

    for a in range(ranks):
        assert sum(s.type is parallel.MetaStepType.FWD for s in plan[a]) == chunks * micros
        assert sum(s.type is parallel.MetaStepType.BWD for s in plan[a]) == chunks * micros
        for b in range(a + 1, ranks):
            mine = [key(s) for s in plan[a] if s.type in sends + receives and peer(s, a) == b]
            theirs = [key(s) for s in plan[b] if s.type in sends + receives and peer(s, b) == a]
            assert mine == theirs


def test_schedule_errors():
    stage = parallel.PipelineStage(nn.Linear(2, 2), 0, 1)
    with pytest.raises(NotImplementedError, match="overlap_b_f"):
        parallel.Schedule1F1B(stage, 2, overlap_b_f=True)
    with pytest.raises(NotImplementedError, match="shared_parameters"):
        parallel.PipelineStage(nn.Linear(2, 2), 0, 1, shared_parameters=[1])
    with pytest.raises(ValueError, match="does not split"):
        parallel.MicroBatch(2)([torch.ones(3)], {})
    with pytest.raises(TypeError, match="PipelineStage"):
        parallel.Schedule1F1B([1], 2)
    chunks = [parallel.PipelineStage(nn.Linear(2, 2), i, 2) for i in range(2)]
    with pytest.raises(NotImplementedError, match="one rank"):
        parallel.ScheduleInterleaved1F1B(chunks, 2)
    with pytest.raises(ValueError, match="one stage a rank"):
        parallel.Schedule1F1B(chunks, 2)


def test_platform_services():
    platform = parallel.get_platform()
    assert platform is parallel.get_platform()
    x = torch.ones(2, requires_grad=True)
    platform.differentiable_all_reduce(x * 3, "sum", platform.create_group([0])).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    with pytest.raises(NotImplementedError, match="differentiable_sync_hook"):
        platform.differentiable_sync_hook(x, "A", None)
    assert not hasattr(platform, "_private")


def test_no_deprecated_collectives(dense):
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        backward(wrap(model(), dense["fsdp"]))


def test_layout_is_written_as_mindspore_writes_it():
    # Seen under MindSpore 2.10: Layout((2, 2), ("dp", "mp"))(("dp", "mp"), "None").to_dict()
    made = parallel.Layout(device_matrix=(2, 2), alias_name=("dp", "mp"))(("dp", "mp"), "None")
    assert made.to_dict() == {
        "device_matrix": (2, 2),
        "tensor_map": ((1, 0), -1),
        "interleaved_parallel": False,
        "alias_name": ("dp", "mp"),
        "rank_list": [0, 1, 2, 3],
    }
    with pytest.raises(ValueError, match="tensor_map of layout is None"):
        parallel.Layout((2,), ("a",)).to_dict()
    with pytest.raises(TypeError, match="tuple"):
        parallel.Layout([2], ("a",))
    with pytest.raises(ValueError, match="does not name"):
        parallel.Layout((2,), ("a", "b"))


@pytest.mark.parametrize(
    ("name", "expected"), [("add_", 5.0), ("sub_", 1.0), ("mul_", 6.0), ("div_", 1.5), ("copy_", 2.0)]
)
def test_in_place_with_a_plain_operand_works_on_the_shard(dense, name, expected):
    act = getattr(_backend.tensor, name)
    mesh = dense["tp"]
    shared = parallel.distribute_tensor(torch.full((2,), 3.0), mesh, (parallel.Replicate(),))
    assert act(shared, torch.full((2,), 2.0)) is shared
    assert parallel.to_local(shared).tolist() == [expected] * 2
    plain = torch.full((2,), 3.0)
    act(plain, parallel.distribute_tensor(torch.full((2,), 2.0), mesh, (parallel.Replicate(),)))
    assert plain.tolist() == [expected] * 2
    both = torch.full((2,), 3.0)
    assert act(both, torch.full((2,), 2.0)) is both and both.tolist() == [expected] * 2


def test_wrapped_modules_say_how_they_were_wrapped():
    """MindFormers looks at the options of a wrapped module by these names."""

    def policy(*args):
        return parallel.CheckpointPolicy.MUST_SAVE

    recomputed = parallel.checkpoint_wrapper(torch.nn.Linear(2, 2), policy_fn=policy)
    assert recomputed.checkpoint_kwargs == {"policy_fn": policy}
    parallel.checkpoint_wrapper(recomputed)  # no second wrapping
    assert recomputed.checkpoint_kwargs == {"policy_fn": policy}
    assert parallel.checkpoint_wrapper(torch.nn.Linear(2, 2)).checkpoint_kwargs == {}
    assert parallel.swap_wrapper(torch.nn.Linear(2, 2), policy_fn=policy).policy_fn is policy
