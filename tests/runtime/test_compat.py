"""Each torch name that moved: hide the public path, and the next one is taken."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from ms2torch.runtime._backend import compat

_TRAIN = """
from ms2torch.runtime import _backend
_backend.init_process_group()
layer = torch.nn.Linear(2, 2)
weight = torch.nn.Parameter(torch.ones(2))
_backend.rms_norm(layer(torch.ones(3, 2)), 2, weight, 1e-6).sum().backward()
_backend.all_reduce(weight.grad)
assert weight.grad.shape == (2,)
_backend.destroy_process_group()
compat = _backend.compat
"""


def _run(hide: str, check: str) -> None:
    code = f"import sys, torch\n{hide}\n{_TRAIN}\n{check}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_private_path_of_dtensor():
    _run(
        "import torch.distributed.tensor as t; real = t.DTensor; del t.DTensor, t.Shard",
        "assert compat.DTensor is real and compat.HAS_DTENSOR",
    )


def test_no_dtensor_at_all():
    _run(
        "sys.modules['torch.distributed.tensor'] = None",
        "assert not compat.HAS_DTENSOR and not isinstance(torch.ones(1), compat.DTensor)\n"
        "assert not isinstance(torch.ones(1), (compat.DTensor, compat.Shard))\n"
        "try: compat.distribute_tensor(torch.ones(1))\n"
        "except NotImplementedError as e: assert 'distribute_tensor' in str(e)\n"
        "else: raise AssertionError",
    )


def test_private_path_of_fsdp():
    _run(
        "import torch.distributed.fsdp as f; real = f.fully_shard; del f.fully_shard, f.FSDPModule",
        "assert compat.fully_shard is real and compat.HAS_FULLY_SHARD",
    )


def test_no_fsdp_at_all():
    _run(
        "sys.modules['torch.distributed.fsdp'] = None",
        "assert not compat.HAS_FULLY_SHARD and not isinstance(torch.nn.Linear(1, 1), compat.FSDPModule)\n"
        "try: compat.MixedPrecisionPolicy()\n"
        "except NotImplementedError as e: assert 'MixedPrecisionPolicy' in str(e)\n"
        "else: raise AssertionError",
    )


def test_no_rms_norm():
    _run("del torch.nn.functional.rms_norm", "assert not hasattr(torch.nn.functional, 'rms_norm')")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("eps", [None, 1e-5])
@pytest.mark.parametrize("shape", [(8,), (4, 8)])
def test_own_rms_norm_equals_torch(dtype, eps, shape):
    torch.manual_seed(0)
    x = torch.randn(3, 4, 8).to(dtype).requires_grad_()
    y = x.detach().clone().requires_grad_()
    weight = torch.randn(shape).to(dtype)
    ours = compat._own_rms_norm(x, shape, weight, eps)
    theirs = torch.nn.functional.rms_norm(y, shape, weight, eps)
    # Half precision: torch rounds once more or once less than we do, by version.
    tolerance = {torch.bfloat16: 2e-2, torch.float16: 4e-3}.get(dtype, 1e-6)
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)
    ours.sum().backward()
    theirs.sum().backward()
    torch.testing.assert_close(x.grad, y.grad, rtol=2 * tolerance, atol=4 * tolerance)


def test_rms_norm_takes_an_int_and_no_weight():
    x = torch.randn(2, 4)
    expected = x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    torch.testing.assert_close(compat.rms_norm(x, 4, None, 1e-6), expected)


def test_first_takes_the_first_that_exists():
    assert compat._first("torch.no_such_name", "no_such_module.x", "torch.ones") is torch.ones
    assert compat._first("no_such_module.x") is None


def test_pipelining_is_looked_up_when_read():
    _run(
        "",
        "assert 'torch.distributed.pipelining' not in sys.modules\n"
        "from torch.distributed.pipelining import PipelineStage\n"
        "assert compat.PipelineStage is PipelineStage",
    )
    with pytest.raises(AttributeError, match="no_such"):
        _ = compat.no_such
