"""The work on one file: settled or refused as a whole, whoever does it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TextIO, TypeAlias, TypeVar

from models.errors import InputRefused, PitwatchError
from server.archive.archives import Feed
from server.house.wording import counted
from server.process.progress import Progress
from server.table.gc_pauses import rare_collections

if TYPE_CHECKING:
    from server.archive.parquet import Rows

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


class Work(Protocol[T]):
    """The work on each file. It is sent to other processes."""

    def totals(self) -> T:
        """Return empty totals."""

    def rounds(self, totals: T) -> int:
        """Return the number of counted rounds."""

    def settle(
        self, feed: Feed, totals: T, text: TextIO, rows: AddRows, counted: Callable[[], None]
    ) -> None:
        """Settle one file: print to ``text``, pass on rows, and count in ``totals`` meanwhile.

        Raises:
            PitwatchError: the file is refused.
        """

    def schemas(self) -> Any:
        """Return the tables of its rows."""


def report_of(
    work: Work[T], feed: Feed, text: TextIO, rows: AddRows, progress: Progress
) -> FileReport[T]:
    """Settle one file, and return its report."""
    report = FileReport(feed.name, work.totals())
    try:
        with rare_collections():
            work.settle(feed, report.totals, text, rows, progress.count)
    except PitwatchError as refusal:
        report.refusal = with_progress(refusal, work.rounds(report.totals), "round")
    return report


def with_progress(refusal: PitwatchError, settled: int, of: str) -> str:
    """Return a refusal in words, with the work done before it."""
    if settled and isinstance(refusal, InputRefused):
        was = "was" if settled == 1 else "were"
        refusal = refusal.after(f"{counted(settled, of)} before it {was} settled")
    return str(refusal)
