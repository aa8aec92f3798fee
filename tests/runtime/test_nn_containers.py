"""CellList, SequentialCell and CellDict: what lists and dicts do, with MindSpore's names of parameters."""

from collections import OrderedDict

import pytest
import torch

from ms2torch.runtime._backend import nn


def names(module: torch.nn.Module) -> list[str]:
    return [p._mf_name for p in module.parameters()]


def linear(bias: bool = False) -> torch.nn.Module:
    return torch.nn.Linear(1, 1, bias=bias)


def test_lists_keep_their_numbers() -> None:
    a, b, c = linear(), linear(), linear()
    cells = nn.CellList([a])
    cells += [b]
    assert cells.append(c) is cells and len(cells) == 3
    assert [*cells] == [a, b, c] and cells[-1] is c and [*cells[1:]] == [b, c]
    assert [*(cells + [a])] == [a, b, c, a]  # noqa: RUF005
    cells = nn.CellList(linear(), linear())
    assert names(cells) == ["0.weight", "1.weight"]
    first = linear()
    cells.insert(0, first)
    assert cells[0] is first and names(cells) == ["0.weight", "1.weight", "2.weight"]
    cells[1] = c
    assert cells[1] is c and names(cells)[1] == "1.weight"
    del cells[0]
    assert cells[0] is c and [*cells._modules] == ["0", "1"]
    del cells[0:2]
    assert len(cells) == 0


def test_lists_refuse_what_is_no_cell() -> None:
    cells = nn.CellList([linear()])
    for index, error in [(1, IndexError), (-2, IndexError), ("0", TypeError), (True, TypeError)]:
        with pytest.raises(error):
            cells[index]
    with pytest.raises(TypeError, match="each element of CellList must be a cell, but got int"):
        cells.append(1)
    with pytest.raises(TypeError, match="takes a list of cells, but got int"):
        cells.extend(1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="auto_prefix only"):
        nn.CellList([], prefix=1)
    with pytest.raises(IndexError):
        cells.insert(3, linear())
    with pytest.raises(NotImplementedError):
        cells(torch.ones(1))


def test_sequences_apply_their_cells() -> None:
    cells = nn.SequentialCell([torch.nn.ReLU(), torch.nn.Flatten()])
    assert cells(torch.tensor([[[-1.0, 2.0]]])).tolist() == [[0.0, 2.0]]
    named = nn.SequentialCell(OrderedDict(up=linear(), act=torch.nn.ReLU()))
    assert names(named) == ["up.weight"] and named["up"] is named[0]
    assert [*named[:1]._modules] == ["up"]
    named[1] = torch.nn.Tanh()
    assert isinstance(named["act"], torch.nn.Tanh)
    del named[0]
    assert [*named._modules] == ["act"]
    cells.insert(1, linear())
    assert [*cells._modules] == ["0", "1", "2"] and names(cells) == ["1.weight"]
    del cells[0:1]
    assert [*cells._modules] == ["0", "1"]
    with pytest.raises(TypeError, match="a list of cells or an OrderedDict, but got int"):
        nn.SequentialCell(1)


def test_dicts() -> None:
    cells = nn.CellDict({"a": linear()})
    cells.update([("b", torch.nn.ReLU())])
    assert "a" in cells and len(cells) == 2 and [*cells] == ["a", "b"] == [*cells.keys()]
    assert names(cells) == ["a.weight"]
    other = nn.CellDict(cells)
    assert [*other.values()] == [cells["a"], cells["b"]] and dict(other.items())["b"] is cells["b"]
    assert cells.pop("b") is other["b"]
    del other["b"]
    cells.clear()
    assert len(cells) == 0 and [*other] == ["a"]
    with pytest.raises(TypeError, match="str keys, but got int"):
        other[1] = linear()  # type: ignore[index]
    with pytest.raises(TypeError, match="one dict"):
        nn.CellDict({}, {})
    with pytest.raises(NotImplementedError):
        other(torch.ones(1))
