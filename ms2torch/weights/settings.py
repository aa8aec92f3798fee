"""A model's configuration, from Hugging Face's `config.json` or MindFormers' YAML, under common names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ms2torch.errors import UserError
from ms2torch.weights.table import Table

# Where MindFormers' YAML has another name for what config.json says.
_YAML_NAMES = {
    "rotary_scaling_factor": "rope_factor",
    "num_layers": "num_hidden_layers",
    "num_heads": "num_attention_heads",
    "n_kv_heads": "num_key_value_heads",
    "num_query_groups": "num_key_value_heads",
    "kv_channels": "head_dim",
    "ffn_hidden_size": "intermediate_size",
    "rotary_base": "rope_theta",
    "layernorm_epsilon": "rms_norm_eps",
    "position_embedding_type": "rope_type",
    "mtp_num_layers": "num_nextn_predict_layers",
}
_ROPE_NAMES = {"factor": "rope_factor", "type": "rope_type"}
_ROPE_TYPES = {"rope": "default"}
LAYOUT = ("tensor_parallel", "pipeline_parallel", "expert_parallel")


@dataclass(frozen=True)
class Settings:
    """What one file says."""

    path: Path
    kind: str  # "hf" or "yaml"
    values: Mapping[str, Any]
    parallel: Mapping[str, int] = field(default_factory=dict)


def read(path: Path) -> Settings:
    """The configuration in a `.json` or `.yaml` file, or in the `config.json` of a directory.

    UserError for a file that is missing, broken, or has no model in it.
    """
    if path.is_dir():
        path = path / "config.json"
    try:
        text = path.read_text(encoding="utf-8")
        data = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    except (ValueError, yaml.YAMLError) as error:
        raise UserError(f"{path} cannot be read: {error}") from error
    if not isinstance(data, dict):
        raise UserError(f"{path} holds no configuration")
    return _from_hf(path, data) if path.suffix == ".json" else _from_yaml(path, data)


def _from_hf(path: Path, data: dict[str, Any]) -> Settings:
    values = {key: value for key, value in data.items() if not isinstance(value, dict)}
    rope = data.get("rope_parameters") or data.get("rope_scaling") or {}
    for key, value in rope.items():
        values.setdefault(_ROPE_NAMES.get(str(key), str(key)), value)
    if not rope:
        values.setdefault("rope_type", "default")
    return Settings(path, "hf", values)


def _from_yaml(path: Path, data: dict[str, Any]) -> Settings:
    model = data.get("model")
    if isinstance(model, dict) and isinstance(model.get("model_config"), dict):
        model = model["model_config"]
    if not isinstance(model, dict):
        raise UserError(f"{path} has no section `model`")
    values: dict[str, Any] = {}
    for key, value in model.items():
        name = _YAML_NAMES.get(str(key), str(key))
        if not isinstance(value, dict):
            values[name] = value
        elif name == "rope_scaling":
            values.update({_ROPE_NAMES.get(str(k), str(k)): v for k, v in value.items()})
    if "rope_type" in values:
        values["rope_type"] = _ROPE_TYPES.get(values["rope_type"], values["rope_type"])
    parallel = data.get("parallelism") or {}
    found = {name: parallel[name] for name in LAYOUT if isinstance(parallel.get(name), int)}
    return Settings(path, "yaml", values, found)


def model_of(settings: Mapping[str, Any], tables: Mapping[str, Table], where: object) -> Table:
    """The table for the model that a configuration names; UserError lists what is known."""
    kind = settings.get("model_type")
    named = settings.get("architectures") or []
    named = [named] if isinstance(named, str) else named
    for table in tables.values():
        if table.model == kind or set(table.architectures) & set(named):
            return table
    raise UserError(
        f"{where} is for {kind or ', '.join(named) or 'an unknown model'}; there are weight tables for "
        f"{', '.join(sorted(tables))}: add one with --map, or name one with --model"
    )


def _told(value: Any) -> str:
    return "nothing" if value is None else str(value)


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return bool(a) == bool(b) if isinstance(a, bool | None) and isinstance(b, bool | None) else a == b
    try:
        return float(a) == float(b)
    except (TypeError, ValueError):
        return bool(a == b)


def mismatches(table: Table, hf: Settings, other: Settings, padded: bool) -> list[str]:
    """Each key on which `config.json` and the YAML disagree, with both values; ``padded`` allows a larger
    vocabulary in the YAML."""
    found = []
    for key in [*table.compare, *table.compare_if_both, "rope_type"]:
        if key not in table.compare and (key not in hf.values or key not in other.values):
            continue
        a, b = (s.values.get(key, table.defaults.get(key)) for s in (hf, other))
        if _equal(a, b) or (key == "vocab_size" and padded and b >= a):
            continue
        default = " (its default)" if key not in other.values else ""
        found.append(f"{key}: {_told(a)} in {hf.path.name}, {_told(b)}{default} in {other.path.name}")
    return found


def values_of(table: Table, hf: Settings | None, other: Settings | None) -> dict[str, Any]:
    """All values for the table's formulas: config.json's before the YAML's before the defaults."""
    values: dict[str, Any] = dict(table.defaults)
    values["interleaved_mlp"] = True
    values.update(other.values if other else {})
    values.update(hf.values if hf else {})
    values.setdefault("padded_vocab_size", values.get("vocab_size"))
    return values


def layout_problems(table: Table, values: Mapping[str, Any], parallel: Mapping[str, int]) -> list[str]:
    """Each degree of parallelism that does not divide what it has to, with the numbers."""
    found = []
    for name in LAYOUT:
        degree = parallel.get(name) or 1
        if degree < 1:
            found.append(f"{name} {degree} is less than 1")
            continue
        for key in table.divides.get(name, []) if degree > 1 else []:
            size = values.get(key)
            if isinstance(size, int) and size % degree:
                found.append(f"{name} {degree} does not divide {key} {size}")
    return found
