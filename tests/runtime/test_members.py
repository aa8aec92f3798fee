"""Members by name answer as MindSpore's tensors would."""

import numpy as np
import pytest
import torch

from ms2torch.runtime._backend import members


class Special(torch.Tensor):
    pass


def test_has_member_of_tensors_and_others() -> None:
    tensor = torch.ones(2)
    assert members.has_member(tensor, "asnumpy", torch.Tensor)
    assert not members.has_member(np.ones(2), "asnumpy", torch.Tensor)
    assert members.has_member(np.ones(2), "sum", torch.Tensor)
    assert not members.has_member(None, "asnumpy", torch.Tensor)


def test_a_member_that_torch_happens_to_have_is_the_owners_alone() -> None:
    tensor = torch.ones(2)
    assert hasattr(tensor, "layout") and not members.has_member(tensor, "layout", Special)
    assert members.has_member(tensor.as_subclass(Special), "layout", Special)
    tensor.mark = 1
    assert members.has_member(tensor, "mark", Special)


def test_read_and_bind() -> None:
    tensor = torch.ones(2)
    assert members.read_member(tensor, "nbytes", torch.Tensor, lambda t: t.numel() * 4) == 8
    assert members.read_member(np.ones(3), "size", torch.Tensor, torch.numel) == 3
    assert members.read_member(None, "size", torch.Tensor, torch.numel, 5) == 5
    assert members.bind_member(tensor, "plus", torch.Tensor, torch.add)(1).tolist() == [2, 2]
    assert members.bind_member("a", "upper", torch.Tensor, torch.add)() == "A"
    assert members.bind_member("a", "plus", torch.Tensor, torch.add, None) is None
    with pytest.raises(AttributeError, match="plus"):
        members.bind_member("a", "plus", torch.Tensor, torch.add)


def test_scalar_takes_arrays_of_one_element_and_numbers() -> None:
    assert float(members.scalar(np.ones((1, 1)))) == 1.0
    assert members.scalar(1.5) == 1.5
    with pytest.raises(ValueError):
        members.scalar(np.ones(2))
