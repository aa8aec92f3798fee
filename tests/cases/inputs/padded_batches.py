"""Batches of rows of different lengths."""

import mindspore.dataset as ds
import numpy as np


def rows():
    for i in range(1, 4):
        yield np.arange(i, dtype=np.float32), np.array(i, np.int32), np.ones((i, 2), np.int64)


def made(**kwargs):
    data = ds.GeneratorDataset(rows, ["a", "b", "c"]).padded_batch(**kwargs)
    return [list(row) for row in data.create_tuple_iterator(num_epochs=1)], data.get_dataset_size()


def case_padded():
    return (
        made(batch_size=2, pad_info={"a": ([4], -1), "c": ([None, 3], 7)}),
        made(batch_size=3, pad_info={}),
        made(batch_size=2, drop_remainder=True, pad_info={"a": (None, 9), "c": ([3, 2], None)}),
    )
