"""Overlays: what they do to the definitions that they were written for, and to no others."""

import ast
import textwrap

import pytest

from ms2torch import graft
from ms2torch.errors import UserError
from ms2torch.graft import Overlays
from ms2torch.index import Index
from ms2torch.model import SourceFile

SOURCE = '''"""Doc."""
import os

LIMIT = 1


# about f
@deco
def f(x):
    return x


class A:
    def m(self):
        return 1

    def n(self):
        return 2
'''


def print_of(name: str, source: str = SOURCE) -> str:
    return graft.fingerprint(source.splitlines(), graft.definitions(ast.parse(source))[name])


def planted(overlay: str, source: str = SOURCE) -> tuple[str, list[str]]:
    """The file with the overlay, and what the run says of it."""
    text = textwrap.dedent(overlay)
    for name in ("f", "LIMIT", "A.m", "A"):
        text = text.replace(f"<{name}>", print_of(name))
    file = SourceFile("a.py", source.encode())
    kept, stale = graft.check(
        Overlays((), {"a.py": graft.parse(text, "a.py")}), {"a.py": file}, Index({}, {})
    )
    return graft.apply(file, kept.get("a.py")).data.decode(), [f.message for f in stale]


def test_the_result_knows_its_grafts() -> None:
    overlay = f"""
# ms2torch: replaces A.m, written for 000000000000 {print_of("A.m")}
def m(self):
    return 3
"""
    file = SourceFile("a.py", SOURCE.encode())
    kept, _ = graft.check(Overlays((), {"a.py": graft.parse(overlay, "a.py")}), {"a.py": file}, Index({}, {}))
    made = graft.apply(file, kept["a.py"])
    [(name, there, _, upstream)] = made.grafts
    assert (name, there, upstream) == ("A.m", print_of("A.m", made.data.decode()), print_of("A.m"))


def test_replaces_wraps_precedes_and_follows() -> None:
    made, said = planted(
        """
        import json
        # ms2torch: replaces LIMIT, written for <LIMIT>
        LIMIT = 2
        # ms2torch: wraps f, written for 000000000000 <f>
        def f(x):
            return _upstream_f(x) + 1
        # ms2torch: follows f, written for <f>
        def after():
            return json
        # ms2torch: precedes A, written for <A>
        def before(): ...
        # ms2torch: replaces A.m, written for <A.m>
        def m(self):
            return 3
        """
    )
    assert said == []
    space: dict[str, object] = {"deco": lambda function: function}
    exec(made, space)
    assert space["LIMIT"] == 2 and space["f"](1) == 2  # type: ignore[operator]
    a = space["A"]()  # type: ignore[operator]
    assert (a.m(), a.n()) == (3, 2)
    assert made.index("def before") < made.index("class A") and made.index("def f(") < made.index("def after")
    assert made.count("import json") == 1 and '"""Doc."""' in made


def test_stale_definitions_are_said_and_left() -> None:
    made, said = planted("# ms2torch: replaces f, written for 0123456789ab\ndef f(): ...\n")
    assert made == SOURCE
    assert said == [
        f"f (fingerprint {print_of('f')}) is not the definition its overlay was written for; "
        "it is rewritten without the overlay"
    ]
    made, said = planted("# ms2torch: replaces gone, written for 0123456789ab\ndef gone(): ...\n")
    assert made == SOURCE and said == ["gone: the source has no such definition; its overlay is left out"]
    overlay = Overlays(
        (), {"b.py": graft.parse("# ms2torch: replaces f, written for 0123456789ab\ndef f(): ...\n", "b")}
    )
    kept, stale = graft.check(overlay, {}, Index({}, {}))
    assert kept == {} and [f.path for f in stale] == ["b.py"]


def test_fingerprints_see_text_not_indentation() -> None:
    assert print_of("A.m") == print_of("m", "def m(self):\n    return 1\n")
    assert print_of("f") != print_of("f", SOURCE.replace("@deco", "@other"))
    assert print_of("f") == print_of("f", "\n\n" + SOURCE.replace("return x", "return x  "))


def test_an_overlay_without_a_mark_is_refused() -> None:
    with pytest.raises(UserError, match=r"here:2: the definition has no line"):
        graft.parse("x = 1\ndef f(): ...\n".removeprefix("x = 1") or "", "here")


def test_the_shipped_overlays_are_read() -> None:
    overlays = graft.read("mindformers")
    assert overlays.grafts and all(g.fingerprints for one in overlays.grafts.values() for g in one.grafts)
    assert graft.read("no such profile") == Overlays((), {})
