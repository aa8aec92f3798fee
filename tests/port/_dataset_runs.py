"""Batches of every kind of data set on the port; hashes go to out.json. Arguments: the port."""

import json
import os
from pathlib import Path

import _megatron_files
import _tiny
import torch

STEPS = 100


def options(case):
    """The trainer's options for a recorded case."""
    return {
        "train_dataset.dataloader": case["dataloader"],
        "training.local_batch_size": case["batch"],
        "training.global_batch_size": case["batch"],
        "training.steps": STEPS,
        "model.seq_length": 16,
    }


def read(trainer, case, first=0):
    """Hashes of the batches that the trainer's own loop reads, without computing on them."""
    from mindformers.pynative import _backend
    from mindformers.pynative.trainer.trainer import _build_dataset

    config = trainer._init_config(_tiny.config(options(case)))
    config.parallelism.data_parallel = 1
    _backend.set_seed(case["seed"])
    made = _build_dataset(config.train_dataset, config.parallelism, local_batch_size=case["batch"])
    size = trainer.train_epoch_step = made.get_dataset_size()
    trainer.train_dataset, trainer.batches, trainer._dataset_iter = made, [], None
    trainer.train_num_epochs = STEPS // size + 2
    if first:
        made.set_init_step(first % size)  # what a resume does
    trainer._dataset_iter = trainer._create_dataset_iterator(made)
    for _ in range(first, STEPS):
        trainer._next_batch()
    return {"epoch": size, "batches": trainer.batches}


def rows(count=12, batch=4):
    """Batches of counting sequences."""
    made = []
    for number in range(count):
        tokens = (torch.arange(33) + torch.arange(batch)[:, None] * 5 + number * 7) % 128
        made.append({"input_ids": tokens[:, :-1].int(), "labels": tokens[:, 1:].int()})
    return made


class Rows(torch.utils.data.Dataset):
    """Samples for a torch DataLoader."""

    def __len__(self):
        return 20

    def __getitem__(self, index):
        tokens = (torch.arange(33) + index * 5) % 128
        return {"input_ids": tokens[:-1].int(), "labels": tokens[1:].int()}


class Iterable:
    """An object that is iterated over and counted, no more."""

    def __len__(self):
        return 12

    def __iter__(self):
        return iter([{name: value.numpy() for name, value in row.items()} for row in rows()])


class Indexed:
    """An object that is indexed and counted, no more."""

    def __len__(self):
        return 12

    def __getitem__(self, index):
        return {name: value.tolist() for name, value in rows()[index].items()}


def loader(generator=None, workers=0):
    return torch.utils.data.DataLoader(Rows(), 4, shuffle=True, generator=generator, num_workers=workers)


def resumed(make, steps=8, at=3):
    """A run over data of the user's own, and the steps of one that ended after `at` and went on."""
    saving = {
        "checkpoint.enable_save": True,
        "checkpoint.save_interleaved_steps": at,
        "checkpoint.save_max": 9,
    }
    folder = f"ckpt-{len(os.listdir('.'))}"
    dropout = {"model.hidden_dropout": 0.1, "training.steps": steps}
    whole = _tiny.train({**dropout, **saving, "checkpoint.save_path": folder}, make())
    Path(folder, "latest_checkpointed_iteration.txt").write_text(str(at * 2))
    later = _tiny.train(
        {**dropout, "checkpoint.load_path": folder, "checkpoint.no_load_optim": False}, make()
    )
    return [whole, later]


def error(function, *arguments):
    try:
        function(*arguments)
    except Exception as wrong:
        while wrong.__cause__ is not None and type(wrong).__name__ == "RuntimeError":
            wrong = wrong.__cause__
        return [type(wrong).__name__, str(wrong)]
    return None


def main():
    os.environ.update(HF_HOME=str(Path("hf").resolve()), HF_HUB_OFFLINE="1")
    _megatron_files.write(Path("."))
    out = {"recorded": {}, "resumed": {}}
    trainer = _tiny.trainer({})
    for name, case in _megatron_files.cases().items():
        whole = out["recorded"][name] = read(trainer, case)
        # A resume in the first epoch and in the second: both go on as the whole run did, over the epoch's end.
        for first in (whole["epoch"] // 2, whole["epoch"] + 3):
            out["resumed"][f"{name}, {first}"] = [
                read(trainer, case, first)["batches"],
                whole["batches"][first:],
            ]

    # Training on them: losses that are numbers, and fall.
    cases = _megatron_files.cases()
    # Compressed masks ask for samples above 2,048 tokens.
    cases["compressed"]["batch"] = 1
    cases["compressed"]["dataloader"]["config"]["seq_length"] = 2304
    cases["compressed"]["dataloader"]["sizes"] = [3, 0, 0]
    cases["compressed"]["dataloader"]["config"]["eod_pad_length"] = 128
    for name in ("blend", "end of document", "compressed", "rows"):
        steps = {"training.steps": 2 if name == "compressed" else 3}
        if name == "compressed":
            steps["model.seq_length"] = 2304
        out[f"train {name}"] = _tiny.train({**options(cases[name]), **steps})["rows"]

    for name, value in {
        "list": rows(), "iterable": Iterable(), "indexed": Indexed(), "loader": loader(),
        "endless": torch.utils.data.DataLoader(rows(), batch_size=None),
    }.items():  # fmt: skip
        out[name] = _tiny.train({"training.steps": 4}, value)
    out["loader resumed"] = resumed(loader)
    out["own generator resumed"] = resumed(lambda: loader(torch.Generator().manual_seed(3)))
    out["list resumed"] = resumed(lambda: rows(5))
    for kind in ("SyntheticDataset", "RandomDataset"):
        out[kind] = _tiny.train({"training.steps": 2, "train_dataset.dataloader.type": kind})

    short = {"training.steps": 1}
    out["errors"] = {
        "iterator": error(_tiny.train, short, iter(rows())),
        "dict": error(_tiny.train, short, rows()[0]),
        "number": error(_tiny.train, short, 5),
        "no length": error(_tiny.train, short, torch.utils.data.DataLoader(_Stream())),
        "empty": error(_tiny.train, short, []),
        "tuples": error(_tiny.train, short, [(row["input_ids"], row["labels"]) for row in rows()]),
        "wrong batch": error(_tiny.train, short, rows(batch=3)),
        "samples": error(_tiny.train, short, [Rows()[0]]),
        "MindDataset": error(
            _tiny.trainer,
            {
                "train_dataset.dataloader": {
                    "type": "MindDataset",
                    "dataset_files": ["data.mindrecord"],
                    "shuffle": False,
                    "column_names": ["input_ids", "labels"],
                }
            },
        ),
        "unknown": error(_tiny.trainer, {"train_dataset.dataloader.type": "NoSuchLoader"}),
    }
    Path("out.json").write_text(json.dumps(out))


class _Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        return iter(rows())


if __name__ == "__main__":
    main()
