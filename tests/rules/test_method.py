"""MS104: methods."""

from tests.rules.helper import check_finding, check_noop, check_transformed


def test_known_and_unknown_receivers() -> None:
    check_transformed(
        """
        from mindspore import Tensor, nn
        def f(x: Tensor, net: nn.Cell, a, text: str):
            x.asnumpy(); a.asnumpy(); text.asnumpy()
            x.expand_dims(1); x.expand_dims(axis=1); a.expand_dims(1)
            x.astype(d); a.astype(d); text.astype(d)
            net.trainable_params(); a.trainable_params()
            net.cells(); a.cells()
            x.abs().expand_dims(0).asnumpy().astype(int)
            (x + 1).expand_dims(0)
            (lambda: 1).asnumpy()
        """,
        """
        import torch
        import _backend
        from torch import Tensor
        def f(x: Tensor, net: torch.nn.Module, a, text: str):
            _backend.tensor.asnumpy(x); _backend.tensor.asnumpy(a); text.asnumpy()
            x.unsqueeze(1); x.unsqueeze(dim=1); a.expand_dims(1)
            _backend.tensor.astype(x, d); _backend.tensor.astype(a, d); text.astype(d)
            _backend.nn.trainable_params(net); _backend.nn.trainable_params(a)
            net.children(); a.cells()
            _backend.tensor.asnumpy(x.abs().unsqueeze(0)).astype(int)
            (x + 1).unsqueeze(0)
            _backend.tensor.asnumpy((lambda: 1))
        """,
    )


def test_own_methods_of_project_classes_and_super() -> None:
    check_transformed(
        """
        from mindspore import nn
        class Net(nn.Cell):
            def trainable_params(self):
                return super().trainable_params()
            def f(self):
                return self.trainable_params(), self.cells()
        """,
        """
        import _backend
        class Net(_backend.nn.Module):
            def trainable_params(self):
                return super().trainable_params()
            def f(self):
                return self.trainable_params(), self.children()
        """,
    )


def test_files_without_the_framework() -> None:
    check_noop("def f(x):\n    return x.astype(int).name\n")
    check_transformed(
        "def f(x):\n    return x.asnumpy()\n",
        "import _backend\n\ndef f(x):\n    return _backend.tensor.asnumpy(x)\n",
    )


def test_unsupported() -> None:
    source = "from mindspore import Tensor\ndef f(x: Tensor):\n    x.itemset(1)\n"
    assert "written in place" in check_finding(source, "MS104", 3, 5)
