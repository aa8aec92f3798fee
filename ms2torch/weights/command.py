"""The command line of `ms2torch weights`. What needs torch is imported when a command runs."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from ms2torch.errors import UserError

if TYPE_CHECKING:
    from ms2torch.weights.differ import Difference

_KINDS = ("hf", "mindformers", "mindspore")
_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "B": 1}
_SHOWN = 50


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds `weights` with its three commands."""
    weights = commands.add_parser("weights", help="convert, compare and map checkpoints", allow_abbrev=False)
    inner = weights.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _convert_parser(inner)
    compare = inner.add_parser(
        "diff",
        help="compare two checkpoints",
        description="Names, shapes, types and values of A and B, in whatever formats they are.",
        epilog="exit code: 0 the same, 1 different, 2 bad usage or input",
        allow_abbrev=False,
    )
    compare.add_argument("a", metavar="A", type=Path)
    compare.add_argument("b", metavar="B", type=Path)
    compare.add_argument(
        "--tolerance", metavar="X", type=float, default=0.0, help="largest difference that counts as none"
    )
    compare.add_argument("--json", metavar="FILE", type=Path, help="write all differences")
    compare.set_defaults(run=_diff)
    named = inner.add_parser(
        "map",
        help="the names of a rewritten model's tensors, to edit",
        description="Builds a model of PORT in a process of its own and writes its tensors' names as JSON: "
        "what MindSpore calls each, what the port calls it, shape, type, and whether it is trained.",
        allow_abbrev=False,
    )
    named.add_argument("port", metavar="PORT", type=Path, help="directory that ms2torch rewrite made")
    which = named.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--yaml", metavar="FILE", type=Path, help="MindFormers' YAML: the model that it trains"
    )
    which.add_argument("--make", metavar="MODULE:CALLABLE", help="what makes the model, such as net:Network")
    named.add_argument("--arguments", metavar="JSON", default="{}", help="keyword arguments of --make")
    named.add_argument(
        "--against", metavar="CKPT", type=Path, help="a MindSpore checkpoint, whose names to match"
    )
    named.add_argument("-o", "--output", metavar="FILE.json", type=Path, help="default: printed")
    named.set_defaults(run=_map)


def _convert_parser(inner: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    convert = inner.add_parser(
        "convert",
        help="a checkpoint in other names and another format",
        description="Checks everything first, then converts tensor by tensor; OUT is whole or not there.",
        epilog="exit code: 0 done, 2 bad usage or input",
        allow_abbrev=False,
    )
    convert.add_argument("source", metavar="IN", type=Path, help="file, directory, index, or ranks' folders")
    convert.add_argument("out", metavar="OUT", type=Path, help="directory, or a .safetensors or .ckpt file")
    convert.add_argument("--from", dest="origin", choices=_KINDS, required=True, help="names of IN")
    convert.add_argument("--to", dest="target", choices=_KINDS, required=True, help="names of OUT")
    convert.add_argument("--config", metavar="FILE", type=Path, help="config.json; default: the one in IN")
    convert.add_argument("--yaml", metavar="FILE", type=Path, help="MindFormers' YAML, checked against it")
    convert.add_argument(
        "--model", metavar="NAME", help="weight table; default: by the configuration. `any`: by convention"
    )
    convert.add_argument(
        "--map", dest="maps", metavar="FILE", type=Path, action="append", default=[],
        help="a weight table of your own (.yaml), or names as `weights map` writes them (.json)",
    )  # fmt: skip
    convert.add_argument(
        "--set", dest="sets", metavar="NAME=VALUE", action="append", default=[],
        help="a number of the configuration, before all files",
    )  # fmt: skip
    convert.add_argument("--dtype", choices=("float32", "float16", "bfloat16"), help="default: as in IN")
    convert.add_argument(
        "--shard-size", metavar="SIZE", type=_size, default=_size("5GB"), help="default: 5GB"
    )
    convert.add_argument(
        "--pad-vocab",
        action="store_true",
        help="pad the vocabulary to the YAML's, or cut it to config.json's",
    )
    for short, name in (("tp", "tensor"), ("pp", "pipeline"), ("ep", "expert")):
        convert.add_argument(
            f"--{short}", metavar="N", type=int, dest=f"{name}_parallel",
            help=f"{name} parallelism that OUT is for; refused if it does not divide",
        )  # fmt: skip
    convert.add_argument("--force", action="store_true", help="write over OUT")
    convert.set_defaults(run=_convert)


def _size(text: str) -> int:
    upper = text.strip().upper()
    unit = next((u for u in sorted(_UNITS, key=len, reverse=True) if upper.endswith(u)), "")
    try:
        size = int(float(upper.removesuffix(unit)) * _UNITS.get(unit, 1))
    except ValueError:
        size = 0
    if size < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 5GB or 300MB")
    return size


def _need_torch() -> None:
    gone = [name for name in ("torch", "safetensors", "numpy") if find_spec(name) is None]
    if gone:
        raise UserError(f"this command needs {' and '.join(gone)}: pip install 'ms2torch[weights]'")


def _convert(arguments: argparse.Namespace, engine: object) -> int:
    _need_torch()
    from ms2torch.weights import convert

    sets = {}
    for text in arguments.sets:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UserError(f"--set {text}: write it as NAME=VALUE")
        sets[name] = convert.value_of(value)
    layout = ("tensor_parallel", "pipeline_parallel", "expert_parallel")
    asked = convert.Request(
        arguments.source, arguments.out, arguments.origin, arguments.target, arguments.config, arguments.yaml,
        arguments.model, tuple(arguments.maps), sets,
        {name: getattr(arguments, name) for name in layout if getattr(arguments, name) is not None},
        arguments.dtype, arguments.shard_size, arguments.pad_vocab, arguments.force,
    )  # fmt: skip
    done = convert.convert(asked)
    stdout = Console(highlight=False, soft_wrap=True, markup=False)
    stdout.print(f"{arguments.source} → {arguments.out}: {done.tensors} tensors, {done.size:,} bytes")
    if done.left_out:
        stdout.print(f"left out, as they are no weights of the result: {', '.join(done.left_out)}")
    return 0


def _diff(arguments: argparse.Namespace, engine: object) -> int:
    _need_torch()
    from ms2torch.weights.differ import diff

    looked, found = diff(arguments.a, arguments.b, arguments.tolerance)
    if arguments.json is not None:
        arguments.json.write_text(
            json.dumps([asdict(one) for one in found], indent=1) + "\n", encoding="utf-8"
        )
    stdout = Console(highlight=False, soft_wrap=True, markup=False)
    for one in found[:_SHOWN]:
        stdout.print(_told(one))
    if len(found) > _SHOWN:
        stdout.print(f"… and {len(found) - _SHOWN} more; --json FILE has them all")
    stdout.print(f"{looked} tensors, {len(found)} different")
    return 1 if found else 0


def _told(one: Difference) -> str:
    if one.kind == "values":
        return f"{one.name}: values, largest difference {one.largest:.3g} ({one.relative:.1e} of the largest)"
    if one.kind.startswith("only"):
        return f"{one.name}: {one.kind}, {one.a or one.b}"
    return f"{one.name}: {one.kind} {one.a} and {one.b}"


def _map(arguments: argparse.Namespace, engine: object) -> int:
    _need_torch()
    from ms2torch.weights import namemap

    made = namemap.derive(
        arguments.port, arguments.yaml, arguments.make, arguments.arguments, arguments.against
    )
    text = json.dumps(made, indent=1) + "\n"
    if arguments.output is None:
        print(text, end="")
    else:
        arguments.output.write_text(text, encoding="utf-8")
    return 0
