"""A convolutional classifier with batch norm: training and evaluation behave differently."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class ConvNet(nn.Cell):
    """Two convolutions, pooling, one linear layer."""

    def __init__(self, classes: int):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm = nn.BatchNorm2d(4)
        self.conv2 = nn.Conv2d(4, 8, 3)  # MindSpore's default keeps the size
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.head = nn.Dense(8 * 2 * 2, classes)

    def construct(self, x: Tensor) -> Tensor:
        x = self.pool(ops.relu(self.norm(self.conv1(x))))
        x = self.pool(ops.relu(self.conv2(x)))
        return self.head(self.flatten(x))


def main() -> None:
    rng = np.random.default_rng(5)
    net = ConvNet(classes=3)
    for param in net.trainable_params():
        if param.ndim > 1:
            param.set_data(Tensor(0.3 * rng.standard_normal(param.shape), ms.float32))
    for cell in (net.conv1, net.head):
        cell.bias.set_data(ops.zeros_like(cell.bias))
    labels = np.arange(12) % 3
    images = rng.standard_normal((12, 1, 8, 8)) + labels[:, None, None, None]
    x, y = Tensor(images, ms.float32), Tensor(labels, ms.int32)

    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.05, momentum=0.9)
    step = ms.value_and_grad(lambda image, label: loss_fn(net(image), label), None, optimizer.parameters)
    net.set_train()
    for number in range(10):
        loss, grads = step(x, y)
        optimizer(grads)
        if number % 3 == 0:
            print(f"step {number} loss {float(loss.asnumpy()):.4f}")
    print("running mean", net.norm.moving_mean.asnumpy().astype(float).round(3).tolist())

    net.set_train(False)
    guess = net(x).argmax(axis=1)
    print("evaluated loss", f"{float(loss_fn(net(x), y).asnumpy()):.4f}")
    print("right", int((guess.asnumpy() == labels).sum()), "of", len(labels))


if __name__ == "__main__":
    main()
