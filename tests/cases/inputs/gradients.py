"""Gradients at the edges of functions."""

import mindspore as ms
from mindspore import ops


def case_bounds(x):
    return (
        ms.grad(lambda a: ops.clip_by_value(a, 3.0, 5.0))(x),
        ms.grad(lambda a: ops.clip_by_value(a, clip_value_max=3.0))(x),
        ms.grad(lambda a: ops.clamp(a, 3.0, 5.0))(x),
        ms.grad(lambda a: ops.clip_by_value(a, ms.Tensor(1.0), ms.Tensor(5.0)))(x),
        ops.clip_by_value(x, 2.0, 4.0),
        ops.clip_by_value(x.astype(ms.int32), 2, 4),
    )
