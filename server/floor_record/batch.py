"""Rows and notes of a transaction that are written together: a statement for all of a kind.

A statement costs the database and this process some 40 µs each, however little it writes; a table
writes an entry at a time, and 1,000 tables some hundred rows a look.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec

from server.readmodel.index import KEY, KINDS, Asked, RowKind
from server.readmodel.views import Row

At: TypeAlias = tuple[int, int, int, int]
"""A row's key with its session's number for the name: ``at``, session, ``seq``, ``n``."""
_Note: TypeAlias = tuple[int, str, int]
"""Session, kind and number."""

_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys((*KEY.split(", "), "tab", "round", "spot", "number"), "bigint"),
    "noticed": "boolean",
    "body": "bytea",
}
"""Types of the columns; all others are text."""


@dataclass(slots=True)
class _Written:
    row: Row
    noticed: bool
    tab: int = 0
    """The id of an added row's table."""


class Batch:
    """What a transaction has still to write. A later write to a place replaces an earlier one."""

    def __init__(self) -> None:
        self._added: dict[type[Row], dict[At, _Written]] = {}
        self._changed: dict[type[Row], dict[At, _Written]] = {}
        self._notes: dict[_Note, bytes | None] = {}

    def add(self, at: At, row: Row, tab: int) -> None:
        """Add a row."""
        self._added.setdefault(type(row), {})[at] = _Written(row, noticed=False, tab=tab)

    def change(self, at: At, row: Row, *, noticed: bool) -> None:
        """Replace the row at a key. Once noticed, it stays so."""
        earlier = self._added.get(type(row), {}).get(at)
        if earlier is None:
            kind = self._changed.setdefault(type(row), {})
            earlier = kind.setdefault(at, _Written(row, noticed))
        earlier.row = row
        earlier.noticed = earlier.noticed or noticed

    def note(self, note: _Note, body: bytes | None) -> None:
        """Store a note, or drop it with ``None``."""
        self._notes[note] = body

    def send(self, on: Asked) -> None:
        """Write everything."""
        added, self._added = self._added, {}
        changed, self._changed = self._changed, {}
        notes, self._notes = self._notes, {}
        for model, rows in added.items():
            _add(on, KINDS[model], rows)
        for model, rows in changed.items():
            _change(on, KINDS[model], rows)
        kept = {note: body for note, body in notes.items() if body is not None}
        if dropped := notes.keys() - kept.keys():
            _drop_notes(on, list(dropped))
        if kept:
            _keep_notes(on, kept)


def _add(on: Asked, kind: RowKind[Any], rows: Mapping[At, _Written]) -> None:
    names = (*KEY.split(", "), "tab", "noticed", "round", *kind.asked_by, "body")
    lines = [
        (*at, one.tab, one.noticed, one.row.round, *_asked_by(kind, one.row), _body(one.row))
        for at, one in rows.items()
    ]
    on.execute(f"INSERT INTO {kind.table} SELECT * FROM {_given(names)}", _columns(lines))


def _change(on: Asked, kind: RowKind[Any], rows: Mapping[At, _Written]) -> None:
    key = KEY.split(", ")
    names = (*key, "noticed", *kind.asked_by, "body")
    lines = [
        (*at, one.noticed, *_asked_by(kind, one.row), _body(one.row)) for at, one in rows.items()
    ]
    columns = "".join(f", {name} = v.{name}" for name in kind.asked_by)
    same = " AND ".join(f"r.{name} = v.{name}" for name in key)
    on.execute(
        f"UPDATE {kind.table} r SET body = v.body, noticed = r.noticed OR v.noticed{columns}"
        f" FROM {_given(names)} AS v ({', '.join(names)}) WHERE {same}",
        _columns(lines),
    )


def _keep_notes(on: Asked, notes: Mapping[_Note, bytes]) -> None:
    on.execute(
        f"INSERT INTO notes SELECT * FROM {_given(('session', 'kind', 'number', 'body'))}"
        " ON CONFLICT (session, kind, number) DO UPDATE SET body = excluded.body",
        _columns([(*note, body) for note, body in notes.items()]),
    )


def _drop_notes(on: Asked, notes: Sequence[_Note]) -> None:
    names = ("session", "kind", "number")
    same = " AND ".join(f"n.{name} = v.{name}" for name in names)
    on.execute(
        f"DELETE FROM notes n USING {_given(names)} AS v ({', '.join(names)}) WHERE {same}",
        _columns(notes),
    )


def _asked_by(kind: RowKind[Any], row: Row) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in kind.asked_by)


def _body(row: Row) -> bytes:
    return msgspec.json.encode(row)


def _given(names: Sequence[str]) -> str:
    types = (_TYPES.get(name, "text") for name in names)
    return f"unnest({', '.join(f'?::{kind}[]' for kind in types)})"


def _columns(lines: Sequence[tuple[Any, ...]]) -> tuple[list[Any], ...]:
    return tuple(map(list, zip(*lines, strict=True)))
