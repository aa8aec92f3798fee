"""Fits y = sin(x) with a small MLP: a Cell, value_and_grad and Adam."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class MLP(nn.Cell):
    """Two hidden layers with tanh."""

    def __init__(self, width: int):
        super().__init__()
        self.layers = nn.SequentialCell([nn.Dense(1, width), nn.Tanh(), nn.Dense(width, width), nn.Tanh()])
        self.head = nn.Dense(width, 1, has_bias=False)

    def construct(self, x: Tensor) -> Tensor:
        return self.head(self.layers(x))


def fill(net: nn.Cell, seed: int) -> None:
    """The same start on every framework."""
    rng = np.random.default_rng(seed)
    for param in net.trainable_params():
        param.set_data(Tensor(0.3 * rng.standard_normal(param.shape), ms.float32))


def main() -> None:
    net = MLP(16)
    fill(net, seed=0)
    x = Tensor(np.linspace(-3, 3, 64)[:, None], ms.float32)
    y = ops.sin(x)
    loss_fn = nn.MSELoss()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)

    def forward(inputs: Tensor, labels: Tensor) -> Tensor:
        return loss_fn(net(inputs), labels)

    step = ms.value_and_grad(forward, None, optimizer.parameters)
    net.set_train()
    for number in range(101):
        loss, grads = step(x, y)
        optimizer(grads)
        if number % 25 == 0:
            print(f"step {number} loss {float(loss.asnumpy()):.5f}")


if __name__ == "__main__":
    main()
