"""The port's requirements file."""

import pytest

from ms2torch import requirements

UPSTREAM = (
    "setuptools>=83.0.0", "mindpet==1.0.4", "numpy<2.0.0", "transformers>=5.3.0", "mindspore~=2.11.0",
    "Hyper_Parallel ~=1.0.0", 'extra-only; extra == "dev"', 'tomli; python_version < "3.11"',
)  # fmt: skip


def test_each_removal_has_its_reason() -> None:
    assert requirements.text(UPSTREAM, "mindformers", "2.1.0") == (
        "# Written by ms2torch: what mindformers 2.1.0 asks for, on torch.\n"
        "setuptools>=83.0.0\n"
        "# mindpet==1.0.4: left out: imports MindSpore\n"
        "# numpy<2.0.0: without its upper bound, which is MindSpore's\n"
        "numpy\n"
        "transformers>=5.3.0\n"
        "# mindspore~=2.11.0: left out: the port runs on torch\n"
        "# Hyper_Parallel ~=1.0.0: left out: needs MindSpore; the port has its names on torch.distributed\n"
        'tomli; python_version < "3.11"\n'
        "torch>=2.4\n"
    )


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("numpy", "numpy"),
        ("numpy>=1.20", "numpy>=1.20"),
        ("numpy >=1.20, <2", "numpy>=1.20"),
        ("numpy (<2,!=1.24)", "numpy!=1.24"),
        ("numpy==1.26.4; os_name == 'posix'", "numpy; os_name == 'posix'"),
        ("numpy~=1.26", "numpy"),
        ("numpy-quaternion<3", "numpy-quaternion<3"),
    ],
)
def test_numpy(given: str, kept: str) -> None:
    assert requirements.text([given]).splitlines()[-2] == kept


def test_torch_of_the_source_is_kept() -> None:
    assert requirements.text(["torch==2.5"]).splitlines()[1:] == ["torch==2.5"]


def test_what_only_mindspore_brought_is_asked_for() -> None:
    imports = {
        "psutil": "pkg/a.py",
        "google.protobuf.message": "pkg/b.py",
        "PIL.Image": "pkg/c.py",
        "numpy": "d.py",
    }
    assert requirements.text(["mindspore", "numpy<2", "Pillow"], imports=imports).splitlines()[1:] == [
        "# mindspore: left out: the port runs on torch",
        "# numpy<2: without its upper bound, which is MindSpore's",
        "numpy",
        "Pillow",
        "# came with what is left out; pkg/b.py imports it",
        "protobuf",
        "# came with what is left out; pkg/a.py imports it",
        "psutil",
        "torch>=2.4",
    ]
    assert requirements.text(["numpy"], imports=imports).splitlines()[1:] == ["numpy", "torch>=2.4"]
