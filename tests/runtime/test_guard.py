"""Placeholders stand anywhere a name can stand, and explain themselves when used."""

from __future__ import annotations

import copy
import dataclasses
import doctest
import inspect
import pickle
import subprocess
import sys
import types
from abc import ABC
from typing import Optional

import pytest
import torch

from ms2torch.runtime._backend.guard import (
    HAS_MINDSPORE,
    MindSporeRequired,
    unavailable,
    unavailable_module,
)

Net = unavailable("pkg.graph", "Net")


class Sub(Net, key=1):
    """A subclass with a class keyword, as metaclass-driven bases take them."""

    def run(self):
        return 1


@pytest.mark.parametrize("use", [lambda: Net(1, a=2), lambda: Sub(), lambda: Net.build, lambda: list(Net)])
def test_use_names_the_module(use):
    with pytest.raises(MindSporeRequired, match=r"pkg\.graph.*MF_WITH_MINDSPORE=1") as caught:
        use()
    assert isinstance(caught.value, ImportError)
    assert "\n" not in str(caught.value)


def test_membership_and_decoration_are_uses():
    with pytest.raises(MindSporeRequired):
        assert 1 in Net
    with pytest.raises(MindSporeRequired):

        @Net
        def f():
            pass


def test_passive_places():
    assert not isinstance(3, (Net, str))
    assert isinstance(3, (Net, int))
    assert not issubclass(int, Net)
    assert {"a": Net}["a"] is Net
    assert unavailable("pkg.graph", "Net") is Net
    assert (Net | None) == Optional[Net]  # noqa: UP045
    assert Net[int] is Net
    assert repr(Net) == "<unavailable pkg.graph.Net>"
    assert bool(Net)


def test_subclassing_beside_other_metaclasses():
    class WithAbc(Net, ABC):
        pass

    class WithModule(Net, torch.nn.Module):
        pass

    for cls in (WithAbc, WithModule):
        with pytest.raises(MindSporeRequired):
            cls()
    assert not isinstance(torch.nn.Linear(1, 1), Net)


def test_tools_may_look():
    assert not hasattr(Net, "__wrapped__")
    assert not hasattr(Sub, "from_pretrained")
    assert inspect.unwrap(Net) is Net
    inspect.getmembers(Net)
    module = types.ModuleType("holder", "doc")
    module.Net = Net
    assert doctest.DocTestFinder().find(module) is not None

    @dataclasses.dataclass
    class Holder:
        kind: type = Net

    assert Holder().kind is Net


def test_pickle_and_copy_keep_the_object():
    assert pickle.loads(pickle.dumps(Net)) is Net
    assert pickle.loads(pickle.dumps(Sub)) is Sub
    assert copy.deepcopy({"x": Net})["x"] is Net
    module = unavailable_module("pkg.graph")
    assert pickle.loads(pickle.dumps(module)) is module


def test_module_placeholder():
    module = unavailable_module("pkg.graph")
    assert not hasattr(module, "__path__")
    assert "pkg.graph" in repr(module)
    with pytest.raises(MindSporeRequired, match=r"pkg\.graph"):
        _ = module.anything


@pytest.mark.parametrize(
    ("value", "expected"), [("1", "True"), ("0", "False"), ("yes", "False"), (None, "False")]
)
def test_flag_only_from_the_environment(value, expected, monkeypatch):
    monkeypatch.delenv("MF_WITH_MINDSPORE", raising=False)
    if value is not None:
        monkeypatch.setenv("MF_WITH_MINDSPORE", value)
    code = (
        "import sys; from ms2torch.runtime._backend import HAS_MINDSPORE; "
        "print(HAS_MINDSPORE, 'mindspore' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.split() == [expected, "False"]
    assert isinstance(HAS_MINDSPORE, bool)
