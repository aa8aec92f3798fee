"""MS107 and MS109: what stays MindSpore code stands under the guard (whole trees: tests/engine/test_pipeline.py)."""

import textwrap

from ms2torch.plan import Profile
from tests.rules.helper import run, text_of

PROFILE = Profile(
    name="p",
    detect="pkg/new",
    backend="pkg._backend",
    entries=["pkg.new"],
    ported=["pkg.new"],
    guarded={"pkg.new": ["Graph", "helper"]},
)


def ported(source: str) -> str:
    files = {
        "pkg/__init__.py": "",
        "pkg/old.py": "import mindspore\nclass Net: ...\n",
        "pkg/new.py": textwrap.dedent(source),
    }
    return text_of(run(files, profile=PROFILE), "pkg/new.py")


def test_imports_inside_blocks() -> None:
    assert ported(
        """\
        import mindspore
        def f():
            # why
            from pkg.old import Net  # here
            return Net
        try:
            from .old import (
                Net as N,
            )
        finally: pass
        if x: from .old import Net
        import pkg.old
        """
    ) == textwrap.dedent(
        """\
        from pkg import _backend
        def f():
            # why
            if _backend.HAS_MINDSPORE:
                from pkg.old import Net
            else:
                Net = _backend.unavailable("pkg.old", "Net")
            return Net
        try:
            if _backend.HAS_MINDSPORE:
                from .old import (
                    Net as N,
                )
            else:
                N = _backend.unavailable("pkg.old", "Net")
        finally: pass
        if x:
            if _backend.HAS_MINDSPORE:
                from .old import Net
            else:
                Net = _backend.unavailable("pkg.old", "Net")
        if _backend.HAS_MINDSPORE:
            import pkg.old
        """
    )


def test_definitions() -> None:
    assert ported(
        """\
        import mindspore as ms
        # about Graph
        @ms.jit
        class Graph(ms.nn.Cell):
            def construct(self): return ms.float32

        def helper(): return ms.float32
        def other(): return ms.float32
        """
    ) == textwrap.dedent(
        """\
        import torch
        from pkg import _backend

        if _backend.HAS_MINDSPORE:
            import mindspore as ms
        # about Graph
        if _backend.HAS_MINDSPORE:
            @ms.jit
            class Graph(ms.nn.Cell):
                def construct(self): return ms.float32
        else:
            Graph = _backend.unavailable("pkg.new", "Graph")

        if _backend.HAS_MINDSPORE:
            def helper(): return ms.float32
        else:
            helper = _backend.unavailable("pkg.new", "helper")
        def other(): return torch.float32
        """
    )
