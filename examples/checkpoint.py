"""Saves a network's parameters, changes them, and loads them back by name."""

import os
import tempfile

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn


class Net(nn.Cell):
    """An embedding and a projection."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 4)
        self.project = nn.Dense(4, 2)

    def construct(self, ids: Tensor) -> Tensor:
        return self.project(self.embedding(ids))


def main() -> None:
    net = Net()
    rng = np.random.default_rng(7)
    for param in net.get_parameters():
        param.set_data(Tensor(rng.standard_normal(param.shape), ms.float32))
    ids = Tensor([[1, 2, 3]], ms.int32)
    before = net(ids).asnumpy()
    print("out", before.astype(float).round(4).tolist())

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.ckpt")
        ms.save_checkpoint(net, path)
        for param in net.get_parameters():
            param.set_data(Tensor(np.zeros(param.shape), ms.float32))
        print("zeroed", np.abs(net(ids).asnumpy()).sum())
        loaded = ms.load_checkpoint(path)
        print("saved", sorted(loaded))
        missing, unexpected = ms.load_param_into_net(net, loaded)
        print("missing", missing, "unexpected", unexpected)
    print("equal", bool(np.array_equal(net(ids).asnumpy(), before)))


if __name__ == "__main__":
    main()
