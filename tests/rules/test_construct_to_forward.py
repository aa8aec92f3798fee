"""MS101: construct."""

from tests.rules.helper import check_files, check_finding, check_noop, check_transformed


def test_cells_of_every_kind() -> None:
    check_transformed(
        """
        from mindspore import nn
        class Net(nn.Cell):
            def construct(self, x):
                return super().construct(x)
        class Sub(Net):
            async def construct(self, x):
                return super(Sub, self).construct(x) + Net.construct(self, x)
        class Opt(nn.Optimizer):
            def construct(self, grads):
                return grads
        class FromLayer(nn.Dense):
            def construct(self): pass
        def local():
            class Inner(nn.Cell):
                def construct(self): pass
                class Deep(nn.Dense):
                    def construct(self): pass
            class Heir(Inner):
                def construct(self): pass
            return Inner
        """,
        """
        import _backend
        class Net(_backend.nn.Module):
            def forward(self, x):
                return super().forward(x)
        class Sub(Net):
            async def forward(self, x):
                return super(Sub, self).forward(x) + Net.forward(self, x)
        class Opt(_backend.optim.Optimizer):
            def step(self, grads):
                return grads
        class FromLayer(_backend.nn.Dense):
            def forward(self): pass
        def local():
            class Inner(_backend.nn.Module):
                def forward(self): pass
                class Deep(_backend.nn.Dense):
                    def forward(self): pass
            class Heir(Inner):
                def forward(self): pass
            return Inner
        """,
    )


def test_uses_follow_their_receiver() -> None:
    check_transformed(
        """
        from mindspore import nn
        class Net(nn.Cell):
            def __init__(self):
                self.block = nn.Dense(1)
            def run(self, x):
                return self.block.construct(x), self.construct, getattr(self, "construct")(x)
        def f(net: Net, other: "Net", many: list[Net]):
            net.construct(1)
            other.construct(1)
            for one in many:
                one.construct(1)
            return hasattr(net, 'construct')
        """,
        """
        import _backend
        class Net(_backend.nn.Module):
            def __init__(self):
                self.block = _backend.nn.Dense(1)
            def run(self, x):
                return self.block.forward(x), self.forward, getattr(self, "forward")(x)
        def f(net: Net, other: "Net", many: list[Net]):
            net.forward(1)
            other.forward(1)
            for one in many:
                one.forward(1)
            return hasattr(net, "forward")
        """,
    )


def test_classes_that_are_no_cells() -> None:
    check_noop(
        """
        class Plain:
            def construct(self):
                return self.construct
        class Sub(Plain):
            def construct(self):
                return super().construct()
        def construct(x):
            return construct
        """
    )


def test_across_files_and_mixins() -> None:
    found = check_files(
        {
            "pkg/__init__.py": "from .base import *\n",
            "pkg/base.py": """
            from mindspore import nn
            class Base(nn.Cell):
                pass
            class Mixin:
                def construct(self, x):
                    return x
            class Both(Mixin, Base):
                pass
            """,
            "pkg/net.py": """
            import pkg.base as b
            from pkg import Base as Root
            class A(Root):
                def construct(self, x):
                    return x
            class B(b.Both):
                def construct(self, x):
                    return super().construct(x)
            """,
        },
        {
            "pkg/base.py": """
            from pkg import _backend
            class Base(_backend.nn.Module):
                pass
            class Mixin:
                def forward(self, x):
                    return x
            class Both(Mixin, Base):
                pass
            """,
            "pkg/net.py": """
            import pkg.base as b
            from pkg import Base as Root
            class A(Root):
                def forward(self, x):
                    return x
            class B(b.Both):
                def forward(self, x):
                    return super().forward(x)
            """,
        },
    )
    assert found == ()


def test_unknown_receiver() -> None:
    check_transformed(
        "import mindspore\ndef f(net):\n    return net.construct(1), net.block.construct\n",
        "import _backend\ndef f(net):\n    return _backend.nn.construct(net)(1), _backend.nn.construct(net.block)\n",
    )
    source = "import mindspore\nclass Net(mindspore.nn.Cell):\n    def forward(self): ...\n    def construct(self): ...\n"
    assert "defines forward already" in check_finding(source, "MS101", 4, 5)


def test_receivers_of_unknown_type_are_asked_when_it_runs() -> None:
    check_transformed(
        """
        import inspect
        from mindspore import mint
        import tools
        def f(net, new):
            signature = inspect.signature(net.block.construct)
            net.construct = new
            net.construct(mint.abs(1))
            tools.construct(1)
            return signature
        """,
        """
        import inspect
        import torch
        import _backend
        import tools
        def f(net, new):
            signature = inspect.signature(_backend.nn.construct(net.block))
            _backend.nn.set_construct(net, new)
            _backend.nn.construct(net)(torch.abs(1))
            tools.construct(1)
            return signature
        """,
    )


def test_construct_that_is_written_in_passing() -> None:
    source = "import mindspore\ndef f(net):\n    net.construct = other = 1\n"
    assert "is written" in check_finding(source, "MS101", 3, 5)
