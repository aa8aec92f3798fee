"""Whole runs: the runtime's place, legacy code, ports that are left alone, the same result every time."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ms2torch import manifest, pipeline, plan
from ms2torch.index import build, module_name
from ms2torch.model import SourceFile, Tree
from ms2torch.plan import Profile
from tests.rules import references
from tests.rules.helper import run, text_of

CODE = "from mindspore import ops\nx = ops.Cast()\n"
PROFILE = Profile(
    name="p",
    detect="pkg/train",
    backend="pkg.train._backend",
    entries=["pkg.train.**"],
    ported=["pkg.train.**"],
    guarded={"pkg.train.loop": ["Graph"]},
)
LEGACY = {
    "pkg/__init__.py": "",
    "pkg/graph/__init__.py": "import mindspore\n__all__ = ['Net']\nfrom .net import Net\n",
    "pkg/graph/net.py": "from mindspore import nn\nclass Net(nn.Cell): pass\ndef build(): pass\n",
    "pkg/train/__init__.py": "",
    "pkg/train/loop.py": (
        "import mindspore as ms\n"
        "from pkg.graph.net import Net, build as b\nfrom pkg.graph import *\nimport pkg.graph.net as g\n"
        "from pkg import graph, tools\n"
        "class Graph(ms.nn.Cell):\n    def construct(self): return ms.float32\n"
        "x = ms.float32\n"
    ),
    "pkg/tools.py": "import pkg.graph.net\n",
}


def paths(files: dict[str, str], profile: Profile | None = None) -> set[str]:
    return {f.path for f in run(files, profile=profile).files if f.path.endswith("_backend/__init__.py")}


def test_where_the_runtime_goes() -> None:
    assert paths({"run.py": CODE, "tools/a.py": CODE, "tools/b.py": CODE, "c/plain.py": "x = 1\n"}) == {
        "_backend/__init__.py",
        "tools/_backend/__init__.py",
    }
    package = {
        "src/pkg/__init__.py": "",
        "src/pkg/sub/__init__.py": "",
        "src/pkg/sub/a.py": CODE,
        "run.py": "x = 1\n",
    }
    assert paths(package) == {"src/pkg/_backend/__init__.py"}
    assert "from pkg import _backend" in text_of(run(package), "src/pkg/sub/a.py")
    assert paths({"a.py": "import mindspore as ms\nx = ms.float32\n"}) == set(), "torch alone is enough"


def test_a_port_of_a_script_runs(tmp_path: Path) -> None:
    for file in run({"run.py": "import mindspore as ms\nprint(getattr(ms, 'float32'))\n"}).files:
        (tmp_path / file.path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file.path).write_bytes(file.data)
    done = subprocess.run([sys.executable, tmp_path / "run.py"], capture_output=True, text=True, check=False)
    assert done.stdout == "torch.float32\n", done.stderr


def test_legacy_modules_stand_under_the_guard() -> None:
    result = run(LEGACY, profile=PROFILE)
    loop = text_of(result, "pkg/train/loop.py")
    assert loop == (
        "import torch\n"
        "from pkg.train import _backend\n\n"
        "if _backend.HAS_MINDSPORE:\n"
        "    import mindspore as ms\n"
        "if _backend.HAS_MINDSPORE:\n"
        "    from pkg.graph.net import Net, build as b\n"
        "else:\n"
        '    Net = _backend.unavailable("pkg.graph.net", "Net")\n'
        '    b = _backend.unavailable("pkg.graph.net", "build")\n'
        "if _backend.HAS_MINDSPORE:\n"
        "    from pkg.graph import *\n"
        "else:\n"
        '    Net = _backend.unavailable("pkg.graph", "Net")\n'
        "if _backend.HAS_MINDSPORE:\n"
        "    import pkg.graph.net as g\n"
        "else:\n"
        '    g = _backend.unavailable_module("pkg.graph.net")\n'
        "from pkg import tools\n"
        "if _backend.HAS_MINDSPORE:\n"
        "    from pkg import graph\n"
        "else:\n"
        "    graph = _backend.unavailable_module(\"pkg.graph\", ('Net',))\n"
        "if _backend.HAS_MINDSPORE:\n"
        "    class Graph(ms.nn.Cell):\n"
        "        def construct(self): return ms.float32\n"
        "else:\n"
        '    Graph = _backend.unavailable("pkg.train.loop", "Graph")\n'
        "x = torch.float32\n"
    )
    assert text_of(result, "pkg/graph/net.py") == LEGACY["pkg/graph/net.py"]
    assert result.summary["references"] == {"converted": 2, "guarded": 2, "total": 4}
    assert result.summary["modules"] == {"legacy": 2, "ported": 1, "verbatim": 3}


def test_the_same_result_every_time_and_in_any_number_of_processes() -> None:
    files = {f"pkg/m{i}.py": CODE + f"y{i} = ops.missing\n" for i in range(9)} | {"pkg/__init__.py": ""}
    one, again, two = run(files), run(files), run(files, jobs=2)
    assert one == again == two and len(one.findings) == 9


def test_one_bad_file_does_not_stop_the_tree() -> None:
    result = run({"bad.py": "x = (\n", "good.py": CODE})
    assert [(f.path, f.code) for f in result.findings] == [("bad.py", "MS002")]
    assert "_backend" in text_of(result, "good.py")


def test_a_port_is_left_alone() -> None:
    tree = Tree((SourceFile("a.py", CODE.encode()),), "directory", name="demo")
    record = manifest.build(tree, tree.files)
    files = (*tree.files, record)
    result = run({f.path: f.data for f in files})
    assert set(result.files) == set(files) and result.findings == ()
    assert b"_backend" in next(f.data for f in run({"a.py": CODE}).files if f.path == "a.py")


def test_files_that_take_names_through_the_project() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/base.py": "from mindspore import Tensor, nn, ops, mint\nimport mindspore as ms\n",
        "pkg/a.py": "from .base import Tensor, ops\nimport pkg.base\ny = ops.cast(x, pkg.base.ms.float32)\n",
        "pkg/b.py": "from .base import *\ny = nn.Cell, mint.abs(z)\n",
    }
    result = run(files)
    assert "y = x.to(torch.float32)\n" in text_of(result, "pkg/a.py")
    assert "y = torch.nn.Module, torch.abs(z)\n" in text_of(result, "pkg/b.py")
    assert "from torch import Tensor\n" in text_of(result, "pkg/base.py")
    assert result.summary["references"]["total"] == references.count(files) == 9


@pytest.mark.slow
def test_every_reference_of_mindformers_ends_in_one_state(upstream: Path, tmp_path: Path) -> None:
    shutil.unpack_archive(upstream, tmp_path, "zip")
    sources = {p.relative_to(tmp_path).as_posix(): p.read_bytes() for p in tmp_path.rglob("*.py")}
    tree = Tree(tuple(SourceFile(p, data) for p, data in sorted(sources.items())), "directory")
    result = pipeline.rewrite_tree(tree, None, 2, lambda step, done, total: None)
    assert [f for f in result.findings if f.code in ("MS002", "MS003")] == []
    profile = plan.load_profile("mindformers")
    texts = {path: data.decode() for path, data in sources.items()}
    project = references.Project(texts)
    index = build((SourceFile(p, b""), tree, module_name(p)) for p, tree in project.trees.items())
    fates = plan.make(index, profile).fates
    ported = [
        path
        for path in project.trees
        if fates[path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")]
        in ("ported", "verbatim")
        and path not in profile.runtime
    ]
    expected = sum(len(project.places(path)) for path in ported)
    assert result.summary["references"]["total"] == expected > 3000
