"""MS112: x += y."""

from tests.rules.helper import check_noop, check_transformed


def test_tensors_unknowns_and_others() -> None:
    check_transformed(
        """
        from mindspore import Tensor
        def f(x: Tensor, a, n: int):
            x += 1; x *= a + 1; x -= -a; x @= (yield)
            a += 1
            a.b.c -= x if n else 1
            n += 1
            x[0] += 1
            a().b += 1
            a += "text"
        """,
        """
        import _backend
        from torch import Tensor
        def f(x: Tensor, a, n: int):
            x = x + 1; x = x * (a + 1); x = x - (-a); x = x @ (yield)
            a = _backend.augmented.add(a, 1)
            a.b.c = _backend.augmented.sub(a.b.c, x if n else 1)
            n += 1
            x[0] += 1
            a().b += 1
            a += "text"
        """,
    )


def test_items() -> None:
    check_transformed(
        """
        from mindspore import Tensor
        def f(x: Tensor, sums, key, n: list[int]):
            x[0] += 1
            sums[key] += x; sums["a"][1:, key()] -= 2
            n[0] += 1
            sums[key] += "text"
        """,
        """
        import _backend
        from torch import Tensor
        def f(x: Tensor, sums, key, n: list[int]):
            x[0] += 1
            _backend.augmented.item(sums, key, "+=", x); _backend.augmented.item(sums["a"], (slice(1, None), key()), "-=", 2)
            n[0] += 1
            sums[key] += "text"
        """,
    )


def test_files_without_the_framework() -> None:
    check_noop("def f(a):\n    a += 1\n")
