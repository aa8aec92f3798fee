"""Resolving MindSpore names to one name an object, over the generated aliases."""

from pathlib import Path

import pytest
import yaml

from ms2torch.tables import TABLES, build, read_aliases

TEXT = (TABLES / "aliases.yaml").read_text(encoding="utf-8")
NAMES, MODULES = read_aliases(TEXT)
BARE = build([], NAMES, MODULES)


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("mindspore.common.tensor.Tensor", "mindspore.Tensor"),
        ("mindspore.common.tensor.Tensor.from_numpy", "mindspore.Tensor.from_numpy"),
        ("mindspore.common.dtype", "mindspore.dtype"),
        ("mindspore.common.dtype.float32", "mindspore.float32"),
        ("mindspore.dtype.float_", "mindspore.float_"),
        ("mindspore.float", "mindspore.float32"),
        ("mindspore.common.dtype.bool_", "mindspore.bool"),
        ("mindspore.ops.operations.Cast", "mindspore.ops.Cast"),
        ("mindspore.ops.P.Cast", "mindspore.ops.Cast"),
        ("mindspore.ops.auto_generate.gen_ops_prim.Cast", "mindspore.ops.Cast"),
        (
            "mindspore.ops.auto_generate.gen_ops_prim.ScalarCast",
            "mindspore.ops.auto_generate.gen_ops_prim.ScalarCast",
        ),
        ("mindspore.ops.functional.cast", "mindspore.ops.cast"),
        ("mindspore.ops.abs", "mindspore.mint.abs"),
        ("mindspore.nn.cell.Cell", "mindspore.nn.Cell"),
        ("mindspore.mint.nn.Cell", "mindspore.nn.Cell"),
        ("mindspore.nn.layer.basic.Dense", "mindspore.nn.Dense"),
        ("mindspore.nn.optim.optimizer.Optimizer", "mindspore.nn.Optimizer"),
        ("mindspore.common._grad_function._Function", "mindspore._Function"),
        ("mindspore.common.api._no_grad", "mindspore._no_grad"),
        ("mindspore.common.api._pynative_executor.sync", "mindspore.graph.api._pynative_executor.sync"),
        # a function that has its module's path, by either way of import
        ("mindspore.common.mutable", "mindspore.mutable"),
        ("mindspore.common.mutable.mutable", "mindspore.mutable"),
        (
            "mindspore.parallel.shard._DistributedTensorInfo",
            "mindspore.parallel.shard._DistributedTensorInfo",
        ),
        ("mindspore.parallel.shard.Layout", "mindspore.Layout"),
        ("mindspore.context.GRAPH_MODE", "mindspore.GRAPH_MODE"),
        ("mindspore.context.ParallelMode.AUTO_PARALLEL", "mindspore.ParallelMode.AUTO_PARALLEL"),
        ("mindspore.communication.management.get_rank", "mindspore.communication.get_rank"),
        ("mindspore._checkparam.args_type_check", "mindspore._checkparam.args_type_check"),
        ("mindspore.no_such.name", "mindspore.no_such.name"),
    ],
)
def test_canonical(name, canonical):
    assert BARE.canonical(name) == canonical


def test_two_objects_of_one_name_stay_apart():
    # torch-like and older forms
    for name in ("add", "sum", "cat", "matmul", "zeros"):
        pair = {BARE.canonical(f"mindspore.mint.{name}"), BARE.canonical(f"mindspore.ops.{name}")}
        assert len(pair) == 2 or name in ("cat", "matmul"), pair


def test_the_file_is_sound():
    data = yaml.safe_load(TEXT)
    assert set(data) == {"modules", "names"}
    assert not set(data["modules"]) & set(data["modules"].values())
    aliases = [alias for others in data["names"].values() for alias in others]
    assert len(aliases) == len(set(aliases))
    for name, others in data["names"].items():
        assert name not in others or others == [name]
    assert not (set(aliases) & set(data["names"])) - {n for n, o in data["names"].items() if o == [n]}
    assert Path(TABLES / "aliases.yaml").stat().st_size < 400_000


def test_a_canonical_name_is_its_own():
    assert [n for n in set(NAMES.values()) if BARE.canonical(n) != n] == []
