"""Runs the functions named case_* of the given files and prints what they returned, as JSON.

python runner.py torch|mindspore FILE...
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

INPUTS = {"x": [[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]], "v": [1.0, 2.0], "image": [[[[1.0, 2.0], [3.0, 4.0]]]]}


def tensor(side: str, data: Any) -> Any:
    if side == "torch":
        import torch

        return torch.tensor(data, dtype=torch.float32)
    import mindspore

    return mindspore.Tensor(np.array(data, np.float32))


def plain(value: Any) -> Any:
    """A value as JSON: a tensor or array with its dtype."""
    if hasattr(value, "detach"):
        return {"dtype": str(value.dtype).removeprefix("torch."), "data": value.detach().tolist()}
    if hasattr(value, "asnumpy"):
        return {"dtype": str(value.dtype).lower(), "data": value.asnumpy().tolist()}
    if isinstance(value, np.ndarray):
        return {"numpy": str(value.dtype), "data": value.tolist()}
    if isinstance(value, np.generic):
        return {"numpy": str(value.dtype), "data": value.item()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value)} cannot be recorded")


def results(side: str, path: Path) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    found = {}
    for name, function in list(vars(module).items()):
        if name.startswith("case_"):
            wanted = inspect.signature(function).parameters
            try:
                found[name] = plain(function(**{k: tensor(side, INPUTS[k]) for k in wanted}))
            except Exception as error:
                found[name] = f"{type(error).__name__}: {error}"
    return found


if __name__ == "__main__":
    paths = [Path(argument) for argument in sys.argv[2:]]
    sys.path.insert(0, str(paths[0].parent))
    print(json.dumps({path.stem: results(sys.argv[1], path) for path in paths}))
