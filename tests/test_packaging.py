"""The package with its rules and tables, installed in each of the ways that users install it."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import ms2torch

ROOT = Path(ms2torch.__file__).parents[1]
PARTS = ("ms2torch", "rules", "mapping_tables", "pyproject.toml", "README.md", "LICENSE")

# Prints where the package came from and the data that it needs at run time.
PROBE = """
import importlib, pathlib, site, sys
site.addsitedir(sys.argv[1])
import ms2torch
home = pathlib.Path(ms2torch.__file__).parent
print(home)
for name in ("ms2torch.rules", "ms2torch.mapping_tables", "ms2torch.runtime"):
    importlib.import_module(name)
for part in ("rules", "mapping_tables", "runtime"):
    for path in (home / part).rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            print(path.relative_to(home).as_posix())
"""


def shipped() -> list[str]:
    """What the checkout holds of the data and modules that have to be installed."""
    listed = subprocess.run(
        ["git", "ls-files", "rules", "mapping_tables", "ms2torch/runtime"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    ).stdout.split()  # fmt: skip
    if not listed:
        pytest.skip("not a git checkout: nothing to compare with")
    return sorted(name.removeprefix("ms2torch/") for name in listed)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, since a build leaves files in its tree."""
    folder = tmp_path_factory.mktemp("checkout")
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, symlinks=True, ignore=ignored)
        else:
            shutil.copy(ROOT / part, folder / part)
    return folder


def build(hook: str, source: Path, target: Path) -> Path:
    """Runs one hook of the build backend in `source`, as pip does, and returns what it made in `target`."""
    target.mkdir(exist_ok=True)
    program = f"from setuptools import build_meta; print(build_meta.{hook}({str(target)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return target / done.stdout.splitlines()[-1]


def installed(wheel: Path, site: Path) -> tuple[Path, list[str]]:
    """(where ms2torch is imported from, files found) with the wheel's content as a site folder."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # -I -S: nothing but this folder, so that an ms2torch of the environment cannot stand in
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", PROBE, str(site)],
        cwd=site, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    home, *files = done.stdout.splitlines()
    return Path(home), sorted(files)


@pytest.mark.slow
def test_wheel(checkout: Path, tmp_path: Path) -> None:
    home, files = installed(build("build_wheel", checkout, tmp_path / "dist"), tmp_path / "site")
    assert home == tmp_path / "site/ms2torch"
    assert (home / "py.typed").exists()
    assert files == shipped()


@pytest.mark.slow
def test_sdist(checkout: Path, tmp_path: Path) -> None:
    archive = build("build_sdist", checkout, tmp_path / "dist")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="data")
    source = tmp_path / archive.name.removesuffix(".tar.gz")
    assert (source / "LICENSE").is_file()
    _, files = installed(build("build_wheel", source, tmp_path / "dist"), tmp_path / "site")
    assert files == shipped()


@pytest.mark.slow
def test_editable(checkout: Path, tmp_path: Path) -> None:
    home, files = installed(build("build_editable", checkout, tmp_path / "dist"), tmp_path / "site")
    assert home == checkout / "ms2torch"
    assert files == shipped()
