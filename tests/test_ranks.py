"""The table of ranks, and that it is what the port's own meshes say."""

import json
import subprocess
import sys

import pytest

from ms2torch import cli
from ms2torch.errors import UserError
from ms2torch.ranks_command import Grid

MESHES = """
import json, sys
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore
found = {}
for world, tp, pp, cp, ep in json.loads(sys.argv[1]):
    dist.init_process_group("fake", rank=0, world_size=world, store=FakeStore())
    from mindformers.pynative.distributed.parallel_dims import ParallelDims
    dims = ParallelDims(1, -1, cp, tp, pp, ep, world)
    dims.build_mesh()
    found[f"{world} {tp} {pp} {cp} {ep}"] = [
        dims._global_meshes[name].mesh.tolist() for name in ("dataloading", "sparse")
    ]
    dist.destroy_process_group()
print(json.dumps(found))
"""


def flat(nested, place=()):
    for index, value in enumerate(nested):
        if isinstance(value, list):
            yield from flat(value, (*place, index))
        else:
            yield value, (*place, index)


def test_the_table_is_that_of_the_ports_meshes(port, tmp_path):
    layouts = [(24, 3, 4, 1, 1), (24, 3, 4, 1, 2), (16, 2, 2, 2, 4), (8, 1, 1, 4, 8), (6, 1, 3, 1, 1)]
    done = subprocess.run(
        [sys.executable, "-c", MESHES, json.dumps(layouts)],
        env={"PYTHONPATH": str(port), "MF_DEVICE_TYPE": "cpu", "LOG_MF_PATH": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    for layout in layouts:
        grid = Grid(*layout)
        dense, sparse = found[" ".join(map(str, layout))]
        for rank, place in flat(dense):
            at = grid.coordinates(rank)
            assert (at["pp"], at["dp"], at["cp"], at["tp"]) == place, (layout, rank)
        experts = {rank: place[-1] for rank, place in flat(sparse)}
        assert experts == {rank: grid.coordinates(rank)["ep"] for rank in range(layout[0])}


def test_the_command_prints_every_rank(capsys):
    assert cli.main(["ranks", "--world", "24", "--tp", "3", "--pp", "4"]) == 0
    title, header, *rows = capsys.readouterr().out.splitlines()
    assert title == "24 ranks = dp 2 x pp 4 x cp 1 x tp 3; ep 1; order mindformers"
    assert header.split() == ["rank", "dp", "pp", "cp", "tp", "ep"]
    table = [tuple(map(int, row.split())) for row in rows]
    assert len(table) == 24 and table[0] == (0, 0, 0, 0, 0, 0)
    assert table[3] == (3, 1, 0, 0, 0, 0)  # data parallel follows tensor parallel
    assert table[6] == (6, 0, 1, 0, 0, 0)  # the pipeline is the slowest axis


def test_megatrons_order(capsys):
    assert cli.main(["ranks", "--world", "24", "--tp", "3", "--pp", "4", "--order", "megatron"]) == 0
    rows = [tuple(map(int, row.split())) for row in capsys.readouterr().out.splitlines()[2:]]
    assert rows[6][:5] == (6, 0, 2, 0, 0)
    assert rows[12][:5] == (12, 1, 0, 0, 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--world 24 --tp 5", "world size 24 is no multiple of tp 5 x pp 1 x cp 1 = 5"),
        ("--world 24 --pp 4 --ep 4", "ep 4 does not divide the 6 ranks of a pipeline stage"),
        ("--world 24 --tp 3 --pp 4 --ep 2 --order megatron", "ep 2 has to be tp 3 x cp 1"),
    ],
)
def test_degrees_that_do_not_divide(options, words, capsys):
    assert cli.main(["ranks", *options.split()]) == 2
    assert words in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["ranks", "--world", "0"])


def test_every_rank_has_its_own_place():
    for order in ("mindformers", "megatron"):
        grid = Grid(48, tp=2, pp=3, cp=2, order=order)
        assert grid.dp == 4 and len({row[1:] for row in grid.rows()}) == 48
    with pytest.raises(UserError, match="no multiple"):
        Grid(7, tp=2)
