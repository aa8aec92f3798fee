"""The operations undo each other, whatever the shapes; parts read alone are the parts of the whole."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ms2torch.weights import expr, plan
from ms2torch.weights.expr import Read
from ms2torch.weights.formats.source import _Loaded
from ms2torch.weights.plan import Info
from ms2torch.weights.table import Entry, Expanded

sizes = st.integers(1, 4)


@st.composite
def rows(draw: st.DrawFn) -> tuple[Entry, dict[str, torch.Tensor]]:
    """A row of a table, with tensors that fit it."""
    kind = draw(
        st.sampled_from(["rename", "concat", "interleave", "pad", "transpose", "experts", "stack of pads"])
    )
    stacked = draw(sizes) if kind in ("experts", "stack of pads") else 1
    count = draw(st.integers(2, 4)) if kind in ("concat", "interleave", "experts") else 1
    groups, wide = draw(sizes), draw(sizes)
    each = [groups * draw(sizes) for _ in range(count)]
    if kind == "experts":
        each = [each[0]] * count
    dim = draw(st.integers(0, 1)) if kind in ("concat", "interleave", "pad") else 0
    shapes = [(size, wide) if dim == 0 else (wide, size) for size in each]
    ops = {
        "rename": (),
        "concat": (("concat", {"concat": dim}),),
        "interleave": (("interleave", {"interleave": dim, "groups": groups}),),
        "pad": (("pad", {"pad": dim, "to": each[0] + draw(st.integers(0, 3))}),),
        "transpose": (("transpose", {"transpose": [0, 1]}),),
        "experts": (("transpose", {"transpose": [0, 1]}), ("concat", {"concat": 1})),
        "stack of pads": (("pad", {"pad": 0, "to": each[0] + 2}),),
    }[kind]
    named = tuple(
        tuple((f"{part}.{number}", shape) for number, shape in enumerate(shapes)) for part in range(stacked)
    )
    dtype = draw(st.sampled_from([torch.float32, torch.bfloat16, torch.float16, torch.float64]))
    tensors = {name: torch.randn(shape).to(dtype) for part in named for name, shape in part}
    return Entry("whole", named, ops, kind in ("experts", "stack of pads"), False), tensors


def infos(tensors: dict[str, torch.Tensor]) -> dict[str, Info]:
    return {name: Info(tuple(t.shape), t.dtype) for name, t in tensors.items()}


def evaluated(made: expr.Expr, source: expr.Source) -> torch.Tensor:
    """The value, checked against the chunks that a writer would put down."""
    value = made.value(source)
    assert (tuple(value.shape), value.dtype) == (made.shape, made.dtype)
    flat = torch.cat([chunk.reshape(-1) for chunk in made.chunks(source)])
    assert torch.equal(flat, value.reshape(-1))
    if made.shape:
        for index in range(made.shape[0]):
            assert torch.equal(made.at(source, index), value[index])
    return value


@settings(deadline=None, max_examples=300)
@given(rows())
def test_back_is_the_inverse_of_there(row: tuple[Entry, dict[str, torch.Tensor]]) -> None:
    entry, tensors = row
    table = Expanded((entry,), ())
    source = _Loaded(tensors)
    there = plan.make(table, infos(tensors), "mf").outputs
    whole = {name: evaluated(made, source) for name, made in there.items()}
    back = plan.make(table, infos(whole), "hf").outputs
    again = {name: evaluated(made, _Loaded(whole)) for name, made in back.items()}
    assert again.keys() == tensors.keys()
    assert all(torch.equal(again[name], tensors[name]) for name in tensors)


def test_interleaved_heads_by_hand() -> None:
    q, k, v = (torch.arange(start, start + n).reshape(n, 1) for start, n in ((0, 4), (10, 2), (20, 2)))
    made = expr.Interleave(
        tuple(Read(name, tuple(t.shape), t.dtype) for name, t in (("q", q), ("k", k), ("v", v))), 0, 2
    )
    assert made.value(_Loaded({"q": q, "k": k, "v": v})).flatten().tolist() == [0, 1, 10, 20, 2, 3, 11, 21]


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda a: expr.Concat((a, Read("b", (3, 5), torch.float32)), 0), "put together"),
        (lambda a: expr.Concat((a, Read("b", (2, 4), torch.float16)), 0), "float16"),
        (lambda a: expr.Stack((a, Read("b", (4, 2), torch.float32))), "a stack of"),
        (lambda a: expr.Interleave((a, a), 0, 3), "3 groups"),
        (lambda a: expr.Deinterleave(a, 0, 1, (1, 2), 0), "does not hold"),
        (lambda a: expr.Pad(a, 0, 1), "cannot be padded to 1"),
        (lambda a: expr.Narrow(a, 1, 2, 3), "elements 2 to 5"),
        (lambda a: expr.Index(a, 2), "part 2"),
        (lambda a: expr.Transpose(a, 0, 2), "dimensions 0 and 2"),
    ],
)
def test_what_does_not_fit_is_told(make: object, told: str) -> None:
    with pytest.raises(expr.ShapeError, match=told):
        make(Read("a", (2, 4), torch.float32))  # type: ignore[operator]
