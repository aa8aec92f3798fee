"""Gradients; the numbers and shapes of results are MindSpore 2.10's own for the same calls."""

import pytest
import torch

from ms2torch.runtime._backend import autograd, nn
from ms2torch.runtime._backend.params import Parameter, ParameterTuple


def t(*values):
    return torch.tensor(values)


X, Y = t(1.0, 2.0), t(3.0, 4.0)
W = Parameter(t(5.0, 6.0), name="w")
U = Parameter(t(1.0, 1.0), name="u")


def several(x, y):
    return (x * y * W).sum(), x + y, y * 2


def product(x, y):
    return x * x * y * W


def plain(value):
    if isinstance(value, torch.Tensor):
        assert not value.requires_grad
        return value.tolist()
    return type(value)(plain(v) for v in value) if isinstance(value, tuple | list) else value


@pytest.mark.parametrize(
    ("made", "want"),
    [
        (lambda: autograd.grad(several)(X, Y), [16, 25]),
        (lambda: autograd.grad(several, 0, None, True)(X, Y), ([15, 24], ([4, 6], [6, 8]))),
        (
            lambda: autograd.value_and_grad(several, (0, 1), [W], True)(X, Y),
            ((63, [4, 6], [6, 8]), (([15, 24], [5, 12]), ([3, 8],))),
        ),
        (lambda: autograd.grad(product, None, W)(X, Y), [3, 16]),
        (lambda: autograd.grad(product, None, [W, U])(X, Y), ([3, 16], [0, 0])),
        (lambda: autograd.grad(product, 0, ParameterTuple([W]))(X, Y), ([30, 96], ([3, 16],))),
        (lambda: autograd.grad(product, (0,))(X, Y), [30, 96]),
        (lambda: autograd.grad(product, (0,), W)(X, Y), ([30, 96], [3, 16])),
        (
            lambda: autograd.grad(product, (0, 1), [W], return_ids=True)(X, Y),
            (((0, [30, 96]), (1, [5, 24])), (("w", [3, 16]),)),
        ),
        (lambda: autograd.grad(product, 0, return_ids=True)(X, Y), (0, [30, 96])),
        (lambda: autograd.grad(product, sens_param=True)(X, Y, t(10.0, 1.0)), [300, 96]),
        (lambda: autograd.grad(autograd.grad(lambda x: (x**3).sum()))(X), [6, 12]),
        (lambda: autograd.grad(lambda x, i: (x * i).sum(), (0, 1))(X, 2.0), [2, 2]),
        (lambda: autograd.GradOperation()(product)(X, Y), [30, 96]),
        (lambda: autograd.GradOperation(get_all=True)(product)(X, Y), ([30, 96], [5, 24])),
        (lambda: autograd.GradOperation(get_all=True)(lambda x: (x * 2).sum())(X), ([2, 2],)),
        (lambda: autograd.GradOperation(get_by_list=True)(product, ParameterTuple([W]))(X, Y), ([3, 16],)),
        (lambda: autograd.GradOperation(get_by_list=True)(product, W)(X, Y), [3, 16]),
        (lambda: autograd.GradOperation(True, True)(product, [W])(X, Y), (([30, 96], [5, 24]), ([3, 16],))),
        (lambda: autograd.GradOperation(sens_param=True)(product)(X, Y, t(10.0, 1.0)), [300, 96]),
        (lambda: autograd.jvp(product, (X, Y), (X, Y))[1].detach(), [45, 288]),
    ],
)
def test_gradients(made, want):
    assert plain(made()) == want


def test_network_weights_by_default():
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    grads = autograd.GradOperation(get_by_list=True)(net)(t([1.0, 2.0]))
    assert plain(grads) == ([[1, 2]], [1])
    assert net.weight.grad is None


def test_the_function_may_write_into_its_argument():
    def written(x):
        x += 1
        return (x * x).sum()

    start = t(1.0, 2.0)
    assert plain(autograd.grad(written)(start)) == [4, 6]
    assert start.tolist() == [1, 2]


def test_works_inside_no_grad():
    with torch.no_grad():
        assert plain(autograd.grad(product)(X, Y)) == [30, 96]


def test_refusals():
    with pytest.raises(ValueError, match="None at the same time"):
        autograd.grad(product, None)
    with pytest.raises(TypeError, match="int32"):
        autograd.grad(product)(torch.tensor([1, 2], dtype=torch.int32), Y)
    with pytest.raises(IndexError):
        autograd.grad(product, 5)(X, Y)
    with pytest.raises(TypeError, match="get_all"):
        autograd.GradOperation(get_all=1)
    with pytest.raises(TypeError, match="weights"):
        autograd.GradOperation(get_by_list=True)(product)
    with pytest.raises(ValueError, match="sens"):
        autograd.grad(several, sens_param=True)(X, Y, t(1.0, 1.0))


def test_get_grad():
    found = autograd.grad(product, (0, 1), [W], return_ids=True)(X, Y)
    assert autograd.get_grad(found, 1).tolist() == [5, 24] and autograd.get_grad(found, W).tolist() == [3, 16]
    with pytest.raises(RuntimeError):
        autograd.get_grad(found, 7)


def test_stop_gradient():
    x = t(1.5, -2.0).requires_grad_()
    (autograd.stop_gradient(x) * x).sum().backward()
    assert x.grad.tolist() == [1.5, -2]
    nested = autograd.stop_gradient((x, [x], {"a": x}, 3))
    assert not nested[0].requires_grad and not nested[1][0].requires_grad and not nested[2]["a"].requires_grad
    assert nested[3] == 3


def test_function():
    class Triple(autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.save_for_backward(x)
            ctx.k = k
            return x * k

        @staticmethod
        def backward(ctx, dout):
            (x,) = ctx.saved_tensors
            assert ctx.needs_input_grad == (True, False) and x.shape == dout.shape
            return dout * ctx.k, None

    assert plain(autograd.grad(lambda x: Triple.apply(x, 3).sum())(X)) == [3, 3]


def test_recompute_counts_two_forwards():
    calls = []

    def block(x):
        calls.append(1)
        return x.exp() * x

    x = t(1.0, 2.0).requires_grad_()
    autograd.recompute(block, x, use_reentrant=True).sum().backward()
    again = t(1.0, 2.0).requires_grad_()
    block(again).sum().backward()
    assert len(calls) == 3 and torch.allclose(x.grad, again.grad)


def test_enable_grad_switch():
    try:
        autograd.set_enable_grad(False)
        assert not torch.is_grad_enabled()
    finally:
        autograd.set_enable_grad(True)


def test_decorators_keep_the_function():
    class Net:
        @autograd.lazy_inline
        def __init__(self):
            self.a = 1

        @autograd.lazy_inline(policy="front")
        def other(self):
            return self.a

    assert Net().other() == 1 and autograd.jit_class(Net) is Net
    assert autograd.vmap(lambda x: x.sum())(torch.ones(3, 2)).tolist() == [2, 2, 2]
    outputs, pull = autograd.vjp(lambda x: x * x, X)
    assert outputs.tolist() == [1, 4] and pull(t(1.0, 1.0))[0].tolist() == [2, 4]


def test_backward_takes_a_sense_of_one_element():
    for shape in ((), (1,), (1, 1)):
        x = torch.ones(3, requires_grad=True)
        autograd.backward(x.sum().reshape(shape), t(2.0))
        assert x.grad.tolist() == [2, 2, 2]
    x = torch.ones(3, requires_grad=True)
    autograd.backward(x.sum())
    autograd.backward(x * 1, t(1.0, 2.0, 3.0))
    assert x.grad.tolist() == [2, 3, 4]
    with pytest.raises(RuntimeError, match="shape"):
        autograd.backward(x * 1, t(1.0))


def test_backward_of_another_kind_of_object():
    class Engine:
        def backward(self, *args, **kwargs):
            return args, kwargs

    assert autograd.backward(Engine()) == ((), {})
    assert autograd.backward(Engine(), 1, retain_graph=True) == ((1,), {"retain_graph": True})
