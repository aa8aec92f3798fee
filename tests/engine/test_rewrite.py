"""Bytes, encodings, newlines, comments and imports of one file."""

import codecs

import pytest

from ms2torch import rewrite
from ms2torch.model import SourceFile
from tests.rules.helper import PATH, check_files, check_noop, check_transformed, run

NOTICE = rewrite.CHANGED


def port(data: bytes) -> bytes:
    return next(f.data for f in run({PATH: data}).files if f.path == PATH)


SOURCE = "import mindspore as ms\nx = ms.float32  # c\n"
PORT = f"{NOTICE}\nimport torch\nx = torch.float32  # c\n"


def test_newlines_bom_and_tabs() -> None:
    assert port(SOURCE.encode()) == PORT.encode()
    assert port(SOURCE.replace("\n", "\r\n").encode()) == PORT.replace("\n", "\r\n").encode()
    assert port(codecs.BOM_UTF8 + SOURCE.encode()) == codecs.BOM_UTF8 + PORT.encode()
    tabs = "import mindspore as ms\ndef f():\n\tif x:\n\t\treturn ms.float32\n"
    assert (
        port(tabs.encode())
        == f"{NOTICE}\nimport torch\ndef f():\n\tif x:\n\t\treturn torch.float32\n".encode()
    )


def test_no_newline_at_the_end() -> None:
    assert port(SOURCE.rstrip("\n").encode()) == PORT.rstrip("\n").encode()


def test_declared_encoding() -> None:
    source = "# -*- coding: latin-1 -*-\nimport mindspore as ms\nx = 'é', ms.float32\n"
    expected = f"# -*- coding: latin-1 -*-\n{NOTICE}\nimport torch\nx = 'é', torch.float32\n"
    assert port(source.encode("latin-1")) == expected.encode("latin-1")


def test_notice_stands_after_the_licence_once() -> None:
    source = "#!/usr/bin/env python\n# Copyright\n# Licence\n\n# about the code\n" + SOURCE
    made = port(source.encode()).decode()
    assert made.splitlines()[:5] == ["#!/usr/bin/env python", "# Copyright", "# Licence", NOTICE, ""]
    assert port(made.encode()).decode() == made and made.count(NOTICE) == 1


@pytest.mark.parametrize(
    "data", [b"x = (\n", b"\xff = 1\n", b"x = 1\0\n", b"# coding: nonsense\n", b"x = '\xe9'\n"]
)
def test_files_that_cannot_be_parsed_stay(data: bytes) -> None:
    result = run({PATH: data, "ok.py": SOURCE})
    assert {f.path: f.data for f in result.files}[PATH] == data
    assert [(f.code, f.severity) for f in result.findings if f.path == PATH] == [("MS002", "error")]
    assert {f.path: f.data for f in result.files}["ok.py"] == PORT.encode()


def test_nesting_too_deep_for_the_traversal_is_a_finding() -> None:
    source = b"import mindspore as ms\nx = ms.float32" + b" + ms.float32" * 900 + b"\n"
    result = run({PATH: source})
    made = {f.path: f.data for f in result.files}[PATH]
    assert (made == source) == bool(result.findings)
    assert all(f.code in ("MS002", "MS003") for f in result.findings)


def test_untouched_files_keep_their_bytes() -> None:
    for source in (
        "x = 1",
        "",
        "\n\n",
        "def f( a,b ) :\n    return   a\n",
        "'''mindspore'''\n",
        "# mindspore.Tensor\n",
    ):
        check_noop(source)


def test_comments_of_removed_imports_stay() -> None:
    check_transformed(
        '''
        # Copyright

        """Doc."""

        # about imports
        import os  # os

        # about ms
        import mindspore as ms  # trailing
        # about the list
        from mindspore import (
            # types
            Tensor,
            ops,  # functions
        )
        # at the end of the imports

        # about X
        X: Tensor = ms.float32
        ''',
        '''
        # Copyright

        """Doc."""

        # about imports
        import os  # os

        # about ms
        import torch
        # about the list
        # types
        from torch import Tensor
        # at the end of the imports

        # about X
        X: Tensor = torch.float32
        ''',
    )


def test_future_imports_and_docstrings_stay_first() -> None:
    check_transformed(
        '"""Doc."""\nfrom __future__ import annotations\nfrom mindspore import ops\nx = ops.Cast()\n',
        '"""Doc."""\nfrom __future__ import annotations\nimport _backend\nx = _backend.ops.Cast()\n',
    )
    check_transformed(
        '"""Doc."""\ndef f():\n    import mindspore as ms\n    return ms.float32\n',
        '"""Doc."""\nimport torch\n\ndef f():\n    return torch.float32\n',
    )


def test_imports_in_every_kind_of_block() -> None:
    check_transformed(
        """
        import mindspore
        def f():
            import mindspore as ms
        def g(): import mindspore; return mindspore.float32
        def h():
            \"\"\"Doc.\"\"\"
            from mindspore import ops
        class K:
            from mindspore import nn
            N = nn.Dense
        if x: from mindspore import ops
        elif y:
            from mindspore import ops
        else: ops = None
        for i in x:
            import mindspore
        with a:
            # why
            import mindspore

            b = 1
        import a; import mindspore; import b
        import os, mindspore, sys
        """,
        """
        import torch
        import _backend
        def f():
            pass
        def g():
            return torch.float32
        def h():
            \"\"\"Doc.\"\"\"
        class K:
            N = _backend.nn.Dense
        if x: pass
        elif y:
            pass
        else: ops = None
        for i in x:
            pass
        with a:
            # why

            b = 1
        import a; import b
        import os, sys
        """,
    )


def test_import_with_a_fallback() -> None:
    check_transformed(
        """
        try:
            import mindspore as ms
            from mindspore import Tensor
        except ImportError:
            ms = Tensor = None
        def f(x):
            if ms is None:
                return x
            return isinstance(x, Tensor)
        """,
        """
        import torch

        try:
            from torch import Tensor
        except ImportError:
            ms = Tensor = None
        def f(x):
            if torch is None:
                return x
            return isinstance(x, Tensor)
        """,
    )
    found = check_files(
        {
            PATH: "try:\n    from mindspore.nowhere import Gone\nexcept ImportError:\n    Gone = None\nx = Gone\n"
        },
        {
            PATH: 'try:\n    raise ImportError("mindspore.nowhere.Gone has no torch counterpart")\nexcept ImportError:\n    Gone = None\nx = Gone\n'
        },
    )
    assert {f.code for f in found} == {"MS001"}


def test_what_the_result_says() -> None:
    result = run({PATH: SOURCE})
    assert result.summary["references"] == {"converted": 2, "total": 2}
    assert rewrite.decode(b"\xef\xbb\xbfx = 1\n") == ("x = 1\n", "utf-8", codecs.BOM_UTF8)
    assert SourceFile("a", b"").mode == 0o644
