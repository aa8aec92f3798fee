"""Parameters: construction, names (each case seen under MindSpore 2.10), marks that survive replacement."""

import copy

import numpy as np
import pytest
import torch

from ms2torch.runtime._backend import nn, params
from ms2torch.runtime._backend.params import Parameter, ParameterTuple, param_name


def ones(*shape):
    return torch.ones(shape or (2,))


class Inner(nn.Module):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.w = Parameter(ones())
        self.g = Parameter(ones(), name="gg")
        self.h = Parameter(ones(), name="h.x")


class Outer(nn.Module):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.a = Inner()
        self.x = Parameter(ones(), name="xx")


class Deep(nn.Module):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.b = Outer()
        self.l = nn.CellList([Inner(), Inner()])


class NoPrefixRoot(nn.Module):
    def __init__(self):
        super().__init__(auto_prefix=False)
        self.model = Outer()
        self.own = Parameter(ones(), name="own_p")


class Under(nn.Module):
    def __init__(self):
        super().__init__()
        self.d = NoPrefixRoot()


def names(module):
    return [(path, param_name(p)) for path, p in module.parameters_and_names()]


def test_free_parameter_keeps_its_name():
    assert param_name(Parameter(ones(), name="abc")) == "abc"
    assert param_name(Parameter(ones())).startswith("Parameter#")


def test_owned_directly_keeps_explicit_name_else_attribute():
    assert names(Inner()) == [("w", "w"), ("g", "gg"), ("h", "h.x")]


def test_below_that_the_path_wins():
    assert names(Outer()) == [("x", "xx"), ("a.w", "a.w"), ("a.g", "a.g"), ("a.h", "a.h")]
    assert names(Deep())[:4] == [("b.x", "b.x"), ("b.a.w", "b.a.w"), ("b.a.g", "b.a.g"), ("b.a.h", "b.a.h")]
    assert names(Deep())[-1] == ("l.1.h", "l.1.h")


def test_auto_prefix_off_keeps_the_names_below_and_the_paths_above():
    assert names(Outer(auto_prefix=False)) == [("x", "xx"), ("a.w", "w"), ("a.g", "gg"), ("a.h", "h.x")]
    assert names(NoPrefixRoot()) == [
        ("own", "own_p"),
        ("model.x", "xx"),
        ("model.a.w", "a.w"),
        ("model.a.g", "a.g"),
        ("model.a.h", "a.h"),
    ]
    assert [n for n, _ in names(Deep(auto_prefix=False))][:2] == ["b.x", "b.a.w"]
    assert [n for _, n in names(Deep(auto_prefix=False))][-3:] == ["1.w", "1.g", "1.h"]
    assert list(NoPrefixRoot().parameters_dict()) == ["own_p", "xx", "a.w", "a.g", "a.h"]
    assert all(path == name for path, name in names(Under()))


def test_late_and_replaced_parameters_take_their_own_name():
    deep = Deep()
    deep.l[0].w = Parameter(ones(), name="neww")
    deep.l[0].late = Parameter(ones())
    assert param_name(deep.l[0].w) == "neww" and param_name(deep.l[0].late) == "late"
    deep.update_parameters_name("pre.")
    assert param_name(deep.l[0].w) == "pre.l.0.w" and param_name(deep.b.x) == "pre.b.x"


def test_shared_parameter_has_the_last_owners_name_and_occurs_once():
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = Inner()
            self.a2 = self.a
            self.w2 = self.a.w

    assert names(Shared()) == [("w2", "a2.w"), ("a.g", "a2.g"), ("a.h", "a2.h")]


def test_children_put_in_without_assignment_keep_their_names():
    outer = Outer()
    outer.insert_child_to_cell("ch", Inner())
    outer.insert_param_to_cell("ip", Parameter(ones(), name="ipn"))
    outer.insert_param_to_cell("iq", Parameter(ones()))
    found = dict(names(outer))
    assert found["ch.g"] == "gg" and found["ip"] == "ipn" and found["iq"] == "iq"
    with pytest.raises(KeyError):
        outer.insert_child_to_cell("a2.b" if hasattr(outer, "a2.b") else "training", Inner())
    with pytest.raises(KeyError):
        outer.insert_param_to_cell("a.b", Parameter(ones()))


def test_parameter_tuple_is_registered_by_name():
    class Tupled(nn.Module):
        def __init__(self):
            super().__init__()
            self.pt = ParameterTuple([Parameter(ones(), name="p0"), Parameter(ones(), name="p1")])

    assert names(Tupled()) == [("p0", "p0"), ("p1", "p1")]


def test_names_and_tags_survive_meta_to_empty_and_deepcopy():
    with torch.device("meta"):
        deep = Deep()
    deep.tied = deep.b
    deep.b.a.w.my_tag = 3
    before = names(deep)
    assert deep.b.a.w.is_meta
    deep.to_empty(device="cpu")
    assert not deep.b.a.w.is_meta
    assert names(deep) == before and deep.b.a.w.my_tag == 3
    copied = copy.deepcopy(deep)
    assert names(copied) == before and copied.b.a.w.my_tag == 3 and copied.b.a.w is not deep.b.a.w
    assert deep._mf_param_names["l.0.w"] == "l.0.w"


def test_ties_survive_to_empty():
    with torch.device("meta"):
        root = nn.Module()
        root.a = Inner()
        root.b = nn.Module()
        root.b.v = root.a.w
    root.to_empty(device="cpu")
    assert root.b.v is root.a.w


def test_a_parameter_put_in_by_torch_inherits_name_and_tags():
    deep = Deep()
    deep.b.a.w._tag = "t"
    deep.b.a.w = torch.nn.Parameter(torch.zeros(2))
    assert param_name(deep.b.a.w) == "b.a.w" and deep.b.a.w._tag == "t"


def test_data_is_copied_and_dtypes_follow_mindspore():
    array = np.ones(2, np.float32)
    p = Parameter(array)
    array[0] = 9
    assert p.tolist() == [1, 1]
    source = ones()
    q = Parameter(source)
    source += 1
    assert q.tolist() == [1, 1]
    assert Parameter(3).dtype == torch.int32 and Parameter(3.0).dtype == torch.float32
    assert Parameter([1, 2]).dtype == torch.int64 and Parameter([1.0, 2]).dtype == torch.float32
    assert Parameter(np.ones(2)).dtype == torch.float64
    with pytest.raises(ValueError, match="bool"):
        Parameter(True)
    with pytest.raises(TypeError):
        Parameter({})


def test_integer_parameters():
    p = Parameter(torch.tensor(0, dtype=torch.int32), name="n")
    assert isinstance(p, torch.nn.Parameter) and not p.requires_grad


def test_assignment_writes_into_the_same_parameter():
    inner = Inner()
    before = inner.w
    inner.w = torch.zeros(2, dtype=torch.float16)
    assert inner.w is before and inner.w.dtype == torch.float32 and inner.w.tolist() == [0, 0]
    inner.w = torch.zeros(3)
    assert inner.w is before and inner.w.shape == (3,)
    with pytest.raises(TypeError):
        inner.w = 5
    inner.w = None
    assert inner.w is None and [n for n, _ in names(inner)] == ["g", "h"]


def test_set_data():
    p = Parameter(ones(), name="w")
    assert params.set_data(p, torch.full((2,), 7, dtype=torch.int32)) is p
    assert p.dtype == torch.float32 and p.tolist() == [7, 7]
    params.set_data(p, torch.zeros(3), slice_shape=True)
    assert p.shape == (3,)

    class Foreign:
        def set_data(self, data):
            return ("foreign", data)

    assert params.set_data(Foreign(), 1) == ("foreign", 1)


def test_clone():
    p = Parameter(ones(), name="w", requires_grad=False)
    q = params.clone(p)
    assert q is not p and param_name(q) == "w" and not q.requires_grad
    q.data += 1
    assert p.tolist() == [1, 1]
    assert params.clone(p, "zeros").tolist() == [0, 0]
    assert params.clone(p, init="ones").tolist() == [1, 1]
    tensor = ones()
    assert not isinstance(params.clone(tensor), torch.nn.Parameter)
    cloned = ParameterTuple([p, Parameter(ones(), name="v")]).clone(prefix="m", init="zeros")
    assert [param_name(x) for x in cloned] == ["m.w", "m.v"]


def test_parameter_tuple_names_are_unique():
    with pytest.raises(ValueError, match="twice"):
        ParameterTuple([Parameter(ones(), name="a"), Parameter(ones(), name="a")])
    with pytest.raises(TypeError):
        ParameterTuple([ones()])
    p = Parameter(ones(), name="a")
    assert len(ParameterTuple([p, p])) == 2


def test_param_info():
    p = Parameter(ones(), name="a")
    assert params.param_info(p).is_pipeline_shared_param is False
    assert params.param_info(p) is params.param_info(p)
    assert params.param_info(params.clone(p)) is not params.param_info(p)
