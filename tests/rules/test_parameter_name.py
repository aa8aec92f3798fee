"""MS106: names of parameters."""

from tests.rules.helper import check_finding, check_noop, check_transformed


def test_reads_and_writes() -> None:
    check_transformed(
        """
        from mindspore import Parameter, nn
        class P(Parameter):
            def rename(self, name):
                self.name = name
                return self.name
        class Other:
            def rename(self, name):
                self.name = name
                return self.name
        def f(p: Parameter, net: nn.Cell, a, text: str):
            p.name = "w"
            a.name = "w"
            text.name = a.name
            x, p.name = 1, 2
            del a.name
            print(p.name, (a).name, f"{p.name}", [q.name for q in net.trainable_params()])
        """,
        """
        import torch
        import _backend
        from torch.nn import Parameter
        class P(_backend.params.Parameter):
            def rename(self, name):
                self._mf_name = name
                return _backend.param_name(self)
        class Other:
            def rename(self, name):
                self.name = name
                return self.name
        def f(p: Parameter, net: torch.nn.Module, a, text: str):
            p._mf_name = "w"
            _backend.set_param_name(a, "w")
            text.name = _backend.param_name(a)
            x, p._mf_name = 1, 2
            del a.name
            print(_backend.param_name(p), _backend.param_name((a)), f"{_backend.param_name(p)}", [_backend.param_name(q) for q in _backend.nn.trainable_params(net)])
        """,
    )


def test_files_without_the_framework() -> None:
    check_noop("def f(x):\n    x.name = x.name\n")


def test_write_that_no_function_can_do() -> None:
    source = "import mindspore\ndef f(a):\n    x, a.name = 1, 2\n"
    assert "_mf_name" in check_finding(source, "MS106", 3, 8)
