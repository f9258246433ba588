"""Process many files, with several processes where it pays; results keep the files' order.

A file is settled or refused as a whole; a refused one does not stop the others.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from shutil import copyfileobj, rmtree
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeVar

from models.errors import InstallerError, PitwatchError, TechnicianError
from server.archive.archives import Source, feeds
from server.archive.unreadable import without_parquet
from server.archive.work import AddRows, FileReport, Work, report_of, with_progress
from server.process.progress import Progress
from stream.scratch import scratch_folder

if TYPE_CHECKING:
    from server.archive.parquet import Write

T = TypeVar("T")

_WORTH_A_POOL: Final = 4 << 20
"""Bytes below which starting processes takes longer than the work. Not measured."""


class _NothingSettled(Exception):
    """No file was settled: there is nothing to write."""


def work_through(
    work: Work[T],
    sources: Sequence[Source],
    jobs: int,
    out: Path | None,
    progress: Progress,
    *,
    text: TextIO | None = None,
    cluster: str | None = None,
) -> Generator[FileReport[T], None, None]:
    """Yield the report of each file, in order, after printing and writing its results.

    Args:
        work: the work on each file.
        sources: the files.
        jobs: the most processes.
        out: the place for Parquet, if any.
        progress: receives the progress.
        text: receives what is printed; stdout where it is ``None``.
        cluster: the address of a cluster that does the work instead of this machine.

    Raises:
        InstallerError: the cluster cannot be used.
        OperatorError: ``out`` cannot be written.
        TechnicianError: a process died.
    """
    text = text or sys.stdout
    if cluster is not None:
        yield from _on_cluster()(work, sources, cluster, text, progress)
        return
    with suppress(_NothingSettled), ExitStack() as stack:
        write = None
        if out is not None:
            parquet = _parquet()
            write = stack.enter_context(parquet.parquet_files(out, work.schemas()))
        alone = jobs == 1 or len(sources) == 1 or any(source.is_stdin for source in sources)
        if alone or sum(source.size for source in sources) < _WORTH_A_POOL:
            reports = _alone(work, sources, write, text, progress)
        else:
            reports = _together(work, sources, jobs, write, text, progress=progress)
        settled = False
        with closing(reports):
            for report in reports:
                settled = settled or report.settled or work.rounds(report.totals) > 0
                yield report
        if write is not None and not settled:
            raise _NothingSettled


def _on_cluster() -> Any:
    try:
        from server.archive.cluster import on_cluster  # noqa: PLC0415 - it is an extra
    except ImportError as fault:
        raise InstallerError(
            "dask.distributed or pyarrow is not installed, which --cluster needs",
            where="this command",
            way_out="Install them: pip install 'pitwatch[cluster,parquet]'",
        ) from fault
    return on_cluster


def _parquet() -> Any:
    try:
        from server.archive import parquet  # noqa: PLC0415 - it is an extra, and slow to load
    except ImportError as fault:
        raise without_parquet("--out") from fault
    return parquet


def _alone(
    work: Work[T],
    sources: Sequence[Source],
    write: "Write | None",
    text: TextIO,
    progress: Progress,
) -> Generator[FileReport[T], None, None]:
    batches = None if write is None else _parquet().Batches(work.schemas(), write)
    for source in sources:
        rows = None if batches is None else batches.add
        yield from _files(work, source, text, rows, progress)
        progress.done(source.size)
    if batches is not None:
        batches.flush()


def _files(
    work: Work[T], source: Source, text: TextIO, rows: AddRows, progress: Progress
) -> Iterator[FileReport[T]]:
    passed_over: list[tuple[str, str]] = []
    files = 0
    try:
        for feed in feeds(source, progress.at_byte, lambda *member: passed_over.append(member)):
            report = report_of(work, feed, text, rows, progress)
            files += report.settled
            yield report
    except PitwatchError as refusal:
        yield FileReport(source.name, work.totals(), with_progress(refusal, files, "file"))
    for name, why in passed_over:
        yield FileReport(name, work.totals(), passed_over=why)


# --- several processes --------------------------------------------------------------------


def _together(
    work: Work[T],
    sources: Sequence[Source],
    jobs: int,
    write: "Write | None",
    text: TextIO,
    *,
    progress: Progress,
) -> Generator[FileReport[T], None, None]:
    with scratch_folder("pitwatch-") as place, _pool(jobs, place) as pool:
        places = [place / str(number) for number in range(len(sources))]
        job = partial(_spooled, work, write is not None)
        try:
            # Not pool.map, which cancels what waits: the pool's own thread fails on a cancelled
            # job where its processes are ended meanwhile, and prints that.
            waiting = deque([pool.submit(job, *one) for one in zip(sources, places, strict=True)])
            for source, spool in zip(sources, places, strict=True):
                reports = waiting.popleft().result()
                _unspooled(spool, write, text)
                progress.done(source.size, sum(work.rounds(report.totals) for report in reports))
                yield from reports
        except BrokenProcessPool as fault:
            raise TechnicianError(
                "a process that settled files died",
                where="this machine",
                way_out="Check its memory, or settle with --jobs 1",
            ) from fault
        except BaseException:  # Ctrl-C too leaves no process behind
            _end_children()
            raise


def _pool(jobs: int, place: Path) -> ProcessPoolExecutor:
    spawned = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=spawned, initializer=_begin, initargs=(str(place),))


def _begin(place: str) -> None:
    """Initialise a process; Ctrl-C is for the first process.

    Its temporary files lie in ``place``, which the first process removes in any case.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tempfile.tempdir = place
    threading.Thread(target=_end_with_the_first, args=(place,), daemon=True).start()


def _end_with_the_first(place: str) -> None:
    """End with the first process, even a killed one: nobody else sends work or cleans up."""
    first = multiprocessing.parent_process()
    if first is not None:
        first.join()
        rmtree(place, ignore_errors=True)
        os._exit(1)


def _end_children() -> None:
    """Terminate the processes of the pool during their work."""
    for child in multiprocessing.active_children():
        child.kill()


def _spooled(work: Work[T], tables: bool, source: Source, spool: Path) -> list[FileReport[T]]:
    """Settle one file in a separate process; its output waits on disk."""
    spool.mkdir()
    with ExitStack() as stack:
        text = stack.enter_context((spool / "text").open("w", encoding="utf-8", newline=""))
        if not tables:
            return list(_files(work, source, text, None, Progress()))
        parquet, schemas = _parquet(), work.schemas()
        write = stack.enter_context(parquet.spooled(spool / "tables", schemas))
        batches = parquet.Batches(schemas, write)
        reports = list(_files(work, source, text, batches.add, Progress()))
        batches.flush()
        return reports


def _unspooled(spool: Path, write: "Write | None", text: TextIO) -> None:
    with (spool / "text").open(encoding="utf-8", newline="") as spooled:
        copyfileobj(spooled, text)
    (spool / "text").unlink()
    if write is not None:
        _parquet().unspool(spool / "tables", write)
    spool.rmdir()


def cores() -> int:
    """Return the number of processes that this machine can run at once."""
    return len(os.sched_getaffinity(0))
