"""MS108: strings."""

from tests.rules.helper import check_finding, check_noop, check_transformed


def test_lookups() -> None:
    check_transformed(
        """
        import importlib
        from unittest.mock import patch
        m = importlib.import_module("mindspore.ops")
        @patch("mindspore.ops.cast")
        def t(c): pass
        p = patch('mindspore.Tensor.asnumpy')
        """,
        """
        import importlib
        from unittest.mock import patch
        m = importlib.import_module("torch")
        @patch("_backend.ops.cast")
        def t(c): pass
        p = patch('_backend.tensor.asnumpy')
        """,
    )


def test_docstrings_and_plain_words() -> None:
    check_noop(
        '''"""mindspore.Tensor"""\nx = "mindspore"\ny = "see mindspore.Tensor for more"\nz = b"mindspore.ops"\n'''
    )


def test_no_counterpart() -> None:
    assert "named in a string" in check_finding("p = patch('mindspore.nothing.here')\n", "MS001", 1, 11)
