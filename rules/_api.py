"""What the API rules share: from a reference to the expression that stands for it in the port."""

from __future__ import annotations

import ast
import re

import libcst as cst

from ms2torch import calls
from ms2torch.context import FileContext, Reference
from ms2torch.types import OWNERS, TENSORS
from ms2torch.uses import target_for

UNRESOLVED = "MS001"
UNKNOWN, TENSOR, OTHER = "unknown", "tensor", "other"
# A string that is the full name of a module or object of the framework.
NAME = re.compile(r"(mindspore|hyper_parallel)(\.[A-Za-z_]\w*)+")
# `Tensor.add` as a function: where torch keeps the method.
HOMES = {
    "mindspore.Tensor": "torch.Tensor",
    "mindspore.Parameter": "torch.Tensor",
    "mindspore.nn.Cell": "torch.nn.Module",
}

COMMA = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def spelled(ref: Reference, role: str) -> str | None:
    """Dotted target of a reference in a role, the part after the row included; None where there is none."""
    row = ref.row
    if row is None:
        return None
    target = target_for(row, role if not ref.rest else "value")
    if target is None and row.call and not ref.rest:
        return None
    if target is not None and target.startswith("."):
        owner = ref.name.rpartition(".")[0]
        target = HOMES[owner] + target if owner in HOMES else None
    if target is None:
        return None
    rest = ref.rest
    if row.returns in OWNERS and (rest == ".construct" or rest.startswith(".construct.")):
        rest = ".forward" + rest.removeprefix(".construct")
    return target + rest


def state_of(target: str) -> str:
    """ "adapted" for what goes through `_backend`, else "converted"."""
    return "adapted" if target.startswith("_backend") else "converted"


def reason(ref: Reference) -> str:
    """Why a reference has no counterpart."""
    if ref.row is not None and ref.row.unsupported:
        return ref.row.unsupported
    return "no row of the mapping tables says what it becomes"


def unresolved(ctx: FileContext, node: ast.AST, ref: Reference, why: str = "", kind: str = "chain") -> None:
    """Note that a reference stays without counterpart."""
    ctx.find(node, UNRESOLVED, "error", f"{ref.name}: {why or reason(ref)}", ref.name, "unresolved")
    ctx.count(node, kind, "unresolved")


def placeholder(ctx: FileContext, name: str) -> cst.BaseExpression:
    """The expression that raises, on use, an error which names what is missing."""
    owner, _, last = name.rpartition(".")
    ctx.need("_backend.unavailable")
    return cst.parse_expression(f'{ctx.root("_backend")}.unavailable("{owner}", "{last}")')


def by_name(ctx: FileContext, call: ast.AST | None, owner: ast.AST) -> str | None:
    """The literal name that `getattr` or `hasattr` looks up in a reference, else None."""
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and len(call.args) > 1):
        return None
    name = call.args[1]
    if call.func.id not in ("getattr", "hasattr") or call.args[0] is not owner or ctx.bindings(call.func):
        return None
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None


def patched(ctx: FileContext, call: ast.AST | None) -> tuple[ast.expr | None, str]:
    """The MindSpore module and the literal name in it that a call replaces (`setattr`, `patch.object` and the
    like); (None, "") for any other call."""
    nothing = None, ""
    if not (isinstance(call, ast.Call) and len(call.args) > 1):
        return nothing
    owner, name = call.args[:2]
    if ast.unparse(call.func).rpartition(".")[2] not in ("setattr", "delattr", "object"):
        return nothing
    if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
        return nothing
    ref = ctx.reference(owner)
    if ref is None or (ref.row is not None and not ref.row.module):
        return nothing  # a class takes its members along
    return owner, name.value


def in_pattern(ctx: FileContext, node: ast.AST) -> bool:
    """Whether a name stands in a match pattern, where Python allows nothing but a dotted name."""
    return isinstance(ctx.parents.get(node), ast.MatchClass | ast.MatchValue)


def with_parens(old: cst.BaseExpression, new: cst.BaseExpression) -> cst.BaseExpression:
    """The new expression inside the parentheses that the old one stood in."""
    if not old.lpar:
        return new
    return new.with_changes(lpar=[*old.lpar, *new.lpar], rpar=[*new.rpar, *old.rpar])


def kind_of(receiver: ast.expr, ctx: FileContext) -> str:
    """Whether a receiver is a tensor, certainly something else, or unknown."""
    if isinstance(receiver, ast.Name) and receiver.id in ("self", "cls"):
        owner = next(ctx.enclosing(receiver, ast.ClassDef), None)
        kind = ctx.kind_of_class(owner) if isinstance(owner, ast.ClassDef) else None
        return TENSOR if kind in TENSORS else OTHER
    if ctx.resolve(receiver) is not None:
        return OTHER
    found = ctx.type_of(receiver)
    if found is not None:
        return TENSOR if found.head in TENSORS else OTHER
    return UNKNOWN if ctx.names_mindspore else OTHER


def index_of(node: cst.Subscript) -> cst.BaseExpression:
    """A subscript as an argument: slices become calls of `slice`."""
    parts = [_slice_part(element.slice) for element in node.slice]
    trailing = isinstance(node.slice[-1].comma, cst.Comma)
    if len(parts) == 1 and not trailing:
        return calls.bare(parts[0])
    whole = cst.Tuple([cst.Element(p, comma=COMMA) for p in parts[:-1]] + [cst.Element(parts[-1])])
    return cst.Tuple([cst.Element(parts[0], comma=cst.Comma())]) if len(parts) == 1 else whole


def _slice_part(part: cst.BaseSlice) -> cst.BaseExpression:
    if isinstance(part, cst.Index):
        return part.value
    assert isinstance(part, cst.Slice)
    bounds = [part.lower, part.upper, part.step]
    args = [cst.Arg(b if b is not None else cst.Name("None"), comma=COMMA) for b in bounds[:2]]
    if bounds[2] is not None:
        args.append(cst.Arg(bounds[2]))
    else:
        args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return cst.Call(cst.Name("slice"), args)
