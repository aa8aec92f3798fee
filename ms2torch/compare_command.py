"""`ms2torch compare A B`: where two recorded runs part, in the terminal and as a page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Column, Table

from ms2torch import compare, compare_page
from ms2torch.errors import UserError

COLUMNS = ("module", "tensor", "shape", "dtype", "max abs", "max rel", "cosine")


def add(commands: Any) -> None:
    """Adds the command to the parser's."""
    parser = commands.add_parser(
        "compare",
        help="find the first module in which two recorded runs differ",
        description="A and B: folders or files written by _backend.trace (MF_TRACE=folder).",
        epilog="exit code: 0 the same but for rounding, 1 they differ, 2 bad usage or input",
        allow_abbrev=False,
    )
    parser.add_argument("first", metavar="A", type=Path)
    parser.add_argument("second", metavar="B", type=Path)
    parser.add_argument("--step", type=int, help="default: the first recorded step")
    parser.add_argument("--atol", type=float, default=1e-6, help="default: %(default)s")
    parser.add_argument("--rtol", type=float, default=1e-5, help="of the largest value; default: %(default)s")
    parser.add_argument(
        "--html", metavar="FILE", type=Path, help="write the comparison as a page with a plot"
    )
    parser.add_argument("--all", action="store_true", help="list every tensor, not only those that differ")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, engine: object) -> int:
    """Compares and prints; returns 0 where nothing differs, else 1."""
    first = compare.read(arguments.first, arguments.step)
    second = compare.read(arguments.second, arguments.step)
    found = list(compare.compare(first, second))
    fault = compare.first_fault(found, arguments.atol, arguments.rtol)
    if arguments.html is not None:
        text = compare_page.page(found, fault, arguments.atol, arguments.rtol)
        try:
            arguments.html.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UserError(f"{arguments.html}: cannot be written ({error.strerror})") from None
    differing = [d for d in found if d.beyond(arguments.atol, arguments.rtol)]
    console = Console(highlight=False)
    shown = found if arguments.all else differing
    if shown:
        console.print(_table(shown))
    console.soft_wrap = True
    total = f"{len(found)} tensors, {len(differing)} differ"
    if fault is None:
        console.print(f"{total}: the same but for rounding")
        return 0
    size = fault.why or f"max abs {fault.max_abs:.3e}, max rel {fault.max_rel:.3e}"
    console.print(
        f"{total}; the first is {fault.kind} {fault.number} of {fault.path or 'the model'} ({size})"
    )
    return 1


def _table(found: list[compare.Difference]) -> Table:
    table = Table(*(Column(name, overflow="fold") for name in COLUMNS))
    for d in found:
        numbers = (d.why, "", "") if d.why else (f"{d.max_abs:.3e}", f"{d.max_rel:.3e}", f"{d.cosine:.8f}")
        table.add_row(d.path, f"{d.kind} {d.number}", "×".join(map(str, d.shape)), d.dtype, *numbers)
    return table
