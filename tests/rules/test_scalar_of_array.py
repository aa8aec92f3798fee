"""MS113: float() of an array."""

from tests.rules.helper import check_noop, check_transformed


def test_tensors_and_receivers_of_unknown_type() -> None:
    check_transformed(
        """
        from mindspore import Tensor
        def f(loss: Tensor, other):
            a = float(loss.asnumpy())
            return int(other.asnumpy()), float(loss.abs())
        """,
        """
        import _backend
        from torch import Tensor
        def f(loss: Tensor, other):
            a = float(_backend.tensor.asnumpy(loss).item())
            return int(_backend.members.scalar(_backend.tensor.asnumpy(other))), float(loss.abs())
        """,
    )


def test_other_numbers_are_left_alone() -> None:
    check_noop("def f(x, float):\n    return float(x.asarray()), int(x)\n")
