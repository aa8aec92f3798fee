"""Formulas of the weight tables: `num_attention_heads * head_dim`, `not tie_word_embeddings`.

Names, numbers, true/false/none, + - * //, comparisons, and/or/not, `a if b else c`: nothing else, and
nothing is called.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Mapping
from typing import Any

from ms2torch.errors import UserError

_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_WORDS = {"true": True, "false": False, "none": None, "null": None}
_HOLE = re.compile(r"\{([^{}]+)\}")


def evaluate(formula: Any, values: Mapping[str, Any]) -> Any:
    """The value of a formula, or a number given as such. UserError names an unknown name or a bad formula."""
    if not isinstance(formula, str):
        return formula
    try:
        return _value(ast.parse(formula.strip(), mode="eval").body, values)
    except KeyError as error:
        raise UserError(
            f"{formula!r} needs {error.args[0]}, which the configuration does not have"
        ) from error
    except (SyntaxError, TypeError, ZeroDivisionError, ValueError) as error:
        raise UserError(f"{formula!r} is no formula of the weight tables: {error}") from error


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str | None):
        return node.value
    if isinstance(node, ast.Name):
        low = node.id.lower()
        if low in _WORDS:
            return _WORDS[low]
        return values[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_value(node.left, values), _value(node.right, values))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not _value(node.operand, values)
    if isinstance(node, ast.IfExp):
        return _value(node.body if _value(node.test, values) else node.orelse, values)
    if isinstance(node, ast.BoolOp):
        result: Any = None
        for part in node.values:
            result = _value(part, values)
            if bool(result) is isinstance(node.op, ast.Or):
                break
        return result
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARE:
        return _COMPARE[type(node.ops[0])](_value(node.left, values), _value(node.comparators[0], values))
    raise ValueError(f"{type(node).__name__} has no place in it")


def fill(pattern: str, values: Mapping[str, Any]) -> str:
    """A name with each `{formula}` replaced by its value."""
    return _HOLE.sub(lambda found: str(evaluate(found[1], values)), pattern)


def as_regex(pattern: str) -> re.Pattern[str]:
    """What any name of the pattern matches: a number in each hole, `*` for anything."""
    parts = re.split(r"(\{[^{}]+\}|\*)", pattern)
    return re.compile(
        "".join(".*" if p == "*" else r"\d+" if p.startswith("{") else re.escape(p) for p in parts)
    )
