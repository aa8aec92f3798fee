"""MS110: getattr of the framework."""

from tests.rules.helper import check_finding, check_noop, check_transformed


def test_literal_names() -> None:
    check_transformed(
        """
        import mindspore as ms
        from mindspore import ops
        a = getattr(ms, "float32")
        b = getattr(ms, "nothing", None)
        c = getattr(ops, 'cast', f())
        d = hasattr(ms, "Tensor"), hasattr(ms, "nothing"), not hasattr(ops, "custom")
        e = getattr(ms.Tensor, "abs")
        f = getattr(ms.ops.ReduceOp, name)
        g = getattr(ms, "nothing", x or y).z
        """,
        """
        import torch
        import _backend
        a = torch.float32
        b = None
        c = _backend.ops.cast
        d = True, False, not False
        e = torch.Tensor.abs
        f = getattr(torch.distributed.ReduceOp, name)
        g = (x or y).z
        """,
    )


def test_other_getattr_is_left_alone() -> None:
    check_noop("import json\nx = getattr(json, 'dumps')\ny = hasattr(json, name)\n")
    check_transformed(
        "import mindspore as ms\ndef f(getattr):\n    return getattr(ms, 'float32')\n",
        "import torch\ndef f(getattr):\n    return getattr(torch, 'float32')\n",
    )


def test_names_known_at_run_time_only() -> None:
    assert "run time" in check_finding("import mindspore as ms\nx = getattr(ms, name)\n", "MS110", 2, 5)


def test_literal_without_counterpart() -> None:
    assert "graphs only" in check_finding(
        "import mindspore as ms\nx = getattr(ms.ops, 'custom')\n", "MS001", 2, 13
    )


def test_patched_names_are_patched_where_the_port_looks_them_up() -> None:
    check_transformed(
        """
        from unittest import mock
        import mindspore as ms
        from mindspore import mint, nn
        def test_it(monkeypatch, f):
            monkeypatch.setattr(ms.mint, "cat", f)
            monkeypatch.setattr(ms, "Tensor", f)
            with mock.patch.object(mint, "abs", f), mock.patch.object(nn.Cell, "extra", f):
                pass
        """,
        """
        from unittest import mock
        import torch
        import _backend
        def test_it(monkeypatch, f):
            monkeypatch.setattr(torch, "cat", f)
            monkeypatch.setattr(_backend.tensor, "Tensor", f)
            with mock.patch.object(torch, "abs", f), mock.patch.object(_backend.nn.Module, "extra", f):
                pass
        """,
    )


def test_a_patched_name_without_counterpart() -> None:
    source = "import mindspore as ms\ndef test_it(monkeypatch):\n    monkeypatch.setattr(ms, 'nothing', 1)\n"
    assert "mindspore.nothing" in check_finding(source, "MS001", 3, 25)
