"""Runs that must agree, or differ, by seed; what they gave goes to out.json. Arguments: the port."""

import json
from pathlib import Path

import _tiny
import torch
import torch.distributed as dist


def main():
    from mindformers.pynative import _backend

    steps = {"training.steps": 3, "model.hidden_dropout": 0.1}
    out = {
        "one": _tiny.train(steps),
        "again": _tiny.train(steps),
        "other seed": _tiny.train({**steps, "training.seed": 43}),
        "free": _tiny.train({**steps, "training.deterministic": False}),
        "shuffled": _tiny.train({**steps, "train_dataset.dataloader.shuffle": True}),
        "shuffled again": _tiny.train({**steps, "train_dataset.dataloader.shuffle": True}),
        "shuffled otherwise": _tiny.train(
            {**steps, "train_dataset.dataloader.shuffle": True, "training.seed": 43}
        ),
    }
    torch.set_num_threads(2)
    out["two threads"] = _tiny.train(steps)
    torch.set_num_threads(1)
    torch.manual_seed(5)  # what was drawn before the Trainer was made does not count
    torch.rand(10)
    out["after other draws"] = _tiny.train(steps)
    trainer = _tiny.trainer({**steps, "training.deterministic": True})
    out["group"] = [dist.is_initialized(), dist.get_backend(), dist.get_world_size()]
    out["axes"] = {}
    for name, mesh in trainer.parallel_dims._single_axis_meshes.items():
        total = torch.ones(1)
        dist.all_reduce(total, group=mesh.get_group())
        out["axes"][name] = [dist.get_backend(mesh.get_group()), mesh.size(), float(total)]
    out["deterministic"] = torch.are_deterministic_algorithms_enabled()
    out["seed"] = _backend.device.get_seed()
    Path("out.json").write_text(json.dumps(out))


if __name__ == "__main__":
    main()
