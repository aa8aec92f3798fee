"""The `ast` sequence and LibCST's traversal name the same nodes, over every syntax of Python 3.10 and newer."""

import ast
import re
import sys
import sysconfig
from pathlib import Path

import libcst as cst
import pytest

from ms2torch.order import flatten
from ms2torch.rewrite import decode
from ms2torch.transform import JoinError, Transform

SYNTAX = '''
"""Doc."""
from __future__ import annotations
import a, b.c as d; from . import e; from .f import (g as h, i,)
@deco
@deco.rated(1, *args, key=value, **kw)
class C(A, B[int], *bases, metaclass=M, **more):
    """Doc."""
    x: int = 1
    y: "str"
    a.b: int
    def m(self, a, /, b: int = 1, *args: int, c, d=2, **kw: str) -> dict[str, int]: return a, b
    async def n(self, *, a=lambda x, *y, z=1, **k: (x, y, z)): await a; return [i async for i in a if await i]
    @property
    def p(self): yield; yield 1; x = yield from a; return x
def f(): pass; pass
del a, b[1], (c.d, e)
a = b = c, *d = 1, 2
(a, [b, *c]) = d
a += 1; b @= c; d //= 2; e **= 3; f >>= 1; g <<= 1; h &= 1; i |= 1; j ^= 1
for a, (b, c) in d: continue
else: pass
while a: break
else: pass
if a: pass
elif b: x
elif c: y
else: z
with a as b, c as (d, e), f: pass
with (open(a) as b, open(c) as d): pass
async def coroutine():
    async with a as b, c: pass
    async for x in y: pass
    else: pass
    return (await a for a in b)
try: a
except A: b
except (B, C) as e: raise X from e
except: raise
else: c
finally: d
assert a, "message"
global_name = 1
def g():
    global global_name, other
    def h():
        nonlocal_name = 1
        def i(): nonlocal nonlocal_name; nonlocal_name = 2
match a, b:
    case 1 | -1 | 1+2j | "s" "t" | None | True: pass
    case [a, *_] | (b, *rest): pass
    case {"k": v, Name.x: 1, **rest}: pass
    case {**all}: pass
    case {}: pass
    case Point(x=0, y=Other(1, 2, z=3)) as p if p: pass
    case a.b.c: pass
    case str(x) | int(): pass
    case _: pass
match = case = type = 1
a if b else c if d else e
lambda: 0; lambda *, a: a; lambda a=b: c
not a; -a; ~a; +a; a and b or c and not d
a < b <= c != d is not e is f in g not in h
a[1], a[1:2], a[::3], a[b, c:d], a[...], a[b:=1], a[*b, c] if 0 else 0
(a := b), [y := 1, y**2], {(z := 1)}, f(x := 1)
[a for b in c if d if e for f in g], {a: b for a, b in c}, {a for a in b}, (a for a in b)
{1: 2, **a, "k": v}, {1, *a}, [*a, 1], (*a, 1), {}
f(a, *b, c=1, *d, **e, g=2), f(a for a in b), f(*a, b), f(k=1, *b)
f"{a} {b!r:>{c}} {d=} {'s'} {f'{e}' 'x'} {{}} {g:%H:%M}", rf"{a}\\d", b"bytes" b"more", "a" "b" f"{c}" "d", r"raw"
f"a" "b", "a" f"{b}" f"c", ("x"
 "y"
 f"{z}")
1_000, 0x1F, 1e5, 1j, ..., None, True, False, __debug__
a.b.c(d)(e)[f].g, (a).b, (a.b)(c), a @ b, a // b, a ** -b, a << 1 >> 2, a & b | c ^ d
print(*a, sep="")
x: int | None; y: list[int]; z: "int | str" = None
async def agen(): yield 1
é = "ü"; ｗｉｄｅ = é.ｗｉｄｅ
'''.replace(", a[*b, c] if 0 else 0", ", a[*b, c]" if sys.version_info >= (3, 11) else "")
if sys.version_info >= (3, 11):
    SYNTAX += "try: a\nexcept* (A, B) as e: b\nexcept* C: d\n"
if sys.version_info >= (3, 12):
    SYNTAX += "type X[T: int, *Ts, **P] = list[T]\ndef f[T: (int, str)](x: T) -> T: return x\nclass D[T](A[T]): pass\n"


def joined(text: str) -> str:
    """The text after a traversal in which every node has an edit that changes nothing."""
    tree = ast.parse(text)
    order = flatten(tree)
    transform = Transform(order, {node: [lambda old, new: new] for node in order.nodes})
    made = cst.parse_module(text).visit(transform)
    assert transform.at == len(order.nodes), (
        f"{len(order.nodes) - transform.at} nodes of ast without a partner"
    )
    return made.code


def test_every_syntax() -> None:
    assert joined(SYNTAX) == SYNTAX


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
def test_newlines(newline: str) -> None:
    text = newline.join(["x = 1", "if x:", "\ty = f(x)  # c", "", "z = '''a", "b'''", ""])
    assert joined(text) == text


def test_every_node_is_found_where_it_stands() -> None:
    """Each edit gets the LibCST node of its own `ast` node: their source texts agree."""
    tree = ast.parse(SYNTAX)
    order = flatten(tree)
    pairs: list[tuple[ast.AST, cst.CSTNode]] = []

    def edit_of(node: ast.AST):  # type: ignore[no-untyped-def]
        def edit(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
            pairs.append((node, old))
            return new

        return edit

    cst.parse_module(SYNTAX).visit(Transform(order, {node: [edit_of(node)] for node in order.nodes}))
    assert len(pairs) == len(order.nodes)
    for node, old in pairs:
        if isinstance(node, ast.expr) and not isinstance(node, ast.JoinedStr):
            written = cst.Module([]).code_for_node(old.with_changes(lpar=[], rpar=[]))
            assert _plain(ast.parse(f"({written})", mode="eval").body) == _plain(node)


def _plain(node: ast.AST) -> str:
    return re.sub(r"ctx=\w+\(\)", "", ast.dump(node))


def test_a_difference_is_an_error() -> None:
    order = flatten(ast.parse("x = a.b"))
    edits = {node: [lambda old, new: new] for node in order.nodes}
    for other in ("x = a.c", "x = a.b.c", "x = f(a)", "x = 1", "x += a.b"):
        transform = Transform(order, edits)
        with pytest.raises(JoinError):
            cst.parse_module(other).visit(transform)
            if transform.at != len(order.nodes):
                raise JoinError("fewer nodes")


@pytest.mark.slow
def test_a_sample_of_the_standard_library() -> None:
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[::6]
    assert len(files) > 20
    for path in files:
        text, _, _ = decode(path.read_bytes())
        # LibCST's parser itself loses the blank of `except A :`.
        assert joined(text) == cst.parse_module(text).code, path
