"""Wrappers that train: one-step cells, loss scales (numbers as under MindSpore 2.10 CPU)."""

import pytest
import torch

from ms2torch.runtime._backend import nn, optim
from ms2torch.runtime._backend.params import Parameter


def parts():
    net = nn.Dense(2, 1, weight_init="ones", has_bias=False)
    return net, nn.WithLossCell(net, nn.MSELoss()), torch.tensor([[1.0, 2.0]]), torch.tensor([[2.0]])


def test_train_one_step():
    net, wrapped, x, y = parts()
    step = nn.TrainOneStepCell(wrapped, optim.Momentum(net.trainable_params(), 0.1, 0.9))
    loss = step(x, y)
    assert float(loss) == 1 and not loss.requires_grad
    assert torch.allclose(net.weight, torch.tensor([[0.8, 0.6]]))
    assert wrapped.backbone_network is net and net.weight.grad is None
    assert [n for n, _ in step.named_parameters()] == ["network._backbone.weight"]
    scaled = nn.TrainOneStepCell(wrapped, optim.SGD(net.trainable_params(), 0.0), sens=8.0, return_grad=True)
    _, grads = scaled(x, y + 1)
    assert torch.allclose(grads["weight"], torch.tensor([[-16.0, -32.0]]))


def test_eval_and_forward_value():
    net, wrapped, x, y = parts()
    loss, outputs, label = nn.WithEvalCell(net, nn.MSELoss())(x, y)
    assert float(loss) == 1 and float(outputs) == 3 and label is y
    value, grads = nn.ForwardValueAndGrad(wrapped, list(net.parameters()), get_by_list=True)(x, y)
    assert float(value) == 1 and torch.allclose(grads[0], torch.tensor([[2.0, 4.0]]))


def test_loss_scale():
    net, wrapped, x, y = parts()
    manager = nn.DynamicLossScaleUpdateCell(16.0, 2, 2)
    step = nn.TrainOneStepWithLossScaleCell(wrapped, optim.SGD(net.trainable_params(), 0.1), manager)
    loss, overflow, scale = step(x, y)
    assert float(loss) == 1 and not bool(overflow) and float(scale) == 16
    assert torch.allclose(net.weight, torch.tensor([[0.8, 0.6]]))
    before = net.weight.detach().clone()
    _, overflow, _ = step(x * float("inf"), y)
    assert bool(overflow) and torch.equal(net.weight, before) and float(step.scale_sense) == 8
    with pytest.raises(TypeError, match="scale_sense"):
        nn.TrainOneStepWithLossScaleCell(wrapped, optim.SGD(net.trainable_params(), 0.1), "x")


def test_loss_scale_grows():
    manager = nn.DynamicLossScaleUpdateCell(4.0, 2, 2)
    scale = Parameter(4.0, requires_grad=False)
    seen = []
    for overflow in (False, False, False, True, False, False):
        manager(scale, torch.tensor(overflow))
        seen.append(float(scale))
    assert seen == [4, 8, 8, 4, 4, 8]
    assert nn.FixedLossScaleUpdateCell(8.0).get_loss_scale() == 8
