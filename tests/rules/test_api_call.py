"""MS103: calls."""

from tests.rules.helper import check_finding, check_noop, check_transformed


def test_template_parenthesises_operands_and_nothing_else() -> None:
    check_transformed(
        """
        import mindspore as ms
        from mindspore import ops

        a = ops.cast(x, ms.float32)
        b = ops.cast(dtype=d, input_x=x)
        c = ops.cast(a + b, c if d else e)
        d = ops.cast(ops.cast(x, y), z)
        e = -ops.cast(-a, b) ** ops.cast(c, d)
        f = (ops.cast)(x, y)
        g = (ops.cast(x, y))
        h = ops.cast(lambda: 1, (n := 2))
        i = ops.cast([1], {2: 3})[0].shape
        j = await_(ops.cast(
            x,
            y,
        ))
        """,
        """
        import torch

        a = x.to(torch.float32)
        b = x.to(d)
        c = (a + b).to(c if d else e)
        d = x.to(y).to(z)
        e = -(-a).to(b) ** c.to(d)
        f = x.to(y)
        g = (x.to(y))
        h = (lambda: 1).to((n := 2))
        i = [1].to({2: 3})[0].shape
        j = await_(x.to(y))
        """,
    )


def test_what_cannot_be_bound_goes_to_the_adapter() -> None:
    check_transformed(
        """
        from mindspore import ops
        a = ops.cast(*pair)
        b = ops.cast(x, **more)
        c = ops.cast(x)
        d = ops.cast(x, y, z)
        e = ops.cast(x, dtype=y, input_x=z)
        """,
        """
        import _backend
        a = _backend.ops.cast(*pair)
        b = _backend.ops.cast(x, **more)
        c = _backend.ops.cast(x)
        d = _backend.ops.cast(x, y, z)
        e = _backend.ops.cast(x, dtype=y, input_x=z)
        """,
    )


def test_template_keeps_the_order_of_evaluation() -> None:
    check_transformed(
        """
        from mindspore import ops
        a = ops.cast(f(), g())
        b = ops.cast(dtype=g(), input_x=f())
        c = ops.cast(dtype=d.e, input_x=f())
        """,
        """
        import _backend
        a = f().to(g())
        b = _backend.ops.cast(dtype=g(), input_x=f())
        c = f().to(d.e)
        """,
    )


def test_rename_drop_and_adapt() -> None:
    check_transformed(
        """
        from mindspore import ops, mint
        a = ops.split(x, 2, 0)
        b = ops.split(x, 2, 1)
        c = ops.split(x, axis=0, size=2)
        d = ops.split(axis=0, tensor=x, size=2,)
        e = ops.split(x, 2, axis)
        f = ops.split(x, 2, False)
        g = mint.sum(x, dim=1)
        h = mint.sum(x, 1, dtype=d)
        i = mint.sum(*x)
        """,
        """
        import torch
        import _backend
        a = torch.split(x, 2)
        b = _backend.ops.split(x, 2, 1)
        c = torch.split(x, split_size=2)
        d = torch.split(tensor=x, split_size=2,)
        e = _backend.ops.split(x, 2, axis)
        f = _backend.ops.split(x, 2, False)
        g = torch.sum(x, axis=1)
        h = _backend.ops.sum(x, 1, dtype=d)
        i = _backend.ops.sum(*x)
        """,
    )


def test_comments_between_arguments_are_kept() -> None:
    check_transformed(
        """
        from mindspore import ops
        a = ops.split(x,
                      2,  # two
                      0)
        b = ops.cast(
            x,  # the input
            dtype,
        )
        """,
        """
        import _backend
        a = _backend.ops.split(x,
                      2,  # two
                      0)
        b = _backend.ops.cast(
            x,  # the input
            dtype,
        )
        """,
    )


def test_callee_that_is_no_plain_chain() -> None:
    check_transformed(
        """
        from mindspore import ops, mint
        a = (ops.cast if flag else mint.abs)(x, 1)
        b = {"a": ops.cast}["a"](x, 2)
        c = ops.Cast()(x, y)
        d = ops.cast(x, y).abs().to(z)
        """,
        """
        import torch
        import _backend
        a = (_backend.ops.cast if flag else torch.abs)(x, 1)
        b = {"a": _backend.ops.cast}["a"](x, 2)
        c = _backend.ops.Cast()(x, y)
        d = x.to(y).abs().to(z)
        """,
    )


def test_shadowed_names_are_left_alone() -> None:
    check_noop(
        """
        def f(ops, x):
            return ops.cast(x, 1)
        """
    )
    check_transformed(
        """
        from mindspore import ops
        def f(ops, x):
            return ops.cast(x, 1)
        def g(x):
            return [ops.cast(x, 1) for ops in x], ops.cast(x, 1)
        """,
        """
        def f(ops, x):
            return ops.cast(x, 1)
        def g(x):
            return [ops.cast(x, 1) for ops in x], x.to(1)
        """,
    )


def test_no_counterpart() -> None:
    message = check_finding("import mindspore as ms\nx = ms.ops.custom(1)\n", "MS001", 2, 5)
    assert message == "mindspore.ops.custom: graphs only"
    message = check_finding("import mindspore as ms\nx = ms.nothing.here(1)\n", "MS001", 2, 5)
    assert "mindspore.nothing.here" in message
