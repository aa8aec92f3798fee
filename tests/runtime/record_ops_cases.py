"""Records what MindSpore gives for each expression of ops_cases.txt. Needs a Python with MindSpore 2.10.

    python tests/runtime/record_ops_cases.py [FILE]

A line is `expression => result as JSON`; what stands behind the arrow is replaced. An expression that
MindSpore's CPU build cannot run keeps its result if it has one and is dropped otherwise. Names in an
expression: ops, mint, ms, np, t(data, dtype), p(data, dtype) for a Parameter, and grad(function, *tensors)
for the gradients.
"""

import json
import os
import sys
from pathlib import Path

os.environ["GLOG_v"] = "4"  # noqa: SIM112 (the name MindSpore reads)
import mindspore as ms
import numpy as np
from mindspore import mint, ops


def t(data, dtype=None):
    if dtype is None and np.asarray(data).dtype == np.float64:
        dtype = "float32"
    return ms.Tensor(np.array(data), getattr(ms, dtype)) if dtype else ms.Tensor(np.array(data))


def p(data, dtype=None):
    return ms.Parameter(t(data, dtype), name="p")


def grad(function, *tensors):
    made = ms.grad(lambda *xs: function(*xs).sum(), tuple(range(len(tensors))))(*tensors)
    return made if isinstance(made, tuple) else (made,)


def encode(value):
    if isinstance(value, ms.Tensor):
        wide = value.astype(ms.float32) if value.dtype == ms.bfloat16 else value
        return {
            "dtype": str(value.dtype).lower(),
            "shape": list(value.shape),
            "data": wide.asnumpy().tolist(),
        }
    if isinstance(value, (tuple, list)):
        return [encode(v) for v in value]
    if isinstance(value, ms.Type):
        return {"is": str(value).lower()}
    assert value is None or isinstance(value, (bool, int, float, str)), type(value)
    return value


def settle():
    """Waits for what still runs: kernels report their errors late, to whatever comes next."""
    try:
        ms.runtime.synchronize()
    except Exception as error:
        print("late:", str(error).splitlines()[0][:80], file=sys.stderr)


def main(path):
    names = {"ms": ms, "np": np, "mint": mint, "ops": ops, "t": t, "p": p, "grad": grad}
    made, dropped = [], []
    for line in path.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            made.append(line)
            continue
        source, _, old = line.partition(" => ")
        try:
            result = encode(eval(source, dict(names)))
            ms.runtime.synchronize()
            made.append(f"{source} => {json.dumps(result)}")
        except Exception as error:  # what MindSpore's CPU build raises for a missing kernel has no one type
            settle()
            if old:
                made.append(line)
            else:
                dropped.append(f"{source}: {type(error).__name__}")
    path.write_text("\n".join(made) + "\n")
    print(f"{len(dropped)} dropped", *dropped, sep="\n  ")


main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("ops_cases.txt"))
