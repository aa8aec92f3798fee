"""`x += y` on a tensor makes a new tensor in MindSpore and changes the old one in torch: written out.

    h = x; h += 1
    h = x; h = h + 1

Where the type of `x` is unknown, `_backend.augmented` decides at run time; numbers, strings and lists of
known type are left alone, and so are subscripts (`x[0] += 1`), which change the tensor in both.
"""

from __future__ import annotations

import ast

import libcst as cst

from ms2torch import calls
from ms2torch.context import FileContext
from ms2torch.rule import Edit, rule
from ms2torch.rules._api import OPERATORS
from ms2torch.types import TENSORS

# Right of these, another operator of the same strength would bind differently.
ATOMIC_RIGHT = (cst.BinaryOperation, cst.Comparison, cst.BooleanOperation, cst.UnaryOperation)


@rule("MS112", ast.AugAssign)
def look(node: ast.AST, ctx: FileContext) -> Edit | None:
    assert isinstance(node, ast.AugAssign)
    target = node.target
    if isinstance(target, ast.Subscript) or not ctx.names_mindspore or ctx.settled(node):
        return None
    if isinstance(target, ast.Attribute) and not _is_plain(target):
        return None  # `f().x += 1`: writing it out would evaluate f twice
    found = ctx.type_of(target)
    other = ctx.type_of(node.value)
    if found is not None and found.foreign:
        # A number becomes a tensor by taking one in, with or without an alias.
        return None
    if found is None and other is not None and other.head in ("str", "list", "dict", "set", "tuple", "bytes"):
        return None  # no tensor takes these
    known = found is not None and found.head in TENSORS
    if found is not None and not known:
        return None
    ctx.count(node, "site", "converted" if known else "adapted")
    name, operator = OPERATORS[type(node.op)]

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


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_plain(node.value))
