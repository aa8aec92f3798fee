"""Runs in a port: trains each configuration of a JSON list in this process, one JSON line for each.

A case is {"name": …, "config": {…}, "columns": […]}; its line holds losses, norms and more, or the error.
"""

import json
import logging
import os
import sys
import traceback

import numpy
import torch
from mindformers.pynative import _backend
from mindformers.pynative.callback import TrainerCallback
from mindformers.pynative.trainer import Trainer
from mindformers.pynative.transformers.moe import moe_utils
from mindformers.tools.logger import get_logger


class Recorder(TrainerCallback):
    """Keeps of each step the loss, the gradient norm and the samples taken so far."""

    def __init__(self):
        self.losses, self.norms, self.consumed = [], [], []

    def on_step_end(self, args, state, **kwargs):
        self.losses.append(float(kwargs["loss"]))
        self.norms.append(float(kwargs["grad_norm"]))
        self.consumed.append(state.consumed_samples)


class Lines(logging.Handler):
    """Keeps the warnings of MindFormers' logger."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


class Rows:
    """Twelve batches' rows that a case describes: tokens counted up from the row's number, and further columns."""

    def __init__(self, columns, length, vocabulary):
        self.columns, self.length, self.vocabulary = columns, length, vocabulary

    def __len__(self):
        return 48

    def __getitem__(self, i):
        tokens = (numpy.arange(self.length + 1) * (i % 5 + 1) + i) % (self.vocabulary - 1) + 1
        made = {
            "input_ids": tokens[:-1].astype(numpy.int32),
            "labels": tokens[1:].astype(numpy.int32),
            "loss_mask": (numpy.arange(self.length) >= 4).astype(numpy.float32),
            "position_ids": numpy.arange(self.length, dtype=numpy.int32),
            "attention_mask": self.documents(),
            "actual_seq_len": numpy.array([self.length // 3, self.length], numpy.int32),
        }
        return tuple(made[name] for name in self.columns)

    def documents(self):
        """1 where attention is cut off: the future, and the other of the row's two documents."""
        second = numpy.arange(self.length) >= self.length // 3
        apart = second[:, None] != second[None, :]
        return (numpy.triu(numpy.ones(apart.shape, bool), 1) | apart)[None].astype(numpy.uint8)


def dataset_of(case):
    """The data set of rows with the columns that a case names, batched; None where it names none."""
    columns = case.get("columns")
    if columns is None:
        return None
    model, training = case["config"]["model"], case["config"]["training"]
    rows = Rows(columns, model["seq_length"], model["vocab_size"])
    dataset = _backend.data.GeneratorDataset(rows, columns, shuffle=False)
    return dataset.batch(training["local_batch_size"], drop_remainder=True)


def run(case):
    """One case's result."""
    # Upstream sizes these by the first model that a process trains.
    moe_utils.get_moe_layer_wise_logging_tracker().clear()
    recorder, lines = Recorder(), Lines()
    get_logger().addHandler(lines)
    result = {"name": case["name"], "folder": os.getcwd()}
    try:
        trainer = Trainer(config=case["config"], callbacks=[recorder], train_dataset=dataset_of(case))
        trainer.train()
        main = getattr(trainer.optimizer, "fp32_params", None) or ()
        result["masters"] = sum(m is not p for m, p in zip(main, trainer.optimizer.parameters, strict=True))
        result["types"] = sorted({str(p.dtype) for m in trainer.model for p in m.parameters()})
        result["trained"] = sorted(_backend.param_name(p) for p in trainer.optimizer.parameters)
        result["bias"] = [
            p.tolist()
            for m in trainer.model
            for name, p in m.named_parameters()
            if name.endswith("expert_bias")
        ]
        result["sum"] = sum(float(p.double().abs().sum()) for m in trainer.model for p in m.parameters())
    except Exception as error:
        result["error"] = f"{type(error).__name__}: {error}"
        result["cause"] = str(error.__cause__ or error)
        result["traceback"] = traceback.format_exc()
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
    finally:
        get_logger().removeHandler(lines)
    curves = {"losses": recorder.losses, "norms": recorder.norms, "consumed": recorder.consumed}
    return result | curves | {"warnings": lines.lines}


def main():
    with open(sys.argv[1]) as stream:
        cases = json.load(stream)
    with open(sys.argv[2], "w") as out:
        for case in cases:
            out.write(json.dumps(run(case)) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
