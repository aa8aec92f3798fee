"""Write mapping_tables/aliases.yaml: which MindSpore names are one object.

MindSpore exposes one object under many names (``mindspore.float32`` is also
``mindspore.dtype.float32``, ``mindspore.common.dtype.float32`` and ten more). The mapping tables
hold one row per object, so they need to know. This script imports MindSpore, groups the names of
its modules by object identity and chooses one canonical name per object.

Run it with a Python that has MindSpore (CPU is enough; the result depends on its version only)::

    python scripts/generate_aliases.py --output mapping_tables/aliases.yaml

The header that it writes says how to read the file.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import sys
import types
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

# Operator build scripts, kernels' registrations, code generators and MindSpore's own compiler: nothing
# there is imported by model code.
SKIPPED_MODULES = re.compile(
    r"mindspore\.(_akg|_extends|ops_generate|include|lib|tools|onnx|run_check|safeguard|rewrite|config"
    r"|_check_jit_forbidden_api|multiprocessing|_c_dataengine|_c_mindrecord|_profiler|default_config"
    r"|graph\._(?:parse|optimize|pijit|extends|utils|vmap)"
    r"|ops\.gen_\w+|ops\.auto_generate\.\w+|ops\.pyboost_inner_prim|ops\.operations\.manually_defined\.\w+"
    r"|ops\._op_impl|ops\._grad_experimental|ops\._vmap|ops\._utils|ops\.bprop_mindir|ops\.custom_ops"
    r"|ops\.composite\.multitype_ops"
    r"|dataset\.(?:debug|callback\.|core|engine\.(?:serializer|cache_admin|queue|validators|offload)|\w+\.(?:validators|py_transforms_util))"
    r"|mindrecord\.(?:common|shard|tools)"
    r"|profiler\.(?:analysis|platform|parser|dynamic_profile|dynamic_profiler)"
    r"|parallel\.(?:mpi|_auto_parallel_context\.|distributed)|train\.(?:summary|_utils)"
    r"|hal\.contiguous_tensors_handle|scipy|boost)(?:\.|$)"
)

# Private modules and names that model code (MindFormers among it) is seen to import.
KEPT_PRIVATE_MODULES = frozenset(
    (
        "mindspore._checkparam",
        "mindspore._c_expression.typing",
        "mindspore.common._grad_function",
        "mindspore.communication._comm_helper",
        "mindspore.parallel._utils",
        "mindspore.parallel._cost_model_context",
        "mindspore.parallel._tensor",
        "mindspore.parallel._auto_parallel_context",
        "mindspore.utils._tft_handler",
        "mindspore.common._register_for_tensor",
        "mindspore.common._stub_tensor",
        "mindspore.ops._primitive_cache",
        "mindspore.common._tensor_overload",
        "mindspore.parallel._parallel_serialization",
        "mindspore.common._pynative_executor",
    )
)
KEPT_PRIVATE_NAMES = frozenset(
    (
        "_no_grad",
        "_Function",
        "_pynative_executor",
        "_DistributedTensorInfo",
        "_ExperimentalConfig",
        "_get_group_map",
        "_is_initialized",
        "_remove_group_info",
        "_set_multi_subgraphs",
        "_get_parallel_mode",
        "_is_sharding_propagation",
        "_get_device_num",
        "_get_global_rank",
        "_is_in_auto_parallel_mode",
        "_is_pynative_parallel",
        "_get_full_batch",
        "_inner_ops",
        "_get_cache_prim",
        "_load_tensor_by_layout",
        "_get_strategy_opt_shard",
        "_infer_rank_list",
        "_convert_to_list",
        "_get_pipeline_stages",
        "_get_gradients_mean",
        "_get_enable_parallel_optimizer",
        "_LogActionOnce",
    )
)

# Where an object's public home is looked for, best first; any other place comes after these.
# Packages whose attributes may be modules under another name (mindspore.dtype is mindspore.common.dtype).
PACKAGES_OF_MODULES = (
    "mindspore",
    "mindspore.common",
    "mindspore.mint",
    "mindspore.mint.nn",
    "mindspore.ops",
)

HOMES = (
    "mindspore",
    "mindspore.mint",
    "mindspore.ops",
    "mindspore.nn",
    "mindspore.communication",
    "mindspore.dataset",
)


# Namespaces as `import mindspore` alone leaves them: importing the sub-module mindspore.common.mutable later
# would replace the function mindspore.common.mutable.
FRESH: dict[str, dict[str, object]] = {}


def namespace(path: str, module: types.ModuleType) -> dict[str, object]:
    return {**vars(module), **FRESH.get(path, {})}


def load_modules() -> dict[str, types.ModuleType]:
    """Import MindSpore with its sub-modules; give every module path under which one can be reached."""
    import mindspore

    for path, module in sys.modules.items():
        if path.split(".")[0] == "mindspore" and isinstance(module, types.ModuleType):
            FRESH[path] = dict(vars(module))
    for found in pkgutil.walk_packages(mindspore.__path__, "mindspore.", onerror=lambda _: None):
        if not SKIPPED_MODULES.match(found.name):
            try:
                importlib.import_module(found.name)
            except ImportError as error:  # parts that need a GPU or an NPU build
                print(f"skipped {found.name}: {error}", file=sys.stderr)
    modules = {
        path: module
        for path, module in sorted(sys.modules.items())
        if path.split(".")[0] == "mindspore" and isinstance(module, types.ModuleType) and is_kept_module(path)
    }
    # attributes that are modules: mindspore.dtype is the module mindspore.common.dtype
    for path in PACKAGES_OF_MODULES:
        for name, value in namespace(path, modules[path]).items():
            if not isinstance(value, types.ModuleType) or not is_kept_module(value.__name__):
                continue
            if value.__name__ != "mindspore" and (
                name in ("P", "F") or name == value.__name__.rpartition(".")[2]
            ):
                modules.setdefault(f"{path}.{name}", value)
    return modules


def forwarding_modules(modules: dict[str, types.ModuleType]) -> dict[str, str]:
    """Deprecated module paths whose file only forwards to another module (mindspore.common.api)."""
    moved = {}
    for path, module in modules.items():
        source = getattr(module, "__file__", None) or ""
        if source.endswith(".py"):
            text = Path(source).read_text(encoding="utf-8")
            found = re.search(r"^mark_deprecated\(__name__, ['\"]([\w.]+)['\"]", text, re.MULTILINE)
            if found:
                moved[path] = found.group(1)
    return moved


def folded_modules() -> tuple[dict[str, str], list[str]]:
    """Generated sub-modules whose package offers nearly all that they define (gen_ops_prim), and the rest."""
    folded, own_names = {}, []
    for path, module in list(sys.modules.items()):
        parent = path.rpartition(".")[0]
        if parent == "mindspore.ops.auto_generate" and isinstance(module, types.ModuleType):
            above = vars(sys.modules[parent])
            own = [(n, v) for n, v in members(path, module) if getattr(v, "__module__", None) == path]
            missing = [name for name, value in own if above.get(name) is not value]
            if len(missing) * 20 < len(own):
                folded[path] = parent
                own_names += [f"{path}.{name}" for name in missing]
    return folded, own_names


def is_shadowed(path: str, module: types.ModuleType) -> bool:
    """mindspore.common.mutable is a module, and an attribute of mindspore.common: a function."""
    parent, _, name = path.rpartition(".")
    if parent not in sys.modules:
        return False
    return not isinstance(namespace(parent, sys.modules[parent]).get(name, module), types.ModuleType)


def is_kept_module(path: str) -> bool:
    if not path.startswith("mindspore") or SKIPPED_MODULES.match(path):
        return False
    return path in KEPT_PRIVATE_MODULES or not any(part.startswith("_") for part in path.split("."))


def is_mindspore_object(value: object) -> bool:
    """Objects with an identity of their own: no numbers, strings or containers, and nothing foreign."""
    if isinstance(
        value, (types.ModuleType, str, bytes, int, float, complex, list, tuple, dict, set, frozenset)
    ):
        return False
    if value is None or value is NotImplemented or value is Ellipsis:
        return False
    owner = value if isinstance(value, (type, types.FunctionType)) else type(value)
    if isinstance(value, types.BuiltinFunctionType):
        return (value.__module__ or "").startswith("mindspore") or "pybind" in type(value.__self__).__name__
    return str(getattr(owner, "__module__", "")).split(".")[0] == "mindspore"


def members(path: str, module: types.ModuleType) -> Iterator[tuple[str, object]]:
    for name, value in sorted(namespace(path, module).items()):
        if name.startswith("_") and name not in KEPT_PRIVATE_NAMES and path != "mindspore._checkparam":
            continue
        if name.startswith(("__", "infer_value_for_")) or not is_mindspore_object(value):
            continue
        yield name, value


def is_reexport(module: types.ModuleType, name: str, value: object) -> bool:
    """Does the module mean to offer the name, rather than just use it?"""
    if hasattr(module, "__path__") or name in getattr(module, "__all__", ()):
        return True
    if module.__name__ == "mindspore.common.dtype":  # its public classes come from the C++ module
        return True
    defined_in = getattr(value, "__module__", None)
    if defined_in == module.__name__:
        return True
    return not isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType))


def canonical_key(path: str, listed: bool, value: object) -> tuple[object, ...]:
    """Sort key: the smallest of an object's names is canonical."""
    # of float32, float and single the one that the dtype calls itself
    unlike = type(value).__module__ == "mindspore._c_expression.typing" and not path.endswith(
        f".{value}".lower()
    )
    head = ".".join(path.split(".")[:2]) if path.count(".") > 1 else "mindspore"
    dots = path.count(".")
    private = any(part.startswith("_") for part in path.split("."))
    rank = HOMES.index(head) if head in HOMES else len(HOMES)
    if head == "mindspore.mint" and not listed:  # mindspore.mint.nn.Cell is only used there
        rank = len(HOMES)
    deep = dots > 2 and not (listed and head == "mindspore.mint")
    # of float32, float and single the one that the dtype calls itself
    unlike = type(value).__module__ == "mindspore._c_expression.typing" and not path.endswith(
        f".{value}".lower()
    )
    if private or deep:
        owner = value if isinstance(value, (type, types.FunctionType)) else type(value)
        elsewhere = path.rpartition(".")[0] != owner.__module__
        return (True, dots, private, elsewhere, rank, unlike, path)
    return (False, rank, dots, unlike, path)


def build() -> tuple[dict[str, str], dict[str, list[str]]]:
    modules = load_modules()

    by_module: dict[int, list[str]] = defaultdict(list)
    for path, module in modules.items():
        by_module[id(module)].append(path)
    module_alias: dict[str, str] = {}
    for paths in by_module.values():
        real = modules[paths[0]].__name__
        top = [p for p in paths if p.count(".") == 1 and not p.split(".")[1].startswith("_")]
        best = min(top) if top else real if real in paths else min(paths)
        module_alias.update({p: best for p in paths if p != best})
    forwarding = forwarding_modules(modules)
    for path, target in forwarding.items():
        if is_kept_module(target):
            module_alias[path] = module_alias.get(target, target)
    folded, own_names = folded_modules()
    module_alias |= folded
    # the names of a shadowed module are listed one by one
    shadowed = {p for p in module_alias if p in modules and is_shadowed(p, modules[p])}
    for path in shadowed:
        del module_alias[path]

    listed: dict[int, set[str]] = defaultdict(set)
    named: dict[int, set[str]] = defaultdict(set)
    keep_alive: dict[int, object] = {}
    for path, module in modules.items():
        if path in module_alias:  # its names are reached through the module row
            continue
        for name, value in members(path, module):
            keep_alive[id(value)] = value
            full = f"{path}.{name}"
            forwarded = path in shadowed and getattr(value, "__module__", None) == forwarding.get(path)
            if forwarded or is_reexport(module, name, value):
                named[id(value)].add(full)
                offered = getattr(module, "__all__", None)
                if path == "mindspore" or offered is None or name in offered:
                    listed[id(value)].add(full)
    # constants have no identity: those that a package and its own module both offer under one name
    for path, module in modules.items():
        for name in getattr(module, "__all__", ()) if path not in module_alias else ():
            value = namespace(path, module).get(name)
            if isinstance(value, (str, int)) and name.isupper() and len(name) > 3:
                key = hash((name, type(value), value))
                keep_alive[key] = value
                named[key].add(f"{path}.{name}")
                listed[key].add(f"{path}.{name}")
    names: dict[str, list[str]] = {}
    for key, paths in named.items():
        best = min(paths, key=lambda p: canonical_key(p, p in listed[key], keep_alive[key]))
        if len(paths) > 1 or is_shadowed(best.rpartition(".")[0], modules[best.rpartition(".")[0]]):
            names[best] = sorted(p for p in paths if p != best) or [best]
    names |= {name: [name] for name in own_names}
    return dict(sorted(module_alias.items())), dict(sorted(names.items()))


HEADER = """\
# Which MindSpore names are one object. Generated: do not edit.
#   command:   python scripts/generate_aliases.py --output mapping_tables/aliases.yaml
#   MindSpore: {version}
#
# modules: {{other path of a module: its canonical path}}
# names:   {{canonical name: [other full dotted names of the same object]}}; the module part of a name is
#          always a canonical module path.
#          A key that lists itself stands below a module whose path is also another's:
#          mindspore.parallel.shard is a function too, or a module that `modules` leads elsewhere.
# To resolve a dotted name: if it is one of the names (keys and values), take its key. Else replace the
# longest prefix found in `modules` (repeat until none is), then take the longest prefix that is a key or
# a value of `names` and replace it by its key; what is left over (attributes of a class, say) is kept.
# Names not found here are canonical themselves.
"""


def render(modules: dict[str, str], names: dict[str, list[str]], version: str) -> str:
    lines = [HEADER.format(version=version), "modules:"]
    lines += [f"  {alias}: {target}" for alias, target in modules.items()]
    lines.append("names:")
    for name, aliases in names.items():
        lines.append(f"  {name}: [{', '.join(aliases)}]")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("mapping_tables/aliases.yaml"))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    modules, names = build()
    import mindspore

    text = render(modules, names, mindspore.__version__)
    args.output.write_text(text, encoding="utf-8")
    total = sum(map(len, names.values()))
    print(f"{args.output}: {len(modules)} modules, {len(names)} objects, {total} names, {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
