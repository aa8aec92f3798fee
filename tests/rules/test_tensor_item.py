"""MS116: subscripts that torch's tensors refuse."""

from tests.rules.helper import check_noop, check_transformed


def test_reads_backwards() -> None:
    check_transformed(
        """
        from mindspore import Tensor
        def f(x: Tensor, y):
            return x[::-1], y[1:, ::-2], x[1:], y.shape[::-1], [1, 2][::-1]
        """,
        """
        import _backend
        from torch import Tensor
        def f(x: Tensor, y):
            return _backend.tensor.getitem(x, slice(None, None, -1)), _backend.tensor.getitem(y, (slice(1, None), slice(None, None, -2))), x[1:], y.shape[::-1], [1, 2][::-1]
        """,
    )


def test_writes() -> None:
    check_transformed(
        """
        from mindspore import Parameter
        def f(p: Parameter, y, key):
            p[0] = y
            y[0] = 1, 2
            y[key] = [1]
            y["a"] = [1]
            y[0] = 3
        """,
        """
        import _backend
        from torch.nn import Parameter
        def f(p: Parameter, y, key):
            _backend.tensor.setitem(p, 0, y)
            _backend.tensor.setitem(y, 0, (1, 2))
            y[key] = [1]
            y["a"] = [1]
            y[0] = 3
        """,
    )


def test_files_without_mindspore_are_left_alone() -> None:
    check_noop("def f(x):\n    x[0] = [1]\n    return x[::-1]\n")
