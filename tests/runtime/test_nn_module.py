"""The Module contract: modes, containers, traversal, custom gradients, to_float, recompute."""

import inspect

import pytest
import torch

from ms2torch.runtime._backend import nn
from ms2torch.runtime._backend.nn import walk
from ms2torch.runtime._backend.params import Parameter, param_name


class Scale(nn.Module):
    def __init__(self, start=1.0):
        super().__init__()
        self.w = Parameter(torch.full((2,), start))

    def forward(self, x):
        return x * self.w


def test_fresh_is_inference_and_train_reaches_all():
    net = nn.SequentialCell(Scale(), Scale())
    assert not net.training and not net[0].training
    net.set_train()
    assert net.training and net[1].training
    nn.set_train(net, False)
    assert not net[1].training


def test_traversal_on_port_and_plain_modules():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.s = Scale()
            self.plain = torch.nn.Linear(2, 2)
            self.frozen = Parameter(torch.zeros(1), name="f", requires_grad=False)

    net = Net()
    assert [n for n, _ in nn.cells_and_names(net)] == ["", "s", "plain"]
    assert [param_name(p) for p in nn.trainable_params(net)] == ["s.w", "plain.weight", "plain.bias"]
    assert [param_name(p) for p in nn.untrainable_params(net)] == ["f"]
    assert list(nn.name_cells(net)) == ["s", "plain"] and len(nn.cells(net)) == 2
    assert (
        len(list(nn.get_parameters(net))) == 4 and len(list(nn.parameters_and_names(net, expand=False))) == 1
    )
    plain = torch.nn.Linear(2, 2)
    assert [n for n, _ in nn.parameters_and_names(plain)] == ["weight", "bias"]
    assert list(nn.parameters_dict(plain)) == ["weight", "bias"]
    assert nn.param_prefix(net.s) == "s" and net.cls_name == "Net"

    class Foreign:
        def trainable_params(self, recurse=True):
            return "own"

    assert nn.trainable_params(Foreign()) == "own"


def test_flags_and_names():
    net = Scale()
    nn.add_flags(net, a=1)
    assert net.a == 1 and nn.get_flags(net) == {"a": 1}
    root = nn.CellList([Scale(), Scale()], auto_prefix=False)
    with pytest.raises(ValueError, match="already"):
        root.check_names()


def test_custom_gradient():
    class Rounded(nn.Module):
        def forward(self, x):
            return torch.round(x)

        def bprop(self, x, out, dout):
            return (dout * 3 + out,)

    x = torch.tensor([1.2, 2.7], requires_grad=True)
    (Rounded()(x) * 2).sum().backward()
    assert x.grad.tolist() == [7, 9]
    assert not Rounded()(torch.ones(2)).requires_grad


def test_custom_gradient_with_several_inputs_and_outputs():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = Parameter(torch.tensor(5.0))

        def forward(self, x, k, y):
            return x * k * self.w, y

        def bprop(self, x, k, y, out, dout):
            assert out[0].shape == x.shape
            return dout[0] * 10, None, dout[1] + 1

    net = Two()
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    a, b = net(x, 3, y)
    (a.sum() + b.sum()).backward()
    assert x.grad.tolist() == [10, 10] and y.grad.tolist() == [2, 2] and net.w.grad is None

    class Short(nn.Module):
        def forward(self, x, y):
            return x + y

        def bprop(self, x, y, out, dout):
            return (dout,)

    with pytest.raises(TypeError, match="must return 2"):
        Short()(x, y).sum().backward()


def test_to_float_casts_operations_not_weights():
    net = Scale().to_float(torch.float16)
    seen = []
    net.register_forward_pre_hook(lambda m, a: seen.append(a[0].dtype))
    out = net(torch.ones(2))
    assert out.dtype == torch.float16 and net.w.dtype == torch.float32 and seen == [torch.float32]
    with pytest.raises(ValueError):
        net.to_float(torch.int32)


def test_recompute_gives_the_same_gradient():
    grads = []
    for again in (False, True):
        net, calls = Scale(3.0), []
        net.register_forward_hook(lambda m, a, o: None)
        if again:
            nn.recompute(net)
        x = torch.ones(2, requires_grad=True)
        net(x).pow(2).sum().backward()
        grads.append((x.grad.tolist(), net.w.grad.tolist(), calls))
    assert grads[0] == grads[1]


def test_backward_hook_may_change_the_gradient():
    net = Scale(2.0)
    net.register_backward_hook(lambda cell, grad_input, grad_output: (grad_input[0] * 10,))
    x = torch.ones(2, requires_grad=True)
    net(x).sum().backward()
    assert x.grad.tolist() == [20, 20]


def test_patched_forward():
    net = Scale()
    net.forward = lambda x: x * 10
    assert net(torch.ones(2)).tolist() == [10, 10]
    assert net.construct(torch.ones(1)).tolist() == [10]


def test_construct_is_forward():
    class Net(nn.Module):
        def forward(self, hidden, mask=None):
            return hidden

    net = Net()
    assert list(inspect.signature(net.construct).parameters) == ["hidden", "mask"]
    net.construct = lambda hidden: hidden + 1
    assert net(torch.ones(1)).tolist() == [2]


def test_child_put_back_keeps_its_names():
    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.part = Scale()

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

    net = Outer()
    net.inner.part = net.inner.part
    assert [param_name(p) for p in net.get_parameters()] == ["inner.part.w"]
    net.inner.part = Scale()
    assert [param_name(p) for p in net.get_parameters()] == ["part.w"], (
        "MindSpore too: the path from there on"
    )


def test_cell_list():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.CellList([Scale() for _ in range(3)])

    net = Net()
    net.l.append(Scale())
    assert [param_name(p) for p in net.get_parameters()] == ["l.0.w", "l.1.w", "l.2.w", "l.3.w"]
    del net.l[0]
    assert list(net.l.name_cells()) == ["0", "1", "2"] and len(net.l) == 3
    assert net.l[-1] is list(net.l)[2] and len(net.l[1:]) == 2
    free = nn.CellList(Scale(), Scale())
    free.insert(0, Scale())
    free += [Scale()]
    assert [param_name(p) for p in free.get_parameters()] == ["0.w", "1.w", "2.w", "3.w"]
    assert nn.CellList() and len(nn.CellList()) == 0
    with pytest.raises(TypeError):
        free.append(3)
    with pytest.raises(IndexError):
        free[9]


def test_sequential_and_dict():
    from collections import OrderedDict

    seq = nn.SequentialCell([Scale(2.0), Scale(3.0)])
    assert seq(torch.ones(2)).tolist() == [6, 6]
    assert list(seq[1:].name_cells()) == ["1"]
    named = nn.SequentialCell(OrderedDict(aa=Scale(), bb=Scale()))
    assert [param_name(p) for p in named.get_parameters()] == ["aa.w", "bb.w"] and named.aa is named[0]
    with pytest.raises(TypeError):
        nn.SequentialCell(5)
    cells = nn.CellDict({"a": Scale(), "b": Scale()})
    assert (
        list(cells) == ["a", "b"]
        and "a" in cells
        and [param_name(p) for p in cells.get_parameters()] == ["a.w", "b.w"]
    )


def test_receivers_that_are_no_modules_get_the_call_as_it_was_made() -> None:
    class Part:
        def parameters_and_names(self):
            return [("own", 1)]

        def cells_and_names(self, *, name_prefix):
            return [name_prefix]

    assert walk.parameters_and_names(Part()) == [("own", 1)]
    assert walk.cells_and_names(Part(), name_prefix="p") == ["p"]


def test_construct_of_receivers_of_any_type_is_set():
    net = torch.nn.Linear(1, 1)
    walk.set_construct(net, lambda x: x + 1)
    assert net(torch.ones(1)).item() == 2
    optimizer = torch.optim.SGD(net.parameters())
    walk.set_construct(optimizer, 3)
    assert optimizer.step == 3

    class Other:
        construct = 1

    other = Other()
    walk.set_construct(other, 2)
    assert other.construct == 2


def test_rrelu_draws_outside_of_training_too():
    layer = nn.RReLU(0.1, 0.4)
    assert not layer.training
    y = layer(torch.full((1000,), -1.0))
    assert -0.4 <= y.min() < -0.3 and -0.2 < y.max() <= -0.1
    with pytest.raises(ValueError, match="must not exceed"):
        nn.RReLU(0.5, 0.4)


def test_soft_margin_loss():
    x, sign = torch.tensor([[0.3, -2.0]]), torch.tensor([[1.0, -1.0]])
    want = torch.log1p(torch.exp(-x * sign))
    assert torch.allclose(nn.SoftMarginLoss("none")(x, sign), want)
    assert torch.allclose(nn.SoftMarginLoss()(x, sign), want.mean())
    for loss in (nn.LossBase, nn.KLDivLoss):
        with pytest.raises(ValueError, match="but got 'half'"):
            loss("half")


def test_loss_base_weighs_and_reduces():
    x = torch.tensor([1.0, 3.0], dtype=torch.float16)
    assert nn.LossBase().get_axis(x) == (0,)
    assert nn.LossBase().get_loss(x).item() == 2.0
    assert nn.LossBase("sum").get_loss(x, torch.tensor([2.0, 1.0])).item() == 5.0
    out = nn.LossBase(None).get_loss(x, 2)
    assert out.tolist() == [2.0, 6.0] and out.dtype is torch.float16


def test_arguments_of_small_layers():
    for made in (
        lambda: nn.Dropout(keep_prob=0.0),
        lambda: nn.Dropout(p=1.0),
        lambda: nn.Dropout2d(1.5),
        lambda: nn.Pad(((0, 0),), "EDGE"),
    ):
        with pytest.raises(ValueError):
            made()
    torch.manual_seed(0)
    kept = nn.Dropout2d(0.5).set_train()(torch.ones(1, 64, 2, 2))
    assert {tuple(c.flatten().tolist()) for c in kept[0]} == {(0.0,) * 4, (2.0,) * 4}
    assert nn.Norm(axis=0, keep_dims=True)(torch.tensor([[3.0], [4.0]])).tolist() == [[5.0]]
    assert nn.Norm()(torch.tensor([[3.0], [4.0]])).item() == 5.0
