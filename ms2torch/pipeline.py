"""A whole source: indexed, planned, rewritten in parallel, given the runtime. Pure but for processes."""

from __future__ import annotations

import ast
import contextlib
import gc
import multiprocessing
import signal
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from ms2torch import graft, manifest, plan, requirements, rewrite, tables
from ms2torch.context import FileOptions
from ms2torch.index import Index, build
from ms2torch.model import FileResult, Finding, Progress, RunResult, SourceFile, Tree
from ms2torch.plan import Place, Plan, Profile
from ms2torch.tables import PACKAGES, Tables

RUNTIME = Path(__file__).parent / "runtime"
# Smaller jobs cost more in passing them than they gain.
CHUNK = 4
# The command's handlers of these are not for its workers, which are ended by them.
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@dataclass(frozen=True, slots=True)
class Job:
    """One file to rewrite, with what the plan says of it."""

    file: SourceFile
    module: str
    options: FileOptions


@dataclass(frozen=True, slots=True)
class Worker:
    """What every job needs; sent to a process once."""

    tables: Tables
    index: Index

    def run(self, job: Job) -> FileResult:
        """One file's result."""
        tree = rewrite.parse(job.file.data)
        result = rewrite.rewrite(job.file, job.module, tree, self.tables, self.index, job.options)
        gc.collect()  # the file's trees and context; see `_uncollected`
        return result


_worker: Worker | None = None


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """No garbage collection while syntax trees grow: it costs half of the run and finds nothing in them.

    What is there already is set aside: the collection after each file looks at that file's objects only.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.enable()


def _start(worker: Worker) -> None:
    global _worker
    _worker = worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the first one ends the rest
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    gc.disable()


def _run(job: Job) -> FileResult:
    assert _worker is not None
    return _worker.run(job)


def rewrite_tree(tree: Tree, profile: str | Path | None, jobs: int, progress: Progress) -> RunResult:
    """The port of a source; raises UserError for a bad profile or table."""
    with _uncollected():
        return _port(tree, profile, jobs, progress)


def _port(tree: Tree, profile: str | Path | None, jobs: int, progress: Progress) -> RunResult:
    done = manifest_files(tree)
    chosen = plan.load_profile(str(profile)) if profile else plan.detect(f.path for f in tree.files)
    known = tables.load()
    findings: list[Finding] = []
    packages = frozenset(_folder(f.path) for f in tree.files if f.path.rpartition("/")[2] == "__init__.py")
    sources = [f for f in tree.files if f.path.endswith(".py")]
    places = {f.path: plan.place(f.path, packages, chosen) for f in sources}
    # A tree is dropped once it is indexed: all of them together would be most of the memory.
    index = build((f, t, places[f.path].module) for f, t in _parsed(sources, findings, progress))
    parsed = [f for f in sources if f.path in index.by_path]
    if done is not None:
        return RunResult(tree.files, tuple(findings), {"references": {}, "sites": {}}, tree.links)
    fates = plan.make(index, chosen)
    overlays = graft.read(chosen.name) if chosen is not None else graft.NONE
    grafted, stale = graft.check(overlays, {f.path: f for f in parsed}, index)
    findings += stale
    work = list(_jobs(parsed, places, index, fates, chosen, known, grafted))
    gc.freeze()
    with contextlib.closing(_all(work, Worker(known, index), jobs, progress)) as done_files:
        results = {r.path: r for r in done_files}
    kinds = plan.kinds(index, fates)
    files = [_result(f, results, kinds.get(f.path, "")) for f in tree.files]
    files = [graft.apply(f, grafted.get(f.path)) for f in files]
    used = {f.path for f in files if b"_backend" in f.data and f.path in results}
    files = _replace(
        files, [*_runtime(used, places, chosen), *overlays.added, *_requirements(tree, chosen, index, fates)]
    )
    for result in results.values():
        findings += result.findings
    return RunResult(tuple(files), tuple(findings), _summary(results.values(), fates, chosen), tree.links)


def manifest_files(tree: Tree) -> dict[str, object] | None:
    """The manifest of a source that is a port already, else None."""
    found = next((f for f in tree.files if f.path == manifest.PATH), None)
    return manifest.parse(found.data) if found is not None else None


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _parsed(
    sources: Sequence[SourceFile], findings: list[Finding], progress: Progress
) -> Iterator[tuple[SourceFile, ast.Module]]:
    for i, file in enumerate(sources, 1):
        progress("index", i, len(sources))
        try:
            yield file, rewrite.parse(file.data)
        except SyntaxError as error:
            findings.append(rewrite.broken(file.path, error))


def _jobs(
    parsed: Iterable[SourceFile],
    places: dict[str, Place],
    index: Index,
    fates: Plan,
    profile: Profile | None,
    known: Tables,
    grafted: dict[str, graft.Grafts],
) -> Iterator[Job]:
    names = tuple(name.encode() for name in PACKAGES)
    unique = tuple(f".{name}".encode() for name in known.unique)
    for file in parsed:
        where = places[file.path]
        if fates.fates.get(where.module) not in ("ported", "verbatim"):
            continue
        if profile is not None and file.path in profile.runtime:
            continue
        info = index.by_path[file.path]
        names_mindspore = any(name in file.data for name in names) or index.takes(info, PACKAGES)
        # A cell's own dictionary: the file works on cells without naming the framework.
        names_mindspore = names_mindspore or b"._cells" in file.data
        guards = fates.legacy and any(
            site.module in fates.legacy or f"{site.module}.{site.name}" in fates.legacy
            for site in info.imports
        )
        cells = b"construct" in file.data
        if not (names_mindspore or guards or cells or any(name in file.data for name in unique)):
            continue
        options = FileOptions(
            package=where.package,
            backend=where.backend,
            legacy=fates.legacy,
            guarded=frozenset(profile.guarded.get(where.module, ())) if profile else frozenset(),
            grafted=grafted[file.path].names if file.path in grafted else frozenset(),
            exported=fates.imported.get(where.module, frozenset()),
            names_mindspore=names_mindspore,
        )
        yield Job(file, where.module, options)


def _all(work: list[Job], worker: Worker, jobs: int, progress: Progress) -> Generator[FileResult, None, None]:
    """Results of all jobs, in processes where that pays."""
    # Large files first, so that no process is left with one at the end.
    work.sort(key=lambda job: -len(job.file.data))
    if jobs == 1 or len(work) <= CHUNK:
        for i, job in enumerate(work, 1):
            yield worker.run(job)
            progress("rewrite", i, len(work))
        return
    # Forked workers share the index and tables without a copy; none of our threads runs yet.
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    pool = ProcessPoolExecutor(
        min(jobs, len(work)), multiprocessing.get_context(method), initializer=_start, initargs=(worker,)
    )
    strangers = set(multiprocessing.active_children())
    try:
        for i, result in enumerate(pool.map(_run, work, chunksize=CHUNK), 1):
            yield result
            progress("rewrite", i, len(work))
        pool.shutdown()
    except BaseException:
        # Nobody wants the files that are still at work: an interruption ends at once.
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - strangers:
            process.terminate()
        raise


def _result(file: SourceFile, results: dict[str, FileResult], kind: str) -> SourceFile:
    found = results.get(file.path)
    if found is None or found.data is None or not found.changed:
        return replace(file, kind=kind) if kind else file
    return replace(file, data=found.data, kind=kind)


def _replace(files: list[SourceFile], new: Iterable[SourceFile]) -> list[SourceFile]:
    by_path = {f.path: f for f in files} | {f.path: f for f in new}
    return [by_path[path] for path in sorted(by_path)]


def _runtime(used: set[str], places: dict[str, Place], profile: Profile | None) -> Iterator[SourceFile]:
    """The runtime package, once for each home that a result imports it from."""
    homes = sorted({plan.backend_folder(path, places[path]) for path in used})
    for home in homes:
        for file in sorted((RUNTIME / "_backend").rglob("*.py")):
            name = file.relative_to(RUNTIME / "_backend").as_posix()
            yield SourceFile(f"{home}/{name}", file.read_bytes(), kind="runtime")
    if profile is not None and homes:
        for path, name in profile.runtime.items():
            yield SourceFile(path, (RUNTIME / name).read_bytes(), kind="runtime")


def _requirements(tree: Tree, profile: Profile | None, index: Index, fates: Plan) -> Iterator[SourceFile]:
    if tree.requires or profile is not None:
        imports: dict[str, str] = {}
        for path, info in sorted(index.by_path.items()):
            if fates.fates.get(info.name) in ("ported", "verbatim"):
                for site in info.imports:
                    imports.setdefault(site.module, path)
                    imports.setdefault(f"{site.module}.{site.name}", path)
        text = requirements.text(tree.requires, tree.name, tree.version, imports)
        yield SourceFile(requirements.PATH, text.encode())


def _summary(results: Iterable[FileResult], fates: Plan, profile: Profile | None) -> dict[str, object]:
    totals: Counter[str] = Counter()
    for result in results:
        totals.update(result.counts)
    references = {
        key.partition(".")[2]: n for key, n in sorted(totals.items()) if key.startswith("references.")
    }
    sites = {key.partition(".")[2]: n for key, n in sorted(totals.items()) if key.startswith("sites.")}
    return {
        "profile": profile.name if profile else "",
        "modules": dict(sorted(Counter(fates.fates.values()).items())),
        "references": references | {"total": sum(references.values())},
        "sites": sites | {"total": sum(sites.values())},
    }
