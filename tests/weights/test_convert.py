"""`ms2torch weights convert` and `diff` at the command line: what they refuse, and every form of input."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

from ms2torch import cli
from ms2torch.weights.formats import open_source
from tests.weights import made

DATA = "model-0000000-0000001.safetensors"


def convert(source: Path, out: Path, origin: str = "hf", target: str = "mindformers", *more: str) -> int:
    return cli.main(
        ["weights", "convert", str(source), str(out), "--from", origin, "--to", target, *map(str, more)]
    )


def equal(a: Path, b: Path) -> bool:
    return cli.main(["weights", "diff", str(a), str(b)]) == 0


@pytest.fixture
def deepseek(tmp_path: Path) -> Path:
    return made.saved(tmp_path / "deepseek", made.hugging_face(made.DEEPSEEK), made.DEEPSEEK)


@pytest.fixture
def qwen(tmp_path: Path) -> Path:
    return made.saved(tmp_path / "qwen", made.hugging_face(made.QWEN), made.QWEN)


def refused(capsys: pytest.CaptureFixture[str], out: Path, code: int) -> str:
    assert code == 2
    told = capsys.readouterr().err
    assert told.startswith("ms2torch: ") and told.count("\n") == 1
    assert not out.exists()
    assert not [path for path in out.parent.iterdir() if path.name.startswith(f".{out.name}")]
    return told


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("config", [made.DEEPSEEK, made.QWEN, made.QWEN | {"tie_word_embeddings": True}])
@pytest.mark.parametrize("middle", ["mf", "mf.ckpt", "mf.safetensors"])
def test_there_and_back(tmp_path: Path, config: dict[str, Any], dtype: torch.dtype, middle: str) -> None:
    source = made.saved(tmp_path / "hf", made.hugging_face(config, dtype), config)
    out, back = tmp_path / middle, tmp_path / "back"
    kind = "mindspore" if middle.endswith("ckpt") else "mindformers"
    assert convert(source, out, "hf", kind) == 0
    assert convert(out, back, kind, "hf", "--config", str(source / "config.json")) == 0
    assert equal(source, back)


def test_predicting_layers_go_to_mtp(tmp_path: Path, deepseek: Path) -> None:
    assert convert(deepseek, tmp_path / "out") == 0
    theirs, ours = load_file(deepseek / "model.safetensors"), load_file(tmp_path / "out" / DATA)
    assert torch.equal(ours["mtp.layers.0.eh_proj.weight"], theirs["model.layers.2.eh_proj.weight"])
    assert torch.equal(
        ours["mtp.layers.0.final_layernorm.weight"], theirs["model.layers.2.shared_head.norm.weight"]
    )
    up = theirs["model.layers.2.mlp.experts.3.up_proj.weight"]
    assert torch.equal(ours["mtp.layers.0.transformer_layer.mlp.experts.weight1"][3, :, 6:], up.T)
    assert "mtp.layers.0.embedding.weight" not in ours


def test_second_names_must_be_equal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = made.QWEN | {"tie_word_embeddings": True}
    tensors = made.hugging_face(config)
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].clone()
    assert convert(made.saved(tmp_path / "same", tensors, config), tmp_path / "out") == 0
    tensors["lm_head.weight"] += 1
    source = made.saved(tmp_path / "other", tensors, config)
    assert "lm_head.weight differs from" in refused(capsys, tmp_path / "no", convert(source, tmp_path / "no"))


def test_fused_experts_are_known(tmp_path: Path, deepseek: Path) -> None:
    tensors = load_file(deepseek / "model.safetensors")
    for layer in (1, 2):
        before = f"model.layers.{layer}.mlp.experts."
        parts = {
            p: [tensors.pop(f"{before}{e}.{p}_proj.weight") for e in range(4)] for p in ("gate", "up", "down")
        }
        gate_up = [torch.cat(pair) for pair in zip(parts["gate"], parts["up"], strict=True)]
        tensors[f"{before}gate_up_proj"] = torch.stack(gate_up)
        tensors[f"{before}down_proj"] = torch.stack(parts["down"])
    fused = made.saved(tmp_path / "fused", tensors, made.DEEPSEEK)
    assert convert(deepseek, tmp_path / "a") == 0
    assert convert(fused, tmp_path / "b") == 0
    assert equal(tmp_path / "a", tmp_path / "b")


def test_everything_wrong_is_listed_at_once(
    tmp_path: Path, deepseek: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tensors = load_file(deepseek / "model.safetensors")
    del tensors["model.norm.weight"]
    del tensors["model.layers.1.mlp.experts.2.up_proj.weight"]
    tensors["model.layers.0.extra.weight"] = torch.ones(1)
    tensors["lm_head.weight"] = torch.ones(30, 9)
    tensors["model.layers.0.mlp.down_proj.weight"] = torch.ones(8, 12, dtype=torch.int32)
    tensors["model.layers.0.mlp.gate_proj.weight"] = tensors["model.layers.0.mlp.gate_proj.weight"].half()
    source = made.saved(tmp_path / "bad", tensors, made.DEEPSEEK)
    told = refused(capsys, tmp_path / "out", convert(source, tmp_path / "out"))
    for part in (
        "2 missing: ", "model.norm.weight", "model.layers.1.mlp.experts.2.up_proj.weight",
        "1 not expected: model.layers.0.extra.weight", "lm_head.weight has shape [30, 9], expected [30, 8]",
        "model.layers.0.mlp.down_proj.weight is int32",
        "decoder.layers.0.mlp.linear_fc1.weight: parts of different types",
    ):  # fmt: skip
        assert part in told


def test_configurations_that_disagree(tmp_path: Path, qwen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = {key: value for key, value in made.QWEN.items() if key != "rope_theta"}
    model |= {
        "num_hidden_layers": 3,
        "rms_norm_eps": 1e-5,
        "num_key_value_heads": 4,
        "tie_word_embeddings": True,
    }
    file = tmp_path / "model.yaml"
    file.write_text(yaml.safe_dump({"model": model}))
    told = refused(
        capsys, tmp_path / "out", convert(qwen, tmp_path / "out", "hf", "mindformers", "--yaml", str(file))
    )
    for part in (
        "num_hidden_layers: 2 in config.json, 3 in model.yaml", "rms_norm_eps: 1e-06 in config.json, 1e-05",
        "num_key_value_heads: 2 in", "rope_theta: 1000000.0 in config.json, 10000.0 (its default) in model.yaml",
        "tie_word_embeddings: False in config.json, True",
    ):  # fmt: skip
        assert part in told
    (tmp_path / "good.yaml").write_text(yaml.safe_dump({"model": {"model_config": made.QWEN}}))
    assert convert(qwen, tmp_path / "out", "hf", "mindformers", "--yaml", str(tmp_path / "good.yaml")) == 0


def test_layouts_that_do_not_divide(tmp_path: Path, qwen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = convert(qwen, tmp_path / "out", "hf", "mindformers", "--tp", "4", "--pp", "5")
    told = refused(capsys, tmp_path / "out", code)
    assert "tensor_parallel 4 does not divide num_key_value_heads 2" in told
    assert "pipeline_parallel 5 does not divide num_hidden_layers 2" in told
    file = tmp_path / "model.yaml"
    file.write_text(yaml.safe_dump({"model": made.QWEN, "parallelism": {"tensor_parallel": 4}}))
    code = convert(qwen, tmp_path / "out", "hf", "mindformers", "--yaml", str(file))
    assert "tensor_parallel 4" in refused(capsys, tmp_path / "out", code)
    assert convert(qwen, tmp_path / "out", "hf", "mindformers", "--tp", "2", "--pp", "2") == 0


def test_padded_vocabulary(tmp_path: Path, qwen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "model.yaml"
    file.write_text(yaml.safe_dump({"model": made.QWEN | {"vocab_size": 32}}))
    told = refused(
        capsys, tmp_path / "out", convert(qwen, tmp_path / "out", "hf", "mindformers", "--yaml", str(file))
    )
    assert "vocab_size: 30 in config.json, 32 in model.yaml" in told
    options = ("--yaml", str(file), "--pad-vocab")
    assert convert(qwen, tmp_path / "out", "hf", "mindformers", *options) == 0
    table = load_file(tmp_path / "out" / DATA)["embedding.word_embeddings.weight"]
    assert table.shape == (32, 8) and not table[30:].any()
    assert (
        convert(tmp_path / "out", tmp_path / "back", "mindformers", "hf", "--config", str(qwen), *options)
        == 0
    )
    assert equal(qwen, tmp_path / "back")


def test_other_dtype(tmp_path: Path, deepseek: Path) -> None:
    assert convert(deepseek, tmp_path / "out", "hf", "mindformers", "--dtype", "bfloat16") == 0
    ours, theirs = load_file(tmp_path / "out" / DATA), load_file(deepseek / "model.safetensors")
    assert torch.equal(ours["output_layer.weight"], theirs["lm_head.weight"].bfloat16())
    assert ours["decoder.layers.1.mlp.expert_bias"].dtype == torch.float32  # as the model keeps it


@pytest.mark.parametrize("ending", ["bin", "pt", "pth"])
@pytest.mark.parametrize("nested", [(), ("state_dict",), ("model", "module")])
def test_pickles(tmp_path: Path, qwen: Path, ending: str, nested: tuple[str, ...]) -> None:
    data: Any = load_file(qwen / "model.safetensors")
    for key in nested:
        data = {key: data, "epoch": 3}
    (tmp_path / "in").mkdir()
    torch.save(data, tmp_path / "in" / f"pytorch_model.{ending}")
    (tmp_path / "in" / "optimizer.pt").write_bytes(b"nothing to read here")
    code = convert(
        tmp_path / "in", tmp_path / "out", "hf", "mindformers", "--config", str(qwen / "config.json")
    )
    assert code == 0
    assert convert(qwen, tmp_path / "ref") == 0 and equal(tmp_path / "out", tmp_path / "ref")


class Evil:
    def __reduce__(self) -> Any:
        return os.system, ("touch evil",)


def test_pickles_run_nothing(tmp_path: Path, qwen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save({"state_dict": {"a": torch.ones(1)}, "x": Evil()}, tmp_path / "bad.pt")
    code = convert(tmp_path / "bad.pt", tmp_path / "out", "hf", "mindformers", "--config", str(qwen))
    assert "weights_only" in refused(capsys, tmp_path / "out", code)
    assert not Path("evil").exists()


def test_names_of_wrappers_and_older_layers(tmp_path: Path, qwen: Path) -> None:
    assert convert(qwen, tmp_path / "out.ckpt", "hf", "mindspore") == 0
    source = open_source(tmp_path / "out.ckpt")
    renamed = {
        "network.model." + name.replace("norm.weight", "norm.gamma"): source.read(name)
        for name in source.infos
    }
    renamed |= {"adam_m.decoder.x": torch.ones(3), "global_step": torch.tensor([4], dtype=torch.int32)}
    save_file(renamed, tmp_path / "old.safetensors")
    config = ("--config", str(qwen / "config.json"))
    assert convert(tmp_path / "old.safetensors", tmp_path / "back", "mindspore", "hf", *config) == 0
    assert equal(qwen, tmp_path / "back")


def split(tensors: dict[str, torch.Tensor], folder: Path, ranks: int, twist: bool = False) -> None:
    dims = {"linear_qkv": 0, "linear_fc1": 0, "linear_proj": 1, "linear_fc2": 1, "word_embeddings": 0}
    for rank in range(ranks):
        part = {}
        for name, tensor in tensors.items():
            dim = next((d for key, d in dims.items() if key in name), None)
            which = rank // 2 if twist else rank % 2
            part[name] = (tensor if dim is None else tensor.chunk(2, dim)[which]).contiguous()
        (folder / f"rank_{rank}").mkdir(parents=True)
        save_file(part, folder / f"rank_{rank}" / "net.safetensors")


def test_rank_folders(tmp_path: Path, qwen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(qwen, tmp_path / "out") == 0
    tensors = load_file(tmp_path / "out" / DATA)
    split(tensors, tmp_path / "ranks", 4)
    config = ("--config", str(qwen / "config.json"))
    assert convert(tmp_path / "ranks", tmp_path / "back", "mindspore", "hf", *config) == 0
    assert equal(qwen, tmp_path / "back")
    assert convert(tmp_path / "ranks", tmp_path / "port", "mindspore", "mindformers", *config) == 0
    assert equal(tmp_path / "out", tmp_path / "port")
    split(tensors, tmp_path / "other", 4, twist=True)
    code = convert(tmp_path / "other", tmp_path / "no", "mindspore", "hf", *config)
    assert "another way than over consecutive ranks" in refused(capsys, tmp_path / "no", code)


def test_the_ports_directory_of_many_ranks(tmp_path: Path, qwen: Path) -> None:
    assert convert(qwen, tmp_path / "out") == 0
    folder = tmp_path / "run" / "iteration_00000003"
    folder.mkdir(parents=True)
    (tmp_path / "run" / "latest_checkpointed_iteration.txt").write_text("3")
    told: dict[str, Any] = {}
    where: dict[str, Any] = {}
    files: list[dict[str, torch.Tensor]] = [{}, {}]
    for name, tensor in load_file(tmp_path / "out" / DATA).items():
        halves = tensor.chunk(2) if tensor.ndim == 2 else (tensor,)
        told[name] = {"global_shape": list(tensor.shape), "chunk": []}
        for rank, part in enumerate(halves):
            offset = [rank * halves[0].shape[0], *[0] * (tensor.ndim - 1)]
            told[name]["chunk"].append({"global_offset": offset, "local_shape": list(part.shape)})
            file = f"x-model-{rank:07d}-0000002.safetensors"
            where[str((name, tuple(offset)))] = [{"file_name": file, "storage_rank": rank}]
            files[rank][name] = part.contiguous()
    told["adam_m.x"] = {"global_shape": [1], "chunk": [{"global_offset": [0], "local_shape": [1]}]}
    where[str(("adam_m.x", (0,)))] = [{"file_name": "x-opt-0000000-0000002.safetensors", "storage_rank": 0}]
    for rank, part in enumerate(files):
        save_file(part, folder / f"x-model-{rank:07d}-0000002.safetensors")
    (folder / "metadata.json").write_text(json.dumps({"state_dict_metadata": told, "storage_data": where}))
    config = ("--config", str(qwen / "config.json"))
    assert convert(tmp_path / "run", tmp_path / "back", "mindformers", "hf", *config) == 0
    assert equal(qwen, tmp_path / "back")
    assert convert(tmp_path / "run", tmp_path / "whole", "mindformers", "mindformers") == 0
    assert equal(tmp_path / "out", tmp_path / "whole")


def test_megatrons_folders(tmp_path: Path, qwen: Path) -> None:
    """Two tensor ranks by two pipeline stages; gate and up are halves there, not rows in turn."""
    assert convert(qwen, tmp_path / "out", "hf", "mindformers", "--set", "interleaved_mlp=false") == 0
    tensors = load_file(tmp_path / "out" / DATA)
    column = ("linear_qkv", "word_embeddings", "output_layer")
    for t in range(2):
        for p in range(2):
            part = {}
            for name, tensor in tensors.items():
                first = name.startswith("embedding")
                if name.startswith("decoder.layers."):
                    if int(name.split(".")[2]) != p:
                        continue
                    name = name.replace(f"layers.{p}.", "layers.0.")
                elif first != (p == 0):
                    continue
                if "linear_fc1" in name:
                    tensor = torch.cat([half.chunk(2)[t] for half in tensor.chunk(2)])
                elif any(key in name for key in column):
                    tensor = tensor.chunk(2)[t]
                elif "linear_proj" in name or "linear_fc2" in name:
                    tensor = tensor.chunk(2, 1)[t]
                part[name] = tensor.clone()
            folder = tmp_path / "run" / "iter_0000010" / f"mp_rank_{t:02d}_{p:03d}"
            folder.mkdir(parents=True)
            data = {
                "model": part,
                "args": argparse.Namespace(tp=2),
                "iteration": 10,
                "checkpoint_version": 3.0,
            }
            torch.save(data, folder / "model_optim_rng.pt")
    (tmp_path / "run" / "latest_checkpointed_iteration.txt").write_text("10")
    config = ("--config", str(qwen / "config.json"))
    assert convert(tmp_path / "run", tmp_path / "back", "mindformers", "hf", *config) == 0
    assert equal(qwen, tmp_path / "back")
    assert convert(tmp_path / "run", tmp_path / "port", "mindformers", "mindformers", *config) == 0
    assert convert(qwen, tmp_path / "direct") == 0
    assert equal(tmp_path / "port", tmp_path / "direct")


def test_rows_of_ones_own(tmp_path: Path, qwen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tensors = load_file(qwen / "model.safetensors") | {"model.extra.weight": torch.randn(8)}
    source = made.saved(tmp_path / "more", tensors, made.QWEN)
    own = tmp_path / "own.yaml"
    own.write_text(
        "extends: qwen3\nrows:\n  - hf: {model.extra.weight: [hidden_size]}\n    mf: extra.weight\n"
        "  - hf: {model.norm.weight: [hidden_size]}\n    mf: decoder.last.weight\n"
        "drop: [decoder.final_layernorm.weight]\n"
    )
    assert convert(source, tmp_path / "out", "hf", "mindformers", "--map", str(own)) == 0
    ours = load_file(tmp_path / "out" / DATA)
    assert torch.equal(ours["extra.weight"], tensors["model.extra.weight"])
    assert "decoder.last.weight" in ours and "decoder.final_layernorm.weight" not in ours
    own.write_text("extends: qwen3\nrows:\n  - hf: {a: [no_such_number]}\n    mf: b\n")
    code = convert(source, tmp_path / "no", "hf", "mindformers", "--map", str(own))
    assert "no_such_number" in refused(capsys, tmp_path / "no", code)
    own.write_text("extends: qwen3\nrowz: []\n")
    code = convert(source, tmp_path / "no", "hf", "mindformers", "--map", str(own))
    assert "own.yaml is no weight table" in refused(capsys, tmp_path / "no", code)


def test_names_by_convention(tmp_path: Path) -> None:
    theirs = {
        "bn.gamma": torch.randn(3), "bn.beta": torch.randn(3), "bn.moving_mean": torch.randn(3),
        "bn.moving_variance": torch.rand(3), "fc.weight": torch.randn(2, 3), "fc.bias": torch.randn(2),
        "embed.embedding_table": torch.randn(4, 3), "learning_rate": torch.tensor(0.1),
    }  # fmt: skip
    save_file(theirs, tmp_path / "a.safetensors")
    any_model = ("--model", "any")
    assert convert(tmp_path / "a.safetensors", tmp_path / "b", "mindspore", "hf", *any_model) == 0
    torch_names = load_file(tmp_path / "b" / "model.safetensors")
    assert sorted(torch_names) == sorted(
        ["bn.weight", "bn.bias", "bn.running_mean", "bn.running_var", "bn.num_batches_tracked", "fc.weight", "fc.bias",
         "embed.weight"]
    )  # fmt: skip
    module = torch.nn.BatchNorm1d(3)
    module.load_state_dict({n[3:]: t for n, t in torch_names.items() if n.startswith("bn.")})
    assert convert(tmp_path / "b", tmp_path / "c.ckpt", "hf", "mindspore", *any_model) == 0
    del theirs["learning_rate"]
    save_file(theirs, tmp_path / "d.safetensors")
    assert equal(tmp_path / "c.ckpt", tmp_path / "d.safetensors")


def test_name_maps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_file({"a": torch.ones(2), "b": torch.zeros(3)}, tmp_path / "in.safetensors")
    rows = [{"mindspore": "a", "port": "model.a", "shape": [2]}, {"mindspore": "b", "port": None}]
    (tmp_path / "map.json").write_text(json.dumps({"tensors": rows}))
    options = ("--map", str(tmp_path / "map.json"))
    out = tmp_path / "out.safetensors"
    assert convert(tmp_path / "in.safetensors", out, "mindspore", "mindformers", *options) == 0
    assert list(load_file(out)) == ["model.a"]
    rows = [{"mindspore": "a", "port": "model.a", "shape": [3]}, {"mindspore": "c", "port": "c"}]
    (tmp_path / "map.json").write_text(json.dumps({"tensors": rows}))
    code = convert(tmp_path / "in.safetensors", tmp_path / "no", "mindspore", "mindformers", *options)
    told = refused(capsys, tmp_path / "no", code)
    assert (
        "1 missing: c" in told and "1 not in the map: b" in told and "a has shape [2], expected [3]" in told
    )


def test_differences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = {
        "same": torch.ones(2),
        "value": torch.tensor([1.0, 4.0]),
        "shape": torch.ones(2),
        "type": torch.ones(2),
        "a": torch.ones(1),
    }
    b = {
        "same": torch.ones(2),
        "value": torch.tensor([1.0, 4.5]),
        "shape": torch.ones(3),
        "type": torch.ones(2).half(),
        "b": torch.ones(1),
    }
    save_file(a, tmp_path / "a.safetensors")
    torch.save(b, tmp_path / "b.pt")
    command = ["weights", "diff", str(tmp_path / "a.safetensors"), str(tmp_path / "b.pt")]
    assert cli.main([*command, "--json", str(tmp_path / "d.json")]) == 1
    told = capsys.readouterr().out
    for part in (
        "value: values, largest difference 0.5 (1.2e-01", "shape: shape [2] and [3]", "a: only in A, float32[1]",
        "type: type float32 and float16", "b: only in B", "6 tensors, 5 different",
    ):  # fmt: skip
        assert part in told
    kinds = {one["name"]: one["kind"] for one in json.loads((tmp_path / "d.json").read_text())}
    assert kinds == {"value": "values", "shape": "shape", "type": "type", "a": "only in A", "b": "only in B"}
    save_file({"value": torch.tensor([1.0, 4.5])}, tmp_path / "c.safetensors")
    save_file({"value": torch.tensor([1.0, float("nan")])}, tmp_path / "n.safetensors")
    save_file({"value": torch.tensor([1.0, 4.0])}, tmp_path / "v.safetensors")
    near = [
        "weights",
        "diff",
        str(tmp_path / "v.safetensors"),
        str(tmp_path / "c.safetensors"),
        "--tolerance",
    ]
    assert cli.main([*near, "0.5"]) == 0
    assert cli.main([*near, "0.4"]) == 1
    assert cli.main([*near[:3], str(tmp_path / "n.safetensors"), "--tolerance", "9"]) == 1


@pytest.mark.parametrize(
    ("change", "options", "told"),
    [
        (lambda d: (d / "config.json").unlink(), (), "--config config.json or --yaml"),
        (lambda d: (d / "config.json").write_text("{"), (), "cannot be read"),
        (lambda d: (d / "config.json").write_text('{"model_type": "gpt2"}'), (), "is for gpt2; there are"),
        (lambda d: (d / "model.safetensors").write_bytes(b"x" * 30), (), "no safetensors file"),
        (lambda d: (d / "model.safetensors").unlink(), (), "holds no checkpoint"),
        (lambda d: (d / "model.safetensors.index.json").write_text('{"weight_map": {"a": "b"}}'), (), "not there: b"),
        (lambda d: None, ("--model", "gpt2"), "--model gpt2"),
        (lambda d: None, ("--set", "x"), "NAME=VALUE"),
        (lambda d: None, ("--yaml", "config.json"), "config.json"),
        (lambda d: None, ("--map", "nothing.yaml"), "nothing.yaml: No such file"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(
    tmp_path: Path,
    qwen: Path,
    capsys: pytest.CaptureFixture[str],
    change: Any,
    options: tuple[str, ...],
    told: str,
) -> None:
    change(qwen)
    assert told in refused(
        capsys, tmp_path / "out", convert(qwen, tmp_path / "out", "hf", "mindformers", *options)
    )


def test_out_is_not_written_over(tmp_path: Path, qwen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("x")
    assert convert(qwen, out) == 2 and (out / "mine").exists()
    assert "--force" in capsys.readouterr().err
    assert convert(qwen, qwen / "inner") == 2 and convert(qwen, qwen) == 2
    assert convert(qwen, out, "hf", "mindformers", "--force") == 0
    assert [path.name for path in out.iterdir()] == [DATA]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "qwen"]


def test_nothing_is_left_when_writing_fails(
    tmp_path: Path, qwen: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ms2torch.weights.formats import source

    def fails(*_: object) -> torch.Tensor:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(source.SafetensorsFile, "read", fails)
    out = tmp_path / "deep" / "out"
    assert convert(qwen, out) == 2
    assert "No space left" in capsys.readouterr().err
    assert not out.parent.exists()


_MEASURED = """
import resource, sys
from ms2torch import cli
code = cli.main(sys.argv[1:])
print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux")
def test_memory_stays_under_two_shards(tmp_path: Path) -> None:
    config = made.QWEN | {
        "num_hidden_layers": 4, "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16,
        "head_dim": 64,
    }  # fmt: skip
    tensors = made.hugging_face(config)
    folder = tmp_path / "big"
    folder.mkdir()
    where = {
        name: f"model-{(name.split('.')[2] if 'layers.' in name else '0')}.safetensors" for name in tensors
    }
    for file in set(where.values()):
        save_file({name: tensors[name] for name in tensors if where[name] == file}, folder / file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    (folder / "config.json").write_text(json.dumps(config))
    largest = max(path.stat().st_size for path in folder.glob("*.safetensors"))
    assert sum(path.stat().st_size for path in folder.glob("*.safetensors")) > 3.9 * largest
    small = made.saved(tmp_path / "small", made.hugging_face(made.QWEN), made.QWEN)
    peaks = []
    for name, source in (("s", small), ("b", folder)):
        command = [
            "weights",
            "convert",
            str(source),
            str(tmp_path / name),
            "--from",
            "hf",
            "--to",
            "mindformers",
        ]
        ended = subprocess.run(
            [sys.executable, "-c", _MEASURED, *command],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path.cwd(),
        )
        code, peak = ended.stdout.splitlines()[-1].split()
        assert code == "0"
        peaks.append(int(peak))
    assert peaks[1] - peaks[0] < 2 * largest


def test_without_torch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ms2torch.weights import command

    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "safetensors" else object())
    code = convert(tmp_path, tmp_path / "out")
    assert "this command needs safetensors: pip install 'ms2torch[weights]'" in refused(
        capsys, tmp_path / "out", code
    )


def test_what_was_there_comes_back(tmp_path: Path, qwen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ms2torch.weights import convert as module

    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("x")

    def fails(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(module.os, "replace", fails)
    assert convert(qwen, out, "hf", "mindformers", "--force") == 2
    assert (out / "mine").read_text() == "x"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "qwen"]
