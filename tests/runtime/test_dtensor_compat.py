"""DTensors for business code on a mesh of one; two_ranks.py has the values over ranks."""

from __future__ import annotations

import types

import pytest
import torch

from ms2torch.runtime import _backend, dtensor_compat
from ms2torch.runtime.dtensor_compat import Replicate, Shard, inplace_copy, local_shard, to_local


@pytest.fixture(scope="module")
def mesh():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MF_DEVICE_TYPE", "cpu")
        for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
            patch.setenv(name, "")
            patch.delenv(name)
        yield _backend.init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp"))
        _backend.destroy_process_group()


@pytest.fixture
def weight(mesh):
    return dtensor_compat.distribute_tensor(torch.ones(4, 2), mesh, [Shard(0), Replicate()])


def test_plain_tensors_pass():
    t = torch.ones(2)
    assert to_local(t) is t and local_shard(t, 0, 4) == 0
    assert inplace_copy(t, torch.zeros(2)) is t and t.tolist() == [0, 0]


def test_inplace_copy_writes_through(weight):
    assert inplace_copy(weight, torch.full((4, 2), 3.0)) is weight
    assert weight.full_tensor()[0, 0] == 3
    plain = torch.zeros(4, 2)
    inplace_copy(plain, weight)
    assert plain[0, 0] == 3


def test_to_local_keeps_the_gradient(weight):
    leaf = weight.detach().requires_grad_()
    to_local(leaf).mul(2).sum().backward()
    assert isinstance(leaf.grad, dtensor_compat.DTensor)
    assert leaf.grad.full_tensor().unique().tolist() == [2]
    with torch.no_grad():
        assert not to_local(leaf).requires_grad


def test_skip_dispatch(weight):
    weight.requires_grad_()
    with torch.no_grad(), dtensor_compat.SkipDTensorDispatch():
        assert weight.mul_(2) is weight
        assert type(weight + 1) is type(torch.zeros_like(weight)) is torch.Tensor
        assert weight.shape == (4, 2) and weight.grad is None and weight.requires_grad
        torch._foreach_add_([weight], [torch.ones(4, 2)])
        weight[0] = 9
        assert torch.cat((weight, weight)).shape == (8, 2)
    assert weight.full_tensor()[:, 0].tolist() == [9, 3, 3, 3]
    assert isinstance(weight + 1, dtensor_compat.DTensor)


def test_skip_dispatch_follows_autograd(weight):
    weight.requires_grad_()
    with dtensor_compat.SkipDTensorDispatch():
        (weight * 3).sum().backward()
    assert isinstance(weight.grad, dtensor_compat.DTensor)
    assert weight.grad.full_tensor().unique().tolist() == [3]


@pytest.mark.parametrize(
    ("placements", "coordinates", "expected"),
    [
        (("shard", "replicate"), (2, 1), 2),
        (("replicate", "shard"), (2, 1), 1),
        (("shard", "shard"), (2, 1), 2 * 2 + 1),
        # FSDP over tensor parallel: the outer mesh dimension splits what the inner one has split.
        (("strided", "shard"), (2, 1), 1 * 4 + 2),
        (("other", "shard"), (2, 1), 1),
    ],
)
def test_local_shard_orders_the_splits(placements, coordinates, expected, monkeypatch):
    """A mesh of 4 by 2, seen from one rank."""
    kinds = {
        "shard": types.SimpleNamespace(dim=0),
        "strided": types.SimpleNamespace(dim=0, split_factor=2),
        "other": types.SimpleNamespace(dim=1),
        "replicate": types.SimpleNamespace(),
    }
    mesh = types.SimpleNamespace(size=lambda i: (4, 2)[i], get_local_rank=lambda i: coordinates[i])

    class Fake:
        device_mesh = mesh

        def __init__(self):
            self.placements = [kinds[name] for name in placements]

        def dim(self):
            return 2

    monkeypatch.setattr(dtensor_compat, "DTensor", Fake)
    assert local_shard(Fake(), 0, 8) == local_shard(Fake(), -2, 8) == expected
    assert local_shard(Fake(), 0, 2) == expected % 2
