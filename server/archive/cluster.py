"""Work on archived days by many machines: a Dask cluster, one task for each table's day.

A task is sent again where its worker dies; its result counts once, in the order of the archive, so
that the output is that of one process, byte for byte. At most a few tasks for each core are under
way or wait for an earlier one, so the memory used here does not grow with the archive.

Every worker reads the archive under the same path, runs the same program, and compares the files of
a day with their hashes before it settles from them.
"""

import zlib
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TextIO, TypeVar

from distributed import Client, Future, KilledWorker

from models.errors import InstallerError, OperatorError, PitwatchError, TechnicianError
from server.archive.archives import DAY_FACTS, Feed, Source
from server.archive.history import Day
from server.archive.work import FileReport, Work, report_of
from server.process.program import program_stated
from server.process.progress import Progress

T = TypeVar("T")

_AHEAD: Final = 4
"""Tasks under way or waiting, for each core of the cluster."""
_ANSWER: Final = "10s"


@dataclass(frozen=True, slots=True)
class Partition:
    """A table's day: one journal's part of an archived day."""

    source: Source
    folder: str
    """Where a worker finds the day."""
    shown: str
    """Its name in messages and results."""
    number: int
    share: int
    """Bytes of the source that it stands for."""
    program: str
    """The hash of the program that must settle it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a task returns."""

    text: bytes
    """What it printed, compressed."""
    report: FileReport[Any] | None
    refusal: str = ""
    """Why the day as a whole is refused."""


def on_cluster(
    work: Work[T], sources: Sequence[Source], url: str, text: TextIO, progress: Progress
) -> Generator[FileReport[T], None, None]:
    """Yield the report of each table's day, in order, after printing what it found.

    Raises:
        InstallerError: the cluster cannot be reached, or runs another program.
        OperatorError: a source is no archived day.
        TechnicianError: a task ended several workers.
    """
    parts = (part for source in sources for part in partitions(source))
    with _client(url) as client:
        outcomes = _in_order(client, work, parts)
        for _, of_day in groupby(outcomes, key=lambda one: one[0].source):
            yield from _reports(work, of_day, text, progress)


def _reports(
    work: Work[T],
    outcomes: Iterator[tuple[Partition, Outcome]],
    text: TextIO,
    progress: Progress,
) -> Iterator[FileReport[T]]:
    """Yield the reports of one day; a refused one has one, as where one process reads it."""
    is_refused = False
    for part, outcome in outcomes:
        if outcome.report is not None and not is_refused:
            text.write(zlib.decompress(outcome.text).decode())
            progress.done(part.share, work.rounds(outcome.report.totals))
            yield outcome.report
        elif not is_refused:
            is_refused = True
            yield FileReport(part.source.name, work.totals(), outcome.refusal)


def partitions(source: Source) -> Iterator[Partition]:
    """Yield the parts of an archived day.

    Raises:
        InputRefused: the day's manifest is not what was written.
        OperatorError: it is no archived day.
    """
    path = Path(source.name)
    if path.name != DAY_FACTS:
        raise OperatorError(
            "a cluster settles archived days only",
            where=source.name,
            way_out="Write them with `pitwatch archive write`, or leave out --cluster",
        )
    parts = Day(path.parent).about.parts
    whole = max(sum(part.facts for part in parts), 1)
    for number, part in enumerate(parts):
        if part.journal in source.without:
            continue
        share = source.size * part.facts // whole
        shown, folder = f"{path.parent}/{part.name}", str(path.parent.resolve())
        yield Partition(source, folder, shown, number, share, program())


def _in_order(
    client: Client, work: Work[T], parts: Iterator[Partition]
) -> Iterator[tuple[Partition, Outcome]]:
    """Yield each part's outcome in order; a few parts are sent ahead."""
    ahead = max(sum(client.nthreads().values()), 1) * _AHEAD
    under_way: deque[tuple[Partition, Future[Outcome]]] = deque()
    for part in parts:
        under_way.append((part, client.submit(settle_part, work, part, pure=False)))
        if len(under_way) >= ahead:
            yield _next(under_way)
    while under_way:
        yield _next(under_way)


def _next(under_way: deque[tuple[Partition, Future[Outcome]]]) -> tuple[Partition, Outcome]:
    part, future = under_way.popleft()
    try:
        outcome: Outcome = future.result()
    except KilledWorker as fault:
        raise TechnicianError(
            "every worker that settled it died",
            where=part.shown,
            way_out="Look at the workers' memory, or settle it without --cluster",
        ) from fault
    finally:
        future.release()
    return part, outcome


def settle_part(work: Work[T], part: Partition) -> Outcome:
    """Settle a table's day; this runs on a worker."""
    if part.program != program():
        raise InstallerError(
            "this worker runs another program than the command",
            where=part.shown,
            way_out="Install the same version of Pitwatch on every worker, and restart them",
        )
    text = StringIO()
    try:
        with Day(Path(part.folder)).part(part.number) as reader:
            feed = Feed(part.shown, reader.read, day=reader)
            report = report_of(work, feed, text, None, Progress())
    except PitwatchError as refusal:
        return Outcome(b"", None, str(refusal))
    return Outcome(zlib.compress(text.getvalue().encode(), 1), report)


@cache
def program() -> str:
    """Return the hash of the program that runs here."""
    return str(program_stated(0).program_hash)


def _client(url: str) -> Client:
    try:
        client = Client(url, timeout=_ANSWER, set_as_default=False)
    except (OSError, ValueError) as fault:
        raise InstallerError(
            f"the cluster cannot be reached ({fault})",
            where=url,
            way_out="Name its scheduler: --cluster tcp://HOST:8786, started with `dask scheduler`",
        ) from fault
    if not client.nthreads():
        client.close()
        raise InstallerError(
            "the cluster has no worker",
            where=url,
            way_out=f"Start some: dask worker {url} --nthreads 1",
        )
    return client
