"""Trains the port at a tiny size, for scripts with a process of their own and the port as argument 1."""

import copy
import hashlib
import os
import sys
from pathlib import Path

PORT = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(PORT))
os.environ.setdefault("MF_DEVICE_TYPE", "cpu")
os.environ.setdefault("LOG_MF_PATH", os.path.join(os.getcwd(), "log"))

import torch  # noqa: E402
import yaml  # noqa: E402

CONFIG = PORT / "configs/deepseek3/pretrain_deepseek3_single_card.yaml"
SIZES = {
    "train_dataset.dataloader.samples": 40,
    "train_dataset.dataloader.seq_length": 32,
    "train_dataset.dataloader.vocab_size": 128,
    "model.vocab_size": 128,
    "model.seq_length": 32,
    "model.hidden_size": 64,
    "model.intermediate_size": 96,
    "model.num_hidden_layers": 2,
    "model.num_attention_heads": 2,
    "model.kv_lora_rank": 16,
    "model.q_lora_rank": 24,
    "model.qk_rope_head_dim": 8,
    "model.v_head_dim": 16,
    "model.qk_nope_head_dim": 16,
    "model.moe_intermediate_size": 32,
    "model.moe_shared_expert_intermediate_size": 32,
}


def config(changes):
    """The single-card configuration, tiny, with {"section.key": value} put over it."""
    made = yaml.safe_load(CONFIG.read_text())
    for name, value in {**SIZES, **changes}.items():
        *sections, key = name.split(".")
        place = made
        for section in sections:
            place = place.setdefault(section, {})
        place[key] = copy.deepcopy(value)
    return made


def weights(trainer):
    """A hash of all parameters, names and bytes."""
    digest = hashlib.sha256()
    for model in trainer.model:
        for name, value in model.named_parameters():
            local = value.to_local() if hasattr(value, "to_local") else value
            digest.update(name.encode() + local.detach().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def batch_hash(batch):
    """A hash of a batch: names, types, shapes, bytes."""
    digest = hashlib.sha256()
    for name, value in sorted(batch.items()):
        array = value.numpy() if isinstance(value, torch.Tensor) else value
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def trainer(changes, dataset=None, before=None):
    """A Trainer that records steps in `.rows` (loss, norm, learning rate) and batches in `.batches`."""
    from mindformers.pynative.callback import TrainerCallback
    from mindformers.pynative.trainer import Trainer

    class Record(TrainerCallback):
        def __init__(self):
            super().__init__()
            self.rows = []

        def on_step_begin(self, args, state, **kwargs):
            if before is not None:
                before(state.global_step)

        def on_step_end(self, args, state, **kwargs):
            rate = kwargs["optimizer"].get_lr()
            rate = rate[0] if isinstance(rate, (list, tuple)) else rate
            self.rows.append([float(kwargs["loss"]), float(kwargs["grad_norm"]), float(rate)])

    class Recorded(Trainer):
        def get_batch(self, iterator):
            batch = super().get_batch(iterator)
            self.batches.append(batch_hash(batch))
            return batch

    record = Record()
    made = Recorded(config=config(changes), train_dataset=dataset, callbacks=[record])
    made.rows, made.batches = record.rows, []
    return made


def train(changes, dataset=None, before=None):
    """Trains and returns what a test compares."""
    made = trainer(changes, dataset, before)
    start = weights(made)
    made.train()
    return {"rows": made.rows, "batches": made.batches, "start": start, "weights": weights(made)}
