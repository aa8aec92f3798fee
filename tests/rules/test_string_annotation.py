"""MS111: annotations written as strings."""

import typing

import torch

from tests.rules.helper import check_finding, check_transformed, run, text_of


def test_annotations() -> None:
    check_transformed(
        """
        from typing import TYPE_CHECKING, Annotated, Literal, Optional, TypeVar, cast
        if TYPE_CHECKING:
            from mindspore import Tensor
            import mindspore as ms
        def f(x: "Tensor", y: "Optional[ms.nn.Cell]" = None, z: Literal["Tensor"] = 1, *a: 'ms.Tensor') -> "list[Tensor]":
            return cast("ms.Tensor", x)
        T = TypeVar("T", bound="ms.Tensor")
        class A:
            a: Annotated["ms.Tensor", "ms.Tensor"]
            b: "mindspore.Tensor"
            c: "None"
            d: "not python"
        """,
        """
        from typing import TYPE_CHECKING, Annotated, Literal, Optional, TypeVar, cast
        import torch

        if TYPE_CHECKING:
            from torch import Tensor
        def f(x: "Tensor", y: "Optional[torch.nn.Module]" = None, z: Literal["Tensor"] = 1, *a: 'torch.Tensor') -> "list[Tensor]":
            return cast("torch.Tensor", x)
        T = TypeVar("T", bound="torch.Tensor")
        class A:
            a: Annotated["torch.Tensor", "ms.Tensor"]
            b: "torch.Tensor"
            c: "None"
            d: "not python"
        """,
    )


def test_get_type_hints_finds_torch() -> None:
    source = "from mindspore import Tensor\nimport mindspore as ms\ndef f(x: 'Tensor') -> 'dict[str, ms.Tensor]': ...\n"
    space: dict[str, typing.Any] = {}
    exec(text_of(run({"case.py": source})), space)
    assert typing.get_type_hints(space["f"]) == {"x": torch.Tensor, "return": dict[str, torch.Tensor]}


def test_no_counterpart() -> None:
    source = "import mindspore as ms\nx: 'ms.nothing.Here'\n"
    assert "in an annotation" in check_finding(source, "MS001", 2, 4)
