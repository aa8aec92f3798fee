"""Runs that save, resume and fail to; what they gave goes to out.json. Arguments: the port."""

import json
import os
import shutil
from pathlib import Path

import _tiny
import torch

# Seven steps over an epoch of five: the position crosses an epoch's end before and after the resume.
STEPS = {
    "training.steps": 8,
    "train_dataset.dataloader.samples": 20,
    "model.hidden_dropout": 0.1,
    "lr_scheduler.type": "CosineWithWarmUpLR",
    "lr_scheduler.warmup_ratio": 0.25,
    "lr_scheduler.learning_rate": 0.01,
}


def saving(folder, **more):
    return {
        **STEPS,
        "checkpoint.enable_save": True,
        "checkpoint.save_path": folder,
        "checkpoint.save_interleaved_steps": 2,
        "checkpoint.save_max": 10,
        **{f"checkpoint.{name}": value for name, value in more.items()},
    }


def resuming(folder, **more):
    return {
        **STEPS,
        "checkpoint.load_path": folder,
        "checkpoint.no_load_optim": False,
        **{f"checkpoint.{name}": value for name, value in more.items()},
    }


def at(folder, step):
    """A copy of a checkpoint folder as a run that ended after `step` left it."""
    copy = Path(f"{folder}-at-{step}")
    shutil.copytree(folder, copy)
    for other in copy.glob("iteration_*"):
        if int(other.name[-8:]) > step:
            shutil.rmtree(other)
    (copy / "latest_checkpointed_iteration.txt").write_text(str(step))
    return str(copy)


def error(function, *arguments):
    try:
        function(*arguments)
    except Exception as wrong:
        return [type(wrong).__name__, str(wrong)]
    return None


def files(folder):
    return sorted(str(p.relative_to(folder)) for p in Path(folder).rglob("*") if p.is_file())


def half(folder):
    """Rewrites a checkpoint as two ranks of MindSpore would have left it: halves and metadata.json."""
    from mindformers.pynative._backend import checkpoint_files

    folder = Path(folder)
    description, storage = {}, {}
    for kind in ("model", "opt"):
        (path,) = folder.glob(f"*-{kind}-0000000-0000001.safetensors")
        values = checkpoint_files.read_safetensors(str(path))
        path.unlink()
        parts = [{}, {}]
        for name, value in values.items():
            split = value.ndim > 0 and value.shape[0] % 2 == 0
            chunks = value.chunk(2) if split else [value]
            description[name] = {
                "properties": {
                    "dtype": {torch.float32: "Float32", torch.int32: "Int32", torch.int64: "Int64"}[
                        value.dtype
                    ],
                    "replica_id": 0,
                    "allow_shape_mismatch": False,
                    "allow_to_save": True,
                },
                "global_shape": list(value.shape),
                "axis_fragmentations": [2 if split else 1] + [1] * (value.ndim - 1),
                "layout": {
                    "device_matrix": [2],
                    "tensor_map": [0] + [-1] * (value.ndim - 1),
                    "interleaved_parallel": False,
                    "alias_name": ["dp"],
                    "rank_list": [0, 1],
                }
                if split
                else None,
                "chunk": [],
            }
            for rank, chunk in enumerate(chunks):
                offset = [rank * chunk.shape[0]] + [0] * (value.ndim - 1) if value.ndim else []
                parts[rank][name] = chunk.contiguous()
                description[name]["chunk"].append({"global_offset": offset, "local_shape": list(chunk.shape)})
                file = f"custom-{kind}-{rank:07d}-0000002.safetensors"
                shard = f"('{name}', {tuple(offset)})"
                storage[shard] = [{"file_name": file, "storage_rank": rank, "rank_group": [rank]}]
        for rank, part in enumerate(parts):
            checkpoint_files.write_safetensors(
                str(folder / f"custom-{kind}-{rank:07d}-0000002.safetensors"), part
            )
    (folder / "metadata.json").write_text(
        json.dumps({"state_dict_metadata": description, "storage_data": storage})
    )


def main():
    from mindformers.pynative._backend import checkpoint_files

    out = {"unbroken": _tiny.train(STEPS), "saved": _tiny.train(saving("plain"))}
    out["files"] = files("plain")
    for step in (2, 6):
        out[f"resumed {step}"] = _tiny.train(resuming(at("plain", step)))
    # The state of dropout is what differs without the file.
    for path in Path(at("plain", 4)).rglob("random_state*"):
        path.unlink()
    out["no random state"] = _tiny.train(resuming("plain-at-4"))

    out["async"] = _tiny.train(saving("async", async_save=True))
    out["async latest"] = Path("async/latest_checkpointed_iteration.txt").read_text()
    out["async resumed"] = _tiny.train(resuming(at("async", 4)))
    out["options"] = _tiny.train(
        saving("options", save_max=2, remove_redundancy=True, save_global_layout_cache=False)
    )
    out["options files"] = files("options")
    out["no optimizer"] = _tiny.train(saving("weights", no_save_optim=True))["weights"]
    out["no optimizer files"] = files("weights")
    out["resume without optimizer"] = error(_tiny.train, resuming("weights"))
    out["weights only"] = _tiny.train({**resuming("weights"), "checkpoint.no_load_optim": True})
    out["balanced"] = _tiny.train(resuming(at("options", 6), load_balanced=True))

    half(at("async", 2) + "/iteration_00000002")
    out["two ranks"] = _tiny.train(resuming("async-at-2"))

    lora = {
        "lora_config.target_modules": ".*linear_proj",
        "checkpoint.base_load_path": "plain",
        "checkpoint.save_trainable_only": True,
    }
    out["adapters"] = _tiny.train({**saving("adapters"), **lora})
    out["adapters resumed"] = _tiny.train({**resuming(at("adapters", 4)), **lora})
    path = next(Path("adapters/iteration_00000008").glob("*-model-*"))
    out["adapter names"] = sorted(checkpoint_files.read_safetensors(str(path)))
    out["adapters without a base"] = error(
        _tiny.train, {**saving("x"), **lora, "checkpoint.base_load_path": ""}
    )

    os.mkdir("empty")
    out["empty"] = error(_tiny.trainer, resuming("empty"))
    out["missing"] = error(_tiny.trainer, resuming("missing"))
    trainer = _tiny.trainer(STEPS)
    out["missing argument"] = error(trainer.train, "missing")

    write = checkpoint_files.write_safetensors

    def full(path, values):
        raise RuntimeError("no space left")

    checkpoint_files.write_safetensors = full
    out["failed"] = error(_tiny.train, saving("failed"))
    out["failed async"] = error(_tiny.train, saving("failed-async", async_save=True))
    out["failed latest"] = [
        Path(f, "latest_checkpointed_iteration.txt").exists() for f in ("failed", "failed-async")
    ]
    checkpoint_files.write_safetensors = write
    Path("out.json").write_text(json.dumps(out))


if __name__ == "__main__":
    main()
