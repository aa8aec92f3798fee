"""A GeneratorDataset with map and batch feeds logistic regression trained by SGD."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore import dataset as ds


class Points:
    """Points of the plane, labelled by the side of a line they lie on."""

    def __init__(self, count: int):
        rng = np.random.default_rng(3)
        self.points = rng.standard_normal((count, 2)).astype(np.float32)
        self.labels = (self.points @ np.array([1.0, -2.0]) > 0.3).astype(np.float32)

    def __getitem__(self, index):
        return self.points[index], self.labels[index]

    def __len__(self):
        return len(self.points)


def pipeline(count: int, batch: int):
    """Batches of scaled points."""
    data = ds.GeneratorDataset(Points(count), column_names=["point", "label"], shuffle=False)
    data = data.map(operations=lambda point: point * np.float32(2.0), input_columns=["point"])
    return data.batch(batch, drop_remainder=True)


def main() -> None:
    data = pipeline(count=100, batch=16)
    print("batches", data.get_dataset_size())
    net = nn.Dense(2, 1, weight_init="zeros", bias_init="zeros")
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.5)

    def forward(point: Tensor, label: Tensor) -> Tensor:
        return ops.binary_cross_entropy_with_logits(
            net(point).squeeze(-1), label, ops.ones_like(label), ops.ones_like(label)
        )

    step = ms.value_and_grad(forward, None, optimizer.parameters)
    for epoch in range(5):
        losses = []
        for row in data.create_dict_iterator(num_epochs=1):
            loss, grads = step(row["point"], row["label"])
            optimizer(grads)
            losses.append(float(loss.asnumpy()))
        print(f"epoch {epoch} loss {np.mean(losses):.4f}")

    right = total = 0
    for point, label in data.create_tuple_iterator(output_numpy=True, num_epochs=1):
        guess = net(Tensor(point)).asnumpy()[:, 0] > 0
        right += int((guess == (label > 0.5)).sum())
        total += len(label)
    print(f"right {right} of {total}")


if __name__ == "__main__":
    main()
