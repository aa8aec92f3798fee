"""The Tensor constructor, adapters on foreign receivers, and what the recorded cases do not show."""

import numpy as np
import pytest
import torch

from ms2torch.runtime._backend import tensor as T
from ms2torch.runtime._backend.initializer import One
from ms2torch.runtime._backend.tensor import _receiver


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (1, torch.int64),
        (1.5, torch.float32),
        (True, torch.bool),
        (2j, torch.complex128),
        ([1, 2], torch.int64),
        ([1, 2.5], torch.float32),
        ([True, False], torch.bool),
        ([True, 2], torch.int64),
        ([], torch.float32),
        (((1, 2), (3, 4)), torch.int64),
        (np.float64(2), torch.float64),
        (np.ones(2), torch.float64),
        (np.ones(2, np.float16), torch.float16),
        ([np.ones(2), np.ones(2)], torch.float32),
        ([np.int32(1)], torch.int64),
        ([torch.tensor(1), torch.tensor(2)], torch.int64),
        ([torch.tensor([1.0]), torch.tensor([2.0])], torch.float32),
        (np.array([1, 2], np.uint16), torch.uint16),
        (2**63, torch.uint64),
    ],
)
def test_dtype_of_data(data, dtype):
    assert T.Tensor(data).dtype == dtype
    assert T.tensor(data).dtype == dtype


@pytest.mark.parametrize("wanted", [torch.bfloat16, torch.float16, torch.int8, torch.bool])
def test_a_given_dtype_wins(wanted):
    for data in (1, [0, 1.7], np.ones(2), torch.ones(2, dtype=torch.float64)):
        assert T.Tensor(data, wanted).dtype == wanted


@pytest.mark.parametrize(
    "data", ["ab", ["a"], {1: 2}, range(3), None, object(), [[1, 2], [3]], np.array(["a"])]
)
def test_no_tensor_of_these(data):
    with pytest.raises(TypeError):
        T.Tensor(data)


def test_a_tensor_is_copied_without_its_graph():
    x = torch.ones(2, requires_grad=True)
    y = T.Tensor(x * 2)
    assert not y.requires_grad and type(y) is torch.Tensor
    z = T.Tensor(x)
    z += 1
    assert x.tolist() == [1, 1]
    array = np.ones(2)
    z = T.Tensor(array)
    z += 1
    assert array.tolist() == [1, 1]
    assert type(T.Tensor(torch.nn.Parameter(torch.ones(1)))) is torch.Tensor


def test_init_in_place_of_data():
    made = T.Tensor(shape=(2, 3), dtype=torch.float16, init=One())
    assert made.shape == (2, 3) and made.dtype == torch.float16 and made.eq(1).all()
    assert T.init_data(made) is made
    with pytest.raises(TypeError):
        T.Tensor(shape=(2,), dtype=torch.float32)
    with pytest.raises(ValueError):
        T.Tensor([1], shape=(1,))
    with pytest.raises(NotImplementedError, match="slice_index"):
        T.init_data(made, 1)


def test_the_device_of_a_new_tensor(monkeypatch):
    monkeypatch.setattr(T.create._device, "current_device", lambda: torch.device("meta"))
    assert T.Tensor([1, 2]).device.type == "meta"
    assert T.Tensor(np.ones(2)).device.type == "meta"
    assert T.Tensor([1, 2], device="CPU").device.type == "cpu"
    with torch.device("cpu"):
        assert T.Tensor([1, 2]).device.type == "cpu"
    monkeypatch.undo()
    with torch.device("meta"):
        assert T.Tensor(2.0).device.type == "meta"
        assert T.Tensor(np.ones(2)).device.type == "meta"
        assert T.Tensor(T.from_numpy(np.ones(2))).device.type == "meta"
        assert T.from_numpy(np.ones(2)).device.type == "cpu"


def test_from_numpy_shares_memory():
    array = np.zeros(3)
    made = T.from_numpy(array)
    array[0] = 5
    assert made.tolist() == [5, 0, 0] and made.dtype == torch.float64
    frozen = np.arange(6).reshape(2, 3).T
    assert T.from_numpy(frozen).tolist() == frozen.tolist()
    with pytest.raises(TypeError, match="numpy array"):
        T.from_numpy([1])


def test_asnumpy():
    x = torch.tensor([1.5, -2.0], dtype=torch.bfloat16, requires_grad=True)
    got = T.asnumpy(x)
    assert got.dtype == np.float32 and got.tolist() == [1.5, -2.0]
    plain = torch.zeros(2)
    T.numpy(plain)[0] = 3
    assert plain.tolist() == [3, 0]
    assert T.asnumpy(torch.tensor([1 + 2j]).conj()).tolist() == [1 - 2j]
    assert T.asnumpy(torch.tensor(True)) == np.True_


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (torch.int8, torch.int8),
        ("float16", torch.float16),
        ("Float32", torch.float32),
        ("bool", torch.bool),
        ("bool_", torch.bool),
        (int, torch.int64),
        (float, torch.float64),
        (bool, torch.bool),
        (np.int16, torch.int16),
        (np.dtype("uint8"), torch.uint8),
    ],
)
def test_astype(given, wanted):
    assert T.astype(torch.ones(2), given).dtype == wanted


def test_astype_copies_unless_told():
    x = torch.ones(2)
    assert T.astype(x, torch.float32) is not x
    assert T.astype(x, torch.float32, copy=False) is x
    with pytest.raises(TypeError):
        T.astype(x, "floaty")
    with pytest.raises(TypeError):
        T.astype(x, 3)


def test_devices_by_mindspore_name():
    x = torch.ones(2)
    assert T.to(x, "CPU").device.type == "cpu"
    assert T.to(x, "Ascend", torch.int32).dtype == torch.int32
    assert T.to(x, device="GPU").device.type in ("cpu", "cuda", "npu")
    moved = T.move_to(x, "CPU")
    assert moved is not x and torch.equal(moved, x)


class Own:
    """A class of the ported project whose methods share names with MindSpore's."""

    size = "large"
    T = "t"

    def split(self, *args, **kwargs):
        return ("own split", args, kwargs)

    max = repeat = to = copy = value = any = split


@pytest.mark.parametrize(
    ("adapter", "receiver", "args", "want"),
    [
        (T.split, "a/b", ("/",), ["a", "b"]),
        (T.copy, [1, 2], (), [1, 2]),
        (T.copy, {"a": 1}, (), {"a": 1}),
        (T.index_fill, None, (), AttributeError),
        (T.max, np.array([1, 5]), (), 5),
        (T.repeat, np.array([1, 2]), (2,), [1, 1, 2, 2]),
        (T.astype, np.array([1.5]), ("int32",), [1]),
        (T.transpose, np.zeros((2, 3)), (1, 0), np.zeros((3, 2)).tolist()),
        (T.size, np.zeros((2, 3)), (), 6),
        (T.T, np.zeros((2, 3)), (), np.zeros((3, 2)).tolist()),
        (T.sum, np.array([1, 2]), (), 3),
        (T.value, Own(), (1,), ("own split", (1,), {})),
        (T.size, Own(), (), "large"),
    ],
)
def test_foreign_receivers_keep_their_own_methods(adapter, receiver, args, want):
    if want is AttributeError:
        with pytest.raises(AttributeError):
            adapter(receiver, *args)
        return
    got = adapter(receiver, *args)
    assert (got.tolist() if isinstance(got, np.ndarray | np.generic) else got) == want


def test_every_adapter_leaves_foreign_receivers_alone():
    class Recorder:
        def __getattr__(self, name):
            if name in ("size", "strides", "T", "has_init", "init"):
                return ("attribute", name)
            return lambda *a, **k: ("method", name)

        def __getitem__(self, index):
            return ("item", index)

        def __setitem__(self, index, value):
            self.stored = (index, value)

    owner = Recorder()
    assert T.getitem(owner, "key") == ("item", "key")
    T.setitem(owner, "key", 1)
    assert owner.stored == ("key", 1)
    for name in T.__all__:
        if name in ("Tensor", "tensor", "from_numpy", "getitem", "setitem"):
            continue
        kind = "attribute" if name in ("size", "strides", "T", "has_init", "init") else "method"
        assert getattr(T, name)(Recorder()) == (kind, name), name


X = [[1.0, 2.0, 3.0, 6.0], [8.0, 4.0, 5.0, 7.0]]


@pytest.mark.parametrize(
    "run",
    [
        lambda x: T.sum(x, axis=1, keepdims=True),
        lambda x: T.mean(x, axis=0),
        lambda x: T.std(x, 1),
        lambda x: T.var(x, axis=1, ddof=1),
        lambda x: T.max(x, axis=1),
        lambda x: T.max(x, 1)[0],
        lambda x: T.prod(x, axis=(0, 1)),
        lambda x: T.norm(x, dim=1),
        lambda x: T.astype(x, "float64"),
        lambda x: T.copy(x),
        lambda x: T.itemset(x, (0, 1), 3.0),
        lambda x: T.gather(x, torch.tensor([1, 0]), 1),
        lambda x: T.gather(x, torch.tensor([[1], [0]]), 1, 1),
        lambda x: T.gather_nd(x, torch.tensor([[0, 1], [1, 2]])),
        lambda x: T.scatter_add(x, torch.tensor([[0, 1], [0, 1]]), torch.ones(2)),
        lambda x: T.scatter_max(x, torch.tensor([[0, 1]]), torch.ones(1) * 9),
        lambda x: T.unsorted_segment_max(x, torch.tensor([0, 0]), 2)[0],
        lambda x: T.select(x, x > 3.5, 0.0),
        lambda x: T.transpose(x, 1, 0) * x.T,
        lambda x: T.flatten(x, order="F"),
        lambda x: T.resize(x, 3, 4),
        lambda x: T.cumsum(x, 1),
        lambda x: T.reverse_sequence(x, torch.tensor([1, 3]), 1, 0),
        lambda x: T.xdivy(x, 2.0),
        lambda x: T.masked_fill(x, x > 3.5, torch.tensor(0.0)),
        lambda x: T.topk(x, 2)[0],
        lambda x: T.dot(x, x.T),
        lambda x: T.trace(x),
        lambda x: T.take(x, torch.tensor([1, -1]), axis=1),
        lambda x: T.ptp(x, axis=1),
    ],
)
def test_gradients_pass(run):
    x = torch.tensor(X, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(run, (x,))


def test_two_names_for_one_argument():
    x = torch.ones(2, 2)
    with pytest.raises(TypeError, match="same argument"):
        T.sum(x, axis=0, dim=0)
    with pytest.raises(TypeError, match="unexpected argument 'nonsense'"):
        T.max(x, axis=0, nonsense=1)


def test_in_place_and_not():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert T.fill(x, 5).eq(5).all() and x[0, 0] == 1
    assert T.itemset(x, 0, 9.0)[0, 0] == 9 and x[0, 0] == 1
    with pytest.raises(ValueError, match="needs an index"):
        T.itemset(x, 9.0)
    assert T.assign_value(x, torch.zeros(2, 2)) is x and not x.any()
    assert T.assign_value(x, torch.ones(3, dtype=torch.int32)) is x
    assert x.shape == (3,) and x.dtype == torch.int32
    y = torch.zeros(2, 3)
    assert T.index_add(y, torch.tensor([1]), torch.ones(2, 1), 1) is y and y[0, 1] == 1
    z = T.index_add(y, 1, torch.tensor([0]), torch.ones(2, 1))
    assert z is not y and y[0, 0] == 0


def test_random_fills_stay_in_range():
    x = torch.zeros(1000)
    assert T.uniform(x, 2.0, 3.0).min() >= 2 and not x.any()
    assert T.uniform_(x, 2, 3) is x and x.min() >= 2 and x.max() < 3
    assert set(T.random_(x, 0, 2).tolist()) == {0.0, 1.0}
    drawn = T.multinomial(torch.tensor([0.0, 1.0]), 5)
    assert drawn.dtype == torch.int32 and drawn.tolist() == [1] * 5
    assert T.random_categorical(torch.tensor([[-1e9, 0.0]]), 4, 7).tolist() == [[1] * 4]
    same = [T.multinomial(torch.ones(50), 20, True, seed=3).tolist() for _ in range(2)]
    assert same[0] == same[1]


def test_refusals():
    x = torch.ones(2, 2)
    with pytest.raises(NotImplementedError, match="diag"):
        T.diag(x)
    assert T.diag(x, 0).tolist() == [1, 1]
    with pytest.raises(NotImplementedError, match="mode='raise'"):
        T.take(x, torch.tensor([0]), 0, mode="raise")
    with pytest.raises(NotImplementedError, match="return_indices"):
        T.max(x, axis=0, initial=0.0, return_indices=True)
    with pytest.raises(ValueError, match="where needs initial"):
        T.max(x, axis=0, where=x > 0)
    with pytest.raises(ValueError, match="order"):
        T.flatten(x, order="K")


def test_view_of_a_transposed_tensor_copies():
    x = torch.arange(6).reshape(2, 3).T
    assert T.view(x, 6).tolist() == [0, 3, 1, 4, 2, 5]
    base = torch.zeros(4)
    T.view(base, 2, 2)[0, 0] = 1
    assert base[0] == 1
    assert T.view(torch.ones(2), torch.int32).dtype == torch.int32


def test_svd_rebuilds_the_matrix():
    x = torch.tensor(X)
    s, u, v = T.svd(x)
    torch.testing.assert_close(u @ torch.diag(s) @ v.mH, x)


def test_as_dtype():
    assert _receiver.as_dtype("mindspore.bfloat16") == torch.bfloat16


def test_extreme_of_all_with_index_zero():
    # recorded under MindSpore 2.10 on CPU: the index is 0 wherever the value stands, keep_dims or not
    x = torch.tensor([[1.0, 2.0], [3.0, 0.0]])
    for keep in (False, True):
        value, index = T.argmax_with_value(x, axis=None, keep_dims=keep)
        assert (value.item(), index.item(), value.shape, index.dtype) == (3.0, 0, (), torch.int64)
        value, index = T.argmin_with_value(x, None, keep)
        assert (value.item(), index.item(), index.shape) == (0.0, 0, ())


def test_named_device():
    meta = T.Tensor(np.ones((2, 1), np.int32), device="meta")
    assert (meta.is_meta, meta.shape, meta.dtype) == (True, (2, 1), torch.int32)
    assert not T.Tensor([1.0], device="CPU").is_meta


def test_int32_indices_in_place():
    where = torch.tensor([1, 0], dtype=torch.int32)
    x = torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=torch.int32)
    assert T.index_fill_(x, 1, where, torch.tensor(7, dtype=torch.int32)) is x
    assert x.tolist() == [[7, 7, 3], [7, 7, 6]]
    assert T.index_copy_(x, 0, where, x.clone()).tolist() == [[7, 7, 6], [7, 7, 3]]


def test_set_takes_the_memory_and_dtype_of_its_source():
    x, source = torch.zeros(2, dtype=torch.float64), torch.tensor([1.0, 2.0, 3.0])
    assert T.set_(x, source) is x and x.dtype is torch.float32
    source[0] = 9
    assert x.tolist() == [9.0, 2.0, 3.0]
    y = torch.zeros(4)
    assert T.set_(y, source, 1, (2,), (1,)).tolist() == [2.0, 3.0]
    with pytest.raises(NotImplementedError, match="own dtype"):
        T.set_(torch.zeros(1, dtype=torch.int32), source, 1, (2,), (1,))


def test_generator():
    from ms2torch.runtime._backend import random_state

    one = random_state.Generator()
    assert one.manual_seed(11) is one and one.initial_seed() == 11
    state = one.get_state()
    first = T.uniform_(torch.zeros(5), 1.0, 2.0, generator=one)
    one.seed()
    one.set_state(state)
    assert torch.equal(first, T.uniform_(torch.zeros(5), 1.0, 2.0, generator=one))
    assert ((first >= 1) & (first < 2)).all()
