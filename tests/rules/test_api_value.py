"""MS102: names that are not called."""

from tests.rules.helper import check_files, check_finding, check_transformed


def test_places() -> None:
    check_transformed(
        """
        import mindspore as ms
        from mindspore import nn, ops
        class Net(nn.Cell, metaclass=Meta):
            act = nn.Dense
            def __init__(self, d=ms.float32, *, cell: nn.Cell = X, **kw: ms.Tensor):
                self.cast = ops.cast
                self.calls = lambda x, d=ms.float16: [ops.cast(v, d) for v in x]
        @ops.constexpr
        def f(x: ms.Tensor, *rest: list[ms.Tensor]) -> "int | None":
            y: ms.Tensor | None = None
            assert isinstance(x, (ms.Tensor, nn.Cell)) and not issubclass(y, ms.Tensor | int)
            try:
                return {ms.float32: ms.float16}
            except (ValueError, ms.common.api.Stop):
                raise ms.common.api.Stop(1)
        """,
        """
        import torch
        import _backend
        class Net(_backend.nn.Module, metaclass=Meta):
            act = _backend.nn.Dense
            def __init__(self, d=torch.float32, *, cell: torch.nn.Module = X, **kw: torch.Tensor):
                self.cast = _backend.ops.cast
                self.calls = lambda x, d=torch.float16: [v.to(d) for v in x]
        @_backend.ops.constexpr
        def f(x: torch.Tensor, *rest: list[torch.Tensor]) -> "int | None":
            y: torch.Tensor | None = None
            assert isinstance(x, (torch.Tensor, torch.nn.Module)) and not issubclass(y, torch.Tensor | int)
            try:
                return {torch.float32: torch.float16}
            except (ValueError, _backend.Stop):
                raise _backend.Stop(1)
        """,
    )


def test_a_class_that_is_compared_is_the_class() -> None:
    check_transformed(
        """
        import mindspore as ms
        from typing import Union
        a = type(x) is ms.Tensor or type(x) in (ms.Tensor, int) or ms.Tensor == type(x)
        b = (ms.Tensor, ms.Parameter)
        c = {ms.Tensor: 1}
        d = Union[ms.Tensor, list[ms.Tensor]]
        e = [ms.Tensor, make]
        """,
        """
        import torch
        import _backend
        from typing import Union
        a = type(x) is torch.Tensor or type(x) in (torch.Tensor, int) or torch.Tensor == type(x)
        b = (torch.Tensor, torch.nn.Parameter)
        c = {torch.Tensor: 1}
        d = Union[torch.Tensor, list[torch.Tensor]]
        e = [_backend.tensor.Tensor, make]
        """,
    )


def test_match_patterns() -> None:
    found = check_files(
        {
            "case.py": """
            import mindspore as ms
            match x:
                case ms.Tensor() as t: pass
                case {"a": ms.float32, **rest} | [ms.float32, *rest]: pass
                case ms.ops.custom(): pass
            """
        },
        {
            "case.py": """
            import torch
            import _backend
            match x:
                case torch.Tensor() as t: pass
                case {"a": torch.float32, **rest} | [torch.float32, *rest]: pass
                case _backend.Missing(): pass
            """
        },
    )
    assert [(f.code, f.line) for f in found] == [("MS001", 5)]


def test_f_strings_walrus_and_conditions() -> None:
    check_transformed(
        """
        import mindspore as ms
        if (y := ms.float32) and ms is not None:
            print(f"{ms.float32!r:>{ms.float16}} {ms.ops.cast(x, 'a')}")
        z = ms.float32 if y else ms.float16
        """,
        """
        import torch
        if (y := torch.float32) and torch is not None:
            print(f"{torch.float32!r:>{torch.float16}} {x.to('a')}")
        z = torch.float32 if y else torch.float16
        """,
    )


def test_assignments_to_the_framework() -> None:
    assert "is now torch.float32" in check_finding("import mindspore as ms\nms.float32 = 1\n", "MS102", 2, 1)
    source = "import mindspore as ms\ndel ms.float32\n"
    found = check_files({"case.py": source}, {})
    assert {(f.code, f.line) for f in found} == {("MS001", 1), ("MS001", 2)}


def test_local_torch_and_backend() -> None:
    check_transformed(
        """
        from mindspore import ops, float32
        def f(torch, _backend):
            return ops.cast(torch, float32), ops.Cast
        """,
        """
        import _backend as _ms_backend
        from torch import float32
        def f(torch, _backend):
            return torch.to(float32), _ms_backend.ops.Cast
        """,
    )


def test_second_names_of_modules() -> None:
    check_transformed(
        """
        import mindspore as ms
        P = ms.ops
        nn = P2 = ms.nn
        def f(x):
            F = P
            return F.cast(x, ms.float32)
        class A(nn.Cell):
            def construct(self, x):
                return P.cast(x, ms.float32)
        """,
        """
        import torch
        import _backend
        P = torch
        nn = P2 = torch.nn
        def f(x):
            F = torch
            return x.to(torch.float32)
        class A(_backend.nn.Module):
            def forward(self, x):
                return x.to(torch.float32)
        """,
    )
