"""The rows of an archived day's file; what was not written so is refused by file, row and field."""

from collections.abc import Callable, Collection, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from models.decode import decode_event
from models.errors import InputRefused
from models.events import AnyFact, Fact
from models.judgements import AnyEvent
from server.process.arrow import pa, pq

T = TypeVar("T")

_FACT: Final[msgspec.json.Decoder[AnyFact]] = msgspec.json.Decoder(AnyFact)
_EVENT: Final[msgspec.json.Decoder[AnyEvent]] = msgspec.json.Decoder(AnyEvent)


class DayFile:
    """One Parquet file of a day, with the columns that it must have.

    Args:
        path: its path, for messages.
        file: it, open.
        schema: its columns.

    Raises:
        InputRefused: it is no Parquet file, or a column is missing or of another type.
    """

    def __init__(self, path: Path, file: BufferedReader, schema: pa.Schema) -> None:
        self.path = path
        try:
            self._file = pq.ParquetFile(file)
        except (pa.ArrowException, OSError) as fault:
            raise refused(path, "content", "a Parquet file", str(fault)) from fault
        there = self._file.schema_arrow
        for column in schema:
            found = there.field(column.name).type if column.name in there.names else None
            if found != column.type:
                raise refused(path, column.name, f"a column of {column.type}", _or_none(found))
        metadata = self._file.metadata
        sizes = [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]
        self.groups = len(sizes)
        self._begins = np.cumsum([0, *sizes])

    def group(self, group: int, journal: str, *names: str) -> "Rows":
        """Read columns of one row group, which must hold one journal's rows only."""
        begins = int(self._begins[group])
        try:
            columns = self._file.read_row_group(
                group, ["journal", "entry", *names], use_threads=False
            )
        except (pa.ArrowException, OSError) as fault:
            raise refused(self.path, "content", "rows as written", str(fault), begins) from fault
        rows = Rows(self.path, begins, columns)
        rows.check_all("journal", journal)
        return rows


class Rows:
    """Columns of a row group; ``begins`` is the number of rows before it."""

    def __init__(self, path: Path, begins: int, columns: pa.Table) -> None:
        self._path, self._begins, self._columns = path, begins, columns

    def column(self, name: str) -> pa.Array:
        """Return a column."""
        return self._columns[name].combine_chunks()

    def whole(self, name: str) -> pa.Array:
        """Return a column that may have no empty cell."""
        column = self.column(name)
        if column.null_count:
            row = column.is_null().to_pylist().index(True)
            raise self.refused(row, name, "a value", "none")
        return column

    def entries(self, after: int) -> npt.NDArray[Any]:
        """Return the entries' numbers; they never fall, and the first is ``after`` or more."""
        found = numbers(self.whole("entry"), np.int64)
        falls = np.flatnonzero(np.diff(found, prepend=max(after, 1)) < 0)
        if len(falls):
            row = int(falls[0])
            before = int(found[row - 1]) if row else max(after, 1)
            raise self.refused(row, "entry", f"{before} or more", str(found[row]))
        return found

    def check_all(self, name: str, value: str) -> None:
        """Check that every row has this value in a column."""
        cells = self.whole(name)
        for code, text in enumerate(cells.dictionary.to_pylist()):
            if text != value:
                row = np.flatnonzero(numbers(cells.indices, np.int32) == code)
                if len(row):
                    raise self.refused(int(row[0]), name, value, str(text))

    def facts(self) -> tuple[list[AnyFact], npt.NDArray[Any]]:
        """Return the distinct facts, and for each row the place of its own among them."""
        cells = self.whole("event")
        codes = numbers(cells.indices, np.int32)
        texts = cells.dictionary.to_pylist()

        def place(code: int) -> int:
            return int(np.flatnonzero(codes == code)[0])

        used = np.flatnonzero(np.bincount(codes, minlength=len(texts)))
        if len(used) < len(texts):
            texts, codes = [texts[code] for code in used], np.searchsorted(used, codes)
        facts = _decoded(texts)
        if facts is None:
            facts = [self._fact(text, place, code) for code, text in enumerate(texts)]
        return facts, codes

    def _fact(self, text: str | None, place: Callable[[int], int], code: int) -> AnyFact:
        event = self.event(text or "", lambda: place(code))
        if isinstance(event, Fact):
            return event
        tag = str(event.__struct_config__.tag)
        raise self.refused(place(code), "event.type", "a fact", tag)

    def events(
        self, kinds: Sequence[str], passed_over: Collection[str]
    ) -> Iterator[tuple[int, AnyEvent]]:
        """Yield row and event, but of some types only where the event is of another one."""
        texts = self.whole("event").to_pylist()
        wanted = [
            row
            for row, (kind, text) in enumerate(zip(kinds, texts, strict=True))
            if kind not in passed_over or not text.startswith(f'{{"type":"{kind}",')
        ]
        found = _at_once(_EVENT, [texts[row] for row in wanted])
        if found is None:
            found = [self.event(texts[row], lambda row=row: row) for row in wanted]  # type: ignore[misc]
        return zip(wanted, found, strict=True)

    def event(self, text: str, row: Callable[[], int]) -> AnyEvent:
        """Decode an event's JSON; ``row`` gives its row, for a refusal."""
        try:
            return _strictly(text)
        except InputRefused as fault:
            where = f"event.{fault.field}"
            raise self.refused(row(), where, fault.expected, fault.found) from fault

    def refused(self, row: int, field: str, expected: str, found: str) -> InputRefused:
        """Return the refusal of a cell."""
        return refused(self._path, field, expected, found, self._begins + row)


def _decoded(texts: Sequence[str | None]) -> list[AnyFact] | None:
    """Decode facts all at once; ``None`` where one of them needs a closer look."""
    there = [text for text in texts if text is not None]
    if len(there) < len(texts) or any("." in text for text in there):
        return None
    return _at_once(_FACT, there)


def _at_once(decoder: "msgspec.json.Decoder[T]", texts: Sequence[str]) -> list[T] | None:
    try:
        found = decoder.decode_lines("\n".join(texts))
    except msgspec.MsgspecError:
        return None
    is_a_line_each = len(found) == len(texts) and not any("\n" in text for text in texts)
    return found if is_a_line_each else None


def _strictly(text: str) -> AnyEvent:
    event = decode_event(text.encode(), "event", 1, newer=True)
    if isinstance(event, Fact):
        _check_whole_numbers(msgspec.json.decode(text))
    return event


def _check_whole_numbers(fields: dict[str, Any]) -> None:
    """Refuse a number with a fraction: a fact without its probability has none."""
    for name, value in fields.items():
        if isinstance(value, float):
            raise InputRefused(
                source="event", field=name, expected="a whole number", found=str(value)
            )


def numbers(column: pa.Array, kind: type[np.integer[Any]]) -> npt.NDArray[Any]:
    """Return a column without nulls. pyarrow's own ``to_numpy`` loads pandas, a quarter second."""
    whole = np.frombuffer(column.buffers()[1], kind) if len(column) else np.zeros(0, kind)
    return whole[column.offset : column.offset + len(column)]


def refused(
    path: Path, field: str, expected: str, found: str, row: int | None = None
) -> InputRefused:
    """Return the refusal of a file of a day; ``row`` counts from 0."""
    source = str(path) if row is None else f"{path}, row {row + 1}"
    return InputRefused(source=source, field=field, expected=expected, found=found)


def _or_none(kind: pa.DataType | None) -> str:
    return "no such column" if kind is None else str(kind)
