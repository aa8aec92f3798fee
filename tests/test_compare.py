"""Differences of single tensors, and the order in which they are told."""

import pytest
import torch

from ms2torch import compare, compare_page
from ms2torch.errors import UserError


def dump(**tensors: torch.Tensor) -> compare.Dump:
    return compare.Dump({key.replace("__", "|"): value for key, value in tensors.items()}, ("a", "b"))


def only(a: torch.Tensor, b: torch.Tensor) -> compare.Difference:
    return compare.difference("a|output|0", a, b)


def test_sizes_of_a_difference() -> None:
    found = only(torch.tensor([1.0, -4.0]), torch.tensor([1.0, -3.0]))
    assert (found.max_abs, found.max_rel) == (1.0, 0.25)
    assert found.cosine == pytest.approx(13 / (17 * 10) ** 0.5)
    assert found.beyond(1e-6, 1e-5) and not found.beyond(1.0, 0.0) and not found.beyond(0.0, 0.25)


def test_what_cannot_be_compared_is_a_difference() -> None:
    assert only(torch.ones(2), torch.ones(3)).why == "shapes (2,) and (3,)"
    assert only(torch.tensor([float("nan")]), torch.ones(1)).why == "NaN in one of them"
    assert compare.difference("a|grad|", torch.ones(1), None).why == "only in the first"
    assert compare.difference("a|grad|", None, torch.ones(1)).why == "only in the second"


def test_equal_infinities_nans_and_shapes_that_only_group_otherwise_are_no_difference() -> None:
    odd = torch.tensor([float("inf"), float("nan"), 0.0])
    assert only(odd, odd.clone()).max_abs == 0.0
    assert only(torch.ones(2, 3), torch.ones(6)).max_abs == 0.0
    assert only(torch.zeros(2), torch.zeros(2)).cosine == 1.0


def test_the_first_fault_is_an_output_in_the_order_of_the_run() -> None:
    one = dump(b__output__0=torch.ones(1), a__output__0=torch.ones(1), a__grad__=torch.ones(1))
    two = dump(b__output__0=torch.zeros(1), a__output__0=torch.zeros(1), a__grad__=torch.zeros(1))
    found = list(compare.compare(one, two))
    assert [d.path for d in found] == ["a", "b", "a"]
    fault = compare.first_fault(found, 1e-6, 1e-5)
    assert fault is not None and (fault.path, fault.kind) == ("a", "output")


def test_a_fault_of_gradients_alone_is_found() -> None:
    found = list(compare.compare(dump(a__grad__=torch.ones(1)), dump(a__grad__=torch.zeros(1))))
    fault = compare.first_fault(found, 1e-6, 1e-5)
    assert fault is not None and fault.kind == "grad"
    assert "First difference: a" in compare_page.page(found, fault, 1e-6, 1e-5)


def test_foreign_keys_are_refused() -> None:
    with pytest.raises(UserError, match="no key of a dump"):
        compare.split("weight")
