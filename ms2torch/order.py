"""Joins an `ast` tree with the LibCST tree of the same text, node by node, without positions.

Analysis runs on `ast` (fast, with lines and columns), edits on LibCST (keeps every byte). LibCST's position
metadata costs several parses; instead both trees are walked in the same pre-order over the node kinds that
rules care about: statements, names, attributes, calls, subscripts and string literals. `flatten` gives that sequence
for `ast` in the order in which LibCST visits its nodes, each entry with the end of its subtree, so that a
subtree without work is skipped on both sides. The rewriter checks each pair by kind and name, so a
difference between the two walks is an error and never a wrong edit.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

TRACKED = (ast.stmt, ast.Name, ast.Attribute, ast.Call, ast.Subscript)


@dataclass(slots=True)
class Order:
    """Tracked nodes in LibCST's visiting order; `ends[i]` is the index after the subtree of `nodes[i]`."""

    nodes: list[ast.AST] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)


def flatten(tree: ast.Module) -> Order:
    """The sequence for a module."""
    order = Order()
    _walk(tree, order)
    return order


def tracked(node: ast.AST) -> bool:
    """Whether a node has a partner in the sequence."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, TRACKED)


def _walk(node: ast.AST, order: Order) -> None:
    at = -1
    if tracked(node):
        at = len(order.nodes)
        order.nodes.append(node)
        order.ends.append(0)
    for child in children(node):
        order.parents[child] = node
        _walk(child, order)
    if at >= 0:
        order.ends[at] = len(order.nodes)


def children(node: ast.AST) -> Iterable[ast.AST]:
    """Child nodes in the order in which LibCST visits them."""
    method = _ORDERS.get(type(node))
    return method(node) if method is not None else ast.iter_child_nodes(node)


def _some(*nodes: ast.AST | None) -> Iterator[ast.AST]:
    return (node for node in nodes if node is not None)


def _function(node: ast.AST) -> Iterator[ast.AST]:
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    yield from node.decorator_list
    yield from getattr(node, "type_params", ())
    yield node.args
    yield from _some(node.returns)
    yield from node.body


def _class(node: ast.AST) -> Iterator[ast.AST]:
    assert isinstance(node, ast.ClassDef)
    yield from node.decorator_list
    yield from getattr(node, "type_params", ())
    yield from node.bases
    yield from node.keywords
    yield from node.body


def _arguments(node: ast.AST) -> Iterator[ast.AST]:
    assert isinstance(node, ast.arguments)
    plain = node.posonlyargs + node.args
    bare = len(plain) - len(node.defaults)
    for i, arg in enumerate(plain):
        yield arg
        if i >= bare:
            yield node.defaults[i - bare]
    yield from _some(node.vararg)
    for arg, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        yield from _some(arg, default)
    yield from _some(node.kwarg)


def _call(node: ast.AST) -> Iterator[ast.AST]:
    assert isinstance(node, ast.Call)
    yield node.func
    given: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    if node.keywords and node.args:
        given.sort(key=lambda part: (part.lineno, part.col_offset))
    yield from given


def _if_expression(node: ast.AST) -> Iterator[ast.AST]:
    assert isinstance(node, ast.IfExp)
    return iter((node.body, node.test, node.orelse))


def _dict(node: ast.AST) -> Iterator[ast.AST]:
    assert isinstance(node, ast.Dict)
    for key, value in zip(node.keys, node.values, strict=True):
        yield from _some(key, value)


def _mapping(node: ast.AST) -> Iterator[ast.AST]:
    assert isinstance(node, ast.MatchMapping)
    for key, pattern in zip(node.keys, node.patterns, strict=True):
        yield from (key, pattern)


def _joined(node: ast.AST) -> Iterator[ast.AST]:
    assert isinstance(node, ast.JoinedStr)
    # The literal parts of an f-string are no nodes of their own in LibCST.
    return (value for value in node.values if not isinstance(value, ast.Constant))


def _nothing(node: ast.AST) -> Iterator[ast.AST]:
    return iter(())


_ORDERS = {
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.arguments: _arguments,
    ast.Call: _call,
    ast.IfExp: _if_expression,
    ast.Dict: _dict,
    ast.MatchMapping: _mapping,
    ast.JoinedStr: _joined,
    ast.Import: _nothing,
    ast.ImportFrom: _nothing,
}
