"""`ms2torch weights map`: the names of a rewritten model's tensors, as MindSpore and as the port say them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ms2torch.errors import UserError
from ms2torch.weights import generic, plan
from ms2torch.weights.formats import open_source
from ms2torch.weights.plan import Info

# Runs in the port, which does not have ms2torch: builds the model and writes what its tensors are called.
_BUILD = r"""
import importlib, json, sys
told = json.loads(sys.argv[1])
sys.modules.setdefault("mindspore", None)
import torch
if told["yaml"]:
    import yaml
    import mindformers.core.lr.lr_schedule
    from mindformers.pynative.config import TrainConfig
    from mindformers.pynative.trainer.trainer import patch_pynative_modules
    from mindformers.pynative.trainer.utils import _build_model
    patch_pynative_modules()
    with open(told["yaml"], encoding="utf-8") as handle:
        sections = yaml.safe_load(handle)
    importlib.import_module("mindformers.models")
    model = _build_model(TrainConfig.from_dict(sections))
else:
    name, _, attribute = told["make"].partition(":")
    made = importlib.import_module(name)
    for part in attribute.split("."):
        made = getattr(made, part)
    model = made(**told["arguments"])
if not isinstance(model, torch.nn.Module):
    raise TypeError(f"{told['make']} makes a {type(model).__name__}, which is no torch.nn.Module")
named = getattr(model, "parameters_dict", dict)()  # keyed as MindSpore names parameters in a checkpoint
called = {id(parameter): name for name, parameter in named.items()}
found = []
for kind, pairs in (("parameter", model.named_parameters()), ("buffer", model.named_buffers())):
    for name, tensor in pairs:
        own = called.get(id(tensor))
        found.append({
            "mindspore": own or name, "port": name, "shape": list(tensor.shape),
            "type": str(tensor.dtype).removeprefix("torch."), "kind": kind,
            "trained": bool(tensor.requires_grad),
        })
with open(told["result"], "w", encoding="utf-8") as handle:
    json.dump(found, handle)
"""


def derive(
    port: Path, config: Path | None, make: str | None, arguments: str, against: Path | None
) -> dict[str, Any]:
    """The name map of a model in ``port``: of a YAML's model, or of what MODULE:CALLABLE returns.

    With ``against`` MindSpore's names are those of a checkpoint, matched by name, by convention and by shape.
    UserError where the model cannot be built, with the last line of what Python said.
    """
    try:
        given = json.loads(arguments)
    except ValueError as error:
        raise UserError(f"--arguments {arguments!r} is no JSON: {error}") from error
    if not isinstance(given, dict):
        raise UserError(f"--arguments {arguments!r} is no JSON object")
    if not port.is_dir():
        raise UserError(f"{port} is no directory")
    if make is not None and not all(make.partition(":")):
        raise UserError(f"--make {make!r}: write it as MODULE:CALLABLE")
    if config is not None and not config.is_file():
        raise UserError(f"{config} does not exist")
    tensors = _built(port, config, make, given)
    if against is not None:
        _match(tensors, open_source(against).infos)
    return {"tensors": tensors}


def _built(port: Path, config: Path | None, make: str | None, given: dict[str, Any]) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "names.json"
        told = {
            "yaml": str(config.resolve()) if config else None,
            "make": make,
            "arguments": given,
            "result": str(result),
        }
        paths = [str(port.resolve()), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "LOG_MF_PATH": folder,
            "MF_DEVICE_TYPE": os.environ.get("MF_DEVICE_TYPE", "cpu"),
        }
        ended = subprocess.run(
            [sys.executable, "-c", _BUILD, json.dumps(told)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode or not result.is_file():
            lines = [line for line in ended.stderr.splitlines() if line.strip()]
            raise UserError(
                f"the model cannot be built in {port}: {lines[-1] if lines else 'no reason given'}"
            )
        made: list[dict[str, Any]] = json.loads(result.read_text(encoding="utf-8"))
        return made


def _match(tensors: list[dict[str, Any]], source: Mapping[str, Info]) -> None:
    """MindSpore's names as a checkpoint has them; null where it has none, `matched` says how it was found."""
    left = dict(source)
    for row in tensors:
        row["matched"] = "none"
        wanted = row["mindspore"], row["port"]
        for name in _named(wanted, left):
            row["mindspore"], row["matched"] = name, "name"
            left.pop(name)
            break
    for row in tensors:
        if row["matched"] != "none":
            continue
        shape = tuple(row["shape"])
        alike = [name for name, info in left.items() if info.shape == shape]
        rivals = [r for r in tensors if r["matched"] == "none" and tuple(r["shape"]) == shape]
        if len(alike) == len(rivals) == 1:
            row["mindspore"], row["matched"] = alike[0], "shape"
            left.pop(alike[0])
        else:
            row["mindspore"] = None


def _named(wanted: tuple[str, str], left: Mapping[str, Info]) -> Iterable[str]:
    suffixes = generic.conventions().suffixes
    forms = {form for name in wanted for form in plan.forms(name, suffixes)}
    for name in left:
        if forms & set(plan.forms(name, suffixes)):
            yield name
