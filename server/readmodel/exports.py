"""Lists as tables for analysts: CSV and Parquet, in pieces.

Money is whole minor units of ``currency``, ``at`` nanoseconds since the Unix epoch, UTC;
``local_time`` is the same by the house's clocks, with its offset. Cards have the event format,
separated by blanks: ``AS KD ??``. Unknown and hidden values are empty.

A hand's ``net`` is due to the player, a round's to the house, which ``kept`` so much. ``underpaid``
and ``overpaid`` are still open; later payments ``recovered`` a difference at the close.
"""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Final, Literal, TypeAlias

from models.house import House
from server.house.rules_in_force import name_in, overrides_text
from server.house.wording import cards_code
from server.readmodel.views import (
    HandRow,
    LedgerRow,
    PaymentRow,
    ReviewRow,
    RoundRow,
    Row,
    ViolationRow,
)
from settlement.balance import Balance

Kind: TypeAlias = Literal["rounds", "hands", "violations", "reviews", "payments", "ledger"]
Form: TypeAlias = Literal["csv", "parquet"]
Cell: TypeAlias = str | int | None
Type: TypeAlias = Literal["text", "whole", "time", "flag"]

_RECKONED: Final = ("=", "+", "-", "@", "\t", "\r")
"""First characters that make a spreadsheet evaluate a text as a formula."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    type: Type
    value: Callable[[Any], Cell]


def _plain(name: str, kind: Type) -> Column:
    return Column(name, kind, lambda row: getattr(row, name))


def _of_result(name: str, kind: Type, value: Callable[[Any], Cell]) -> Column:
    return Column(name, kind, lambda row: None if row.result is None else value(row.result))


def _of_balance(name: str, value: Callable[[Balance], Cell]) -> Column:
    return Column(name, "whole", lambda row: None if row.balance is None else value(row.balance))


_HEAD: Final = (
    _plain("session", "text"),
    _plain("table", "text"),
    _plain("at", "time"),
    _plain("seq", "whole"),
    _plain("round", "whole"),
)
COLUMNS: Final[Mapping[Kind, tuple[Column, ...]]] = {
    "rounds": (
        *_HEAD,
        _plain("closed_at", "time"),
        _plain("status", "text"),
        _plain("net", "whole"),
        _of_balance("kept", lambda found: None if found.paid is None else -found.paid),
        _of_balance("underpaid", lambda found: found.underpaid),
        _of_balance("overpaid", lambda found: found.overpaid),
        _of_balance("recovered", lambda found: found.recovered),
        _plain("violations", "whole"),
        _plain("suspected", "whole"),
        _plain("reviews", "whole"),
        _plain("decided", "whole"),
        _of_result("rulebook", "text", lambda result: str(result.rulebook)),
        _of_result("overrides", "text", lambda result: overrides_text(name_in(result).overrides)),
        _of_result("rules_hash", "text", lambda result: name_in(result).rules_hash),
        _of_result("dealer", "text", lambda result: cards_code(result.dealer.cards)),
        _of_result("dealer_burned", "text", lambda result: cards_code(result.dealer.burned)),
        _of_result("dealer_total", "whole", lambda result: result.dealer.total),
        _of_result("dealer_outcome", "text", lambda result: str(result.dealer.outcome)),
    ),
    "hands": (
        *_HEAD,
        _plain("spot", "whole"),
        _plain("hand", "whole"),
        Column("cards", "text", lambda row: cards_code(row.cards)),
        Column("burned", "text", lambda row: cards_code(row.burned)),
        _plain("stake", "whole"),
        _plain("outcome", "text"),
        _plain("net", "whole"),
        _plain("paid", "whole"),
        _plain("difference", "whole"),
        Column("clauses", "text", lambda row: " ".join(row.clauses)),
    ),
    "violations": (
        *_HEAD,
        _plain("code", "text"),
        _plain("spot", "whole"),
        _plain("hand", "whole"),
        _plain("clause", "text"),
        _plain("detail", "text"),
        _plain("suspected", "flag"),
    ),
    "reviews": (
        *_HEAD,
        _plain("item", "whole"),
        _plain("what", "text"),
        Column("candidates", "text", lambda row: " | ".join(row.candidates)),
        Column("decision", "text", lambda row: row.decided and row.decided.decision),
        Column("answer", "text", lambda row: row.decided and row.decided.says),
        Column("decided_by", "text", lambda row: row.decided and row.decided.person),
        Column("decided_at", "time", lambda row: row.decided and row.decided.at),
        Column("reason", "text", lambda row: row.decided and row.decided.reason),
    ),
    "payments": (
        *_HEAD,
        _plain("spot", "whole"),
        _plain("hand", "whole"),
        _plain("kind", "text"),
        _plain("amount", "whole"),
        Column("late", "whole", lambda row: int(row.late)),
        _plain("bet", "text"),
        _plain("bettor", "text"),
    ),
    "ledger": (
        *_HEAD,
        _plain("account", "text"),
        _plain("amount", "whole"),
        _plain("memo", "text"),
    ),
}
ROWS: Final[Mapping[Kind, type[Row]]] = {
    "rounds": RoundRow,
    "hands": HandRow,
    "violations": ViolationRow,
    "reviews": ReviewRow,
    "payments": PaymentRow,
    "ledger": LedgerRow,
}
"""The rows of each kind of export."""


@dataclass(frozen=True, slots=True)
class Place:
    """The house of the tables, and the tables with another currency."""

    house: House
    currencies: Mapping[str, str]

    def columns(self, kind: Kind) -> tuple[Column, ...]:
        """Return the columns of a kind, with the house's columns at the end."""
        local = Column("local_time", "text", self._local)
        currency = Column("currency", "text", self._currency)
        return (*COLUMNS[kind], local, currency)

    def _local(self, row: Row) -> str:
        return self.house.local(row.at).isoformat(timespec="milliseconds")

    def _currency(self, row: Row) -> str:
        return self.currencies.get(row.table, self.house.currency)


class CsvPieces:
    """A growing CSV file (RFC 4180, UTF-8). No text begins like a formula."""

    media_type: Final = "text/csv; charset=utf-8"

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns

    def start(self) -> bytes:
        """Return the line of headings."""
        return _lines([[column.name for column in self._columns]])

    def more(self, rows: Sequence[Row]) -> bytes:
        """Return the next lines."""
        return _lines([[_cell(column, row) for column in self._columns] for row in rows])

    def end(self) -> bytes:
        """Return the end of the file: nothing."""
        return b""


def _cell(column: Column, row: Row) -> Cell:
    value = column.value(row)
    if column.type == "flag":
        return "true" if value else "false"
    if column.type == "text" and isinstance(value, str) and value.startswith(_RECKONED):
        return f"'{value}"
    return value


def _lines(rows: Sequence[Sequence[Cell]]) -> bytes:
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return written.getvalue().encode()


class ParquetPieces:
    """A growing Parquet file: one row group a piece. ``at`` is a timestamp.

    Raises:
        ImportError: pyarrow is not installed.
    """

    media_type: Final = "application/vnd.apache.parquet"

    def __init__(self, columns: Sequence[Column]) -> None:
        from server.process.arrow import pa, pq  # noqa: PLC0415 - an option of the installation

        types = {
            "text": pa.string(),
            "whole": pa.int64(),
            "time": pa.timestamp("ns", "UTC"),
            "flag": pa.bool_(),
        }
        self._columns = columns
        self._arrow = pa
        self._schema = pa.schema([(one.name, types[one.type]) for one in self._columns])
        self._sink = _Sink()
        self._writer = pq.ParquetWriter(
            pa.PythonFile(self._sink, "w"), self._schema, compression="zstd"
        )

    def start(self) -> bytes:
        """Return the beginning of the file."""
        return self._sink.taken()

    def more(self, rows: Sequence[Row]) -> bytes:
        """Return the next row group."""
        columns = [
            self._arrow.array([one.value(row) for row in rows], self._schema.field(one.name).type)
            for one in self._columns
        ]
        self._writer.write_table(self._arrow.Table.from_arrays(columns, schema=self._schema))
        return self._sink.taken()

    def end(self) -> bytes:
        """Return the footer."""
        self._writer.close()
        return self._sink.taken()


class _Sink(io.RawIOBase):
    """Collects written bytes and returns them."""

    def __init__(self) -> None:
        super().__init__()
        self._held: list[bytes] = []
        self._place = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._held.append(bytes(data))
        self._place += len(data)
        return len(data)

    def tell(self) -> int:
        return self._place

    def taken(self) -> bytes:
        held, self._held = b"".join(self._held), []
        return held


Pieces: TypeAlias = CsvPieces | ParquetPieces
_FORMS: Final[Mapping[Form, type[CsvPieces] | type[ParquetPieces]]] = {
    "csv": CsvPieces,
    "parquet": ParquetPieces,
}


def forms() -> tuple[Form, ...]:
    """Return the formats that this installation can write."""
    return tuple(form for form in _FORMS if form != "parquet" or find_spec("pyarrow") is not None)


def pieces(kind: Kind, form: Form, place: Place) -> Pieces:
    """Return an empty table; raises ``ImportError`` where Parquet's library is missing."""
    return _FORMS[form](place.columns(kind))


def written(table: Pieces, groups: Iterator[Sequence[Row]]) -> Iterator[bytes]:
    """Yield a file piece by piece."""
    yield table.start()
    for rows in groups:
        yield table.more(rows)
    yield table.end()
