"""What an assignment gives to each of its names, and other questions to a few nodes alone. Pure."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable

from ms2torch.types import Type

# Functions of these standard modules return what they were given, or what a call they were given returns.
_HAND_ON = frozenset(
    {
        "concurrent", "contextlib", "contextvars", "copy", "functools", "heapq", "itertools",
        "multiprocessing", "operator", "pickle", "queue", "random", "typing", "weakref",
    }
)  # fmt: skip
# Libraries that make their own values; what any other one returns (a helper beside the file, say) is unknown.
_OWN_VALUES = frozenset(
    {
        "numpy", "torch", "transformers", "safetensors", "tokenizers", "sentencepiece", "tiktoken",
        "datasets", "PIL", "cv2", "matplotlib", "pandas", "scipy", "sklearn", "nltk", "jieba",
        "rouge", "rouge_chinese", "yaml", "tqdm", "regex", "requests", "httpx", "jinja2",
        "pydantic", "fastapi", "starlette", "uvicorn", "setproctitle", "mindspore_gs",
        "mindspore_lite",
    }
)  # fmt: skip


def hands_on(name: str) -> bool:
    """Whether a function of another library may return a tensor or module that came from this code."""
    top, _, rest = name.partition(".")
    if top in sys.stdlib_module_names:
        return top in _HAND_ON or (top == "collections" and rest in ("deque", "namedtuple"))
    return top not in _OWN_VALUES


def foreign_method(owner: Type, name: str) -> Type | None:
    if owner.head == "str":
        return Type("list", (Type("str"),)) if name in ("split", "splitlines", "rsplit") else Type("str")
    return Type(f"{owner.head}.{name}") if owner.head.startswith("foreign:") else None


def unpack(
    name: str,
    target: ast.AST,
    whole: Type | None,
    value: ast.expr,
    type_of: Callable[[ast.expr], Type | None],
) -> Type | None:
    """The type of one name of a target that may be a tuple of names."""
    if isinstance(target, ast.Name):
        return whole
    if not isinstance(target, ast.Tuple | ast.List):
        return None
    for i, element in enumerate(target.elts):
        names = {n.id for n in ast.walk(element) if isinstance(n, ast.Name)}
        if name not in names:
            continue
        part = None
        if whole is not None and whole.head == "tuple" and len(whole.args) == len(target.elts):
            part = whole.args[i]
        elif isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            part = type_of(value.elts[i])
        elif whole is not None:
            part = whole.element
        return unpack(name, element, part, value, type_of) if part is not None else None
    return None


def is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def rebinds(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(node)
    )
