"""Orders of samples equal those that MindSpore 2.10 gave for the same seeds (recorded from runs on CPU)."""

import zlib

import numpy as np
import pytest

from ms2torch.runtime._backend import data as ds


class Numbers:
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return (np.int32(index),)


def order(dataset, epochs=1):
    rows = dataset.create_dict_iterator(num_epochs=epochs, output_numpy=True)
    return [[int(row["a"]) for row in rows] for _ in range(epochs)]


@pytest.fixture(autouse=True)
def keep_seed():
    seed = ds.config._seed
    yield
    ds.config._seed = seed


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (7, [[1, 3, 0, 5, 4, 6, 2], [1, 4, 0, 5, 3, 6, 2], [3, 0, 6, 1, 4, 5, 2]]),
        (
            10,
            [
                [5, 3, 0, 8, 2, 7, 1, 6, 4, 9],
                [5, 3, 8, 9, 4, 1, 7, 2, 6, 0],
                [0, 7, 1, 5, 9, 2, 8, 6, 4, 3],
            ],
        ),
    ],
)
def test_shuffle_true(count, expected):
    ds.config.set_seed(1234)
    dataset = ds.GeneratorDataset(Numbers(count), ["a"], shuffle=True)
    assert order(dataset, 3) == expected
    # asking for sizes, and an iterator before, leave the order of the next iterator alone
    assert dataset.get_dataset_size() == count
    assert order(dataset) == expected[:1]


@pytest.mark.parametrize(
    ("count", "sums"), [(3001, [3780070683, 784099365]), (70000, [3396151994, 2925332419])]
)
def test_long_shuffles(count, sums):
    # 70,000 takes the branch of std::shuffle that draws one position a word
    ds.config.set_seed(99)
    orders = order(ds.GeneratorDataset(Numbers(count), ["a"], shuffle=True), 2)
    assert [zlib.crc32(np.array(o, np.int64).tobytes()) for o in orders] == sums


@pytest.mark.parametrize(
    ("shard", "expected"),
    [
        (0, [[0, 9, 5, 2], [2, 0, 3, 1]]),
        (1, [[1, 8, 4, 0], [5, 9, 7, 2]]),
        (2, [[3, 6, 7, 1], [6, 4, 8, 5]]),
    ],
)
def test_shuffled_shards(shard, expected):
    ds.config.set_seed(1234)
    dataset = ds.GeneratorDataset(Numbers(10), ["a"], shuffle=True, num_shards=3, shard_id=shard)
    assert order(dataset, 2) == expected
    assert dataset.get_dataset_size() == 4
    assert order(dataset) == expected[:1]


def test_distributed_sampler_with_a_seed_of_its_own():
    sampler = ds.DistributedSampler(1, 0, shuffle=True)
    sampler.seed = 77
    dataset = ds.GeneratorDataset(Numbers(10), ["a"], sampler=sampler)
    assert order(dataset, 2) == [[7, 9, 5, 4, 6, 3, 2, 8, 1, 0], [4, 8, 3, 2, 1, 0, 7, 5, 9, 6]]
    assert sampler.seed == 77


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (-1, [[0, 3, 6], [1, 4, 0], [2, 5, 1]]),
        (0, [[0, 3, 6], [1, 4], [2, 5]]),
        (1, [[2, 5], [0, 3, 6], [1, 4]]),
        (2, [[1, 4], [2, 5], [0, 3, 6]]),
    ],
)
def test_offset_of_shards(offset, expected):
    for shard in range(3):
        sampler = ds.DistributedSampler(3, shard, shuffle=False, offset=offset)
        assert order(ds.GeneratorDataset(Numbers(7), ["a"], sampler=sampler)) == [expected[shard]]


SAMPLERS = [
    (lambda: ds.RandomSampler(), [[3, 8, 5, 2, 4, 6, 7, 1, 9, 0], [3, 7, 5, 0, 8, 2, 4, 9, 6, 1]]),
    (lambda: ds.RandomSampler(replacement=True, num_samples=5), [[2, 0, 8, 8, 2], [8, 9, 3, 2, 8]]),
    (lambda: ds.RandomSampler(num_samples=4), [[3, 8, 5, 2], [3, 7, 5, 0]]),
    (lambda: ds.SequentialSampler(3, 4), [[3, 4, 5, 6]] * 2),
    (lambda: ds.SubsetSampler([5, 2, 7]), [[5, 2, 7]] * 2),
    (lambda: ds.SubsetRandomSampler([1, 2, 3, 4, 5]), [[4, 5, 1, 2, 3], [2, 3, 4, 5, 1]]),
    (lambda: ds.WeightedRandomSampler([0.1, 0.9, 0.5, 0, 0.3], 6), [[0, 2, 1, 4, 1, 1]] * 2),
    (lambda: ds.WeightedRandomSampler([0.1, 0.9, 0.5, 0, 0.3], 20), [[0, 2, 1, 4, 1, 1, 1, 1, 4, 2]] * 2),
    (lambda: [3, 1, 4], [[3, 1, 4]] * 2),
]


@pytest.mark.parametrize(("make", "expected"), SAMPLERS)
def test_samplers(make, expected):
    ds.config.set_seed(5)
    dataset = ds.GeneratorDataset(Numbers(10), ["a"], sampler=make())
    assert order(dataset, 2) == expected
    assert dataset.get_dataset_size() == len(expected[0])


def test_sampler_of_the_user():
    class Mine(ds.Sampler):
        def __iter__(self):
            yield from (self.dataset_size - 1, 8, 7)

    assert order(ds.GeneratorDataset(Numbers(10), ["a"], sampler=Mine()), 2) == [[9, 8, 7]] * 2


def test_a_random_access_source_is_shuffled_by_default_and_anew_without_a_seed():
    ds.config._seed = ds.config.UNSEEDED
    dataset = ds.GeneratorDataset(Numbers(200), ["a"])
    first, second = order(dataset), order(dataset)
    assert first != second and sorted(first[0]) == sorted(second[0]) == list(range(200))


def test_repeat_shuffles_each_pass():
    ds.config.set_seed(1234)
    dataset = ds.GeneratorDataset(Numbers(3), ["a"], shuffle=True).repeat(2)
    assert order(dataset, 2) == [[1, 2, 0, 1, 2, 0], [2, 0, 1, 2, 1, 0]]


def test_buffer_shuffle_keeps_the_rows_and_changes_each_epoch():
    ds.config.set_seed(5)
    dataset = ds.GeneratorDataset(Numbers(50), ["a"], shuffle=False).shuffle(10)
    first, second = order(dataset, 2)
    assert first != second and sorted(first) == sorted(second) == list(range(50))
    assert order(dataset) == [first]


def test_worker_processes_keep_the_order():
    ds.config.set_seed(3)
    plain = order(ds.GeneratorDataset(Numbers(30), ["a"], shuffle=True), 2)
    many = order(ds.GeneratorDataset(Numbers(30), ["a"], shuffle=True, num_parallel_workers=2), 2)
    assert plain == many


@pytest.mark.parametrize(
    "arguments",
    [
        {"shuffle": False, "sampler": ds.SequentialSampler()},
        {"num_samples": 3, "sampler": ds.SequentialSampler()},
        {"num_shards": 2},
        {"num_shards": 2, "shard_id": 2},
        {"num_shards": 2, "shard_id": 0, "sampler": ds.SequentialSampler()},
    ],
)
def test_conflicting_arguments(arguments):
    with pytest.raises(ValueError):
        ds.GeneratorDataset(Numbers(4), ["a"], **arguments)
