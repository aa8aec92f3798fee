"""Small data files, equal on every machine, and the data sets that are made of them. Needs numpy alone.

A `.bin` holds tokens; its `.idx` the type and length of each sequence, where each begins, and which
sequences begin a document (Megatron-LM's format).
"""

import json
import struct

import numpy as np

EOD, PAD, VOCABULARY = 1, 0, 100
MAGIC, INT32, UINT16 = b"MMIDIDX\x00\x00", 4, 8


def documents(seed, count):
    """Token lists of uneven length (some shorter than a sample, some longer), each ending in EOD."""
    draw = np.random.RandomState(seed)
    return [np.append(draw.randint(2, VOCABULARY, draw.randint(1, 60)), EOD) for _ in range(count)]


def write_indexed(prefix, docs, dtype=np.int32):
    """prefix.bin and prefix.idx of documents of one sequence each."""
    lengths = np.array([len(doc) for doc in docs], np.int32)
    pointers = np.concatenate([[0], np.cumsum(lengths[:-1], dtype=np.int64)]) * np.dtype(dtype).itemsize
    with open(f"{prefix}.bin", "wb") as stream:
        for doc in docs:
            stream.write(doc.astype(dtype).tobytes())
    with open(f"{prefix}.idx", "wb") as stream:
        stream.write(MAGIC + struct.pack("<QB", 1, INT32 if dtype is np.int32 else UINT16))
        stream.write(struct.pack("<QQ", len(docs), len(docs) + 1))
        stream.write(lengths.tobytes() + pointers.astype(np.int64).tobytes())
        stream.write(np.arange(len(docs) + 1, dtype=np.int64).tobytes())


def write(folder):
    """All files of the cases below, under names relative to `folder`."""
    write_indexed(folder / "one", documents(1, 90))
    write_indexed(folder / "two", documents(2, 40), np.uint16)
    write_indexed(folder / "three", documents(3, 25))
    draw = np.random.RandomState(4)
    with (folder / "rows.json").open("w") as stream:
        for _ in range(60):
            tokens = draw.randint(2, VOCABULARY, 17).tolist()
            stream.write(json.dumps({"input_ids": tokens[:-1], "labels": tokens[1:]}) + "\n")


def megatron(paths, columns=(), **options):
    """A loader of GPT samples of 16 tokens."""
    names = ["input_ids", "labels", "loss_mask", "position_ids", *columns]
    config = {
        "seed": 1234, "split": "1, 0, 0", "seq_length": 16, "eod": EOD, "pad": PAD, "data_path": paths,
        "eod_mask_loss": False, "reset_position_ids": False, "reset_attention_mask": False,
        "create_attention_mask": False, "create_compressed_eod_mask": False, "path_to_cache": "cache",
    }  # fmt: skip
    size = options.pop("size", 150)
    return {
        "type": "BlendedMegatronDatasetDataLoader",
        "datasets_type": "GPTDataset",
        "sizes": [size, 0, 0],
        "config": config | options,
        "column_names": names,
        "shuffle": False,
    }


def cases():
    """Name to loader, micro-batch size and seed. 100 steps go over an epoch's end in all of them."""
    blend = ["0.7", "one", "0.2", "two", "0.1", "three"]
    ordered = {
        "type": "OrderedIndexDataLoader", "data_path": ["one", "three"], "sequence_length": 16,
        "eod_token": EOD, "pad_token": PAD, "create_attention_mask": False,
        "create_compressed_eod_mask": False, "cache_dir": "ordered",
        "column_names": ["input_ids", "labels", "loss_mask", "position_ids"],
    }  # fmt: skip
    rows = {
        "type": "HFDataLoader", "path": "json", "data_files": "rows.json", "split": "train",
        "create_attention_mask": False, "create_compressed_eod_mask": False, "python_multiprocessing": False,
    }  # fmt: skip
    loaders = {
        "one prefix": megatron(["1", "one"]),
        "one prefix without a weight": megatron(["one"]),
        # More samples than the tokens give once: the last epoch is shuffled apart, or not.
        "many epochs": megatron(["1", "two"], size=130),
        "blend": megatron(blend),
        "blend, whole": megatron(["one", "two", "three"], size=180),
        "shuffled": megatron(["1", "one"]) | {"shuffle": True},
        "end of document": megatron(
            ["1", "one"], ["attention_mask"], eod_mask_loss=True, reset_position_ids=True,
            reset_attention_mask=True, create_attention_mask=True,
        ),
        "compressed": megatron(
            blend, ["actual_seq_len"], create_compressed_eod_mask=True, eod_pad_length=24,
            reset_position_ids=True,
        ),
        "no extra token": megatron(["1", "three"], add_extra_token_to_sequence=False, size=60),
        "ordered": ordered,
        "rows": rows,
        "rows, shuffled": rows | {"shuffle": True},
        "rows, handled": rows | {
            "handler": [
                {"type": "shuffle", "seed": 42},
                {"type": "rename_column", "original_column_name": "labels", "new_column_name": "position_ids"},
            ]
        },
    }  # fmt: skip
    return {name: {"dataloader": loader, "batch": 2, "seed": 7} for name, loader in loaders.items()}
