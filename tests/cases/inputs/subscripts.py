"""Subscripts that torch's tensors refuse."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops


def case_backwards(x, v):
    return (
        x[::-1],
        x[:, ::-1],
        x[..., ::-2],
        x[None, ::-1],
        x.shape[::-1],
        [1, 2][::-1],
        "ab"[::-1],
        x[::-1][0][::-1],
    )


def case_list_values():
    y = ops.zeros((2, 2))
    y[0] = [1, 2]
    y[1] = 3, 4
    y[y > 3] = 0
    words = {}
    words["k"] = [1, 2]
    words[0] = [3]
    rows = [0, 0]
    rows[0] = [1]
    rows[1:] = [4, 5]
    return y, words, rows


def fill(where, other):
    where[0] = [9, 9]
    other[0] = [1, 2]
    return where, other


def case_unknown_receivers():
    return fill(ops.zeros((2, 2)), {}), fill([1, 2], [0])


class Bank(nn.Cell):
    def __init__(self):
        super().__init__()
        self.rows = Parameter(Tensor(np.zeros((3, 2)), ms.float32), name="rows")
        self.hits = Parameter(Tensor([0, 0], ms.int32), requires_grad=False)

    def construct(self, x, i):
        self.rows[i] = x
        self.hits[0] = 3
        self.hits[1] += 2
        return self.rows * 1


def case_parameters(v):
    bank = Bank()
    first = bank(v, 1)
    free = Parameter(Tensor([1.0, 2.0]), name="p")
    free[0] = 0.25
    free[1] += 1
    return first, bank.rows, bank.hits, free


def case_updates_of_items(x, v):
    held = {"k": x, "rows": [x, v]}
    keys = []

    def key():
        keys.append("k")
        return "k"

    held[key()] += 1
    held["rows"][0] *= 2
    held["rows"][1][0] -= 5
    counts = [1, 2]
    counts[0] += 1
    y = x * 1
    y[0] += v[0]
    y[1, 1:] *= 2
    return held["k"], held["rows"], x, v, keys, counts, y
