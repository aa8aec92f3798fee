"""Binding and writing calls."""

import libcst as cst
import pytest

from ms2torch import calls, tables
from ms2torch.tables import Row, parse_signature


def args_of(text: str) -> list[cst.Arg]:
    call = cst.parse_expression(f"f({text})")
    assert isinstance(call, cst.Call)
    return list(call.args)


def text_of(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)


BOUND = {
    ("x, y", "(a, b)"): {"a": "x", "b": "y"},
    ("x, b=y", "(a, b, c=1)"): {"a": "x", "b": "y"},
    ("b=y, a=x", "(a, b)"): {"a": "x", "b": "y"},
    ("x", "(a, *, b=1)"): {"a": "x"},
    ("x, y", "(a, *, b=1)"): None,
    ("x, a=y", "(a, b=1)"): None,
    ("x, z=1", "(a, b=1)"): None,
    ("", "(a)"): None,
    ("*x", "(a)"): None,
    ("**x", "(a=1)"): None,
    ("a=x", "(a, /)"): None,
    ("", "(*, a)"): None,
    ("x, y", "(*a)"): None,
    ("", "()"): {},
}


@pytest.mark.parametrize("given, signature", BOUND)
def test_bind(given: str, signature: str) -> None:
    found = calls.bind(args_of(given), parse_signature(signature))
    expected = BOUND[given, signature]
    assert (found if found is None else {k: text_of(v.value) for k, v in found.items()}) == expected


def row(**fields: object) -> Row:
    return Row(**({"to": "x", "evidence": "docs"} | fields))  # type: ignore[arg-type]


RENAMED = [
    ("x, axis=1", {"rename": {"axis": "dim"}}, "x, dim=1"),
    ("x, 1", {"rename": {"axis": "dim"}}, "x, 1"),
    ("x, 1, True", {"drop": {"axis": [1]}}, "x, keep=True"),
    ("x, 1, True", {"drop": {"axis": [1]}, "rename": {"keep": "k"}}, "x, k=True"),
    ("x, axis=1, keep=True", {"drop": {"axis": [1]}}, "x, keep=True"),
    ("x, True and 1, True,", {"drop": {"axis": [1]}}, "x, keep=True,"),
    ("axis=1, x=x", {"drop": {"axis": [1]}}, "x=x"),
    ("1, axis=2", {"drop": {"axis": [2]}}, "1"),
]


@pytest.mark.parametrize("given, fields, expected", RENAMED)
def test_renamed(given: str, fields: dict[str, object], expected: str) -> None:
    args = args_of(given)
    bound = calls.bind(args, parse_signature("(x, axis=0, keep=False)"))
    assert bound is not None
    made = cst.Call(cst.Name("g"), calls.renamed(args, bound, row(**fields)))
    assert text_of(made) == f"g({expected})"


def test_needs_adapter() -> None:
    def needs(given: str, **fields: object) -> bool:
        bound = calls.bind(args_of(given), parse_signature("(x, axis=0, keep=False)"))
        assert bound is not None
        return calls.needs_adapter(bound, row(**fields))

    assert needs("x, 1", adapt=["axis"]) and not needs("x", adapt=["axis"])
    assert needs("x, 1", drop={"axis": [0]}) and not needs("x, 0", drop={"axis": [0, None]})
    assert not needs("x, None", drop={"axis": [0, None]})
    assert needs("x, False", drop={"axis": [0]}), "False is not the number 0"
    assert needs("x, a", drop={"axis": [0]}) and not needs("x, -1", drop={"axis": [-1]})


FILLED = [
    ("{a}.to({b})", {"a": "x + y", "b": "x + y"}, "(x + y).to(x + y)"),
    ("{a}.to({b})", {"a": "x", "b": "(yield)"}, "x.to((yield))"),
    ("{a}.to({b})", {"a": "x", "b": "(i for i in y)"}, "x.to((i for i in y))"),
    ("{a}.to({b})", {"a": "-x", "b": "n := 1"}, "(-x).to((n := 1))"),
    ("f(*{a})", {"a": "x or y"}, "f(*x or y)"),
    ("{a} ** {b}", {"a": "-x", "b": "x if y else z"}, "(-x) ** (x if y else z)"),
    ("{a}[{b}]", {"a": "lambda: 1", "b": "1"}, "(lambda: 1)[1]"),
    ("{a}.x", {"a": "1"}, "(1).x"),
    ("{a}.x", {"a": "await y"}, "(await y).x"),
    ("{a}.x", {"a": "'a' 'b'"}, "('a' 'b').x"),
    ("{a}.x", {"a": "f'{y}'"}, "f'{y}'.x"),
]


@pytest.mark.parametrize("template, values, expected", FILLED)
def test_fill_parenthesises(template: str, values: dict[str, str], expected: str) -> None:
    given = {
        name: args_of(text)[0].value if ":=" in text else cst.parse_expression(text)
        for name, text in values.items()
    }
    assert text_of(calls.fill(template, given)) == expected


def test_defaults_fill_what_a_call_leaves_out() -> None:
    parameters = parse_signature("(a, b=2, *, c)")
    bound = {"a": args_of("x")[0]}
    found = calls.values_of("{self}.f({a}, {b})", bound, parameters)
    assert found is not None and {k: text_of(v) for k, v in found.items()} == {"a": "x", "b": "2"}
    assert calls.values_of("f({c})", bound, parameters) is None


def test_order_of_evaluation() -> None:
    def keeps(template: str, given: str) -> bool:
        args = args_of(given)
        bound = calls.bind(args, parse_signature("(a, b, c=1)"))
        assert bound is not None
        return calls.in_order(template, bound, args)

    assert keeps("{a}.to({b})", "f(), g()") and not keeps("{a}.to({b})", "b=g(), a=f()")
    assert not keeps("{b}.to({a})", "f(), g()") and keeps("{b}.to({a})", "f(), x.y")


def test_comments() -> None:
    assert calls.has_comments(args_of("\n x,  # why\n y")) and not calls.has_comments(args_of("'#', x"))


def test_real_templates_are_expressions() -> None:
    for one in tables.load().rows.values():
        if one.call:
            values = {name: cst.Name("x") for name in tables.template_fields(one.call)}
            assert isinstance(calls.fill(one.call, values), cst.BaseExpression)
