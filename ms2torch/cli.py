"""The command `ms2torch`: arguments in, effects at the edge, one clear line for every error."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
from rich.progress import Progress as Bar

from ms2torch import __version__, compare_command, diff, fetch, ranks_command, report, source, verify, write
from ms2torch.errors import UserError
from ms2torch.model import Engine, Progress, RunResult, Tree
from ms2torch.weights import command


def main(argv: Sequence[str] | None = None, engine: Engine | None = None) -> int:
    """Runs the command; `engine` replaces the pipeline in tests. Returns the exit code: 0, 1 or 2."""
    arguments = _parser().parse_args(argv)
    errors = Console(stderr=True, highlight=False, soft_wrap=True, markup=False)
    try:
        with _termination_raises():
            code: int = arguments.run(arguments, engine)
            sys.stdout.flush()
            return code
    except UserError as error:
        errors.print(f"ms2torch: {error}")
    except BrokenPipeError:
        # the reader of our output left (as `| head` does): nothing to tell, and nothing more to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        errors.print(f"ms2torch: {error.filename or 'system'}: {error.strerror or error}")
    except KeyboardInterrupt:
        errors.print("ms2torch: interrupted; nothing was written")
        return 130
    return 2


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the arguments in one line; argparse would print the usage before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="ms2torch", description="Ports MindSpore code to PyTorch.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"ms2torch {__version__}")
    commands: Any = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    rewrite = commands.add_parser(
        "rewrite",
        help="port a directory, a file, a wheel or a requirement",
        description="Ports SRC and writes the result to OUT; SRC itself is only changed by --in-place.",
        epilog="exit code: 0 done, 1 with --strict when something is unresolved, 2 bad usage or input",
        allow_abbrev=False,
    )
    rewrite.add_argument("src", metavar="SRC", help="directory, .py file, wheel, or NAME==VERSION")
    rewrite.add_argument(
        "-o", "--output", metavar="OUT", type=Path, help="file if SRC is one, else directory"
    )
    rewrite.add_argument(
        "--profile", metavar="NAME|FILE", help="what to port of which package; default: found by SRC"
    )
    rewrite.add_argument("--dry-run", action="store_true", help="write nothing, print the diff")
    rewrite.add_argument(
        "--report", metavar="FILE.json", type=Path, help="write the summary and all findings"
    )
    rewrite.add_argument(
        "--jobs", metavar="N", type=_jobs, default=_cores(), help="processes; default: %(default)s"
    )
    rewrite.add_argument("--in-place", action="store_true", help="change SRC itself")
    rewrite.add_argument(
        "--force", action="store_true", help="write over foreign files or uncommitted changes"
    )
    rewrite.add_argument("--strict", action="store_true", help="exit 1 when something in scope is unresolved")
    rewrite.set_defaults(run=_rewrite)
    explain = commands.add_parser("explain", help="show a mapping row or a rule", allow_abbrev=False)
    explain.add_argument("name", metavar="NAME_OR_CODE", help="such as mindspore.ops.cast or MS101")
    explain.set_defaults(run=_explain)
    compare_command.add(commands)
    ranks_command.add(commands)
    command.add_parser(commands)
    return parser


def _jobs(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= 1024:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 1024")
    return number


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _rewrite(arguments: argparse.Namespace, engine: Engine | None) -> int:
    out: Path | None = arguments.output
    if not arguments.dry_run and (out is not None) == arguments.in_place:
        raise UserError("name the result with -o OUT, or change SRC itself with --in-place, not both")
    if arguments.report is not None:
        report.check(arguments.report, arguments.force)
    tree = source.read(arguments.src, fetch.cache_directory())
    if not arguments.dry_run:
        if out is None:
            write.check_in_place(tree, arguments.force)
        else:
            write.check_out(tree, out, arguments.force)
    with _progress() as progress:
        result = (engine or _pipeline())(tree, arguments.profile, arguments.jobs, progress)
    files, broken = verify.verified(tree.files, result.files)
    result = replace(result, files=files, findings=(*tree.findings, *result.findings, *broken))
    totals = report.summary(tree, result)
    stdout = Console(highlight=False)
    if arguments.dry_run:
        _print_diff(tree, result)
        stdout = Console(stderr=True, highlight=False)
    elif out is None:
        write.write_in_place(tree, result.files, arguments.force)
    else:
        write.write(tree, result.files, result.links, out, arguments.force)
    if arguments.report is not None:
        report.save(arguments.report, report.as_json(totals, result.findings))
    done = "dry run" if arguments.dry_run else f"{arguments.src} → {out or arguments.src}"
    report.show(stdout, totals, result.findings, done)
    unresolved = any(
        finding.state == "unresolved" or finding.severity == "error" for finding in result.findings
    )
    return 1 if arguments.strict and unresolved else 0


def _pipeline() -> Engine:
    from ms2torch.pipeline import rewrite_tree  # late: --help and errors in SRC need no engine

    return rewrite_tree


def _print_diff(tree: Tree, result: RunResult) -> None:
    stream = getattr(sys.stdout, "buffer", None)
    for part in diff.unified(tree.files, result.files):
        if stream is None:
            sys.stdout.write(part.decode("utf-8", "replace"))
        else:
            stream.write(part)


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar for each step on a terminal, nothing elsewhere.

    Drawn by whoever tells, not by a thread of its own: the engine forks, and a fork beside a thread can hang.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    shown = console.is_terminal
    with Bar(*columns, console=console, transient=True, disable=not shown, auto_refresh=False) as bar:
        tasks: dict[str, TaskID] = {}
        drawn = 0.0

        def tell(step: str, done: int, total: int) -> None:
            nonlocal drawn
            if step not in tasks:
                tasks[step] = bar.add_task(step, total=total)
            bar.update(tasks[step], completed=done, total=total)
            if shown and (done == total or time.monotonic() - drawn > 0.1):
                bar.refresh()
                drawn = time.monotonic()

        yield tell


@contextmanager
def _termination_raises() -> Iterator[None]:
    """SIGTERM and SIGHUP end the run the way Ctrl-C does, so that staging folders are removed."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield  # Python runs no handlers here
        return
    ending = [
        number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) == signal.SIG_DFL
    ]
    before = {number: signal.signal(number, stop) for number in ending}  # what nohup ignores stays ignored
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _explain(arguments: argparse.Namespace, engine: Engine | None) -> int:
    from ms2torch.explain import explain

    Console(highlight=False, soft_wrap=True).print(
        explain(arguments.name, engine or _pipeline()), markup=False
    )
    return 0
