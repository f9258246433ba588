"""Compare what an archived day holds of a journal with the journal itself, cell by cell."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from models.errors import InputRefused
from models.house import House
from server.archive.day_rows import refused
from server.archive.days import Begun, begun
from server.archive.history import FACTS, JUDGEMENTS, TABLES, Day, Part
from server.archive.history_writer import part_files
from server.bundle.bundle import Asked, Bundle, Verdict, held
from server.bundle.manifest import MANIFEST
from server.house.wording import counted
from server.process.arrow import pa, pc, pq
from stream.journal import Verified
from stream.scratch import scratch_folder

_AS_RECORDED: Final = (FACTS, JUDGEMENTS, "payments")
"""Tables that every version writes alike. The others are derived: an earlier version has fewer
columns there."""

_ADDED_LATER: Final = ("bet", "bettor")
"""Columns of a payment that days of earlier versions do not have."""


def check_day(bundle: Bundle, asked: Asked) -> Verdict:
    """Read every row of a day, and compare each cell with the journals that are given.

    Raises:
        InputRefused: naming file, row and field.
    """
    day = Day(bundle.path)
    if bundle.manifest.subject != f"day {day.about.day}":
        raise refused(bundle.path / MANIFEST, "subject", f"day {day.about.day}", "another")
    day.read_all()
    check_journals(day)
    proven, parts = list[str](), day.about.parts
    for part, head in zip(parts, bundle.manifest.journals, strict=True):
        found = held(head, asked)
        if found is None:
            continue
        path, verified = found
        one = begun(path, House())
        if one is not None:
            check_part(day, part, one, verified)
            proven.append(f"every cell that it holds of journal {part.name}")
    missing = len(parts) - len(proven) if asked.journals else 0
    details = {"day": day.about.day, "parts": parts, "not_compared": missing}
    return Verdict(tuple(proven), (), details, (f"{counted(len(parts), 'journal')} as written",))


def check_journals(day: Day) -> None:
    """Check that every row belongs to a journal that the manifest names.

    Raises:
        InputRefused: naming file, row and field.
    """
    known = pa.array([part.journal for part in day.about.parts])
    for name in TABLES:
        path = day.folder / f"{name}.parquet"
        journals = _column(path, pq.read_table(path), "journal")
        for row, is_known in enumerate(pc.is_in(journals, known).to_pylist()):
            if not is_known:
                found = str(journals[row].as_py())
                raise refused(path, "journal", "a journal of the manifest", found, row)


def check_part(day: Day, part: Part, one: Begun, verified: Verified) -> None:
    """Write a journal's part of the day again, and compare it.

    Raises:
        InputRefused: naming the file, the row and the field that differ first.
    """
    house = House(zone=day.about.zone, shifts=(day.about.begins,))
    manifest = day.folder / MANIFEST
    if one.day_in(house).isoformat() != day.about.day:
        began = one.day_in(house).isoformat()
        raise refused(manifest, "day", f"{began}, when {part.name} began", day.about.day)
    with scratch_folder("pitwatch-") as place:
        due = replace(
            part_files(place, one, verified),
            groups=part.groups,
            judgement_groups=part.judgement_groups,
        )
        for field in part.__struct_fields__:
            expected, found = getattr(due, field), getattr(part, field)
            if expected != found:
                where = f"parts.{field} of {part.name}"
                raise refused(manifest, where, str(expected), str(found))
        for name in TABLES:
            file = f"{name}.parquet"
            _compare(day.folder / file, place / file, part, as_recorded=name in _AS_RECORDED)


def _compare(path: Path, due_path: Path, part: Part, *, as_recorded: bool) -> None:
    whole, due = pq.read_table(path), pq.read_table(due_path)
    for name in whole.column_names:
        if name not in due.column_names:
            raise refused(path, name, "no such column", "one")
    is_own = pc.equal(_column(path, whole, "journal"), part.journal)
    rows, own = [row for row, own in enumerate(is_own.to_pylist()) if own], whole.filter(is_own)
    for name in due.column_names:
        added_later = not as_recorded or name in _ADDED_LATER
        if name not in own.column_names and added_later:
            continue
        found, expected = _column(path, own, name), _column(due_path, due, name)
        if found != expected:
            raise _other(path, name, rows, list(_pairs(found, expected)), part)


def _pairs(found: pa.ChunkedArray, expected: pa.ChunkedArray) -> Iterator[tuple[Any, Any]]:
    pairs = [array.to_pylist() for array in (found, expected)]
    for row in range(max(map(len, pairs))):
        one, other = (values[row] if row < len(values) else _NO_ROW for values in pairs)
        yield one, other


_NO_ROW: Final = "no such row"


def _other(
    path: Path, name: str, rows: list[int], pairs: list[tuple[Any, Any]], part: Part
) -> InputRefused:
    place = next((at for at, (found, expected) in enumerate(pairs) if found != expected), 0)
    found, expected = pairs[place] if pairs else (_NO_ROW, _NO_ROW)
    row = rows[place] if place < len(rows) else (rows[-1] + 1 if rows else 0)
    return refused(path, name, f"{expected}, as journal {part.name} has it", str(found), row)


def _column(path: Path, table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column with plain values."""
    if name not in table.column_names:
        raise refused(path, name, "a column", "no such column")
    column = table[name]
    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column
