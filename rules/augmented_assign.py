"""`x += y` on a tensor makes a new tensor in MindSpore and changes the old one in torch: written out.

    h = x; h += 1
    h = x; h = h + 1

Where the type of `x` is unknown, `_backend.augmented` decides at run time; numbers, strings and lists of
known type are left alone. So is an item of a tensor (`x[0] += 1`), which changes the tensor in both; one of a
list or dict is a tensor of its own.

    sums[key] += y
    _backend.augmented.item(sums, key, "+=", y)
"""

from __future__ import annotations

import ast

import libcst as cst

from ms2torch import calls
from ms2torch.context import FileContext
from ms2torch.rule import Edit, rule
from ms2torch.rules._api import COMMA, index_of
from ms2torch.types import TENSORS

OPERATORS: dict[type[ast.operator], tuple[str, type[cst.BaseBinaryOp], str]] = {
    ast.Add: ("add", cst.Add, "+="),
    ast.Sub: ("sub", cst.Subtract, "-="),
    ast.Mult: ("mul", cst.Multiply, "*="),
    ast.MatMult: ("matmul", cst.MatrixMultiply, "@="),
    ast.Div: ("truediv", cst.Divide, "/="),
    ast.FloorDiv: ("floordiv", cst.FloorDivide, "//="),
    ast.Mod: ("mod", cst.Modulo, "%="),
    ast.Pow: ("pow", cst.Power, "**="),
    ast.BitAnd: ("and_", cst.BitAnd, "&="),
    ast.BitOr: ("or_", cst.BitOr, "|="),
    ast.BitXor: ("xor", cst.BitXor, "^="),
    ast.LShift: ("lshift", cst.LeftShift, "<<="),
    ast.RShift: ("rshift", cst.RightShift, ">>="),
}
# No tensor takes these.
WORDS = ("str", "list", "dict", "set", "tuple", "bytes")
# Right of these, another operator of the same strength would bind differently.
ATOMIC_RIGHT = (cst.BinaryOperation, cst.Comparison, cst.BooleanOperation, cst.UnaryOperation)


@rule("MS112", ast.AugAssign)
def look(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.AugAssign)
    target = node.target
    if not ctx.names_mindspore or ctx.settled(node):
        return None
    if isinstance(target, ast.Subscript):
        return _item(node, target, ctx)
    if isinstance(target, ast.Attribute) and not _is_plain(target):
        return None  # `f().x += 1`: writing it out would evaluate f twice
    found = ctx.type_of(target)
    other = ctx.type_of(node.value)
    if found is not None and found.foreign:
        # A number becomes a tensor by taking one in, with or without an alias.
        return None
    if found is None and other is not None and other.head in WORDS:
        return None
    known = found is not None and found.head in TENSORS
    if found is not None and not known:
        return None
    ctx.count(node, "site", "converted" if known else "adapted")
    name, operator, _ = OPERATORS[type(node.op)]

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(new, cst.AugAssign)
        place, value = new.target, new.value
        assert isinstance(place, cst.Name | cst.Attribute)
        if known:
            right = (
                calls.atom(value)
                if isinstance(value, ATOMIC_RIGHT) or not isinstance(value, calls.ATOMS)
                else value
            )
            made: cst.BaseExpression = cst.BinaryOperation(place, operator(), right)
        else:
            comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
            function = ctx.target(f"_backend.augmented.{name}")
            made = cst.Call(function, [cst.Arg(place, comma=comma), cst.Arg(calls.bare(value))])
        return cst.Assign([cst.AssignTarget(place)], made, semicolon=new.semicolon)

    return edit


def _item(node: ast.AugAssign, target: ast.Subscript, ctx: FileContext) -> Edit | None:
    """An item of something that may be a list or dict of tensors, or of a Parameter."""
    owner = ctx.type_of(target.value)
    holds = (
        "list",
        "dict",
        "Parameter",
        "foreign:collections.defaultdict",
        "foreign:collections.OrderedDict",
    )
    if owner is not None and owner.head not in holds:
        return None
    if any(isinstance(part, ast.Starred) for part in ast.walk(target.slice)):
        return None
    element = owner.element if owner is not None and owner.head == "list" else None
    other = ctx.type_of(node.value)
    if (element is not None and element.foreign) or (other is not None and other.head in WORDS):
        return None
    ctx.count(target, "site", "adapted")
    sign = OPERATORS[type(node.op)][2]

    def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(new, cst.AugAssign) and isinstance(new.target, cst.Subscript)
        values = [calls.bare(new.target.value), index_of(new.target), cst.SimpleString(f'"{sign}"')]
        args = [cst.Arg(value, comma=COMMA) for value in values]
        call = cst.Call(ctx.target("_backend.augmented.item"), [*args, cst.Arg(calls.bare(new.value))])
        return cst.Expr(call, semicolon=new.semicolon)

    return edit


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_plain(node.value))
