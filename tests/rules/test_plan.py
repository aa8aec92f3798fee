"""What a profile says of files outside its package: the tests of a checkout."""

from ms2torch import plan
from ms2torch.plan import Profile
from tests.rules.helper import run, text_of

PROFILE = Profile(
    name="pkg",
    detect="pkg/core",
    backend="pkg.core._backend",
    entries=["pkg.core.**", "tests.**"],
    ported=["pkg.core.**", "tests.**"],
)
TEST = """from unittest.mock import patch
import mindspore as ms
from pkg.core import net
from pkg.graph import old


@patch("mindspore.ops.ReduceOp")
@patch("pkg.core.net.abs")
def test_it(one, two):
    assert old.run(net.abs(ms.Tensor(1)))
"""
FILES = {
    "pkg/__init__.py": "",
    "pkg/core/__init__.py": "",
    "pkg/core/net.py": "from mindspore.mint import abs\n\n\ndef f(x):\n    return abs(x)\n",
    "pkg/graph/__init__.py": "",
    "pkg/graph/old.py": "import mindspore\n",
    "tests/__init__.py": "",
    "tests/test_net.py": TEST,
    "tests/loose/test_more.py": TEST,
    "tests/loose/cards/__init__.py": "",
    "tests/loose/cards/run_it.py": TEST,
    "scripts/other.py": "import mindspore\n",
}


def test_tests_take_the_packages_backend() -> None:
    result = run(FILES, profile=PROFILE)
    assert {f.path.partition("_backend/")[0] for f in result.files if "_backend/" in f.path} == {"pkg/core/"}
    for path in ("tests/test_net.py", "tests/loose/test_more.py", "tests/loose/cards/run_it.py"):
        text = text_of(result, path)
        assert "from pkg.core import _backend\n" in text and "mindspore" not in text
        assert '_backend.unavailable_module("pkg.graph.old")' in text
        assert '@patch("torch.distributed.ReduceOp")\n@patch("pkg.core.net.abs")\n' in text
    assert text_of(result, "pkg/core/net.py").startswith("from torch import abs\n")  # so the patch finds it
    assert text_of(result, "scripts/other.py") == FILES["scripts/other.py"]


def test_places() -> None:
    packages = frozenset({"pkg", "pkg/core", "tests", "src/pkg", "src/pkg/core", "extra"})
    for path in ("tests/a.py", "a.py", "src/pkg/core/a.py"):
        assert plan.place(path, packages, PROFILE).backend == "pkg.core._backend"
    assert plan.place("tests/a.py", packages - {"pkg"}, PROFILE).backend == "tests._backend"
    deep = plan.place("tests/loose/cards/a.py", packages | {"tests/loose/cards"}, PROFILE)
    assert (deep.module, deep.backend) == ("tests.loose.cards.a", "pkg.core._backend")
    inside = plan.place("src/pkg/a.py", packages, PROFILE)
    assert plan.backend_folder("src/pkg/a.py", inside) == "src/pkg/core/_backend"


def test_the_shipped_profile_ports_the_tests_of_pynative() -> None:
    profile = plan.load_profile("mindformers")
    pynative = "tests.st.test_ut.test_pynative.test_layers.test_x"
    for module in ("tests.conftest", "tests.utils.tensor_utils", pynative):
        assert plan.matches(module, profile.entries) and plan.matches(module, profile.ported)
    assert not plan.matches("tests.st.test_ut.test_trainer.test_trainer", profile.entries)
