"""MS100: imports (their comments and blocks: tests/engine/test_rewrite.py)."""

from tests.rules.helper import check_files, check_finding, check_noop, check_transformed


def test_a_name_stays_where_all_its_uses_became_one_target() -> None:
    check_transformed(
        """
        from mindspore import Tensor as T, Parameter, float32, ops, nn
        from mindspore.nn import Cell
        def f(x: T, p: Parameter) -> T:
            return isinstance(x, T), Parameter(1), float32
        class Net(Cell): pass
        """,
        """
        import _backend
        from torch import Tensor as T, float32
        from torch.nn import Parameter
        from _backend.nn import Module as Cell
        def f(x: T, p: Parameter) -> T:
            return isinstance(x, T), _backend.params.Parameter(1), float32
        class Net(Cell): pass
        """,
    )


def test_unused_imports_go() -> None:
    check_transformed("import mindspore\nfrom mindspore import Tensor, nn\nx = 1\n", "x = 1\n")
    check_noop(
        "import mindspore_lite\nimport mindsporex.ops\nfrom mindspore_gl import Graph\nx = Graph(mindspore_lite)\n"
    )


def test_what_others_import_stays() -> None:
    found = check_files(
        {
            "pkg/__init__.py": "",
            "pkg/base.py": "from mindspore import Tensor, nn, ops, mint, float32\nimport mindspore as ms\n",
            "pkg/user.py": "from .base import Tensor, ms, mint\nfrom pkg import base\ny = ms.float32, base.nn.Cell\n",
        },
        {
            "pkg/base.py": "from torch import Tensor\nimport torch as mint\nimport torch as ms\n",
            "pkg/user.py": (
                "from .base import Tensor, ms, mint\nfrom pkg import base\nimport torch\n\n"
                "y = torch.float32, torch.nn.Module\n"
            ),
        },
    )
    assert found == ()


def test_public_names_stay() -> None:
    check_transformed(
        "from mindspore import Tensor, ops\n__all__ = ['Tensor']\n",
        "from torch import Tensor\n__all__ = ['Tensor']\n",
    )


def test_a_name_without_counterpart_becomes_a_placeholder() -> None:
    before = "from mindspore import nothing\n\ndef f():\n    return nothing\n"
    after = 'import _backend\n\nnothing = _backend.unavailable("mindspore", "nothing")\n\ndef f():\n    return nothing\n'
    found = check_files({"case.py": before}, {"case.py": after})
    assert [(f.code, f.line) for f in found] == [("MS001", 1), ("MS001", 4)]


def test_star_imports_of_the_framework() -> None:
    assert "cannot be known" in check_finding("from mindspore.ops import *\n", "MS001", 1, 1)


def test_local_import_of_torch_is_no_global_one() -> None:
    check_transformed(
        "import mindspore as ms\ndef f():\n    import torch\n    return torch, ms.float32\n",
        "import torch\ndef f():\n    import torch\n    return torch, torch.float32\n",
    )
    check_transformed(
        "import torch\nimport mindspore as ms\nx = ms.float32\n", "import torch\nx = torch.float32\n"
    )


def test_global_statement() -> None:
    check_transformed(
        "def f():\n    global ms\n    import mindspore as ms\ndef g():\n    return ms.float32\n",
        "import torch\n\ndef f():\n    global ms\ndef g():\n    return torch.float32\n",
    )


def test_an_import_that_is_only_an_attribute_is_a_finding() -> None:
    check_finding(
        """
        class A:
            from mindspore import nn
            def f(self):
                return self.nn.ReLU()
        """,
        "MS001",
        2,
        5,
    )
