"""MS113: members of tensors by name."""

from tests.rules.helper import check_noop, check_transformed


def test_members() -> None:
    check_transformed(
        """
        from mindspore import Tensor
        def f(x: Tensor, a, text: str):
            if hasattr(x, "asnumpy") and hasattr(a, 'asnumpy') and hasattr(text, "asnumpy"):
                return getattr(x, "asnumpy")(), getattr(a, "size", 0), getattr(x, "expand_dims")(1)
            n = getattr(x, "name", None), getattr(a, "name", "w"), getattr(text, "name", None)
            setattr(a, "name", "w")
            return hasattr(x, "shape"), hasattr(a, name), hasattr(x, "name")
        """,
        """
        import torch
        import _backend
        from torch import Tensor
        def f(x: Tensor, a, text: str):
            if _backend.members.has_member(x, "asnumpy", torch.Tensor) and _backend.members.has_member(a, 'asnumpy', torch.Tensor) and hasattr(text, "asnumpy"):
                return _backend.members.bind_member(x, "asnumpy", torch.Tensor, _backend.tensor.asnumpy)(), _backend.members.read_member(a, "size", torch.Tensor, _backend.tensor.size, 0), getattr(x, "unsqueeze")(1)
            n = _backend.param_name(x), (_backend.param_name(a) or "w"), getattr(text, "name", None)
            _backend.set_param_name(a, "w")
            return hasattr(x, "shape"), hasattr(a, name), hasattr(x, "name")
        """,
    )


def test_members_of_distributed_tensors_are_theirs_alone() -> None:
    check_transformed(
        """
        from mindspore import Parameter, Tensor
        def f(p: Parameter, x: Tensor, a):
            return hasattr(p, "to_local"), hasattr(x, "to_local"), hasattr(a, "to_local")
        """,
        """
        import _backend
        from torch.nn import Parameter
        from torch import Tensor
        def f(p: Parameter, x: Tensor, a):
            return _backend.members.has_member(p, "to_local", _backend.parallel.DTensor), _backend.members.has_member(x, "to_local", _backend.parallel.DTensor), _backend.members.has_member(a, "to_local", _backend.parallel.DTensor)
        """,
    )


def test_files_without_the_framework() -> None:
    check_noop("def f(x):\n    return getattr(x, 'name', None), hasattr(x, 'size'), setattr(x, 'name', 1)\n")
