"""Initialisers: names, distributions, refusals (bounds and deviations as measured under MindSpore 2.10)."""

import math

import numpy as np
import pytest
import torch

from ms2torch.runtime._backend import initializer as init
from ms2torch.runtime._backend import nn
from ms2torch.runtime._backend.initializer import initializer


def drawn(what, shape=(200, 500)):
    torch.manual_seed(1)
    return initializer(what, shape)


def test_constants():
    assert initializer("zeros", (2, 2)).tolist() == [[0, 0], [0, 0]]
    assert initializer("One", 2).tolist() == [1, 1]
    assert initializer(0.5, (2,), torch.float16).dtype == torch.float16
    assert initializer(init.Constant(3), [2], torch.int32).tolist() == [3, 3]
    assert initializer("Identity", (2, 2)).tolist() == [[1, 0], [0, 1]]
    given = torch.ones(2, dtype=torch.float64)
    assert initializer(given, (2,), torch.float32).dtype == torch.float32


@pytest.mark.parametrize(
    ("what", "deviation", "bound"),
    [
        ("normal", 0.01, None),
        (init.Normal(0.2, 1.0), 0.2, None),
        ("uniform", 0.07 / math.sqrt(3), 0.07),
        ("xavier_uniform", math.sqrt(2 / 700), math.sqrt(6 / 700)),
        ("XavierNormal", math.sqrt(2 / 700), None),
        ("he_normal", math.sqrt(2 / 500), None),
        ("he_uniform", math.sqrt(2 / 500), math.sqrt(6 / 500)),
        (init.HeUniform(math.sqrt(5)), 1 / math.sqrt(3 * 500), 1 / math.sqrt(500)),
        (init.HeNormal(mode="fan_out", nonlinearity="relu"), math.sqrt(2 / 200), None),
        ("VarianceScaling", math.sqrt(1 / 500), None),
        # The bounds are values: one unit below and above 0, though the mean is 2.
        (init.TruncatedNormal(1.0, 2.0, -1, 1), 0.417, 1.0),
        (init.TruncatedNormal(0.5, 0.0, -2, 2), 0.4995, 2.0),
    ],
)
def test_distributions(what, deviation, bound):
    values = drawn(what)
    assert float(values.std()) == pytest.approx(deviation, rel=0.02)
    if bound is not None:
        assert float(values.abs().max()) <= bound * 1.0001 and float(values.abs().max()) > bound * 0.9


def test_seed_and_meta():
    assert torch.equal(drawn("normal"), drawn("normal"))
    with torch.device("meta"):
        assert drawn("he_uniform").is_meta


def test_an_initializer_of_ones_own():
    class Ramp(init.Initializer):
        def _initialize(self, arr):
            arr[...] = np.arange(arr.size).reshape(arr.shape)

    assert initializer(Ramp(), (2, 2)).tolist() == [[0, 1], [2, 3]]
    array = np.zeros(2, np.float32)
    init.One()(array)
    assert array.tolist() == [1, 1]


def test_refusals():
    with pytest.raises(ValueError, match="unknown"):
        initializer("variance_scaling", (2, 2))
    with pytest.raises(ValueError, match="shape"):
        initializer(torch.ones(2), (3,))
    with pytest.raises(ValueError, match="2 dimensions"):
        initializer("he_uniform", (3,))
    with pytest.raises(TypeError):
        initializer([1], (3,))
    with pytest.raises(ValueError, match="shape"):
        initializer("zeros")


def test_defaults_of_layers():
    dense = nn.Dense(1000, 400)
    assert float(dense.weight.abs().max()) == pytest.approx(1 / math.sqrt(1000), rel=1e-3)
    assert float(dense.bias.abs().max()) == pytest.approx(1 / math.sqrt(1000), rel=2e-2)
    conv = nn.Conv2d(100, 200, 3, has_bias=True)
    assert float(conv.weight.abs().max()) == pytest.approx(1 / 30, rel=1e-3)
    assert float(conv.bias.abs().max()) == pytest.approx(1 / 30, rel=5e-2)
    table = nn.Embedding(1000, 64, padding_idx=3).embedding_table
    assert float(table.std()) == pytest.approx(0.01, rel=0.02) and not table[3].any()
