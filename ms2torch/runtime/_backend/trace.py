"""Dumps what named modules take and give during a run, so that two runs can be compared layer by layer.

    with trace.Trace(model, "dump", modules=["model.decoder.layers.*"]) as recorder:
        loss = model(**batch)
        loss.backward()
        recorder.gradients()
        recorder.finish(loss=loss)

writes ``dump/step_000001.safetensors`` with one tensor for each

    <module path>|input|<n>, <module path>|output|<n>, <module path>|output_grad|<n>,
    <parameter path>|grad, <parameter path>|value, |scalar|<name>

``MF_TRACE=dump`` (with ``MF_TRACE_MODULES``, patterns joined by commas, and ``MF_TRACE_STEPS``, numbers joined
by commas) does the same in the port's Trainer. ``ms2torch compare`` reads two such folders.
"""

from __future__ import annotations

import fnmatch
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from . import distributed

__all__ = ["Trace", "from_environment"]

ALL = ("*",)


class Trace:
    """Records the modules of one or more models between entering and ``finish``.

    ``models``: a module or a sequence of modules (the parts of a pipeline); ``modules``: patterns of module
    paths in fnmatch's syntax ("" is the model itself). Tensors are copied to the CPU in their own dtype;
    distributed tensors give their local part. Raises FileExistsError where the step's file exists.
    """

    def __init__(
        self, models: Any, folder: str | os.PathLike[str], modules: Iterable[str] = ALL, step: int = 1
    ) -> None:
        parts = models if isinstance(models, Sequence) else [models]
        self.models: list[torch.nn.Module] = list(parts)
        rank = f"_rank_{distributed.get_rank()}" if distributed.get_world_size() > 1 else ""
        self.path = Path(folder) / f"step_{step:06d}{rank}.safetensors"
        self.patterns = tuple(modules)
        self.tensors: dict[str, torch.Tensor] = {}
        self.order: list[str] = []
        self.calls: dict[str, int] = {}
        self.handles: list[Any] = []

    def __enter__(self) -> Trace:
        if self.path.exists():
            raise FileExistsError(f"{self.path} exists: name another folder or step")
        for model in self.models:
            for path, module in model.named_modules():
                if any(fnmatch.fnmatchcase(path, pattern) for pattern in self.patterns):
                    hook = self._hook(path)
                    self.handles.append(module.register_forward_hook(hook, with_kwargs=True))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for handle in self.handles:
            handle.remove()
        self.handles.clear()

    def _hook(self, path: str) -> Any:
        def hook(module: Any, args: Any, kwargs: Any, output: Any) -> None:
            # A module that runs again (a micro-batch, a recomputation) keeps its first run.
            if self.calls.setdefault(path, 0):
                return
            self.calls[path] = 1
            self.order.append(path)
            for i, value in enumerate(_tensors((args, kwargs))):
                self._keep(f"{path}|input|{i}", value)
            for i, value in enumerate(_tensors(output)):
                self._keep(f"{path}|output|{i}", value)
                if value.requires_grad and torch.is_grad_enabled():
                    value.register_hook(self._grad_hook(f"{path}|output_grad|{i}"))  # type: ignore[no-untyped-call]

        return hook

    def _grad_hook(self, key: str) -> Any:
        def hook(grad: torch.Tensor) -> None:
            self._keep(key, grad)

        return hook

    def _keep(self, key: str, value: torch.Tensor) -> None:
        local = getattr(value, "_local_tensor", value)
        self.tensors[key] = local.detach().to("cpu", copy=True).contiguous()

    def gradients(self) -> None:
        """Records the gradients of all parameters, as the optimizer is about to take them."""
        for path, parameter in self._parameters():
            grad = getattr(parameter, "main_grad", None)
            grad = parameter.grad if grad is None else grad
            if grad is not None:
                self._keep(f"{path}|grad", grad)

    def finish(self, **scalars: Any) -> Path:
        """Adds the values of all parameters and the given scalars (loss, norm), and writes the file."""
        for path, parameter in self._parameters():
            self._keep(f"{path}|value", parameter)
        for name, value in scalars.items():
            if value is not None:
                self._keep(f"|scalar|{name}", torch.as_tensor(value).float())
        self._write()
        return self.path

    def _parameters(self) -> Iterator[tuple[str, torch.nn.Parameter]]:
        return itertools.chain.from_iterable(model.named_parameters() for model in self.models)

    def _write(self) -> None:
        from safetensors.torch import save_file

        self.path.parent.mkdir(parents=True, exist_ok=True)
        staged = self.path.with_suffix(".part")
        save_file(self.tensors, str(staged), metadata={"order": json.dumps(self.order)})
        os.replace(staged, self.path)


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def from_environment(models: Any, step: int, environment: Mapping[str, str] = os.environ) -> Trace | None:
    """The trace that MF_TRACE asks for at a step (counted from 1), or None. Raises ValueError for bad steps."""
    folder = environment.get("MF_TRACE")
    if not folder:
        return None
    text = environment.get("MF_TRACE_STEPS", "1")
    try:
        steps = {int(part) for part in text.split(",") if part.strip()}
    except ValueError:
        raise ValueError(f"MF_TRACE_STEPS={text!r} is no list of numbers such as 1,10") from None
    if step not in steps:
        return None
    patterns = [part.strip() for part in environment.get("MF_TRACE_MODULES", "*").split(",")]
    return Trace(models, folder, patterns, step)
