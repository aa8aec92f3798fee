"""What happens to each file: its fate, its module name, and where its `_backend` stands. Pure.

A profile names entry modules, the modules that are ported, and definitions that stay graph-mode code. From
the entries the import closure gives every file one fate:

ported    rewritten;  verbatim  no MindSpore in it (imports of legacy modules are guarded all the same);
legacy    kept as it is, imported by ported code under a guard only;  outside  not reached, kept as it is.

Without a profile every file with MindSpore in it is ported.
"""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import msgspec
import yaml

from ms2torch.errors import UserError
from ms2torch.index import Index, ModuleInfo, module_name
from ms2torch.tables import PACKAGES

PROFILES = Path(__file__).parent / "mapping_tables" / "profiles"


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How one package is ported; a YAML file of `mapping_tables/profiles`, or a user's own."""

    name: str
    detect: str  # path that a source of this package holds
    backend: str  # dotted home of the runtime package
    entries: list[str] = []  # modules (patterns) that the port must offer
    ported: list[str] = []  # modules (patterns) whose MindSpore code is rewritten
    legacy: list[str] = []  # modules (patterns) that are graph-mode code, whatever `ported` says
    guarded: dict[str, list[str]] = {}  # module -> its graph-mode definitions
    runtime: dict[str, str] = {}  # path in the port -> file of the runtime that is put there


@functools.cache
def load_profile(name: str) -> Profile:
    """A profile by its name or its file; raises UserError where there is none or it is wrong."""
    path = Path(name) if name.endswith((".yaml", ".yml")) else PROFILES / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in PROFILES.glob("*.yaml")))
        raise UserError(f"there is no profile {name}; give a YAML file, or one of: {known}")
    try:
        return msgspec.convert(yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader), Profile)
    except (msgspec.ValidationError, yaml.YAMLError) as error:
        raise UserError(f"{path}: the profile is wrong: {' '.join(str(error).split())}") from None


def detect(paths: Iterable[str]) -> Profile | None:
    """The shipped profile that a source asks for by what it holds."""
    folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    for file in sorted(PROFILES.glob("*.yaml")):
        profile = load_profile(file.stem)
        if profile.detect in folders:
            return profile
    return None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file stands among the modules of its source."""

    root: str  # folder that its absolute imports start from ("" for the tree's top)
    module: str
    package: str  # of its relative imports
    backend: str  # dotted home of `_backend`


def place(path: str, packages: frozenset[str], profile: Profile | None) -> Place:
    """The place of a file; `packages` are the folders that hold an `__init__.py`."""
    folder = str(PurePosixPath(path).parent)
    folder = "" if folder == "." else folder
    top = folder
    while top and (parent := _parent(top)) in packages:
        top = parent
    inside = folder in packages
    if inside and not top:
        inside = False  # the tree's top itself holds an __init__.py: its name is not known here
    home = _home(folder, packages, profile) if profile is not None else None
    root = home if home is not None else _parent(top) if inside else ""
    relative = path[len(root) + 1 :] if root else path
    module = module_name(relative)
    package = module if path.endswith("__init__.py") else module.rpartition(".")[0]
    if profile is not None and home is not None:
        return Place(root, module, package, profile.backend)
    return Place(root, module, package, f"{PurePosixPath(top).name}._backend" if inside else "_backend")


def _home(folder: str, packages: frozenset[str], profile: Profile) -> str | None:
    """The nearest folder around a file that holds the profile's package: the file (a test, say) uses it, whatever
    packages of its own it stands in."""
    name = profile.backend.partition(".")[0]
    while _join(folder, name) not in packages:
        if not folder:
            return None
        folder = _parent(folder)
    return folder


def _parent(folder: str) -> str:
    parent = str(PurePosixPath(folder).parent)
    return "" if parent == "." else parent


def backend_folder(path: str, where: Place) -> str:
    """Folder of the tree that a file's `_backend` is put into."""
    if where.backend == "_backend":
        return _join(str(PurePosixPath(path).parent), "_backend")
    return _join(where.root, where.backend.replace(".", "/"))


def _join(*parts: str) -> str:
    return "/".join(part for part in parts if part not in ("", "."))


@dataclass(slots=True)
class Plan:
    """The fate of each module, and the modules that stay legacy."""

    fates: dict[str, str] = field(default_factory=dict)  # module -> fate
    legacy: frozenset[str] = frozenset()
    imported: Mapping[str, frozenset[str]] = field(
        default_factory=dict
    )  # module -> names others take from it


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a dotted name fits one of the patterns (`a.b`, `a.b.*`, `a.b.**` for all below and itself)."""
    for pattern in patterns:
        if pattern.endswith(".**"):
            head = pattern[:-3]
            if name == head or name.startswith(head + "."):
                return True
        elif fnmatch.fnmatchcase(name, pattern) and name.count(".") == pattern.count("."):
            return True
    return False


def make(index: Index, profile: Profile | None) -> Plan:
    """The plan for a source."""
    plan = Plan(imported=_imported(index))
    if profile is None:
        plan.fates = dict.fromkeys(index.modules, "ported")
        return plan
    queue = [name for name in index.modules if matches(name, profile.entries)]
    legacy: set[str] = set()
    fates: dict[str, str] = {}
    while queue:
        name = queue.pop()
        if name in fates or name in legacy:
            continue
        info = index.modules[name]
        uses = any(site.module.partition(".")[0] in PACKAGES for site in info.imports)
        if matches(name, profile.legacy) or (uses and not matches(name, profile.ported)):
            legacy.add(name)
            continue
        fates[name] = "ported" if uses else "verbatim"
        queue.extend(_asked(info, index))
    plan.legacy = frozenset(legacy)
    plan.fates = {name: fates.get(name, "legacy" if name in legacy else "outside") for name in index.modules}
    return plan


def kinds(index: Index, plan: Plan) -> dict[str, str]:
    """What the manifest calls the files that are not ported: "legacy" where they hold MindSpore, or take it or
    classes built on it from such a file; else "outside"."""
    left = {name for name, fate in plan.fates.items() if fate in ("legacy", "outside")}
    legacy = {name for name in left if name in plan.legacy or _holds(index.modules[name], index)}
    while True:
        more = {name for name in left - legacy if legacy.intersection(_named(index.modules[name], index))}
        if not more:
            break
        legacy |= more
    return {index.modules[name].path: "legacy" if name in legacy else "outside" for name in left}


def _holds(info: ModuleInfo, index: Index) -> bool:
    named = any(site.module.partition(".")[0] in PACKAGES for site in info.imports)
    return named or index.takes(info, PACKAGES)


def _named(info: ModuleInfo, index: Index) -> set[str]:
    """Project modules that an import names, without the packages around them."""
    names = {site.module for site in info.imports}
    names |= {f"{site.module}.{site.name}" for site in info.imports if site.name}
    return names & index.modules.keys()


def _asked(info: ModuleInfo, index: Index) -> list[str]:
    """Project modules that importing a module makes Python load, its lazy imports included."""
    found: set[str] = set()
    for site in info.imports:
        found.update(_with_parents(site.module, index))
        if site.name and site.name != "*":
            found.update(_with_parents(f"{site.module}.{site.name}", index))
    found.update(_with_parents(info.name, index))
    return sorted(found - {info.name})


def _with_parents(name: str, index: Index) -> list[str]:
    parts = name.split(".")
    names = [".".join(parts[: i + 1]) for i in range(len(parts))]
    return [n for n in names if n in index.modules]


def _imported(index: Index) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    sites = (site for info in index.modules.values() for site in info.imports)
    asked = {site.name for site in sites if site.module in index.modules}
    for info in index.modules.values():
        for site in info.imports:
            if site.module in index.modules and site.name is not None:
                names = _taken(index.modules[site.module], asked) if site.name == "*" else [site.name]
                found.setdefault(site.module, set()).update(names)
    return {name: frozenset(names) for name, names in found.items()}


def _taken(info: ModuleInfo, asked: set[str | None]) -> list[str]:
    """What a star import takes that somebody may want: not each framework name the module itself imports."""
    if info.exports is not None:
        return list(info.exports)
    ours = {name for name, target in info.bound.items() if target.partition(".")[0] in PACKAGES}
    return [name for name in info.public() if name not in ours or name in asked]
