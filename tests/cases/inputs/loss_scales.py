"""Loss scalers, managers of loss scales, and a hook on the way back."""

import mindspore as ms
from mindspore import Tensor, amp, nn, ops
from mindspore.amp import DynamicLossScaler, StaticLossScaler, all_finite


def case_static(v):
    scaler = StaticLossScaler(8.0)
    first, second = scaler.scale((v, v.astype(ms.float16)))
    return (
        first,
        second,
        scaler.scale(v),
        scaler.unscale(v),
        scaler.adjust(all_finite([v])),
        scaler.scale_value,
    )


def case_dynamic(v):
    scaler = DynamicLossScaler(scale_value=8, scale_factor=2, scale_window=2)
    seen = []
    for value in (1.0, 1.0, float("inf"), 1.0, float("nan"), 1.0, 1.0):
        finite = all_finite((v, v * value))
        scaler.adjust(finite)
        seen.append((finite, float(scaler.scale_value), int(scaler.counter)))
    small = DynamicLossScaler(1, 4, 3)
    small.adjust(Tensor(False))
    return seen, scaler.scale(v), scaler.unscale((v,))[0], float(small.scale_value)


def case_managers():
    fixed = amp.FixedLossScaleManager(64.0)
    kept = ms.FixedLossScaleManager(loss_scale=32.0, drop_overflow_update=False)
    moving = ms.DynamicLossScaleManager(16, 2, 2)
    seen = []
    for overflow in (False, False, True, False, False):
        moving.update_loss_scale(overflow)
        seen.append(moving.get_loss_scale())
    return (
        fixed.get_loss_scale(),
        fixed.get_drop_overflow_update(),
        type(fixed.get_update_cell()).__name__,
        kept.get_update_cell(),
        kept.get_drop_overflow_update(),
        seen,
        moving.get_drop_overflow_update(),
        type(moving.get_update_cell()).__name__,
    )


def case_training(v):
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    opt = nn.SGD(net.trainable_params(), 0.1)
    scaler = amp.DynamicLossScaler(4, 2, 10)
    step = ms.value_and_grad(lambda x: scaler.scale(net(x).sum()), None, opt.parameters)
    loss, grads = step(v.expand_dims(0))
    grads = scaler.unscale(grads)
    if amp.all_finite(grads):
        opt(grads)
    return scaler.unscale(loss), net.weight, net.bias


def case_hook_on_the_way_back(v):
    seen = []
    watch = ops.HookBackward(lambda grad: seen.append(grad[0]))
    double = ops.HookBackward(lambda grad: (grad[0] * 2,))
    return ms.grad(lambda a: watch(a * 2) * a)(v), seen, ms.grad(lambda a: double(a * 3))(v)


def case_requires_grad():
    net = nn.Dense(2, 1)
    first = net.requires_grad
    net.set_grad()
    second = net.requires_grad
    net.set_grad(False)
    return first, second, net.requires_grad
