"""Check that MindSpore reads our .ckpt and .safetensors files and that we read MindSpore's, value by value.

    python scripts/check_ckpt_with_mindspore.py --mindspore /path/to/python/with/mindspore [--record FILE.ckpt]

Runs in an environment with torch; the other Python needs MindSpore alone. Exit 0 if everything is equal, 1 if
not. `--record` keeps the .ckpt that MindSpore wrote (tests/weights/data/mindspore.ckpt was made so).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

_WRITE = """
import sys
import numpy as np
import mindspore as ms
folder = sys.argv[1]
tensors = {
    "decoder.weight": ms.Tensor(np.arange(12, dtype=np.float32).reshape(3, 4) / 8),
    "decoder.half": ms.Tensor(np.arange(6, dtype=np.float16).reshape(2, 3) / 4),
    "decoder.brain": ms.Tensor(np.arange(8, dtype=np.float32).reshape(2, 2, 2) / 2, ms.bfloat16),
    "decoder.double": ms.Tensor(np.array([0.5, -1e300], dtype=np.float64)),
    "step": ms.Tensor(np.array(7, dtype=np.int32)),
    "wide": ms.Tensor(np.array([-(2**40), 3], dtype=np.int64)),
    "bytes": ms.Tensor(np.array([0, 255], dtype=np.uint8)),
    "flags": ms.Tensor(np.array([True, False, True])),
}
save = [{"name": name, "data": ms.Parameter(value, name=name)} for name, value in tensors.items()]
ms.save_checkpoint(save, folder + "/theirs.ckpt")
# MindSpore 2.10 refuses bfloat16 scalars and such in .safetensors; the floating tensors are what matters there.
ms.save_checkpoint(save, folder + "/theirs.safetensors", format="safetensors")
"""

_READ = """
import sys
import numpy as np
import mindspore as ms
folder, form = sys.argv[1:3]
found = ms.load_checkpoint(folder + "/ours." + form, format=form)
for name, value in found.items():
    told = value.astype(ms.float64) if "Float" in str(value.dtype) else value.astype(ms.int64)
    print(name, value.dtype, list(value.shape), told.asnumpy().reshape(-1).tolist())
"""


def expected() -> dict[str, object]:
    """The tensors that the script on MindSpore's side writes."""
    import torch

    return {
        "decoder.weight": torch.arange(12.0).reshape(3, 4) / 8,
        "decoder.half": (torch.arange(6.0).reshape(2, 3) / 4).half(),
        "decoder.brain": (torch.arange(8.0).reshape(2, 2, 2) / 2).bfloat16(),
        "decoder.double": torch.tensor([0.5, -1e300], dtype=torch.float64),
        "step": torch.tensor(7, dtype=torch.int32),
        "wide": torch.tensor([-(2**40), 3]),
        "bytes": torch.tensor([0, 255], dtype=torch.uint8),
        "flags": torch.tensor([True, False, True]),
    }


def main() -> int:
    """Both directions in both formats; prints one line for each."""
    import torch

    from ms2torch.weights.expr import Read
    from ms2torch.weights.formats import open_source, writer
    from ms2torch.weights.formats.ranks import same

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mindspore", required=True, help="a Python that has MindSpore")
    parser.add_argument("--record", type=Path, help="keep MindSpore's .ckpt here")
    arguments = parser.parse_args()
    wanted: dict[str, torch.Tensor] = expected()  # type: ignore[assignment]
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([arguments.mindspore, "-c", _WRITE, name], check=True)
        for form in ("ckpt", "safetensors"):
            source = open_source(folder / f"theirs.{form}")
            wrong = [
                key for key in wanted if key not in source.infos or not same(source.read(key), wanted[key])
            ]
            wrong += sorted(source.infos.keys() - wanted.keys())
            print(f"MindSpore's .{form}: {len(source.infos)} tensors read, different: {wrong or 'none'}")
            failed += len(wrong)

            made = {key: Read(key, source.infos[key].shape, source.infos[key].dtype) for key in source.infos}
            target = folder / f"ours.{form}"
            if form == "ckpt":
                writer.write_ckpt(target, made, source)
            else:
                writer.write_safetensors(target, made, source, "ms")
            read = subprocess.run(
                [arguments.mindspore, "-c", _READ, name, form], check=True, capture_output=True, text=True
            )
            lines = {line.split()[0]: line for line in read.stdout.splitlines() if line.split()[:1] != []}
            wrong = [key for key, value in wanted.items() if lines.get(key) != _told(key, value)]
            print(f"our .{form}: {len(lines)} tensors read by MindSpore, different: {wrong or 'none'}")
            failed += len(wrong)
        if arguments.record is not None:
            arguments.record.write_bytes((folder / "theirs.ckpt").read_bytes())
    return 1 if failed else 0


def _told(name: str, value: object) -> str:
    import torch

    assert isinstance(value, torch.Tensor)
    names = {torch.uint8: "UInt8", torch.bfloat16: "BFloat16", torch.bool: "Bool"}
    kind = names.get(value.dtype, str(value.dtype).removeprefix("torch.").capitalize())
    plain = value.double() if value.dtype.is_floating_point else value.long()
    return f"{name} {kind} {list(value.shape)} {plain.reshape(-1).tolist()}"


if __name__ == "__main__":
    sys.exit(main())
