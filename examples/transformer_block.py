"""A pre-norm transformer block with causal attention: primitives, casts, masks and gradients."""

import math

import mindspore as ms
import mindspore.common.dtype as mstype
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.ops import operations as P


class Attention(nn.Cell):
    """Causal self-attention; softmax in float32, as large models do."""

    def __init__(self, hidden: int, heads: int):
        super().__init__()
        self.heads = heads
        self.head_dim = hidden // heads
        self.qkv = nn.Dense(hidden, 3 * hidden, has_bias=False)
        self.out = nn.Dense(hidden, hidden, has_bias=False)
        self.transpose = P.Transpose()
        self.reshape = P.Reshape()
        self.softmax = P.Softmax(axis=-1)
        self.cast = ops.cast
        self.matmul = P.BatchMatMul(transpose_b=True)

    def split_heads(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        return self.transpose(self.reshape(x, (batch, length, self.heads, self.head_dim)), (0, 2, 1, 3))

    def construct(self, x: Tensor, mask: Tensor) -> Tensor:
        query, key, value = ops.split(self.qkv(x), x.shape[-1], axis=-1)
        query, key, value = self.split_heads(query), self.split_heads(key), self.split_heads(value)
        scores = self.matmul(query, key) / math.sqrt(self.head_dim)
        scores = ops.masked_fill(scores, mask, -1e9)
        weights = self.softmax(self.cast(scores, mstype.float32)).astype(x.dtype)
        mixed = self.transpose(ops.matmul(weights, value), (0, 2, 1, 3))
        return self.out(self.reshape(mixed, x.shape))


class Block(nn.Cell):
    """Attention and a SiLU-gated feed-forward layer, each behind a norm."""

    def __init__(self, hidden: int, heads: int):
        super().__init__()
        self.norm1 = nn.LayerNorm((hidden,))
        self.attention = Attention(hidden, heads)
        self.norm2 = nn.LayerNorm((hidden,), epsilon=1e-6)
        self.gate = nn.Dense(hidden, 2 * hidden)
        self.up = nn.Dense(hidden, 2 * hidden)
        self.down = nn.Dense(2 * hidden, hidden)

    def construct(self, x: Tensor, mask: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x), mask)
        normed = self.norm2(x)
        return x + self.down(ops.silu(self.gate(normed)) * self.up(normed))


def main() -> None:
    block = Block(hidden=32, heads=4)
    rng = np.random.default_rng(1)
    for name, param in block.parameters_and_names():
        if "norm" not in name:
            param.set_data(Tensor(0.1 * rng.standard_normal(param.shape), mstype.float32))
    x = Tensor(rng.standard_normal((2, 6, 32)), mstype.float32)
    mask = ops.logical_not(ops.tril(ops.ones((6, 6), mstype.float32)).astype(mstype.bool_))

    out = block(x, mask)
    print(f"shape {tuple(out.shape)}")
    print(f"mean {float(out.mean().asnumpy()):.5f} largest {float(out.abs().max().asnumpy()):.5f}")

    # causal: the first position does not see a change of the last one
    changed = x.asnumpy()
    changed[:, -1] += 1.0
    moved = block(Tensor(changed), mask) - out
    print(f"first moved {float(moved[:, 0].abs().sum().asnumpy()):.5f}")

    grads = ms.grad(lambda inputs: (block(inputs, mask) ** 2).sum(), 0, block.trainable_params())(x)
    by_input, by_weight = grads
    total = sum(float((grad**2).sum().asnumpy()) for grad in by_weight)
    print(f"input gradient {float((by_input**2).sum().asnumpy()):.3f} weight gradients {total:.1f}")


if __name__ == "__main__":
    main()
