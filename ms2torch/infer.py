"""Receiver types: what an expression certainly is, or None. Unknown stays unknown; nothing is guessed.

Reads annotations, constructors, the tables' `returns`, assignments to `self.x` in a class and its bases,
loop variables over known iterables, and `isinstance` tests that guard a branch.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ms2torch.binding import foreign_method, hands_on, is_ellipsis, is_self, rebinds, unpack
from ms2torch.index import ClassInfo, Index, ModuleInfo
from ms2torch.kinds import class_kind, foreign_kind
from ms2torch.scopes import Binding, Scope
from ms2torch.tables import PACKAGES, Row, Tables
from ms2torch.types import BUILTINS, OWNERS, TENSOR, TENSORS, Type, join, parse

if TYPE_CHECKING:
    Resolve = Callable[[ast.AST], str | None]

STEP_LIMIT = 40


class Inference:
    """Types of one file's expressions, worked out on demand."""

    def __init__(
        self,
        tables: Tables,
        index: Index,
        module: str,
        scopes: Mapping[ast.AST, Scope],
        scope_of: Callable[[ast.AST], Scope],
        parents: Mapping[ast.AST, ast.AST],
        resolve: Callable[[ast.AST], str | None],
        strings: Mapping[ast.AST, ast.expr],
    ) -> None:
        self.tables = tables
        self.index = index
        self.module = module
        self.scopes = scopes
        self.scope_of = scope_of
        self.parents = parents
        self.resolve = resolve
        self.strings = strings
        self._known: dict[ast.AST, Type | None] = {}
        self._attributes: dict[str, dict[str, list[ast.expr | Type]]] = {}
        self._depth = 0

    def type_of(self, node: ast.expr) -> Type | None:
        """The type of an expression, or None."""
        if node in self._known:
            return self._known[node]
        if self._depth > STEP_LIMIT:
            return None
        self._known[node] = None  # a cycle knows nothing
        self._depth += 1
        method = getattr(self, "type_" + type(node).__name__, None)
        found: Type | None = method(node) if method is not None else None
        self._depth -= 1
        self._known[node] = found
        return found

    def type_Constant(self, node: ast.Constant) -> Type | None:
        return Type(type(node.value).__name__ if node.value is not None else "None")

    def type_JoinedStr(self, node: ast.JoinedStr) -> Type | None:
        return Type("str")

    def type_List(self, node: ast.List) -> Type | None:
        return Type("list", self._elements(node.elts))

    def type_Tuple(self, node: ast.Tuple) -> Type | None:
        kinds = [self.type_of(e) for e in node.elts]
        return Type("tuple", tuple(k for k in kinds if k) if all(kinds) else ())

    def type_Dict(self, node: ast.Dict) -> Type | None:
        return Type("dict")

    def type_DictComp(self, node: ast.DictComp) -> Type | None:
        return Type("dict")

    def type_Set(self, node: ast.Set) -> Type | None:
        return Type("set")

    def type_ListComp(self, node: ast.ListComp) -> Type | None:
        element = self.type_of(node.elt)
        return Type("list", (element,) if element else ())

    def _elements(self, nodes: list[ast.expr]) -> tuple[Type, ...]:
        found = join([self.type_of(n) for n in nodes]) if nodes else None
        return (found,) if found else ()

    def type_IfExp(self, node: ast.IfExp) -> Type | None:
        return join([self.type_of(node.body), self.type_of(node.orelse)])

    def type_BoolOp(self, node: ast.BoolOp) -> Type | None:
        return join([self.type_of(v) for v in node.values])

    def type_BinOp(self, node: ast.BinOp) -> Type | None:
        left, right = self.type_of(node.left), self.type_of(node.right)
        for side in (left, right):
            if side is not None and side.head in TENSORS:
                return TENSOR
        if left is not None and left == right and left.head in BUILTINS:
            return left
        return None

    def type_UnaryOp(self, node: ast.UnaryOp) -> Type | None:
        inner = self.type_of(node.operand)
        return TENSOR if inner is not None and inner.head in TENSORS else inner

    def type_Compare(self, node: ast.Compare) -> Type | None:
        inner = self.type_of(node.left)
        return TENSOR if inner is not None and inner.head in TENSORS else None

    def type_NamedExpr(self, node: ast.NamedExpr) -> Type | None:
        return self.type_of(node.value)

    def type_Await(self, node: ast.Await) -> Type | None:
        return None

    def type_Subscript(self, node: ast.Subscript) -> Type | None:
        inner = self.type_of(node.value)
        if inner is None:
            return None
        if inner.head in TENSORS:
            return TENSOR
        if inner.head == "str":
            return inner
        if (
            inner.head == "tuple"
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, int)
        ):
            return (
                inner.args[node.slice.value]
                if -len(inner.args) <= node.slice.value < len(inner.args)
                else None
            )
        return None if isinstance(node.slice, ast.Slice) else inner.element

    def type_Name(self, node: ast.Name) -> Type | None:
        narrowed = self._narrowed(node)
        if narrowed is not None:
            return narrowed
        found = self.scope_of(node).lookup(node.id)
        if found is None:
            return None
        scope, bindings = found
        return join([self._binding(node.id, scope, binding) for binding in bindings])

    def _binding(self, name: str, scope: Scope, binding: Binding) -> Type | None:
        if binding.kind == "parameter":
            return self._parameter(scope, binding)
        if binding.kind == "annotated" and binding.value is not None:
            return self.annotation(binding.value)
        if binding.kind == "import":
            return self._import(binding)
        if binding.value is None:
            return None
        if binding.kind == "augmented":
            # `x += y` keeps a tensor a tensor; other bindings of the name decide what it is.
            return Type("None")
        whole = self.type_of(binding.value)
        if binding.kind == "with":
            return whole
        if binding.kind == "for":
            whole = whole.element if whole is not None else None
        return unpack(name, binding.node, whole, binding.value, self.type_of)

    def _import(self, binding: Binding) -> Type | None:
        top = binding.target.partition(".")[0]
        if top in PACKAGES or self.index.split(binding.target) is not None:
            return None
        return Type(f"foreign:{binding.target}")

    def _parameter(self, scope: Scope, binding: Binding) -> Type | None:
        arg, function = binding.node, scope.node
        assert isinstance(arg, ast.arg)
        if arg.annotation is not None:
            return self.annotation(arg.annotation)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            owner = self.parents.get(function)
            first = (function.args.posonlyargs + function.args.args)[:1]
            static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)
            if isinstance(owner, ast.ClassDef) and first == [arg] and not static:
                return Type(f"class:{self.class_name(owner)}")
            if arg is function.args.vararg:
                return Type("tuple")
            if arg is function.args.kwarg:
                return Type("dict")
        return None

    def class_name(self, node: ast.ClassDef) -> str:
        """Dotted name of a class of this file, nested ones through their owners."""
        parts = [node.name]
        outer = self.parents.get(node)
        while outer is not None:
            if isinstance(outer, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                parts.append(outer.name)
            outer = self.parents.get(outer)
        return ".".join([self.module, *reversed(parts)])

    def annotation(self, node: ast.expr) -> Type | None:
        """The type that an annotation promises; None for unions of different things."""
        if node in self.strings:
            return self.annotation(self.strings[node])
        if isinstance(node, ast.BinOp):
            return join([self.annotation(node.left), self.annotation(node.right)])
        if isinstance(node, ast.Constant) and node.value is None:
            return Type("None")
        if isinstance(node, ast.Subscript):
            head = (self.resolve(node.value) or ast.unparse(node.value)).rpartition(".")[2].lower()
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if head == "optional":
                return self.annotation(inner[0])
            if head == "union":
                return join([self.annotation(e) for e in inner])
            if head in ("list", "sequence", "iterable", "iterator", "tuple", "set"):
                kinds = [self.annotation(e) for e in inner if not is_ellipsis(e)]
                whole = head if head in ("list", "tuple", "set") else "iter"
                return Type(whole, tuple(k for k in kinds if k) if all(kinds) else ())
            return Type("dict") if head in ("dict", "mapping") else None
        name = self.resolve(node)
        if name is None:
            return Type(node.id) if isinstance(node, ast.Name) and node.id in BUILTINS else None
        return self.instance(name)

    def instance(self, name: str) -> Type | None:
        """The type of an instance of a class by its resolved dotted name."""
        if name.partition(".")[0] in PACKAGES:
            full = self.tables.canonical(name)
            row = self.tables.rows.get(full)
            kind = foreign_kind(full, self.tables)
            if kind is not None:
                return Type(kind)
            if row is not None and row.returns:
                return parse(row.returns)
            return Type(full) if full.rpartition(".")[2][:1].isupper() else None
        if self.index.find_class(name) is not None:
            return Type(f"class:{name}")
        if self.index.split(name) is None and name.rpartition(".")[2] in BUILTINS:
            return Type(name.rpartition(".")[2])
        return None if self.index.split(name) else Type(f"foreign:{name}")

    def _narrowed(self, node: ast.Name) -> Type | None:
        """The type that an enclosing `if isinstance(x, T):` gives the name, if nothing rebinds it inside."""
        child: ast.AST = node
        outer = self.parents.get(node)
        while outer is not None and not isinstance(
            outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        ):
            branch = None
            if (isinstance(outer, ast.If) and child in outer.body) or (
                isinstance(outer, ast.IfExp) and child is outer.body
            ):
                branch = outer.test
            elif (
                isinstance(outer, ast.BoolOp)
                and isinstance(outer.op, ast.And)
                and child is not outer.values[0]
            ):
                branch = outer.values[0]
            if branch is not None:
                found = self._tested(branch, node.id)
                if found is not None and not rebinds(outer, node.id):
                    return found
            child, outer = outer, self.parents.get(outer)
        return None

    def _tested(self, test: ast.expr, name: str) -> Type | None:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return next((t for v in test.values if (t := self._tested(v, name))), None)
        if not (
            isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance"
        ):
            return None
        if len(test.args) != 2 or not (isinstance(test.args[0], ast.Name) and test.args[0].id == name):
            return None
        kinds = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
        return join([self.annotation(kind) for kind in kinds])

    def type_Attribute(self, node: ast.Attribute) -> Type | None:
        name = self.resolve(node)
        if name is not None and name.partition(".")[0] in PACKAGES:
            row = self.tables.rows.get(self.tables.canonical(name))
            return parse(row.returns) if row is not None and row.attr and row.returns else None
        if name is not None and self.index.split(name) is None:
            return None if hands_on(name) else Type(f"foreign:{name}")
        owner = self.type_of(node.value)
        if owner is None:
            return None
        if owner.head.startswith("class:"):
            return self._attribute(owner.head[6:], node.attr)
        row = self.member(owner, node.attr)
        return parse(row.returns) if row is not None and row.attr and row.returns else None

    def member(self, owner: Type, name: str) -> Row | None:
        """The row of a method or attribute of a receiver."""
        head = owner.head
        if head.startswith("class:"):
            head = class_kind(head[6:], self.index, self.tables) or ""
        for full in OWNERS.get(head, (head,)):
            row = self.tables.method(full, name)
            if row is not None:
                return row
        return None

    def _attribute(self, full: str, name: str) -> Type | None:
        """What `self.name` holds, by the assignments in the class and its project bases."""
        info = self.index.find_class(full)
        if info is None:
            return None
        chain = [info, *(base for b in self.index.ancestors(info) if (base := self.index.find_class(b)))]
        for one in chain:
            if one.module != self.module:
                continue
            found = self._assigned(one).get(name)
            if found:
                return join([f if isinstance(f, Type) else self.type_of(f) for f in found])
        return None

    def _assigned(self, info: ClassInfo) -> dict[str, list[ast.expr | Type]]:
        if info.full in self._attributes:
            return self._attributes[info.full]
        found: dict[str, list[ast.expr | Type]] = {}
        self._attributes[info.full] = found
        node = next((n for n in self.scopes if isinstance(n, ast.ClassDef) and n.name == info.name), None)
        for part in ast.walk(node) if node is not None else ():
            if isinstance(part, ast.Assign):
                for target in part.targets:
                    if is_self(target):
                        assert isinstance(target, ast.Attribute)
                        found.setdefault(target.attr, []).append(part.value)
            elif isinstance(part, ast.AnnAssign) and is_self(part.target):
                assert isinstance(part.target, ast.Attribute)
                kind = self.annotation(part.annotation)
                if kind is not None:
                    found.setdefault(part.target.attr, []).append(kind)
        return found

    def type_Call(self, node: ast.Call) -> Type | None:
        name = self.resolve(node.func)
        if name is not None:
            if name.partition(".")[0] in PACKAGES:
                row = self.tables.rows.get(self.tables.canonical(name))
                if row is not None and row.returns:
                    return parse(row.returns)
                return self.instance(name) if name.rpartition(".")[2][:1].isupper() else None
            if self.index.find_class(name) is not None:
                return Type(f"class:{name}")
            place = self.index.split(name)
            if place is None:
                return None if hands_on(name) else Type(f"foreign:{name}")
            return self._result(node, *place)
        if isinstance(node.func, ast.Name) and node.func.id in BUILTINS:
            return Type(node.func.id)
        if isinstance(node.func, ast.Name):
            return self._builtin(node.func.id, node.args)
        if isinstance(node.func, ast.Attribute):
            return self._method(node.func)
        return None

    def _result(self, node: ast.Call, home: ModuleInfo, name: str) -> Type | None:
        """What a project function returns by its annotation."""
        if home.name == self.module:
            for binding in self.scope_of(node).module().names.get(name, ()):
                made = binding.node
                if isinstance(made, ast.FunctionDef) and made.returns is not None:
                    return self.annotation(made.returns)
            return None
        returns = home.functions.get(name)
        found = self.index.resolve(self.index.absolute(home, returns)) if returns else ""
        return self.instance(found) if found and found not in (f"{home.name}.{returns}",) else None

    def _builtin(self, name: str, args: list[ast.expr]) -> Type | None:
        if self.scope_of(args[0]).lookup(name) is not None if args else True:
            return None
        whole = self.type_of(args[0])
        element = whole.element if whole is not None else None
        if name in ("sorted", "list", "reversed", "filter") and element is not None:
            return Type("list", (element,))
        if name == "enumerate" and element is not None:
            return Type("iter", (Type("tuple", (Type("int"), element)),))
        if name == "len":
            return Type("int")
        if name == "zip":
            kinds = [t.element if (t := self.type_of(a)) is not None else None for a in args]
            return Type("iter", (Type("tuple", tuple(k for k in kinds if k)),)) if all(kinds) else None
        return None

    def _method(self, func: ast.Attribute) -> Type | None:
        owner = self.type_of(func.value)
        if owner is None:
            row = self.tables.unique.get(func.attr)
            return parse(row.returns) if row is not None and row.returns else None
        if owner.foreign:
            return foreign_method(owner, func.attr)
        row = self.member(owner, func.attr)
        if row is None or not row.returns:
            return None
        return owner if row.returns == "self" else parse(row.returns)
