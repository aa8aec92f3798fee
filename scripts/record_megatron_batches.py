"""Records what MindFormers yields under MindSpore on a CPU from small `.bin`/`.idx` files: a hash of each batch.

    PYTHONPATH=MINDFORMERS python scripts/record_megatron_batches.py tests/port/megatron_batches.json

Needs MindSpore 2.10, MindFormers 2.1.0 and what MindFormers imports; a C++ compiler and pybind11 for its
index helpers. tests/port/test_datasets.py writes the same files and holds the port to the recording. The
batches go through MindFormers' own loaders and, for the rest, through the calls that its PyNative trainer
makes: `batch` with the trainer's map, `set_init_step`, `create_dict_iterator`, a new iterator at an epoch's end.
"""

import copy
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "port"))

import _megatron_files  # noqa: E402

STEPS = 100


def batch_hash(batch):
    """As in tests/port/_tiny.py."""
    digest = hashlib.sha256()
    for name, value in sorted(batch.items()):
        array = value.asnumpy()
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def add_offsets(*columns):
    """The trainer's map for `actual_seq_len`, whose own text needs hyper_parallel to import: each sequence's
    lengths go on from the one before."""
    *others, lengths, _ = columns
    if len(lengths) == 1:
        return (*others, lengths)
    made, offset = [], 0
    for one in lengths:
        made.append(one + offset)
        offset = made[-1][-1]
    return (*others, made)


def dataset(case):
    """The dataset as the trainer builds it."""
    import mindspore.dataset as ds
    from mindformers.dataset.dataloader import (
        blended_megatron_dataloader,
        hf_dataloader,
        ordered_index_dataloader,
    )

    ds.config.set_num_parallel_workers(1)
    ds.config.set_prefetch_size(1)
    options = copy.deepcopy(case["dataloader"])
    kind = options.pop("type")
    home = {
        "BlendedMegatronDatasetDataLoader": blended_megatron_dataloader,
        "OrderedIndexDataLoader": ordered_index_dataloader,
        "HFDataLoader": hf_dataloader,
    }[kind]
    compressed = options.get("config", options).get("create_compressed_eod_mask", False)
    if kind == "HFDataLoader":
        options["use_broadcast_data"] = False
    made = getattr(home, kind)(**options, num_parallel_workers=1)
    return made.batch(
        batch_size=case["batch"], drop_remainder=True, per_batch_map=add_offsets if compressed else None
    )


def batches(case, steps, first=0):
    """Hashes of the batches of steps `first` … `steps`, with the trainer's loop over epochs."""
    made = dataset(case)
    epochs = (steps + made.get_dataset_size() - 1) // made.get_dataset_size() + 1
    if first:
        made.set_init_step(first)
    rows = made.create_dict_iterator(output_numpy=False, num_epochs=epochs)
    found = []
    for _ in range(first, steps):
        try:
            row = next(rows)
        except StopIteration:
            rows = made.create_dict_iterator(output_numpy=False, num_epochs=epochs)
            row = next(rows)
        found.append(batch_hash(row))
    return found, made.get_dataset_size()


def main():
    import mindspore
    from mindspore import manual_seed, set_seed

    mindspore.set_device("CPU")
    out = {}
    target = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        _megatron_files.write(Path(folder))
        for name, case in _megatron_files.cases().items():
            set_seed(case["seed"])
            manual_seed(case["seed"])
            found, size = batches(case, case.get("steps", STEPS))
            assert size < len(found), name
            # A resume inside the epoch, up to its end. (Beyond it, MindFormers begins again where it resumed.)
            first = size // 2
            resumed, _ = batches(case, size, first)
            assert resumed == found[first:size], name
            out[name] = {"epoch": size, "batches": found}
            print(name, size, len(found), len(set(found)))
    target.write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
