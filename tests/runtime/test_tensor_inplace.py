"""In-place methods of Parameters, and of whatever else has methods of these names."""

import pytest
import torch

from ms2torch.runtime import dtensor_compat
from ms2torch.runtime._backend import tensor
from ms2torch.runtime._backend.tensor import inplace

CALLS = {
    "copy_": (torch.tensor([3.0, 4.0]),),
    "add_": (2.0,),
    "mul_": (2.0,),
    "zero_": (),
    "fill_": (7.0,),
    "clamp_": (0.0, 1.5),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_parameter_is_written_and_stays_a_leaf(name: str) -> None:
    parameter = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    expected = getattr(parameter.detach().clone(), name)(*CALLS[name])
    assert getattr(tensor, name)(parameter, *CALLS[name]) is parameter
    assert torch.equal(parameter.detach(), expected)
    assert parameter.is_leaf and parameter.requires_grad and parameter.grad_fn is None


def test_a_view_of_a_parameter_is_written_too() -> None:
    parameter = torch.nn.Parameter(torch.ones(2, 2))
    tensor.zero_(parameter[0])
    assert parameter.tolist() == [[0, 0], [1, 1]]


def test_what_is_recorded_stays_recorded() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    tensor.mul_(y, 3.0)
    y.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [3, 3]


def test_other_receivers_answer_themselves() -> None:
    class Own:
        def copy_(self, other: int) -> int:
            return other + 1

    assert tensor.copy_(Own(), 1) == 2


def test_every_method_is_named_after_torchs() -> None:
    for name in inplace.__all__:
        assert getattr(inplace, name).__name__ == name and hasattr(torch.Tensor, name)


def test_inplace_copy_reaches_a_parameter() -> None:
    parameter = torch.nn.Parameter(torch.zeros(2))
    assert dtensor_compat.inplace_copy(parameter, torch.ones(2)) is parameter
    assert parameter.tolist() == [1, 1]
