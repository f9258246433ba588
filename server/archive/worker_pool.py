"""Work on many files: by one process, by several, or by other machines.

Results keep the files' order.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any, Final, TextIO, TypeVar

from models.errors import InstallerError, OperatorError, TechnicianError
from server.archive.archives import Source
from server.archive.parts import Part, Plan, settle_part, shared_out, taken
from server.archive.work import FileReport, Output, Work, parquet_module, settled_in_turn
from server.process.progress import Progress
from stream.scratch import scratch_folder

T = TypeVar("T")

_WORTH_A_POOL: Final = 4 << 20
"""Bytes below which starting processes takes longer than the work. Not measured."""


class _NothingSettled(Exception):
    """No file was settled: there is nothing to write."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The work shared out among machines: each leaves the results of its parts in one folder."""

    folder: Path
    plan: Plan
    cluster: str | None = None
    """The address of the Dask scheduler that shares the parts out, if there is one."""

    def parts(
        self, work: Work[T], sources: Sequence[Source], many: int, *, has_rows: bool
    ) -> list[Part[T]]:
        """Return the parts, in order."""
        return [
            Part(work, share, has_rows, self.folder / f"{number}-of-{many}", self.plan)
            for number, share in enumerate(shared_out(sources, many), 1)
        ]

    def many(self) -> int:
        """Return how many parts the settled ones in the folder belong to.

        Raises:
            OperatorError: there are none, or they were not shared out alike.
        """
        names = [path.name for path in self.folder.glob("[1-9]*-of-[1-9]*")]
        found = {name.partition("-of-")[2] for name in names}
        if len(found) == 1 and (many := found.pop()).isdecimal():
            return int(many)
        raise OperatorError(
            "the parts there were not shared out alike" if found else "it holds no part",
            where=str(self.folder),
            way_out="Settle each of 8 parts with --part 1/8 to --part 8/8",
        )


def work_through(
    work: Work[T],
    sources: Sequence[Source],
    jobs: int,
    out: Path | None,
    progress: Progress,
    *,
    text: TextIO | None = None,
    shares: Shares | None = None,
) -> Generator[FileReport[T], None, None]:
    """Yield the report of each file, in order, after printing and writing its results.

    Args:
        work: the work on each file.
        sources: the files.
        jobs: the most processes.
        out: the place for Parquet, if any.
        progress: receives the progress.
        text: receives what is printed; stdout where it is ``None``.
        shares: where other machines leave the results of their parts. Without a cluster all parts
            must be there.

    Raises:
        InstallerError: the cluster cannot be used.
        OperatorError: ``out`` cannot be written, or a part is missing.
        TechnicianError: a process died.
    """
    with suppress(_NothingSettled), ExitStack() as stack:
        write = None
        if out is not None:
            write = stack.enter_context(parquet_module().parquet_files(out, work.schemas()))
        output = Output(text or sys.stdout, write, progress)
        if shares is None:
            reports = _settled(jobs, work, sources, output)
        else:
            reports = _merged(shares, work, sources, output)
        settled = False
        with closing(reports):
            for report in reports:
                settled = settled or report.settled or work.rounds(report.totals) > 0
                yield report
        if write is not None and not settled:
            raise _NothingSettled


def settle_share(part: Part[T], jobs: int, progress: Progress) -> None:
    """Settle a part with the processes of this machine.

    Raises:
        OperatorError: the folder holds the results of other work, or cannot be written.
        TechnicianError: a process died.
    """
    settle_part(part, partial(_settled, jobs), progress)


def _settled(
    jobs: int, work: Work[T], sources: Sequence[Source], output: Output
) -> Generator[FileReport[T], None, None]:
    alone = jobs == 1 or len(sources) <= 1 or any(source.is_stdin for source in sources)
    if alone or sum(source.size for source in sources) < _WORTH_A_POOL:
        yield from settled_in_turn(work, sources, output)
    else:
        yield from _together(work, sources, jobs, output)


def _merged(
    shares: Shares, work: Work[T], sources: Sequence[Source], output: Output
) -> Generator[FileReport[T], None, None]:
    """Yield the reports of parts that other machines settle or have settled."""
    has_rows = output.write is not None
    if shares.cluster is not None:
        with _on_cluster()(shares.cluster) as cluster:
            parts = shares.parts(work, sources, cluster.parts_of(len(sources)), has_rows=has_rows)
            for part in cluster.settled(parts):
                yield from taken(part, output)
        return
    parts = shares.parts(work, sources, shares.many(), has_rows=has_rows)
    missing = [part.folder.name for part in parts if not part.folder.exists()]
    if missing:
        raise OperatorError(
            f"{len(missing)} of {len(parts)} parts are missing: {', '.join(missing[:8])}",
            where=str(shares.folder),
            way_out=f"Settle them: --part {missing[0].replace('-of-', '/')}",
        )
    for part in parts:
        yield from taken(part, output)


def _on_cluster() -> Any:
    try:
        from server.archive.cluster import Cluster  # noqa: PLC0415 - it is an extra
    except ImportError as fault:
        raise InstallerError(
            "dask.distributed is not installed, which --cluster needs",
            where="this command",
            way_out="Install it: pip install 'pitwatch[cluster]'",
        ) from fault
    return Cluster


# --- several processes --------------------------------------------------------------------


def _together(
    work: Work[T], sources: Sequence[Source], jobs: int, output: Output
) -> Generator[FileReport[T], None, None]:
    with scratch_folder("pitwatch-") as place, _pool(jobs, place) as pool:
        has_rows = output.write is not None
        parts = [Part(work, (one,), has_rows, place / str(n)) for n, one in enumerate(sources)]
        try:
            # Not pool.map, which cancels what waits: the pool's own thread fails on a cancelled
            # job where its processes are ended meanwhile, and prints that.
            waiting = deque([pool.submit(settle_part, part) for part in parts])
            for part in parts:
                waiting.popleft().result()
                yield from taken(part, output)
                rmtree(part.folder)
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


def cores() -> int:
    """Return the number of processes that this machine can run at once."""
    return len(os.sched_getaffinity(0))
