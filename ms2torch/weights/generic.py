"""Names without a model: conventions of MindSpore's and torch's layers, and name maps that users edit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import torch
import yaml

from ms2torch.errors import UserError
from ms2torch.weights import expr
from ms2torch.weights.expr import Expr, Read
from ms2torch.weights.formula import as_regex
from ms2torch.weights.plan import Info, Plan, listed
from ms2torch.weights.table import FOLDER


class TorchOnly(msgspec.Struct, forbid_unknown_fields=True):
    """A buffer that MindSpore's layer does not have."""

    beside: str
    dtype: str
    fill: float


class Conventions(msgspec.Struct, forbid_unknown_fields=True):
    """`names.yaml`."""

    suffixes: dict[str, str]
    torch_only: dict[str, TorchOnly]
    state: list[str]


@lru_cache(maxsize=1)
def conventions() -> Conventions:
    """The names by convention."""
    data = yaml.safe_load((FOLDER / "names.yaml").read_text(encoding="utf-8"))
    return msgspec.convert(data, Conventions)


def copied(source: Mapping[str, Info], dtype: torch.dtype | None) -> Plan:
    """Every tensor under its own name."""
    plan = Plan()
    for name, info in source.items():
        made: Expr = Read(name, info.shape, info.dtype)
        if dtype is not None and info.dtype.is_floating_point and info.dtype != dtype:
            made = expr.Cast(made, dtype)
        plan.outputs[name] = made
    return plan


def make(source: Mapping[str, Info], origin: str, target: str, maps: tuple[Path, ...]) -> Plan:
    """Every tensor renamed: by name maps if given, else by the conventions. UserError lists names that the
    map lacks, that it expects and the source lacks, and those that would fall together."""
    state = [as_regex(pattern) for pattern in conventions().state]
    plan = Plan()
    plan.left_out = [name for name in source if any(pattern.fullmatch(name) for pattern in state)]
    kept = {name: info for name, info in source.items() if name not in set(plan.left_out)}
    if maps:
        _mapped(plan, kept, origin, maps)
    else:
        to_torch = origin != "hf" and target == "hf"
        for name, info in kept.items():
            made = _to_torch(name) if to_torch else _to_mindspore(name, info, kept)
            if made is None:
                plan.left_out.append(name)
            else:
                _put(plan, made, Read(name, info.shape, info.dtype), name)
        if to_torch:
            _torch_only(plan)
    return plan


def _put(plan: Plan, name: str, made: Expr, origin: str) -> None:
    if name in plan.outputs:
        other = ", ".join(plan.outputs[name].names())
        raise UserError(f"{origin} and {other} would both become {name}")
    plan.outputs[name] = made


def _to_torch(name: str) -> str:
    head, dot, last = name.rpartition(".")
    return head + dot + conventions().suffixes.get(last, last)


def _torch_only(plan: Plan) -> None:
    for last, told in conventions().torch_only.items():
        for name in list(plan.outputs):
            head, dot, end = name.rpartition(".")
            if end == told.beside:
                plan.outputs.setdefault(
                    head + dot + last, expr.Fill((), getattr(torch, told.dtype), told.fill)
                )


def _to_mindspore(name: str, info: Info, source: Mapping[str, Info]) -> str | None:
    """MindSpore's name. A norm is told by its weight of one dimension, an embedding by its module's name."""
    head, dot, last = name.rpartition(".")
    if last in conventions().torch_only:
        return None
    back = {value: key for key, value in conventions().suffixes.items() if key.startswith("moving_")}
    if last in back:
        return head + dot + back[last]
    weight = source.get(f"{head}{dot}weight")
    if last in ("weight", "bias") and weight is not None and len(weight.shape) == 1:
        return head + dot + {"weight": "gamma", "bias": "beta"}[last]
    if last == "weight" and "embed" in head.rpartition(".")[2].lower():
        return f"{head}{dot}embedding_table"
    return name


def read_map(path: Path) -> list[dict[str, Any]]:
    """The rows of a name map (`ms2torch weights map` writes it). UserError for a file that is none."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["tensors"]
        pairs = [(row["mindspore"], row["port"]) for row in rows]
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is no name map; `ms2torch weights map` writes one") from error
    for side, names in (("mindspore", [a for a, _ in pairs]), ("port", [b for _, b in pairs])):
        twice = sorted({name for name in names if name is not None and names.count(name) > 1})
        if twice:
            raise UserError(f"{path} has twice under {side}: {listed(twice)}")
    return list(rows)


def _mapped(plan: Plan, source: Mapping[str, Info], origin: str, maps: tuple[Path, ...]) -> None:
    # Names on MindSpore's side are those of its checkpoints, on the other side those of the port.
    a, b = ("mindspore", "port") if origin == "mindspore" else ("port", "mindspore")
    wanted: dict[str, tuple[str | None, list[int] | None]] = {}
    for path in maps:
        for row in read_map(path):
            if row[a] is not None:
                wanted[row[a]] = row[b], row.get("shape")
    missing = [name for name, (made, _) in wanted.items() if name not in source and made is not None]
    extra = [name for name in source if name not in wanted]
    wrong = [
        f"{name} has shape {list(source[name].shape)}, expected {shape}"
        for name, (_, shape) in wanted.items()
        if name in source and shape is not None and list(source[name].shape) != shape
    ]
    told = [f"{len(names)} {what}: {listed(names)}" for what, names in
            (("missing", missing), ("not in the map", extra)) if names] + wrong  # fmt: skip
    if told:
        raise UserError("the weights do not fit the map: " + "; ".join(told))
    for name, info in source.items():
        made = wanted[name][0]
        if made is None:
            plan.left_out.append(name)
        else:
            _put(plan, made, Read(name, info.shape, info.dtype), name)
