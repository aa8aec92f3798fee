"""Layers, losses, schedules and optimizers give MindSpore's own numbers, state names and parameter names."""

import importlib.util
import json
import types
from pathlib import Path

import numpy as np
import pytest
import torch

from ms2torch.runtime._backend import nn, optim, params

HERE = Path(__file__).parent
REFERENCE = json.loads((HERE / "nn_reference.json").read_text())

_spec = importlib.util.spec_from_file_location("nn_cases", HERE / "nn_cases.py")
nn_cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(nn_cases)


class Port:
    lenient = False

    def __init__(self):
        self.nn = types.SimpleNamespace(**{k: v for m in (nn, optim) for k, v in vars(m).items()})

    def t(self, array):
        return torch.tensor(array)

    def np(self, value):
        return value.detach().numpy()

    def named(self, layer):
        return nn.parameters_and_names(layer) if isinstance(layer, torch.nn.Module) else ()

    def put(self, p, array):
        params.set_data(p, torch.tensor(array))

    def parameter(self, array, name):
        return params.Parameter(torch.tensor(array), name=name)

    def value_and_grad(self, fn, inputs):
        inputs = [x.requires_grad_(i == 0) for i, x in enumerate(inputs)]
        y = fn(*inputs)
        weight = self.t(nn_cases.data(*y.shape, start=0.5)) if y.dim() else torch.tensor(2.0)
        return y, torch.autograd.grad((y * weight).sum(), inputs[0])[0]


@pytest.fixture(scope="module")
def computed():
    return nn_cases.results(Port())


def test_same_cases(computed):
    assert set(computed) == set(REFERENCE) and len(REFERENCE) > 150


@pytest.mark.parametrize("key", sorted(REFERENCE))
def test_reference(computed, key):
    got, want = computed[key], REFERENCE[key]
    if key.startswith(("states/", "names/")):
        assert got == want
        return
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)
