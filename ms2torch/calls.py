"""Calls: MindSpore's arguments bound to its signature, then written for torch. Pure functions on LibCST."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence

import libcst as cst

from ms2torch.tables import Parameter, Row, template_fields

Bound = dict[str, cst.Arg]
ATOMS = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.Integer,
    cst.Float,
    cst.SimpleString,
    cst.FormattedString,
    cst.List,
    cst.Dict,
    cst.Set,
    cst.ListComp,
    cst.DictComp,
    cst.SetComp,
    cst.Ellipsis,
)


def bind(args: Sequence[cst.Arg], parameters: Sequence[Parameter]) -> Bound | None:
    """Argument of each parameter that the call gives; None where it cannot be known or would be an error."""
    found: Bound = {}
    plain = [p.name for p in parameters if p.kind in ("positional", "either")]
    named = {p.name for p in parameters if p.kind in ("either", "keyword")}
    at = 0
    for arg in args:
        if arg.star:
            return None
        if arg.keyword is not None:
            name = arg.keyword.value
            if name not in named or name in found:
                return None
        else:
            if at >= len(plain):
                return None
            name = plain[at]
            at += 1
        found[name] = arg
    required = [
        p.name for p in parameters if p.default is None and p.kind in ("positional", "either", "keyword")
    ]
    return found if all(name in found for name in required) else None


def literal(node: cst.BaseExpression) -> object:
    """The value of a literal expression; raises ValueError for anything else."""
    return ast.literal_eval(cst.Module([]).code_for_node(node))


def is_one_of(arg: cst.Arg, values: Sequence[object]) -> bool:
    """Whether an argument is written as one of these literals."""
    try:
        value = literal(arg.value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return any(value == other and type(value) is type(other) for other in values)


def needs_adapter(bound: Bound, row: Row) -> bool:
    """Whether a call passes what only the row's adapter can honour."""
    if any(name in bound for name in row.adapt):
        return True
    return any(name in bound and not is_one_of(bound[name], values) for name, values in row.drop.items())


def has_comments(args: Sequence[cst.Arg]) -> bool:
    """Whether comments stand between the arguments, which a template or a dropped argument would lose."""
    code = cst.Module([]).code_for_node
    return any("#" in code(arg.with_changes(value=cst.Name("x"))) for arg in args)


def renamed(args: Sequence[cst.Arg], bound: Bound, row: Row) -> list[cst.Arg]:
    """The arguments with torch's names; those that the row drops are left out."""
    names = {id(arg): name for name, arg in bound.items()}
    kept: list[cst.Arg] = []
    by_name = False
    for arg in args:
        name = names[id(arg)]
        if name in row.drop:
            # What follows a dropped positional argument has lost its place.
            by_name = by_name or arg.keyword is None
            continue
        new = row.rename.get(name, name)
        if arg.keyword is not None:
            arg = arg.with_changes(keyword=cst.Name(new)) if new != arg.keyword.value else arg
        elif by_name:
            arg = keyword(new, arg)
        kept.append(arg)
    if kept and len(kept) != len(args):
        last = args[-1]
        if isinstance(last.comma, cst.MaybeSentinel) or kept[-1] is not last:
            kept[-1] = kept[-1].with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
    return kept


def keyword(name: str, arg: cst.Arg) -> cst.Arg:
    """A positional argument turned into a keyword one."""
    tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return arg.with_changes(keyword=cst.Name(name), equal=tight)


def in_order(template: str, bound: Bound, given: Sequence[cst.Arg]) -> bool:
    """Whether filling the template evaluates the arguments in the order in which they are written."""
    order = [bound[name] for name in template_fields(template) if name in bound]
    work = [arg for arg in order if not _is_simple(arg.value)]
    if len(work) < 2:
        return True
    places = {id(arg): i for i, arg in enumerate(given)}
    return [places[id(a)] for a in work] == sorted(places[id(a)] for a in work)


def _is_simple(node: cst.BaseExpression) -> bool:
    """Whether evaluating an expression can neither be seen nor fail differently elsewhere."""
    return isinstance(node, cst.Name | cst.Integer | cst.Float | cst.SimpleString) or (
        isinstance(node, cst.Attribute) and _is_simple(node.value)
    )


def fill(template: str, values: dict[str, cst.BaseExpression]) -> cst.BaseExpression:
    """The template's expression with the placeholders replaced, parenthesised where they must be."""
    names = {f"__{name}__": value for name, value in values.items()}
    tree = _parsed(template).deep_clone()
    made = tree.visit(_Fill(names))
    assert isinstance(made, cst.BaseExpression)
    return made


@functools.cache
def _parsed(template: str) -> cst.BaseExpression:
    fields = template_fields(template)
    return cst.parse_expression(template.format_map({name: f"__{name}__" for name in fields}))


class _Fill(cst.CSTTransformer):
    def __init__(self, values: dict[str, cst.BaseExpression]) -> None:
        super().__init__()
        self.values = values

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        value = self.values.get(original_node.value)
        return updated_node if value is None else atom(value)

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        value = updated_node.value
        if isinstance(value, cst.Integer) and not value.lpar:  # `1.x` is no attribute
            value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
            return updated_node.with_changes(value=value)
        return updated_node

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        # A whole argument needs no parentheses of ours.
        if isinstance(original_node.value, cst.Name) and original_node.value.value in self.values:
            return updated_node.with_changes(value=bare(self.values[original_node.value.value]))
        return updated_node


def atom(node: cst.BaseExpression) -> cst.BaseExpression:
    """An expression that may stand as an operand: parenthesised unless it is one already."""
    if isinstance(node, ATOMS) or node.lpar:
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """An expression for an argument's place: only what needs parentheses there gets them."""
    if isinstance(node, cst.NamedExpr | cst.Yield | cst.GeneratorExp) and not node.lpar:
        return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return node


def values_of(
    template: str, bound: Bound, parameters: Sequence[Parameter]
) -> dict[str, cst.BaseExpression] | None:
    """Expression for each placeholder, defaults included; None where one has neither argument nor default."""
    made: dict[str, cst.BaseExpression] = {}
    defaults = {p.name: p.default for p in parameters}
    for name in template_fields(template):
        if name in bound:
            made[name] = bound[name].value
        elif defaults.get(name) is not None:
            made[name] = cst.parse_expression(str(defaults[name]))
        elif name != "self":
            return None
    return made
