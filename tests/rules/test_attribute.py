"""MS105: properties."""

from tests.rules.helper import check_finding, check_transformed


def test_properties() -> None:
    check_transformed(
        """
        from mindspore import Tensor
        def f(x: Tensor, a, text: str):
            y = x.size, a.size, text.size, x.itemsize, x.expand_dims
            return -x.size ** 2, (x).size
        """,
        """
        import _backend
        from torch import Tensor
        def f(x: Tensor, a, text: str):
            y = _backend.tensor.size(x), _backend.tensor.size(a), text.size, x.itemsize, x.unsqueeze
            return -_backend.tensor.size(x) ** 2, _backend.tensor.size((x))
        """,
    )


def test_bound_method_as_a_value() -> None:
    source = "from mindspore import Tensor\ndef f(x: Tensor):\n    return x.astype\n"
    assert "taken as a value" in check_finding(source, "MS105", 3, 12)
