"""Reads the signatures that a torch_npu wheel really has, without importing it (that needs CANN).

Operators: the schemas registered by the wheel's library, which holds them as text. Python functions and
classes of ``torch_npu.npu`` and ``torch_npu.profiler``: their definitions, read with ast.

    python scripts/torch_npu_signatures.py torch_npu-*.whl > tests/runtime/data/torch_npu_signatures.json
"""

from __future__ import annotations

import ast
import json
import re
import sys
import zipfile
from typing import Any

_SCHEMA = re.compile(rb"(?:npu::)?(_?npu_[A-Za-z0-9_.]*\([^\x00]{1,3000}?\) -> [^\x00\n]{1,300})")
_PACKAGES = ("torch_npu/npu/", "torch_npu/profiler/")


def operators(library: bytes) -> dict[str, list[str]]:
    """Schemas by operator name, overloads together."""
    found: dict[str, set[str]] = {}
    for match in _SCHEMA.finditer(library):
        schema = match[1].decode()
        name = schema.split("(", 1)[0].split(".")[0]
        found.setdefault(name, set()).add(schema)
    return {name: sorted(found[name]) for name in sorted(found)}


def _arguments(function: ast.FunctionDef) -> str:
    return (
        ast.unparse(ast.parse(f"def f({ast.unparse(function.args)}): pass"))
        .split("(", 1)[1]
        .rsplit(")", 1)[0]
    )


def definitions(source: str) -> dict[str, Any]:
    """Module-level functions (their parameters), classes (their methods' parameters) and other names."""
    found: dict[str, Any] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign):  # names made by a call or an alias: there, but of unknown shape
            found.update((t.id, None) for t in node.targets if isinstance(t, ast.Name))
        if isinstance(node, ast.FunctionDef):
            found[node.name] = _arguments(node)
        elif isinstance(node, ast.ClassDef):
            members: dict[str, Any] = {}
            for part in node.body:
                if isinstance(part, ast.FunctionDef):
                    members[part.name] = _arguments(part)
                elif isinstance(part, ast.Assign):
                    members.update((t.id, None) for t in part.targets if isinstance(t, ast.Name))
            found[node.name] = members
    return found


def exported(source: str) -> dict[str, str]:
    """Public name -> name it is defined under: ``__all__`` of a package, and what its imports bring."""
    names: dict[str, str] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names.update({name: name for name in ast.literal_eval(node.value) if name not in names})
        elif isinstance(node, ast.ImportFrom) and node.level:
            names.update({alias.asname or alias.name: alias.name for alias in node.names})
    return names


def read(wheel: str) -> dict[str, Any]:
    """The signatures of one wheel."""
    result: dict[str, Any] = {"wheel": wheel.rsplit("/", 1)[-1]}
    with zipfile.ZipFile(wheel) as archive:
        result["operators"] = operators(archive.read("torch_npu/lib/libtorch_npu.so"))
        for package in _PACKAGES:
            public = exported(archive.read(f"{package}__init__.py").decode())
            known: dict[str, Any] = {}
            for name in archive.namelist():
                if (
                    name.startswith(package)
                    and name.endswith(".py")
                    and name.count("/") == package.count("/")
                ):
                    known.update(definitions(archive.read(name).decode()))
            result[package.strip("/").replace("/", ".")] = {
                name: known.get(public[name]) for name in sorted(public) if not name.startswith("__")
            }
    return result


if __name__ == "__main__":
    json.dump(read(sys.argv[1]), sys.stdout, indent=0, sort_keys=True)
    sys.stdout.write("\n")
