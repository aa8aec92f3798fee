"""What is read, and what is refused before anything is unpacked."""

import os
import stat
import zipfile
from pathlib import Path

import pytest

from ms2torch import fetch, source, wheel
from ms2torch.errors import UserError

METADATA = (
    "Metadata-Version: 2.1\nName: demo\nVersion: 1.2\nRequires-Dist: numpy<2\n\nRequires-Dist: no header\n"
)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def make_wheel(path: Path, entries: dict[str, str | bytes], record: bool = True) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
        if record:
            archive.writestr("demo-1.2.dist-info/METADATA", METADATA)
    return path


def test_file_keeps_its_bytes_and_mode(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbfx = 1\r\n")
    path.chmod(0o755)
    tree = source.read(str(path), cache)
    assert (tree.kind, tree.name) == ("file", "a")
    assert tree.files[0].data == b"\xef\xbb\xbfx = 1\r\n"
    assert tree.files[0].mode == 0o755


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("absent", "no such file or directory"),
        ("notes.txt", "not a Python file"),
        ("empty", "holds no files"),
        ("demo @ https://example.org/demo.tar.gz", "no such file"),
        ("git+https://example.org/demo", "no such file"),
    ],
)
def test_refused(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, spec: str, says: str) -> None:
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=says):
        source.read(spec, cache)


def test_directory_leaves_caches_environments_and_metadata_out(tmp_path: Path, cache: Path) -> None:
    for name in (
        "pkg/a.py", "pkg/data.yaml", "pkg/__pycache__/a.pyc", "pkg/old.pyc", ".git/config", "env/pyvenv.cfg",
        "env/lib/x.py", "demo-1.2.dist-info/RECORD", "demo-1.2.dist-info/licenses/LICENSE",
    ):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "demo-1.2.dist-info/METADATA").write_text(METADATA)
    tree = source.read(str(tmp_path), cache)
    assert [file.path for file in tree.files] == ["LICENSE", "pkg/a.py", "pkg/data.yaml"]
    assert (tree.name, tree.version, tree.requires) == ("demo", "1.2", ("numpy<2",))


def test_checkout_says_its_requirements(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "setup.py").write_text(
        "import x\nx.boom()\nsetup(name='demo', version='3', install_requires=f())\n"
    )
    (tmp_path / "requirements.txt").write_text("-r other.txt\nnumpy<2 # why\n\n# no\ntorch\\\n>=2\n")
    tree = source.read(str(tmp_path), cache)
    assert (tree.name, tree.version, tree.requires) == ("demo", "3", ("numpy<2", "torch>=2"))


def test_pyproject_wins_over_requirements(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname='p'\nversion='4'\ndependencies=['a', 'b>1']\n")
    (tmp_path / "requirements.txt").write_text("c\n")
    tree = source.read(str(tmp_path), cache)
    assert (tree.name, tree.version, tree.requires) == ("p", "4", ("a", "b>1"))


def test_links_are_never_followed_out(tmp_path: Path, cache: Path) -> None:
    root = tmp_path / "src"
    (root / "pkg").mkdir(parents=True)
    (tmp_path / "secret.py").write_text("secret")
    (root / "pkg/a.py").write_text("")
    (root / "alias.py").symlink_to("pkg/a.py")
    (root / "out.py").symlink_to("../secret.py")
    (root / "absolute.py").symlink_to(root / "pkg/a.py")
    (root / "dangling").symlink_to("nowhere")
    (root / "loop").symlink_to("loop")
    (root / "pkg/up").symlink_to("..")
    os.mkfifo(root / "pipe")
    tree = source.read(str(root), cache)
    assert [file.path for file in tree.files] == ["pkg/a.py"]
    assert [(link.path, link.target) for link in tree.links] == [("alias.py", "pkg/a.py")]
    found = {finding.path: finding.code for finding in tree.findings}
    assert found == {
        "absolute.py": "MS902", "dangling": "MS902", "loop": "MS902", "out.py": "MS902", "pipe": "MS903",
        "pkg/up": "MS902",
    }  # fmt: skip


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file_is_a_finding(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "a.py").write_text("")
    (tmp_path / "b.py").write_text("")
    (tmp_path / "b.py").chmod(0)
    tree = source.read(str(tmp_path), cache)
    assert [file.path for file in tree.files] == ["a.py"]
    assert [(finding.path, finding.code) for finding in tree.findings] == [("b.py", "MS901")]


def test_wheel_places_data_and_licences(tmp_path: Path, cache: Path) -> None:
    path = make_wheel(
        tmp_path / "demo-1.2-py3-none-any.whl",
        {
            "demo/a.py": "x", "demo-1.2.data/purelib/extra/b.py": "y",
            "demo-1.2.data/data/configs/c.yaml": "z",
            "demo-1.2.dist-info/licenses/LICENSE": "l", "demo-1.2.dist-info/RECORD": "r",
        },
    )  # fmt: skip
    tree = source.read(str(path), cache)
    assert [file.path for file in tree.files] == ["LICENSE", "configs/c.yaml", "demo/a.py", "extra/b.py"]
    assert (tree.kind, tree.name, tree.version, tree.requires) == ("wheel", "demo", "1.2", ("numpy<2",))
    assert tree.root == path


@pytest.mark.parametrize(
    "name", ["../evil.py", "/etc/evil.py", "a/../../evil.py", "C:evil.py", "a\\..\\evil.py"]
)
def test_wheel_with_unsafe_name(tmp_path: Path, cache: Path, name: str) -> None:
    path = make_wheel(tmp_path / "demo.whl", {name: "x"})
    with pytest.raises(UserError, match="leads out of it"):
        source.read(str(path), cache)


def test_wheel_with_link(tmp_path: Path, cache: Path) -> None:
    entry = zipfile.ZipInfo("demo/link")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = tmp_path / "demo.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(UserError, match="holds a link"):
        source.read(str(path), cache)


def test_zip_bombs(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_wheel(tmp_path / "demo.whl", {"demo/a.py": b"0" * (11 << 20)})
    with pytest.raises(UserError, match="zip bomb"):
        source.read(str(path), cache)
    monkeypatch.setattr(wheel, "MAX_BYTES", 1 << 20)
    with pytest.raises(UserError, match="unpacks to"):
        source.read(str(path), cache)
    monkeypatch.setattr(wheel, "MAX_FILES", 1)
    with pytest.raises(UserError, match="holds 2 files"):
        source.read(str(path), cache)


def test_wheel_that_is_none(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "a.whl").write_text("no zip")
    with pytest.raises(UserError, match="not a sound wheel"):
        source.read(str(tmp_path / "a.whl"), cache)
    path = make_wheel(tmp_path / "b.whl", {"demo/a.py": "x"}, record=False)
    with pytest.raises(UserError, match=r"no NAME-VERSION\.dist-info"):
        source.read(str(path), cache)


def test_damaged_wheel(tmp_path: Path, cache: Path) -> None:
    path = make_wheel(tmp_path / "demo.whl", {"demo/a.py": "x = 1\n" * 100})
    data = bytearray(path.read_bytes())
    data[45] ^= 0xFF  # inside the first file's packed bytes
    path.write_bytes(data)
    with pytest.raises(UserError, match="not a sound wheel"):
        source.read(str(path), cache)


@pytest.mark.parametrize("spec", ["demo==1.2", "demo >=1.2, <2", "a.b-c~=1.0", "demo==1.*"])
def test_requirements(spec: str) -> None:
    assert fetch.is_requirement(spec)


@pytest.mark.parametrize(
    "spec", ["demo", "demo@file:///x", "./demo==1", "-r x", "--index-url=x==1", "demo[x]==1"]
)
def test_no_requirements(spec: str) -> None:
    assert not fetch.is_requirement(spec)


def test_requirement_comes_from_pip_and_then_from_the_cache(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = tmp_path / "links"
    links.mkdir()
    path = make_wheel(
        links / "demo-1.2-py3-none-any.whl",
        {"demo/a.py": "x", "demo-1.2.dist-info/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n"},
    )
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    tree = source.read("demo==1.2", cache)
    assert (tree.kind, tree.version, [file.path for file in tree.files]) == (
        "requirement",
        "1.2",
        ["demo/a.py"],
    )
    path.unlink()
    assert source.read("Demo==1.2", cache) == tree
    assert tree.root == cache / "wheels" / path.name
    with pytest.raises(UserError) as caught:
        source.read("demo==1.3", cache)
    assert "No matching distribution found for demo==1.3" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert [entry.name for entry in (cache / "wheels").iterdir()] == ["demo-1.2-py3-none-any.whl"]


def test_a_requirement_is_never_built(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    links = tmp_path / "links"
    links.mkdir()
    with zipfile.ZipFile(links / "demo-1.2.zip", "w") as archive:
        archive.writestr("demo-1.2/setup.py", f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    with pytest.raises(UserError, match=r"cannot fetch demo==1\.2 as a wheel"):
        source.read("demo==1.2", cache)
    assert not (tmp_path / "ran").exists()


def test_cache_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert fetch.cache_directory() == tmp_path / "ms2torch"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert fetch.cache_directory() == tmp_path / ".cache/ms2torch"
