"""`ms2torch ranks`: which rank stands where on the parallel axes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ms2torch.errors import UserError

AXES = ("dp", "pp", "cp", "tp", "ep")
# The axes from the fastest to the slowest.
ORDERS = {"mindformers": ("tp", "cp", "dp", "pp"), "megatron": ("tp", "cp", "pp", "dp")}


@dataclass(frozen=True, slots=True)
class Grid:
    """Ranks on parallel axes. `dp` is what the world leaves; `ep` is a part of the ranks of one stage."""

    world: int
    tp: int = 1
    pp: int = 1
    cp: int = 1
    ep: int = 1
    order: str = "mindformers"

    def __post_init__(self) -> None:
        """Raises UserError, with the numbers, for degrees that do not divide."""
        product = self.tp * self.pp * self.cp
        if self.world % product:
            raise UserError(
                f"world size {self.world} is no multiple of tp {self.tp} x pp {self.pp} x cp {self.cp} = {product}"
            )
        stage = self.world // self.pp
        if stage % self.ep:
            raise UserError(f"ep {self.ep} does not divide the {stage} ranks of a pipeline stage")
        if self.order == "megatron" and self.ep not in (1, self.tp * self.cp) and self.pp > 1:
            raise UserError(
                f"in Megatron's order with pipeline stages ep {self.ep} has to be tp {self.tp} x cp {self.cp}"
            )

    @property
    def dp(self) -> int:
        """Data-parallel degree."""
        return self.world // (self.tp * self.pp * self.cp)

    def coordinates(self, rank: int) -> dict[str, int]:
        """Where a rank stands on each axis."""
        found, rest = {}, rank
        for axis in ORDERS[self.order]:
            rest, found[axis] = divmod(rest, getattr(self, axis))
        # Experts are spread over neighbours, whatever tensor, context or data parallelism makes of these.
        found["ep"] = rank % self.ep
        return {axis: found[axis] for axis in AXES}

    def rows(self) -> Iterator[tuple[int, ...]]:
        """Rank and coordinates of every rank, in the order of AXES."""
        for rank in range(self.world):
            yield rank, *self.coordinates(rank).values()


def add(commands: Any) -> None:
    """Adds the command to the parser's."""
    parser = commands.add_parser(
        "ranks",
        help="print where each rank stands on the parallel axes",
        description="The table rank -> (dp, pp, cp, tp, ep) of a layout; ep is the rank's place among its experts.",
        epilog="exit code: 0 done, 2 degrees that do not divide",
        allow_abbrev=False,
    )
    parser.add_argument("--world", type=_degree, required=True, metavar="N", help="number of ranks")
    for axis, name in (("tp", "tensor"), ("pp", "pipeline"), ("cp", "context"), ("ep", "expert")):
        parser.add_argument(f"--{axis}", type=_degree, default=1, metavar="N", help=f"{name} parallel degree")
    parser.add_argument(
        "--order",
        choices=sorted(ORDERS),
        default="mindformers",
        help="mindformers: pipeline stages slowest; megatron: data parallel slowest; default: %(default)s",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, engine: object) -> int:
    """Prints the table; returns 0."""
    grid = Grid(arguments.world, arguments.tp, arguments.pp, arguments.cp, arguments.ep, arguments.order)
    width = max(4, len(str(grid.world - 1)))
    sizes = " x ".join(f"{axis} {getattr(grid, axis)}" for axis in AXES[:-1])
    print(f"{grid.world} ranks = {sizes}; ep {grid.ep}; order {grid.order}")
    print("".join(f"{name:>{width + 2}}" for name in ("rank", *AXES)))
    for row in grid.rows():
        print("".join(f"{value:>{width + 2}}" for value in row))
    return 0


def _degree(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 1000000")
    return number
