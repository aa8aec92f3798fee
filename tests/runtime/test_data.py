"""mindspore.dataset on torch: values, dtypes, column orders and epochs as MindSpore 2.10 gave them on CPU."""

import numpy as np
import pytest
import torch

from ms2torch.runtime._backend import data as ds


class Rows:
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


def pairs(count=5, **arguments):
    rows = [(np.array([i, i + 1], np.int32), i) for i in range(count)]
    return ds.GeneratorDataset(Rows(rows), ["a", "b"], **({"shuffle": False} | arguments))


def lists(dataset, output_numpy=True):
    rows = dataset.create_dict_iterator(num_epochs=1, output_numpy=output_numpy)
    return [{name: value.tolist() for name, value in row.items()} for row in rows]


def column(rows, name="b"):
    return [row[name].tolist() for row in rows]


def test_dtypes_and_shapes():
    sample = (1, 1.5, True, "s", b"x", [1, 2], np.zeros((2, 3), np.float16), np.int32(3), torch.ones(2))
    names = list("abcdefghi")
    (row,) = ds.GeneratorDataset(Rows([sample]), names).create_dict_iterator(num_epochs=1)
    types = {name: (value.dtype, tuple(value.shape)) for name, value in row.items()}
    assert types["a"] == (torch.int64, ())
    assert types["b"] == (torch.float64, ())
    assert types["c"] == (torch.bool, ())
    assert types["d"] == (np.dtype("<U1"), ()) and types["e"] == (np.dtype("S1"), ())
    assert types["f"] == (torch.int64, (2,))
    assert types["g"] == (torch.float16, (2, 3))
    assert types["h"] == (torch.int32, ()) and types["i"] == (torch.float32, (2,))
    (row,) = ds.GeneratorDataset(Rows([sample]), names).create_dict_iterator(num_epochs=1, output_numpy=True)
    assert all(isinstance(value, (np.ndarray, np.generic)) for value in row.values())


def test_tensors_do_not_share_memory_with_a_read_only_source():
    array = np.arange(4)
    array.flags.writeable = False
    (row,) = ds.GeneratorDataset(Rows([(array,)]), ["a"]).create_tuple_iterator(num_epochs=1)
    row[0].add_(1)
    assert array.tolist() == [0, 1, 2, 3]


def test_one_value_is_one_column():
    assert lists(ds.GeneratorDataset(Rows([5, 6]), "a", shuffle=False)) == [{"a": 5}, {"a": 6}]


@pytest.mark.parametrize("value", [None, {"k": 1}, object(), np.zeros(2, complex)])
def test_what_is_no_data(value):
    with pytest.raises(TypeError, match="must hold numbers"):
        lists(ds.GeneratorDataset(Rows([(value,)]), ["a"]))


def test_column_types():
    ok = ds.GeneratorDataset(Rows([(np.int32(1),)]), ["a"], column_types=[torch.int32])
    assert lists(ok) == [{"a": 1}]
    with pytest.raises(RuntimeError, match="column a is int64, not int32"):
        lists(ds.GeneratorDataset(Rows([(1,)]), ["a"], column_types=[torch.int32]))


def test_batch():
    rest = {"a": [[4, 5]], "b": [4]}
    full = [{"a": [[0, 1], [1, 2]], "b": [0, 1]}, {"a": [[2, 3], [3, 4]], "b": [2, 3]}]
    assert lists(pairs().batch(2)) == [*full, rest]
    assert lists(pairs().batch(2, drop_remainder=True), output_numpy=False) == full
    assert lists(pairs(3).batch(5, True)) == []
    assert lists(pairs(4).batch(lambda info: info.get_batch_num() + 1)) == [
        {"a": [[0, 1]], "b": [0]},
        {"a": [[1, 2], [2, 3]], "b": [1, 2]},
        {"a": [[3, 4]], "b": [3]},
    ]


def test_per_batch_map():
    seen = []

    def double(a, b, info):
        seen.append((type(a), type(a[0]), b[0].dtype, info.get_epoch_num(), info.get_batch_num()))
        return a, [x * 2 for x in b]

    dataset = pairs(4).batch(2, per_batch_map=double)
    assert column(dataset.create_dict_iterator(num_epochs=1, output_numpy=True)) == [[0, 2], [4, 6]]
    assert seen == [(list, np.ndarray, np.int64, 0, 0), (list, np.ndarray, np.int64, 0, 1)]
    two = pairs(4).batch(
        2, per_batch_map=lambda b, info: (b, b), input_columns=["b"], output_columns=["b", "c"]
    )
    assert two.get_col_names() == ["b", "c", "a"] == list(lists(two)[0])
    three = pairs(4).batch(
        2, per_batch_map=lambda b, info: np.stack(b) * 3, input_columns=["b"], output_columns=["c"]
    )
    assert lists(three)[1] == {"a": [[2, 3], [3, 4]], "c": [6, 9]}
    assert three.get_col_names() == ["a", "c"]


def test_batch_numbers_start_again_in_each_pass():
    seen = []

    def note(b, info):
        seen.append((info.get_epoch_num(), info.get_batch_num()))
        return (b,)

    rows = (
        pairs(4)
        .project("b")
        .batch(2, per_batch_map=note)
        .repeat(2)
        .create_dict_iterator(num_epochs=2, output_numpy=True)
    )
    assert column(rows) == column(rows) == [[0, 1], [2, 3]] * 2
    assert seen == [(0, 0), (0, 1)] * 2 + [(1, 0), (1, 1)] * 2


def test_what_cannot_be_batched():
    with pytest.raises(RuntimeError, match="different shapes in column a"):
        lists(ds.GeneratorDataset(Rows([(np.zeros(2),), (np.zeros(3),)]), ["a"]).batch(2))
    with pytest.raises(RuntimeError, match="different types in column a"):
        lists(ds.GeneratorDataset(Rows([(np.zeros(2),), (np.zeros(2, np.int32),)]), ["a"]).batch(2))
    for size, error in ((0, ValueError), ("x", TypeError), (True, TypeError)):
        with pytest.raises(error, match="batch_size"):
            pairs().batch(size)
    with pytest.raises(TypeError, match="drop_remainder"):
        pairs().batch(2, drop_remainder=3)


def test_map():
    assert lists(pairs(2).map(lambda x: x * 2, ["b"])) == [{"a": [0, 1], "b": 0}, {"a": [1, 2], "b": 2}]
    split = pairs(2).map(lambda x: (x, x + 1), ["b"], ["b", "c"])
    assert lists(split)[1] == {"b": 1, "c": 2, "a": [1, 2]}
    assert split.get_col_names() == ["b", "c", "a"]
    chain = pairs(2).map([lambda x: x * 2, lambda x: x + 1], input_columns="b", output_columns="z")
    assert lists(chain)[1] == {"a": [1, 2], "z": 3}
    assert lists(pairs(2).map(lambda a, b: a + b, ["a", "b"], ["s"])) == [{"s": [0, 1]}, {"s": [2, 3]}]
    cast = pairs(2).map(ds.transforms.TypeCast(torch.float16), ["b"])
    assert cast.output_types() == [np.int32, np.float16]
    with pytest.raises(NotImplementedError, match="offload"):
        pairs().map(abs, offload=True)


def test_choosing_rows_and_columns():
    assert [r["b"] for r in lists(pairs(5).skip(1).take(2))] == [1, 2]
    assert [r["b"] for r in lists(pairs(5).filter(lambda b: b % 2 == 0, ["b"]))] == [0, 2, 4]
    assert pairs(5).filter(lambda b: b % 2 == 0, ["b"]).get_dataset_size() == 3
    assert [r["b"] for r in lists(pairs(2) + pairs(1))] == [0, 1, 0]
    assert lists(pairs(1).rename(["a"], ["q"])) == [{"q": [0, 1], "b": 0}]
    assert lists(pairs(1).project(["b", "a"])) == [{"b": 0, "a": [0, 1]}]
    zipped = pairs(3).rename(["a", "b"], ["c", "d"]).zip(pairs(2))
    assert lists(zipped)[1] == {"c": [1, 2], "d": 1, "a": [1, 2], "b": 1} and len(zipped) == 2
    assert [[r["b"] for r in lists(part)] for part in pairs(5).split([2, 3], randomize=False)] == [
        [0, 1],
        [2, 3, 4],
    ]
    with pytest.raises(RuntimeError, match="z does not exist"):
        lists(pairs().project(["z"]))
    with pytest.raises(RuntimeError, match="one name"):
        pairs().zip(pairs()).get_col_names()


def test_sizes():
    assert [len(pairs().batch(2)), len(pairs().batch(2, True)), len(pairs().repeat(3))] == [3, 2, 15]
    assert [len(pairs().batch(2).repeat(3)), len(pairs().repeat(3).batch(2)), len(pairs().repeat())] == [
        9,
        8,
        5,
    ]
    assert pairs().get_batch_size() == 1 and pairs().batch(2).repeat(2).get_batch_size() == 2
    assert pairs().repeat(3).batch(2).get_repeat_count() == 3
    assert pairs().batch(2).output_shapes() == [[2, 2], [2]]
    with pytest.raises(ValueError, match="count"):
        pairs().repeat(0)


def test_batches_run_over_repeats():
    assert [r["b"] for r in lists(pairs(3).repeat(2).batch(2))] == [[0, 1], [2, 0], [1, 2]]


def test_epochs():
    rows = pairs(3).create_dict_iterator(num_epochs=2, output_numpy=True)
    assert column(rows) == column(rows) == [0, 1, 2]
    with pytest.raises(RuntimeError, match="beyond the specified number of epochs"):
        next(rows)
    forever = pairs(2).create_dict_iterator(output_numpy=True)
    assert [column(forever) for _ in range(5)] == [[0, 1]] * 5
    with pytest.raises(RuntimeError, match="num_epochs"):
        pairs().create_dict_iterator(num_epochs=0)
    forever.stop()
    with pytest.raises(RuntimeError, match="stop"):
        next(forever)


def test_init_step():
    dataset = pairs(7).batch(2)
    dataset.set_init_step(2)
    assert dataset.get_dataset_size() == 4 and dataset.get_init_step() == 2
    rows = dataset.create_dict_iterator(num_epochs=2, output_numpy=True)
    assert column(rows) == [[4, 5], [6]]
    assert column(rows) == [[0, 1], [2, 3], [4, 5], [6]]
    dataset.set_init_step(5)
    rows = dataset.create_dict_iterator(num_epochs=2, output_numpy=True)
    assert column(rows) == [[2, 3], [4, 5], [6]]
    dataset.set_init_step(8)
    with pytest.raises(RuntimeError, match="reset step must be less"):
        dataset.create_dict_iterator(num_epochs=2)


def test_resuming_a_shuffled_dataset_gives_the_rows_of_an_unbroken_run():
    ds.config.set_seed(1234)
    dataset = pairs(7, shuffle=True).batch(2)
    dataset.set_init_step(5)
    rows = dataset.create_dict_iterator(num_epochs=3, output_numpy=True)
    assert [column(rows) for _ in range(2)] == [[[0, 5], [3, 6], [2]], [[3, 0], [6, 1], [4, 5], [2]]]
    ds.config._seed = ds.config.UNSEEDED


@pytest.mark.parametrize(
    "build",
    [
        lambda d: d.repeat(3).batch(2),
        lambda d: d.batch(2).repeat(3),
        lambda d: d.map(abs, ["b"]).skip(1).take(4).batch(3),
        lambda d: d.concat(pairs(2)).batch(4),
        lambda d: d.filter(lambda b: b != 2, ["b"]).batch(2),
        lambda d: d.batch(lambda info: 1 + info.get_batch_num()),
        lambda d: d.shuffle(3).batch(2),
    ],
)
def test_resume_equals_reading(build):
    ds.config.set_seed(7)
    dataset = build(pairs(6, shuffle=True))
    rows = dataset.create_dict_iterator(num_epochs=3, output_numpy=True)
    epochs = [column(rows) for _ in range(3)]
    flat = [row for epoch in epochs for row in epoch]
    for step in range(1, len(flat)):
        dataset.set_init_step(step)
        rows = dataset.create_dict_iterator(num_epochs=3, output_numpy=True)
        read = []
        while len(read) < len(flat) - step:
            read += column(rows)
        assert read == flat[step:]
    ds.config._seed = ds.config.UNSEEDED


def test_skipped_samples_are_not_read():
    class Noting(Rows):
        def __getitem__(self, index):
            read.append(index)
            return super().__getitem__(index)

    read = []
    dataset = ds.GeneratorDataset(Noting([(i,) for i in range(10)]), ["a"], shuffle=False).batch(2).repeat(2)
    dataset.set_init_step(8)
    assert len(lists(dataset)) == 2 and read == [6, 7, 8, 9]


def test_iterable_sources():
    def generator():
        for i in range(4):
            yield (np.int32(i),)

    for source in (generator, generator()):
        dataset = ds.GeneratorDataset(source, ["a"])
        assert dataset.get_dataset_size() == 4
        rows = dataset.create_dict_iterator(num_epochs=2, output_numpy=True)
        assert column(rows, "a") == column(rows, "a") == [0, 1, 2, 3]
    assert len(ds.GeneratorDataset(generator, ["a"], num_samples=2)) == 2
    for arguments in ({"num_shards": 2, "shard_id": 0}, {"sampler": ds.SequentialSampler()}):
        with pytest.raises(ValueError, match="__getitem__"):
            ds.GeneratorDataset(generator, ["a"], **arguments)


def test_an_iterable_of_the_wrong_length():
    class Short:
        def __len__(self):
            return 7

        def __iter__(self):
            return iter([(1,), (2,)])

    dataset = ds.GeneratorDataset(Short(), ["a"])
    assert dataset.get_dataset_size() == 7
    with pytest.raises(RuntimeError, match="amount of data read from generator 2"):
        lists(dataset)


def test_sources_that_cannot_be_read():
    with pytest.raises(TypeError, match="callable, iterable or random"):
        ds.GeneratorDataset(5, ["a"])
    with pytest.raises(ValueError, match="columns_names"):
        ds.GeneratorDataset(Rows([1]))
    with pytest.raises(TypeError, match="shuffle"):
        pairs(shuffle="yes")
    with pytest.raises(RuntimeError, match="number of returned NumPy arrays is 2"):
        lists(ds.GeneratorDataset(Rows([(1, 2)]), ["a"]))
    with pytest.raises(RuntimeError, match="must not be 0"):
        lists(ds.GeneratorDataset(Rows([]), ["a"]))
    with pytest.raises(NotImplementedError, match="collate_fn"):
        ds.GeneratorDataset(Rows([1]), ["a"], collate_fn=list)
    with pytest.raises(NotImplementedError, match=r"MindRecord files \(a.mindrecord\)"):
        ds.MindDataset(dataset_files=["a.mindrecord"], columns_list=["x"])


def test_numpy_slices():
    dataset = ds.NumpySlicesDataset({"a": [1, 2, 3, 4], "b": [5, 6, 7, 8]}, shuffle=False)
    assert lists(dataset)[0] == {"a": 1, "b": 5}
    ds.config.set_seed(3)
    shuffled = ds.NumpySlicesDataset([1, 2, 3, 4], shuffle=True)
    assert column(shuffled.create_dict_iterator(1, True), "column_0") == [4, 2, 1, 3]
    ds.config._seed = ds.config.UNSEEDED


def test_config():
    for call, error in (
        (lambda: ds.config.set_seed(-1), ValueError),
        (lambda: ds.config.set_seed(True), TypeError),
        (lambda: ds.config.set_num_parallel_workers(0), ValueError),
        (lambda: ds.config.set_prefetch_size(0), ValueError),
        (lambda: ds.config.set_numa_enable(1), TypeError),
        (lambda: ds.config.set_enable_autotune(True), NotImplementedError),
    ):
        with pytest.raises(error):
            call()
    size = ds.config.get_prefetch_size()
    ds.config.set_prefetch_size(3)
    assert ds.config.get_prefetch_size() == 3
    ds.config.set_prefetch_size(size)


def test_synthetic_tokens():
    dataset = ds.SyntheticDataset(seq_length=6, vocab_size=11, samples=8, num_shards=2, shard_id=1)
    assert dataset.get_col_names() == ["input_ids", "labels"] and len(dataset) == 4
    whole = lists(ds.SyntheticDataset(seq_length=6, vocab_size=11, samples=8))
    assert lists(dataset) == whole[1::2]
    for row in whole:
        assert row["input_ids"][1:] == row["labels"][:-1]
        steps = {(b - a) % 11 for a, b in zip(row["input_ids"], row["labels"], strict=True)}
        assert len(steps) == 1 and steps <= {1, 2, 3}
    assert {tuple(row["input_ids"][:2]) for row in whole} != {tuple(whole[0]["input_ids"][:2])}
    for sizes in ((0, 5, 5), (5, 1, 5), (5, 5, 0)):
        with pytest.raises(ValueError):
            ds.SyntheticTokens(*sizes)


def test_the_global_seed_is_the_pipelines_too(monkeypatch):
    from ms2torch.runtime._backend import device

    ds.config.set_seed(3)
    monkeypatch.setattr(device, "_seed", 1234)
    assert ds.config.get_seed() == 1234
    assert column(pairs(3, shuffle=True).create_dict_iterator(1, True)) == [1, 2, 0]
    ds.config.set_seed(4)
    assert ds.config.get_seed() == 4
    ds.config._seed = ds.config.UNSEEDED
