"""``pitwatch export``: write a list from journals as CSV or Parquet, as the service reads them."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, get_args

import msgspec
import typer

from models.errors import OperatorError
from models.house import House
from server.archive.archives import Source
from server.archive.copies import say, without_copies
from server.archive.unreadable import without_parquet
from server.commands.options import Force, HouseFile
from server.house.house_file import folders_of, house_for
from server.house.wording import counted
from server.process.atomic_file import check_place, whole_file
from server.process.terminal import screen
from server.readmodel.exports import ROWS, Form, Kind, Pieces, Place, pieces, written
from server.readmodel.selection import Sought
from server.readmodel.session import Session
from server.readmodel.session_journal import FileJournal
from server.readmodel.views import Row
from stream.reading import read_journal

if TYPE_CHECKING:
    from server.readmodel.index import Index

app = typer.Typer()


@app.command(
    epilog="[dim]pitwatch export november/*.journal --what ledger --out ledger.parquet[/dim]"
)
def export(
    files: Annotated[list[Path], typer.Argument(metavar="JOURNAL…", help="Tables' journals.")],
    *,
    what: Annotated[
        str,
        typer.Option(help="The list: rounds, hands, violations, reviews, payments or ledger."),
    ],
    out: Annotated[Path, typer.Option(help="A new .csv or .parquet file.")],
    force: Force = False,
    house: HouseFile = None,
) -> None:
    """Export a list from journals as CSV or Parquet, newest first. Nothing is redacted."""
    found = house_for(house, *folders_of([str(file) for file in files]))
    run_export(files, what, out, found, force=force)


_AT_ONCE: Final = 5000


def run_export(
    journals: Sequence[Path], kind: str, out: Path, house: House, *, force: bool
) -> None:
    """Write the rows of ``kind`` from every journal, the newest first; nothing is redacted.

    Raises:
        OperatorError: there is no such kind, ``out`` does not end in ``.csv`` or ``.parquet`` or
            exists already, or Parquet's library is missing.
        TechnicianError: a journal is damaged; nothing was written.
    """
    wanted = _kind(kind)
    table = _table(wanted, out, Place(house, {}))
    check_place(out, force=force)
    given, copies = without_copies([Source(str(journal)) for journal in journals])
    say(copies)
    from server.readmodel.file_index import FileIndex

    with closing(FileIndex()) as index:
        index.open("export")
        for journal in given:
            _read(Path(journal.name), index)
        with whole_file(out) as file:
            file.writelines(written(table, _groups(index, wanted)))
        rows = sum(len(group) for group in _groups(index, wanted))
    screen().print(f"{out}: {counted(rows, 'row')} of {kind}")


def _kind(text: str) -> Kind:
    try:
        kind: Kind = msgspec.convert(text, Kind)
    except msgspec.ValidationError as fault:
        raise OperatorError(
            f"there is no list {text!r}",
            where="--what",
            way_out=f"Choose one of {', '.join(get_args(Kind))}",
        ) from fault
    return kind


def _table(kind: Kind, out: Path, place: Place) -> Pieces:
    if out.suffix not in (".csv", ".parquet"):
        raise OperatorError(
            "it is neither .csv nor .parquet",
            where=str(out),
            way_out="Name a .csv or .parquet file",
        )
    form: Form = "csv" if out.suffix == ".csv" else "parquet"
    try:
        return pieces(kind, form, place)
    except ImportError as fault:
        raise without_parquet(str(out), ", or name a .csv file") from fault


def _read(journal: Path, index: "Index") -> None:
    with index.writing():
        session = Session(FileJournal(journal), index)
        for event in read_journal(journal):
            session.fold(event)
        session.keep()


def _groups(index: "Index", kind: Kind) -> Iterator[list[Row]]:
    sought: Sought[Any] = Sought(ROWS[kind])
    while found := index.newest(sought, _AT_ONCE):
        yield [placed.row for placed in found]
        sought = replace(sought, before=found[-1].key)
