"""Methods of MindSpore's Cell as functions: on modules, and on receivers that have a method of their own."""

from collections import OrderedDict
from typing import Any

import pytest
import torch

from ms2torch.runtime._backend import nn
from ms2torch.runtime._backend.nn import walk
from ms2torch.runtime._backend.params import Parameter, param_name


def net() -> torch.nn.Module:
    """Two linear layers; the first keeps its weight from training."""
    made = torch.nn.Sequential(OrderedDict(a=torch.nn.Linear(2, 2), b=torch.nn.Linear(2, 1)))
    made.a.weight.requires_grad_(False)
    return made


class Own:
    """A receiver that is no module: each method says its name and what it was given."""

    def __getattr__(self, name: str) -> Any:
        if name == "param_prefix":
            return "own"
        return lambda *args, **kwargs: (name, args, kwargs)


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (walk.cells_and_names, (None, "p")),
        (walk.parameters_and_names, ("p", False)),
        (walk.get_parameters, (False,)),
        (walk.trainable_params, (False,)),
        (walk.untrainable_params, (False,)),
        (walk.parameters_dict, (False,)),
        (walk.parameters_broadcast_dict, (False,)),
        (walk.name_cells, ()),
        (walk.cells, ()),
        (walk.set_train, (False,)),
        (walk.set_grad, (False,)),
        (walk.get_flags, ()),
        (walk.init_parameters_data, (True,)),
        (walk.set_comm_fusion, (2, False)),
    ],
)
def test_other_receivers_answer_themselves(function: Any, given: tuple[Any, ...]) -> None:
    assert function(Own(), *given) == (function.__name__, given, {})


def test_other_receivers_without_a_result() -> None:
    said: list[Any] = []

    class Told:
        def __getattr__(self, name: str) -> Any:
            return lambda *args, **kwargs: said.append((name, args, kwargs))

    told = Told()
    walk.update_parameters_name(told, "p.", False)
    walk.check_names(told)
    walk.insert_child_to_cell(told, "c", None)
    walk.insert_param_to_cell(told, "w", None, False)
    walk.add_flags(told, fast=True)
    walk.add_flags_recursive(told, slow=True)
    walk.no_shard(told, 1, strategy=2)
    assert said == [
        ("update_parameters_name", ("p.", False), {}),
        ("check_names", (), {}),
        ("insert_child_to_cell", ("c", None), {}),
        ("insert_param_to_cell", ("w", None, False), {}),
        ("add_flags", (), {"fast": True}),
        ("add_flags_recursive", (), {"slow": True}),
        ("shard", (1,), {"strategy": 2}),
    ]
    assert walk.param_prefix(Own()) == "own"
    assert walk.construct(Own())() == ("construct", (), {})
    assert walk.unchanged(told, 1, x=2) is told


def test_walks() -> None:
    made = net()
    assert [path for path, _ in walk.cells_and_names(made, name_prefix="n")] == ["n", "n.a", "n.b"]
    assert [path for path, _ in walk.parameters_and_names(made, "n")] == [
        "n.a.weight", "n.a.bias", "n.b.weight", "n.b.bias",
    ]  # fmt: skip
    assert list(walk.parameters_and_names(made, expand=False)) == []
    assert [p.shape for p in walk.get_parameters(made)] == [(2, 2), (2,), (1, 2), (1,)]
    assert walk.untrainable_params(made) == [made.a.weight]
    assert len(walk.trainable_params(made)) == 3 and walk.trainable_params(made, recurse=False) == []
    assert walk.name_cells(made) == OrderedDict(a=made.a, b=made.b)
    assert [*walk.cells(made)] == [made.a, made.b]
    assert walk.construct(made) == made.forward
    assert walk.construct(torch.nn.Linear) is torch.nn.Linear.forward
    optimizer = torch.optim.SGD(made.parameters(), 0.1)
    assert walk.construct(optimizer) == optimizer.step


def test_names() -> None:
    made = net()
    assert [*walk.parameters_dict(made)] == ["a.weight", "a.bias", "b.weight", "b.bias"]
    walk.update_parameters_name(made, "")
    assert param_name(made.a.weight) is None
    walk.update_parameters_name(made, "net.")
    assert [*walk.parameters_dict(made)] == ["net.a.weight", "net.a.bias", "net.b.weight", "net.b.bias"]
    assert walk.param_prefix(made) == "net" and walk.param_prefix(torch.nn.ReLU()) == ""
    walk.check_names(made)
    made.b.bias._mf_name = "net.a.bias"
    with pytest.raises(ValueError, match=r"parameter b\.bias has the name 'net\.a\.bias'"):
        walk.check_names(made)
    with pytest.raises(TypeError, match="prefix must be a str"):
        walk.update_parameters_name(made, 1)  # type: ignore[arg-type]


def test_parameters_of_all_ranks() -> None:
    made = net()
    made.a.bias.layerwise_parallel = True
    assert [*walk.parameters_broadcast_dict(made)] == ["a.weight", "b.weight", "b.bias"]
    assert walk.parameters_broadcast_dict(torch.nn.ReLU()) is None
    assert walk.set_comm_fusion(made, 3) is made
    assert [getattr(p, "comm_fusion", None) for p in made.parameters()] == [None, 3, 3, 3]


def test_children_are_added() -> None:
    made = nn.Module()
    walk.insert_child_to_cell(made, "c", torch.nn.Linear(1, 1))
    walk.insert_child_to_cell(made, "c", None)
    assert made.c is None
    for name, child, error in [(1, made, TypeError), ("", made, KeyError), ("train", made, KeyError)]:
        with pytest.raises(error):
            walk.insert_child_to_cell(made, name, child)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be a module, but got int"):
        walk.insert_child_to_cell(made, "d", 1)


def test_parameters_are_added() -> None:
    made = nn.Module()
    walk.insert_param_to_cell(made, "w", Parameter(torch.ones(1)))
    assert param_name(made.w) == "w"
    walk.insert_param_to_cell(made, "a.b", None, check_name_contain_dot=False)
    assert made._parameters["a.b"] is None
    for name in ("", "a.b", "train"):
        with pytest.raises(KeyError):
            walk.insert_param_to_cell(made, name, None)
    with pytest.raises(TypeError, match="must be a Parameter, but got int"):
        walk.insert_param_to_cell(made, "v", 1)


def test_modes_and_flags() -> None:
    made = net()
    assert walk.set_train(made, False) is made and not made.b.training
    assert walk.set_grad(made) is made
    assert walk.add_flags(made, fast=True) is made and made.fast is True
    assert walk.add_flags_recursive(made, slow=1) is made and made.a.slow == 1
    assert walk.get_flags(made) == {"fast": True, "slow": 1} and walk.get_flags(made.a) == {"slow": 1}
    assert walk.get_flags(torch.nn.ReLU()) == {}


def test_graph_mode_alone() -> None:
    made = net()
    assert walk.init_parameters_data(made) == {}
    with pytest.raises(NotImplementedError, match="auto_parallel_mode"):
        walk.init_parameters_data(made, auto_parallel_mode=True)
    with pytest.raises(NotImplementedError, match="device mesh"):
        walk.no_shard(made, ((1,),))
