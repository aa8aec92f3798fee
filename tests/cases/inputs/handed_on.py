"""Values that pass through other modules' functions keep being tensors and cells."""

import copy
import functools
import pickle

import mindspore as ms
from mindspore import nn, ops


def case_copies(x, v):
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    other = copy.deepcopy(net)
    other.weight.set_data(other.weight * 2)
    other.set_train()
    return other(v.expand_dims(0)), other.training, copy.deepcopy(v).asnumpy(), copy.copy(v).astype(ms.int32)


def case_functions(x):
    total = functools.reduce(ops.add, list(x)).expand_dims(0)
    return total, functools.partial(ops.sum, dim=1)(x).asnumpy(), pickle.loads(pickle.dumps(x)).asnumpy()


scaled = ops.MultitypeFuncGraph("scaled")


@scaled.register("Number", "Tensor")
def _scaled(factor, grad):
    return ops.clip_by_value(grad * factor, -1.0, 1.0)


def case_partial(x, v):
    return ops.HyperMap()(ops.partial(scaled, 0.5), (v, x))


class Mine:
    def get_parameters(self):
        return ["p"]

    def set_train(self, mode=True):
        return mode


def ask(one):
    return one.get_parameters(), one.set_train(False)


def case_own_methods():
    return ask(Mine())
