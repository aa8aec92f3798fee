"""Fates, places and profiles."""

import ast
from pathlib import Path

import pytest

from ms2torch import plan
from ms2torch.errors import UserError
from ms2torch.index import Index, build, module_name
from ms2torch.model import SourceFile
from ms2torch.plan import Profile

FILES = {
    "pkg/__init__.py": "",
    "pkg/train/__init__.py": "from .loop import run\nfrom pkg import graph\n",
    "pkg/train/loop.py": "import mindspore\nfrom pkg.tools import log\ndef run():\n    from pkg.lazy import x\n",
    "pkg/tools/__init__.py": "",
    "pkg/tools/log.py": "import logging\n",
    "pkg/lazy.py": "import hyper_parallel\n",
    "pkg/graph.py": "import mindspore\nfrom pkg.deeper import y\n",
    "pkg/deeper.py": "import mindspore\n",
    "pkg/unseen.py": "import json\n",
}
PROFILE = Profile(
    name="p",
    detect="pkg/train",
    backend="pkg._backend",
    entries=["pkg.train.**"],
    ported=["pkg.train.**", "pkg.lazy"],
)


def index() -> Index:
    return build((SourceFile(p, t.encode()), ast.parse(t), module_name(p)) for p, t in FILES.items())


def test_kinds_of_what_is_not_ported() -> None:
    known = index()
    assert plan.kinds(known, plan.make(known, PROFILE)) == {
        "pkg/graph.py": "legacy",
        "pkg/deeper.py": "legacy",
        "pkg/unseen.py": "outside",
    }


def test_fates_follow_the_imports_from_the_entries() -> None:
    made = plan.make(index(), PROFILE)
    assert made.fates == {
        "pkg": "verbatim",
        "pkg.train": "verbatim",
        "pkg.train.loop": "ported",
        "pkg.tools": "verbatim",
        "pkg.tools.log": "verbatim",
        "pkg.lazy": "ported",
        "pkg.graph": "legacy",
        "pkg.deeper": "outside",  # only legacy code asks for it
        "pkg.unseen": "outside",
    }
    assert made.legacy == {"pkg.graph"}


def test_without_a_profile_all_is_ported() -> None:
    assert set(plan.make(index(), None).fates.values()) == {"ported"}


def test_names_that_others_import() -> None:
    assert plan.make(index(), None).imported["pkg.tools"] == {"log"}


def test_patterns() -> None:
    assert (
        plan.matches("a.b.c", ["a.**"]) and plan.matches("a", ["a.**"]) and not plan.matches("ab", ["a.**"])
    )
    assert plan.matches("a.b.model_x", ["a.*.model_*"]) and not plan.matches("a.b.c.model_x", ["a.*.model_*"])


def test_places() -> None:
    packages = frozenset(("pkg", "pkg/sub", "src/lib"))
    inner = plan.place("pkg/sub/a.py", packages, None)
    assert (inner.root, inner.module, inner.package, inner.backend) == (
        "",
        "pkg.sub.a",
        "pkg.sub",
        "pkg._backend",
    )
    assert plan.place("pkg/sub/__init__.py", packages, None).package == "pkg.sub"
    lib = plan.place("src/lib/b.py", packages, None)
    assert (lib.root, lib.module, lib.backend) == ("src", "lib.b", "lib._backend")
    assert plan.backend_folder("src/lib/b.py", lib) == "src/lib/_backend"
    script = plan.place("tools/run.py", packages, None)
    assert script.backend == "_backend" and plan.backend_folder("tools/run.py", script) == "tools/_backend"
    assert plan.place("pkg/sub/a.py", packages, PROFILE).backend == "pkg._backend"
    assert (
        plan.place("tools/run.py", packages, PROFILE).backend == "pkg._backend"
    )  # as the package's tests do
    assert plan.place("tools/run.py", packages - {"pkg"}, PROFILE).backend == "_backend"


def test_profiles_by_name_and_file(tmp_path: Path) -> None:
    assert plan.load_profile("mindformers").backend == "mindformers.pynative._backend"
    assert plan.detect(["mindformers/pynative/a.py"]) is not None and plan.detect(["other/a.py"]) is None
    file = tmp_path / "own.yaml"
    file.write_text("name: own\ndetect: x\nbackend: x._backend\n")
    assert plan.load_profile(str(file)).name == "own"


def test_bad_profiles(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match="there is no profile nothing; give a YAML file, or one of: mindformers"
    ):
        plan.load_profile("nothing")
    for i, text in enumerate(("name: x\n", "name: [\n", "name: a\ndetect: b\nbackend: c\nmore: d\n")):
        file = tmp_path / f"bad{i}.yaml"
        file.write_text(text)
        with pytest.raises(UserError, match="the profile is wrong"):
            plan.load_profile(str(file))
