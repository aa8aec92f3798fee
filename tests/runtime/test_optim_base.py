"""The optimizer base: groups, schedules, states by name, torch's own machinery."""

import pytest
import torch

from ms2torch.runtime._backend import nn, optim
from ms2torch.runtime._backend.params import Parameter, ParameterTuple


class Plain(optim.Optimizer):
    def __init__(self, params, learning_rate, **kwargs):
        assert self.cls_name == "Plain"
        super().__init__(learning_rate, params, **kwargs)
        self.moments = self.parameters.clone(prefix="moments", init="zeros")

    def step(self, gradients):
        lr = self.get_lr()
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        gradients = self.scale_grad(self.decay_weight(gradients))
        rates = lr if isinstance(lr, tuple) else (lr,) * self.param_length
        for p, g, r in zip(self._parameters, gradients, rates, strict=True):
            p.sub_(r * g)
        return True


class Halving(nn.Module):
    def forward(self, global_step):
        return 1.0 / 2 ** global_step.float()


def weights():
    return Parameter(torch.ones(2), name="w"), Parameter(torch.ones(2), name="ln.beta")


def close(tensor, value):
    return torch.allclose(tensor.detach(), torch.tensor(value, dtype=torch.float32))


def test_call_updates_outside_autograd():
    w, b = weights()
    opt = Plain([w, b], 0.1, weight_decay=0.5)
    assert opt((torch.ones(2), torch.ones(2))) is True
    # Parameters named beta or gamma have no weight decay.
    assert close(w, [0.85, 0.85]) and close(b, [0.9, 0.9])
    assert int(opt.global_step) == 1 and opt.decay_flags == (True, False)


def test_states_are_parameters_by_name():
    opt = Plain(weights(), 0.1)
    assert list(opt.parameters_dict()) == [
        "global_step", "learning_rate", "w", "ln.beta", "moments.w", "moments.ln.beta",
    ]  # fmt: skip
    held = opt.global_step
    opt.global_step = torch.tensor([4])
    assert opt.global_step is held and int(held) == 4
    opt.global_step = Parameter(torch.tensor([7]), "global_step")
    assert int(opt.parameters_dict()["global_step"]) == 7
    assert isinstance(opt._parameters, ParameterTuple) and opt.optim_filter == (True, True)


def test_groups():
    w, b = weights()
    opt = Plain(
        [{"params": [w], "lr": 0.5}, {"params": [b], "weight_decay": 0.25}, {"order_params": [b, w]}], 0.1
    )
    assert [p is q for p, q in zip(opt._parameters, (b, w), strict=True)] == [True, True]
    assert [float(x) for x in opt.get_lr()] == [pytest.approx(0.1), 0.5]
    assert [float(x) for x in opt.get_weight_decay()] == [0.25, 0]
    opt((torch.ones(2), torch.ones(2)))
    assert close(w, [0.5, 0.5]) and close(b, [0.875, 0.875])
    assert float(opt.get_lr_parameter(w)) == 0.5
    assert "learning_rate_group_0" in opt.parameters_dict()


def test_schedules():
    w, b = weights()
    opt = Plain([w, b], Halving())
    assert opt.dynamic_lr and float(opt.get_lr()) == 1
    opt((torch.zeros(2),) * 2)
    assert float(opt.get_lr()) == 0.5 and opt.param_groups[0]["lr"] == 0.5
    listed = Plain([{"params": [w], "lr": [0.3, 0.2]}, {"params": [b]}], 0.1)
    listed((torch.zeros(2),) * 2)
    listed((torch.zeros(2),) * 2)
    assert [round(float(x), 6) for x in listed.get_lr()] == [0.2, 0.1]
    decayed = Plain([w], 0.1, weight_decay=Halving())
    assert float(decayed.get_weight_decay()) == 1 and decayed.dynamic_weight_decay


def test_torch_machinery():
    w, b = weights()
    opt = Plain([w, b], 0.1)
    schedule = torch.optim.lr_scheduler.StepLR(opt, 1, 0.1)
    (w.sum() + b.sum()).backward()
    opt.step()
    assert close(w, [0.9, 0.9])
    schedule.step()
    opt.step()
    assert close(w, [0.89, 0.89]) and float(opt.get_lr()) == pytest.approx(0.01)
    opt.zero_grad()
    assert w.grad is None
    saved = opt.state_dict()
    other = Plain(weights(), 0.1)
    other.load_state_dict(saved)
    assert int(other.global_step) == 2 and float(other.get_lr()) == pytest.approx(0.01)
    with pytest.raises(KeyError, match=r"moments\.w"):
        named = {k: v for k, v in saved["named"].items() if k != "moments.w"}
        other.load_state_dict({**saved, "named": named})


def test_a_torch_scheduler_cannot_override_a_schedule_of_its_own():
    opt = Plain(weights(), Halving())
    opt.get_lr()
    opt.param_groups[0]["lr"] = 0.7
    with pytest.raises(RuntimeError, match="schedule"):
        opt.get_lr()


def test_loss_scale_and_centralization():
    w, _ = weights()
    opt = Plain([w], 1.0, loss_scale=4.0)
    opt((torch.full((2,), 4.0),))
    assert close(w, [0, 0])
    m = Parameter(torch.zeros(2, 16), name="m")
    opt = Plain([{"params": [m], "grad_centralization": True}], 1.0)
    (g,) = opt.gradients_centralization((torch.arange(32.0).reshape(2, 16),))
    assert close(g.mean(1), [0, 0])


@pytest.mark.parametrize(
    ("params", "kwargs", "error"),
    [
        ([], {}, ValueError),
        (None, {}, ValueError),
        (5, {}, TypeError),
        ([torch.ones(1)], {}, TypeError),
        ([Parameter(torch.ones(1))], {"learning_rate": -1.0}, ValueError),
        ([Parameter(torch.ones(1))], {"learning_rate": "x"}, TypeError),
        ([Parameter(torch.ones(1))], {"weight_decay": -1.0}, ValueError),
        ([{"params": [Parameter(torch.ones(1))], "momentum": 1}], {}, KeyError),
    ],
)
def test_refusals(params, kwargs, error):
    with pytest.raises(error):
        Plain(params, **{"learning_rate": 0.1, **kwargs})


def test_parameter_in_two_groups():
    w, _ = weights()
    with pytest.raises(RuntimeError, match="twice"):
        Plain([{"params": [w]}, {"params": [w]}], 0.1)
