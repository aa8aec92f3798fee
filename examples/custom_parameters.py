"""Cells that own Parameters: names, frozen ones, initializers, assignment and counting."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import initializer


class RMSNorm(nn.Cell):
    """Scale by the root mean square."""

    def __init__(self, size: int, eps: float = 1e-6):
        super().__init__()
        self.eps = eps
        self.weight = Parameter(initializer("ones", (size,), ms.float32), name="weight")

    def construct(self, x: Tensor) -> Tensor:
        variance = ops.mean(ops.square(x), -1, True)
        return x * ops.rsqrt(variance + self.eps) * self.weight


class Gate(nn.Cell):
    """A weighted sum of two norms; counts its calls in a Parameter that is not trained."""

    def __init__(self, size: int):
        super().__init__()
        self.norms = nn.CellList([RMSNorm(size) for _ in range(2)])
        self.mix = Parameter(Tensor(np.array([0.25, 0.75]), ms.float32), name="mix")
        self.calls = Parameter(Tensor(0, ms.int32), name="calls", requires_grad=False)

    def construct(self, x: Tensor) -> Tensor:
        ops.assign_add(self.calls, Tensor(1, ms.int32))
        return self.mix[0] * self.norms[0](x) + self.mix[1] * self.norms[1](2 * x)


def main() -> None:
    gate = Gate(4)
    for name, param in gate.parameters_and_names():
        print(f"{name} {param.name} {tuple(param.shape)} {param.requires_grad}")
    print("trainable", [param.name for param in gate.trainable_params()])

    x = Tensor(np.arange(8).reshape(2, 4), ms.float32)
    for _ in range(3):
        out = gate(x)
    print("out", out.asnumpy().astype(float).round(4).tolist())
    print("calls", int(gate.calls.asnumpy()))

    gate.norms[1].weight.set_data(Tensor(np.full(4, 2.0), ms.float32))
    print("scaled", gate(x).asnumpy()[0].astype(float).round(4).tolist())
    print("cells", [type(cell).__name__ for _, cell in gate.cells_and_names()])


if __name__ == "__main__":
    main()
