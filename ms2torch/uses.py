"""How each imported MindSpore name of a file is used, and whether it may keep its local name in the port.

`from mindspore import Tensor` with uses that all become `torch.Tensor` turns into `from torch import Tensor`
and leaves the uses alone; a module alias (`mint`, `ops`) never stays, since its uses name torch themselves.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field

from ms2torch.context import FileContext
from ms2torch.scopes import Binding
from ms2torch.tables import PACKAGES, Row


@dataclass(slots=True)
class Use:
    """A MindSpore name that an import statement binds, and the chains that start with it."""

    binding: Binding
    local: str
    chains: list[ast.expr] = field(default_factory=list)
    guarded: bool = False  # also used by code that needs MindSpore itself
    kept: str | None = None  # target that the local name is imported from in the port
    missing: bool = False  # bound to a placeholder in the port
    exported: bool = False

    @property
    def bound(self) -> bool:
        """Whether the port still binds the local name."""
        return self.kept is not None or self.missing or self.guarded


def target_for(row: Row, role: str) -> str | None:
    """What a plain name of this row becomes in a role."""
    if row.unsupported:
        return None
    if role == "type":
        return row.as_type
    if role == "class":
        return row.type or row.as_value
    if role == "base":
        return row.as_base
    if role == "call":
        return row.to or row.value
    return row.as_value


class Uses:
    """The uses of every MindSpore import of one file."""

    def __init__(self, context: FileContext, imported_elsewhere: frozenset[str]) -> None:
        self.context = context
        self.by_key: dict[tuple[int, str], Use] = {}
        self._of_chain: dict[ast.expr, Use] = {}
        self._collect()
        for use in self.by_key.values():
            use.exported = self._exported(use, imported_elsewhere)
            use.kept = self._kept(use)
            use.missing = use.kept is None and self._missing(use)

    def _collect(self) -> None:
        context = self.context
        for scope in context.scopes.values():
            for name, bindings in scope.names.items():
                for binding in bindings:
                    if binding.kind == "import" and self._leads_out(binding):
                        self.by_key[(id(binding.node), name)] = Use(binding, name)
        written = (part for text in context.strings.values() for part in ast.walk(text))
        for node in (*context.nodes, *written):
            if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
                continue
            for binding in context.bindings(node):
                use = self.by_key.get((id(binding.node), node.id)) if binding.kind == "import" else None
                if use is not None:
                    chain = self._longest(node)
                    settled = context.settled(chain)
                    if settled is None:
                        use.chains.append(chain)
                    elif settled == "guarded":
                        use.guarded = True
                    self._of_chain[chain] = use

    def _leads_out(self, binding: Binding) -> bool:
        return binding.target.partition(".")[0] in PACKAGES

    def _longest(self, node: ast.expr) -> ast.expr:
        parent = self.context.parents.get(node)
        while isinstance(parent, ast.Attribute) and parent.value is node:
            node, parent = parent, self.context.parents.get(parent)
        return node

    def _exported(self, use: Use, imported_elsewhere: frozenset[str]) -> bool:
        context = self.context
        if use.local in imported_elsewhere:
            return True
        info = context.index.modules.get(context.module)
        return info is not None and info.exports is not None and use.local in info.exports

    def _kept(self, use: Use) -> str | None:
        found = self.context.tables.find(use.binding.target)
        if found is None or found[1]:
            return None
        row = found[0]
        if use.exported and row.module and row.as_value:
            return row.as_value  # other files take the module itself from this one
        if not isinstance(use.binding.node, ast.ImportFrom):
            return None
        targets: Counter[str] = Counter()
        for chain in use.chains:
            if not isinstance(chain, ast.Name):
                continue  # `Tensor.from_numpy`: the chain has a meaning of its own
            role = self.context.role(chain)
            target = target_for(row, role)
            if target is not None and not (role == "call" and row.call):
                targets[target] += 1
        if use.exported and row.as_value:
            targets[row.as_type or row.as_value] += 1
        if not targets:
            return None
        best = max(targets, key=lambda t: (targets[t], t))
        # A module-like local name (`dtype as mstype`) says nothing when it is kept.
        return best if "." in best and not row.module else None

    def _missing(self, use: Use) -> bool:
        """Whether code is left that reads the local name although nothing says what it becomes."""
        found = self.context.tables.find(use.binding.target)
        if any(isinstance(c, ast.Attribute) and self._is_left(c) for c in use.chains):
            return True
        resolvable = found is not None and not found[0].unsupported
        return not resolvable and (use.exported or any(isinstance(c, ast.Name) for c in use.chains))

    def _is_left(self, chain: ast.Attribute) -> bool:
        """Whether an assignment to `ms.some.name` stays as it is, having no counterpart to be made to."""
        ref = self.context.reference(chain)
        if ref is None or isinstance(chain.ctx, ast.Load):
            return False
        return isinstance(chain.ctx, ast.Del) or ref.row is None or target_for(ref.row, "store") is None

    def of(self, chain: ast.expr) -> Use | None:
        """The use that a longest chain belongs to."""
        return self._of_chain.get(chain)
