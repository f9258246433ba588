"""The work on files: what a command does with each, and the report of each file.

A file is settled or refused as a whole; a refused one does not stop the others.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TextIO, TypeAlias, TypeVar

from models.errors import InputRefused, PitwatchError
from server.archive.archives import Feed, Source, feeds
from server.archive.unreadable import without_parquet
from server.house.wording import counted
from server.process.progress import Progress
from server.table.gc_pauses import rare_collections

if TYPE_CHECKING:
    from server.archive.parquet import Rows, Write

T = TypeVar("T")
AddRows: TypeAlias = "Callable[[Rows], None] | None"


@dataclass(slots=True)
class FileReport(Generic[T]):
    """The result of one file: its totals, and the reason where it was refused or skipped."""

    name: str
    totals: T
    refusal: str | None = None
    passed_over: str | None = None

    @property
    def settled(self) -> bool:
        """Whether its rounds were settled."""
        return self.refusal is None and self.passed_over is None


@dataclass(frozen=True, slots=True)
class Output:
    """What receives the results of many files."""

    text: TextIO
    write: "Write | None" = None
    """Receives record batches for Parquet, where rows are wanted."""
    progress: Progress = field(default_factory=Progress)


class Work(Protocol[T]):
    """The work on each file. It is sent to other processes."""

    def totals(self) -> T:
        """Return empty totals: a dataclass that MessagePack can hold."""

    def rounds(self, totals: T) -> int:
        """Return the number of counted rounds."""

    def settle(
        self, feed: Feed, totals: T, text: TextIO, rows: AddRows, count: Callable[[], None]
    ) -> None:
        """Settle one file: print to ``text``, pass on rows, and count in ``totals`` meanwhile.

        Raises:
            PitwatchError: the file is refused.
        """

    def schemas(self) -> Any:
        """Return the tables of its rows."""


def settled_in_turn(
    work: Work[T], sources: Sequence[Source], output: Output
) -> Iterator[FileReport[T]]:
    """Yield the report of each file, one after another, in this process."""
    write, batches = output.write, None
    if write is not None:
        batches = parquet_module().Batches(work.schemas(), write)
    for source in sources:
        yield from _files(work, source, output, None if batches is None else batches.add)
        output.progress.done(source.size)
    if batches is not None:
        batches.flush()


def _files(work: Work[T], source: Source, output: Output, rows: AddRows) -> Iterator[FileReport[T]]:
    passed_over: list[tuple[str, str]] = []
    files, at_byte = 0, output.progress.at_byte
    try:
        for feed in feeds(source, at_byte, lambda *member: passed_over.append(member)):
            report = _report_of(work, feed, output, rows)
            files += report.settled
            yield report
    except PitwatchError as refusal:
        yield FileReport(source.name, work.totals(), _with_progress(refusal, files, "file"))
    for name, why in passed_over:
        yield FileReport(name, work.totals(), passed_over=why)


def _report_of(work: Work[T], feed: Feed, output: Output, rows: AddRows) -> FileReport[T]:
    report = FileReport(feed.name, work.totals())
    try:
        with rare_collections():
            work.settle(feed, report.totals, output.text, rows, output.progress.count)
    except PitwatchError as refusal:
        report.refusal = _with_progress(refusal, work.rounds(report.totals), "round")
    return report


def _with_progress(refusal: PitwatchError, settled: int, of: str) -> str:
    """Describe a refusal, with the work done before it."""
    if settled and isinstance(refusal, InputRefused):
        was = "was" if settled == 1 else "were"
        refusal = refusal.after(f"{counted(settled, of)} before it {was} settled")
    return str(refusal)


def parquet_module() -> Any:
    """Return the module that writes Parquet.

    Raises:
        InstallerError: its library is not installed.
    """
    try:
        from server.archive import parquet  # noqa: PLC0415 - it is an extra, and slow to load
    except ImportError as fault:
        raise without_parquet("--out") from fault
    return parquet
