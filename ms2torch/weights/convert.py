"""`ms2torch weights convert`: everything is checked first, then tensor by tensor, then one rename."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import yaml

from ms2torch.errors import UserError
from ms2torch.weights import generic, plan, settings, table
from ms2torch.weights.formats import Checkpoint, open_source, ranks, writer
from ms2torch.weights.formula import evaluate, fill
from ms2torch.weights.plan import Plan

SIDES = {"hf": "hf", "mindformers": "mf", "mindspore": "mf"}
_BESIDE = (
    "config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "tokenizer.model",
    "special_tokens_map.json", "vocab.json", "merges.txt", "added_tokens.json", "chat_template.jinja",
)  # fmt: skip


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    source: Path
    out: Path
    origin: str
    target: str
    config: Path | None = None
    yaml: Path | None = None
    model: str | None = None
    maps: tuple[Path, ...] = ()
    sets: Mapping[str, Any] = field(default_factory=dict)
    parallel: Mapping[str, int] = field(default_factory=dict)
    dtype: str | None = None
    shard_size: int = 5 * 10**9
    pad_vocab: bool = False
    force: bool = False


@dataclass(frozen=True)
class Done:
    """What came of it: tensors and bytes written, names of the source that have no place in the result."""

    tensors: int
    size: int
    left_out: tuple[str, ...]


def convert(asked: Request, progress: Callable[[int, int], None] = lambda done, total: None) -> Done:
    """Convert a checkpoint. UserError, and nothing at OUT, for whatever does not fit: configurations that
    disagree, a layout that does not divide, tensors that are missing, extra, wrongly shaped or typed."""
    _check_out(asked)
    made, source, beside = prepare(asked)
    total = len(made.outputs)
    for number, (one, other) in enumerate(made.equal):
        if not ranks.same(source.read(one), source.read(other)):
            raise UserError(f"{one} differs from {other}, and the model has one tensor for both")
        progress(number, total + len(made.equal))
    with _staged(asked) as stage:
        _write(asked, made, source, stage, beside)
    return Done(total, sum(map(writer.size_of, made.outputs.values())), tuple(made.left_out))


def prepare(asked: Request) -> tuple[Plan, Checkpoint, list[Path]]:
    """The plan for a request, its source, and the files to be put beside the result. Reads no tensor."""
    again = SIDES[asked.origin] == SIDES[asked.target]
    if again and asked.model is None and not asked.maps:
        source = open_source(asked.source, SIDES[asked.origin])
        if not isinstance(source, ranks.MindSporeRanks) and not source.megatron:
            # Another file format, or one checkpoint of the port's ranks: names and values stay.
            made = generic.copied(source.infos, getattr(torch, asked.dtype) if asked.dtype else None)
            return made, source, _beside(asked, None)
    if asked.model == "any" or (asked.maps and all(path.suffix == ".json" for path in asked.maps)):
        source = open_source(asked.source, SIDES[asked.origin])
        return generic.make(source.infos, asked.origin, asked.target, asked.maps), source, []
    tables = table.load(asked.maps)
    hf, other = _settings(asked)
    first = hf or other
    assert first is not None
    if asked.model is not None and asked.model not in tables:
        raise UserError(
            f"--model {asked.model}: there are weight tables for any, {', '.join(sorted(tables))}"
        )
    known = tables[asked.model] if asked.model else settings.model_of(first.values, tables, first.path)
    if hf and other:
        found = settings.mismatches(known, hf, other, asked.pad_vocab)
        if found:
            raise UserError("the configurations disagree: " + "; ".join(found))
    values = settings.values_of(known, hf, other)
    if asked.pad_vocab and other:
        values["padded_vocab_size"] = other.values.get("vocab_size", values["vocab_size"])
    values.update(asked.sets)
    _check(known, values, {**(other.parallel if other else {}), **asked.parallel})
    source = open_source(asked.source, SIDES[asked.origin])
    if source.megatron:
        values["interleaved_mlp"] = False
    _count(known, values, source, SIDES[asked.origin], other, asked.sets)
    expanded = table.expand(known, values)
    conventions = generic.conventions()
    if isinstance(source, ranks.MindSporeRanks):
        plan.fit(expanded, source.infos, source.fit, conventions.suffixes)
    if again:  # by way of the other side, where rows of ranks and halves of Megatron have one form
        over = "hf" if SIDES[asked.target] == "mf" else "mf"
        source = Planned(
            plan.make(expanded, source.infos, over, suffixes=conventions.suffixes, state=conventions.state),
            source,
        )
        expanded = table.expand(known, {**values, "interleaved_mlp": asked.sets.get("interleaved_mlp", True)})
    made = plan.make(
        expanded,
        source.infos,
        SIDES[asked.target],
        dtype=getattr(torch, asked.dtype) if asked.dtype else None,
        suffixes=conventions.suffixes if SIDES[asked.origin] == "mf" and not again else {},
        state=conventions.state,
    )
    return made, source, _beside(asked, hf)


class Planned(Checkpoint):
    """The tensors of a plan as a source for the next one."""

    def __init__(self, made: Plan, source: Checkpoint) -> None:
        super().__init__()
        self._made, self._source = made.outputs, source
        self.infos = {name: plan.Info(one.shape, one.dtype) for name, one in made.outputs.items()}

    def read(self, name: str, index: int | None = None) -> torch.Tensor:
        """The tensor ``name``, or its part ``index`` of dimension 0."""
        made = self._made[name]
        return made.value(self._source) if index is None else made.at(self._source, index)


def _settings(asked: Request) -> tuple[settings.Settings | None, settings.Settings | None]:
    hf = other = None
    if asked.config:
        hf = settings.read(asked.config)
    elif asked.origin == "hf":
        folder = asked.source if asked.source.is_dir() else asked.source.parent
        if (folder / "config.json").is_file():
            hf = settings.read(folder)
    if asked.yaml:
        other = settings.read(asked.yaml)
    if hf is not None and hf.kind != "hf":
        raise UserError(f"{hf.path} is no config.json; give MindFormers' YAML with --yaml")
    if other is not None and other.kind != "yaml":
        raise UserError(f"{other.path} is no YAML; give Hugging Face's config.json with --config")
    if hf is None and other is None:
        raise UserError("the model's numbers are needed: add --config config.json or --yaml FILE, or both")
    return hf, other


def _check(known: table.Table, values: Mapping[str, Any], parallel: Mapping[str, int]) -> None:
    problems = settings.layout_problems(known, values, parallel)
    if problems:
        raise UserError("the target's layout does not fit the model: " + "; ".join(problems))
    for refusal in known.refuse:
        if evaluate(refusal.when, values):
            raise UserError(refusal.why)


def _count(
    known: table.Table,
    values: dict[str, Any],
    source: Checkpoint,
    side: str,
    other: settings.Settings | None,
    sets: Mapping[str, Any],
) -> None:
    """Numbers that the source's own tensors tell, unless the YAML or the user does."""
    names = {form for name in source.infos for form in plan.forms(name, {})}
    for key, patterns in known.count.items():
        if key in sets or (side == "hf" and other is not None and key in other.values):
            continue
        number = 0
        while side in patterns and fill(patterns[side], {**values, "n": number}) in names:
            number += 1
        values[key] = number


def _beside(asked: Request, hf: settings.Settings | None) -> list[Path]:
    if asked.target != "hf":
        return []
    folder = asked.source if asked.source.is_dir() else asked.source.parent
    if hf is not None:
        folder = hf.path.parent
    return [folder / name for name in _BESIDE if (folder / name).is_file()]


def _is_file(asked: Request) -> bool:
    return asked.out.suffix in (".ckpt", ".safetensors")


def _check_out(asked: Request) -> None:
    out = asked.out
    if out.suffix in (".bin", ".pt", ".pth"):
        raise UserError(f"{out}: pickles are read but not written; name a directory, .safetensors or .ckpt")
    if out.suffix == ".ckpt" and asked.target == "hf":
        raise UserError(f"{out}: Hugging Face has no .ckpt; name a directory or a .safetensors file")
    end, start = out.resolve(), asked.source.resolve()
    if end == start or end in start.parents or (start in end.parents and start.is_dir()):
        raise UserError(f"{out} and {asked.source} lie in each other; name another place")
    if end.exists() and not asked.force and (end.is_file() or any(end.iterdir())):
        raise UserError(f"{out} exists; name another place or add --force")


@contextmanager
def _staged(asked: Request) -> Iterator[Path]:
    """A folder beside OUT that takes OUT's place at the end, or is removed."""
    end = asked.out.resolve()
    made = [folder for folder in (end.parent, *end.parent.parents) if not folder.exists()]
    end.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{end.name}.", dir=end.parent))
    try:
        stage = work / end.name
        if not _is_file(asked):
            stage.mkdir()
        yield stage
        if end.is_dir() and not end.is_symlink():
            end.rename(work / "before")
        os.replace(stage, end)
    except BaseException:
        if (work / "before").exists() and not end.exists():
            (work / "before").rename(end)
        shutil.rmtree(work, ignore_errors=True)
        for folder in made:
            if folder.exists() and not any(folder.iterdir()):
                folder.rmdir()
        raise
    shutil.rmtree(work, ignore_errors=True)


def _write(asked: Request, made: Plan, source: Checkpoint, stage: Path, beside: list[Path]) -> None:
    if stage.suffix == ".ckpt":
        writer.write_ckpt(stage, made.outputs, source)
    elif stage.suffix == ".safetensors":
        writer.write_safetensors(stage, made.outputs, source, "pt" if asked.target == "hf" else "ms")
    elif asked.target == "hf":
        writer.write_shards(stage, made.outputs, source, asked.shard_size)
        for path in beside:
            shutil.copyfile(path, stage / path.name)
    elif asked.target == "mindspore":
        writer.write_ckpt(stage / "model.ckpt", made.outputs, source)
    else:
        # The name that MindFormers gives the file of rank 0 of 1.
        writer.write_safetensors(stage / "model-0000000-0000001.safetensors", made.outputs, source, "ms")


def value_of(text: str) -> Any:
    """The value in `--set NAME=VALUE`."""
    return yaml.safe_load(text)
