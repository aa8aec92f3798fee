"""MS114: del."""

from tests.rules.helper import check_noop, check_transformed


def test_del_goes_with_the_import() -> None:
    check_transformed(
        """
        import mindspore as ms
        from mindspore import ops, Tensor
        x: Tensor = ms.float32
        del ms, ops, Tensor
        def f():
            import mindspore
            y = 1
            del mindspore, y
            del mindspore
        """,
        """
        import torch
        from torch import Tensor
        x: Tensor = torch.float32
        del Tensor
        def f():
            y = 1
            del y
        """,
    )


def test_other_del() -> None:
    check_noop("import json\nx = y = 1\ndel json, x, y\n")
