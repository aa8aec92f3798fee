"""Checkpoints of one layout loaded under another: the same bits, and the run goes on as one process's would.

python tests/distributed/checkpoints.py --port PORT [--only TEXT] [--ranks 4]
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from layouts import BF16, MTP, axes
from matrix import launch, load, losses

ONE: tuple[int, dict[str, Any]] = (1, {})
FSDP2, FSDP4 = (2, {}), (4, {})
HSDP = (4, axes(data_parallel_shard=2))
TP2, TP2_EP2, EP2 = (2, axes(tp=2)), (2, axes(tp=2, ep=2)), (2, axes(ep=2))
EP4, PP2, CP2 = (4, axes(ep=4)), (2, axes(pp=2)), (2, axes(cp=2))
PP2_TP2 = (4, axes(pp=2, tp=2))

# name: (what both runs compute, how the first is laid out, how the second)
TRIPS: dict[str, tuple[dict[str, Any], tuple[int, dict[str, Any]], tuple[int, dict[str, Any]]]] = {
    "1-to-1": ({}, ONE, ONE),
    "2-to-2": ({}, FSDP2, FSDP2),
    "2-to-1": ({}, FSDP2, ONE),
    "1-to-2": ({}, ONE, FSDP2),
    "1-to-4": ({}, ONE, FSDP4),
    "tp-to-fsdp": ({}, TP2, FSDP2),
    "fsdp-to-tp": ({}, FSDP2, TP2),
    "tp-ep-to-1": ({}, TP2_EP2, ONE),
    "pp-to-ep": ({}, PP2, EP2),
    "ep-to-pp": ({}, EP2, PP2),
    "cp-to-tp": ({}, CP2, TP2),
    "hsdp-to-pp-tp": ({}, HSDP, PP2_TP2),
    "pp-tp-to-ep4": ({}, PP2_TP2, EP4),
    "mtp-pp-to-1": (MTP, PP2, ONE),
    "mtp-1-to-pp": (MTP, ONE, PP2),
    "muon-tp-to-fsdp": ({"optimizer.type": "Muon"}, TP2, FSDP2),
    "bf16-fsdp-to-tp": (BF16, FSDP2, TP2),
}


def whole(value: Any) -> Any:
    return value.full_tensor() if hasattr(value, "full_tensor") else value


def bits(trainer: Any) -> dict[str, str]:
    """A hash of the whole of every parameter and of every state of the optimizer, on every rank that has it."""
    import torch
    from mindformers.pynative import _backend

    tensors = {}
    for model in trainer.model:
        for name, param in model.named_parameters():
            tensors[name.replace("_checkpoint_wrapped_module.", "")] = param
    for name, param in _backend.nn.parameters_dict(trainer.optimizer).items():
        tensors[f"optimizer {name}"] = param
    with torch.no_grad():
        return {
            name: hashlib.sha256(
                whole(value).detach().cpu().contiguous().view(torch.uint8).numpy().tobytes()
                if value.dim()
                else repr(whole(value).item()).encode()
            ).hexdigest()
            for name, value in tensors.items()
        }


def saved(rank: int, world: int, overrides: dict[str, Any], folder: str) -> Any:
    """Two steps and a checkpoint."""
    import tiny

    trainer = tiny.trainer_for(
        {
            **overrides,
            "training.steps": 2,
            "checkpoint.enable_save": True,
            "checkpoint.save_path": folder,
            "checkpoint.save_interleaved_steps": 2,
        },
        rank,
        world,
    )
    found: dict[str, str] = {}
    loop = trainer._inner_train_loop

    def spied() -> None:
        loop()
        found.update(bits(trainer))  # while the process group is up

    trainer._inner_train_loop = spied
    return {"steps": tiny.train(trainer), "bits": found}


def resumed(rank: int, world: int, overrides: dict[str, Any], folder: str) -> Any:
    """What was loaded, and two steps more."""
    import tiny

    trainer = tiny.trainer_for(
        {**overrides, "training.steps": 4, "checkpoint.load_path": folder}, rank, world, weights=False
    )
    found: dict[str, str] = {}
    original = trainer._load_checkpoint

    def spied(*args: Any, **kwargs: Any) -> None:
        original(*args, **kwargs)
        found.update(bits(trainer))

    trainer._load_checkpoint = spied
    steps = tiny.train(trainer)
    return {"steps": steps, "bits": found}


def merged(ranks: list[Any]) -> dict[str, str]:
    """Hashes of all ranks; ranks that have the same tensor have to agree."""
    made: dict[str, str] = {}
    for rank in ranks:
        for name, value in rank["bits"].items():
            if made.setdefault(name, value) != value:
                made[name] = "ranks disagree"
    return made


def trip(name: str, timeout: float, references: dict[str, Any]) -> str:
    """Why a round trip fails, or nothing."""
    common, (first_world, first), (second_world, second) = TRIPS[name]
    key = repr(common)
    if key not in references:
        made, why = launch(losses, ({**common, "training.steps": 4}, None), 1, timeout)
        if made is None:
            return f"reference: {why}"
        references[key] = made[0]["steps"]
    with tempfile.TemporaryDirectory() as folder:
        before, why = launch(saved, ({**common, **first}, folder), first_world, timeout)
        if before is None:
            return f"saving: {why}"
        after, why = launch(resumed, ({**common, **second}, folder), second_world, timeout)
        if after is None:
            return f"loading: {why}"
    kept, got = merged(before), merged(after)
    differ = sorted(n for n in kept.keys() & got.keys() if kept[n] != got[n] or "disagree" in kept[n])
    # Statistics of a step are reset, not kept.
    differ = [n for n in differ if "tokens_per_expert" not in n]
    if differ:
        return f"{len(differ)} of {len(kept)} tensors differ: {', '.join(differ[:3])}"
    if missing := kept.keys() - got.keys():
        return f"not loaded: {sorted(missing)[:3]}"
    steps = next(rank["steps"] for rank in after if rank["steps"])
    tolerance = 2e-2 if common == BF16 else 1e-4
    want = references[key][2:]
    if len(steps) != 2 or any(abs(a[0] - b[0]) > tolerance for a, b in zip(steps, want, strict=True)):
        return f"went on with {steps}, one process with {want}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", required=True, type=Path)
    parser.add_argument("--only", default="", help="trips whose name holds this; several with commas: names")
    parser.add_argument("--ranks", type=int, default=4, help="no layouts with more ranks (default: 4)")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for each run (default: 120)")
    args = parser.parse_args()
    names = args.only.split(",") if "," in args.only else None
    load(args.port.resolve())
    references: dict[str, Any] = {}
    passed = tried = 0
    for name, (_, first, second) in TRIPS.items():
        if max(first[0], second[0]) > args.ranks or not (name in names if names else args.only in name):
            continue
        start = time.monotonic()
        why = trip(name, args.timeout, references)
        tried += 1
        passed += not why
        print(f"{'FAIL' if why else 'pass'}  {name:18s} {time.monotonic() - start:5.1f} s  {why}", flush=True)
    print(f"{passed}/{tried} checkpoints keep their bits under another layout")
    return 0 if tried and passed == tried else 1


if __name__ == "__main__":
    sys.exit(main())
