"""Every recorded expression gives on torch, through the rows of the Tensor table, what MindSpore gave.

`tensor_cases.json` holds expressions with the values, shapes and dtypes of MindSpore 2.10 on a CPU. A proxy
stands for the rewriter: each method or attribute goes where its row says.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from ms2torch.runtime._backend import tensor as adapters
from ms2torch.tables import load

CASES = json.loads((Path(__file__).parent / "tensor_cases.json").read_text())
ROWS = load().methods["mindspore.Tensor"]

# Where the port follows Ascend, or torch's wider integers, instead of MindSpore's CPU. Each with its reason.
INT64_INDICES = {"sort", "argsort", "topk", "cummin"}
DIFFERENT = {
    "x.std(dim=1)": "correction is 1 with dim=, as documented for Ascend",
    "x.std(dim=1,keepdim=True)": "correction is 1 with dim=, as documented for Ascend",
    "x.median()": "one value, as documented for Ascend",
    "x.max(axis=None, return_indices=True)": "MindSpore's CPU gives index 0 whatever the values",
    "x.min(axis=None, return_indices=True)": "MindSpore's CPU gives index 0 whatever the values",
    "x.diag()": "refused: MindSpore's devices disagree",
    "i[0].bincount()": "int64, as mint.bincount; MindSpore's CPU gives float32",
    "Tensor([1,1,3],ms.int32).bincount(minlength=6)": "int64, as mint.bincount",
    "Tensor([1,1,3],ms.int64).bincount()": "int64, as mint.bincount",
    "y.t()": "torch refuses more than two dimensions; MindSpore's CPU returns them unchanged",
    "x.stride()": "a tuple in torch, a list in MindSpore",
    "x.device": "a torch.device, not a string",
    "i.std()": "MindSpore's CPU subtracts a truncated mean from ints",
    "Tensor([1,2]).std()": "MindSpore's CPU subtracts a truncated mean from ints",
    "y.any(axis=(0,1))": "MindSpore's CPU kernel misses nonzero floats over two axes",
    "x.svd()": "the signs of singular vectors are free",
    "s.svd(True)": "the signs of singular vectors are free",
    "s.outer(x[0])": "documented for vectors only",
}


class Proxy:
    """A tensor whose methods and attributes follow the table."""

    def __init__(self, value):
        self._t = value

    def __getattr__(self, name):
        row = ROWS.get(name)
        assert row is not None, f"no row for Tensor.{name}"
        if row.attr:
            if row.to.startswith("_backend.tensor."):
                return wrap(getattr(adapters, row.to.rsplit(".", 1)[1])(self._t))
            return wrap(getattr(self._t, row.to[1:]))

        def call(*args, **kwargs):
            args, kwargs = unwrap(args), unwrap(kwargs)
            if row.to.startswith("_backend.tensor."):
                return wrap(getattr(adapters, row.to.rsplit(".", 1)[1])(self._t, *args, **kwargs))
            kwargs = {row.rename.get(k, k): v for k, v in kwargs.items()}
            return wrap(getattr(self._t, row.to[1:])(*args, **kwargs))

        return call

    def __getitem__(self, where):
        return wrap(self._t[unwrap(where)])

    def __len__(self):
        return len(self._t)

    def __bool__(self):
        return bool(self._t)

    def __float__(self):
        return float(self._t)

    def __int__(self):
        return int(self._t)

    def __iter__(self):
        return iter(wrap(list(self._t)))

    def __array__(self, *args, **kwargs):
        return self._t.numpy()

    def __round__(self):
        return wrap(self._t.round())

    __hash__ = object.__hash__


def operator(name):
    return lambda self, *other: wrap(getattr(self._t, name)(*unwrap(other)))


ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg"]
for _name in [*ARITHMETIC, "gt", "ge", "lt", "le", "eq", "ne"]:
    setattr(Proxy, f"__{_name}__", operator(f"__{_name}__"))


def wrap(value):
    if isinstance(value, torch.Tensor):
        return Proxy(value)
    if (
        type(value) in (list, tuple)
        or hasattr(value, "_fields")
        or type(value).__module__ == "torch.return_types"
    ):
        return type(value)(map(wrap, value)) if type(value) in (list, tuple) else tuple(map(wrap, value))
    return value


def unwrap(value):
    if isinstance(value, Proxy):
        return value._t
    if isinstance(value, dict):
        return {k: unwrap(v) for k, v in value.items()}
    return type(value)(map(unwrap, value)) if type(value) in (list, tuple) else value


class Names:
    """`ms` in the expressions: dtypes and tensor()."""

    bool_ = torch.bool

    def __getattr__(self, name):
        if name == "tensor":
            return lambda *a, **k: wrap(adapters.tensor(*unwrap(a), **unwrap(k)))
        return getattr(torch, name)


def constructor(*args, **kwargs):
    return wrap(adapters.Tensor(*unwrap(args), **unwrap(kwargs)))


constructor.from_numpy = lambda array: wrap(adapters.from_numpy(array))


def names():
    ms = Names()
    env = {"Tensor": constructor, "ms": ms, "np": np}
    env["x"] = constructor([[1.0, 2, 3, 6], [8, 4, 4, 4]])
    env["i"] = constructor([[1, 2], [3, 4]], torch.int32)
    env["j"] = constructor([[3, 1], [2, 5]], torch.int32)
    env["b"] = constructor([[True, False], [True, True]])
    env["y"] = constructor(np.arange(24.0).reshape(2, 3, 4).astype(np.float32))
    env["s"] = constructor([[2.0, 1.0], [1.0, 3.0]])
    env["u"] = constructor([[0.1, -0.4], [0.75, 0.9]])
    env["v"] = constructor([[2.0, 3, -1.0, 2.0], [8.0, 3.0, 0.5, 2.0]])
    env["b4"] = constructor([[True, False, False, True], [False, True, True, False]])
    env["x2"] = constructor([[1.0, 2], [3, 4]])
    return env


def same(got, want, narrow_indices, what):
    if "seq" in want:
        assert isinstance(got, list | tuple), what
        assert len(got) == len(want["seq"]), what
        for g, w in zip(got, want["seq"], strict=True):
            same(g, w, narrow_indices, what)
    elif "value" in want:
        if isinstance(want["value"], float):
            assert got == pytest.approx(want["value"]), what
        else:
            assert got == want["value"], what
    elif want["dtype"].startswith("numpy."):
        assert isinstance(got, np.ndarray), what
        expected = want["dtype"][6:].replace("bfloat16", "float32")
        assert str(got.dtype) == expected and list(got.shape) == want["shape"], what
        np.testing.assert_allclose(got, want["data"])
    else:
        assert isinstance(got, Proxy), f"{what}: {type(got)}"
        dtype = want["dtype"]
        if narrow_indices and dtype == "int32" and got._t.dtype == torch.int64:
            dtype = "int64"
        assert str(got._t.dtype) == f"torch.{dtype}", what
        assert list(got._t.shape) == want["shape"], what
        if want["data"] is not None:
            expected = torch.tensor(want["data"], dtype=torch.float64).reshape(want["shape"])
            torch.testing.assert_close(
                got._t.double(), expected, rtol=2e-3, atol=1e-5, equal_nan=True, msg=what
            )


@pytest.mark.parametrize(("text", "want"), CASES, ids=[c[0] for c in CASES])
def test_recorded_value(text, want):
    if text in DIFFERENT:
        pytest.skip(DIFFERENT[text])
    got = eval(text, names())
    same(got, want, any(f".{n}(" in text for n in INT64_INDICES), text)


def test_every_adapter_of_the_table_exists():
    for name, row in ROWS.items():
        if row.to and row.to.startswith("_backend.tensor."):
            assert callable(getattr(adapters, row.to.rsplit(".", 1)[1])), name
        elif row.to and row.to.startswith("."):
            assert hasattr(torch.Tensor, row.to[1:]), name
