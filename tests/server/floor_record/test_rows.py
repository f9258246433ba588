"""The floor record's rows are those of one machine's file, write for write and read for read."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from server.floor_record.engine import record_index
from server.readmodel.file_index import FileIndex
from server.readmodel.index import Index
from server.readmodel.selection import Key, Sought
from server.readmodel.views import PaymentRow, RoundRow, Row
from stream.journal import Place
from tests.server.floor_record.cluster import FloorSite
from tests.thoroughness import examples

pytestmark = pytest.mark.slow

SESSIONS = ("bj-07", "bj-08")
_names = count()


class Stopped(Exception):
    """Something went wrong within a transaction."""


def row_of(kind: type[Row], session: str, number: int, text: str) -> Row:
    head: dict[str, Any] = {
        "session": session,
        "table": "BJ-07",
        "round": number,
        "at": 5,
        "seq": 3,
    }
    if kind is PaymentRow:
        return PaymentRow(**head, spot=1, hand=0, kind="main", amount=len(text))
    return RoundRow(
        **head, status="open", closed_at=None, last_seq=len(text), net=None, violations=0,
        suspected=0, reviews=0, decided=0, result=None,
    )  # fmt: skip


class Store:
    """An index, and what is done with two sessions in it; each act returns what a reader gets."""

    def __init__(self, index: Index, prefix: str) -> None:
        self.index, self.prefix = index, prefix
        with index.writing():
            self.ids = [index.session(prefix + name)[0] for name in SESSIONS]

    def add(self, nth: int, number: int, kind: type[Row], n: int, text: str) -> object:
        row = row_of(kind, self.prefix + SESSIONS[nth], number, text)
        found = self.index.of_round(self.ids[nth], kind, number)
        if any(one.key[3] == n * 100 + number for one in found):
            return "there"
        self.index.put(self.ids[nth], (5, row.session, 3, n * 100 + number), row)
        return "added"

    def change(self, nth: int, number: int, kind: type[Row], n: int, text: str) -> None:
        key: Key = (5, self.prefix + SESSIONS[nth], 3, n * 100 + number)
        row = row_of(kind, key[1], number, text)
        self.index.put(self.ids[nth], key, row, noticed=n % 2 == 0)

    def note(self, nth: int, number: int, kind: type[Row], n: int, text: str) -> None:
        body = text.encode() or None
        self.index.note(self.ids[nth], kind.__name__, number, body)

    def noted(self, nth: int, number: int, kind: type[Row], n: int, text: str) -> object:
        return self.index.noted(self.ids[nth], kind.__name__, number)

    def of_round(self, nth: int, number: int, kind: type[Row], n: int, text: str) -> object:
        return [(one.key[3], one.row) for one in self.index.of_round(self.ids[nth], kind, number)]

    def drop(self, nth: int, number: int, kind: type[Row], n: int, text: str) -> object:
        return self.index.drop_round(self.ids[nth], kind, number)

    def keep(self, nth: int, number: int, kind: type[Row], n: int, text: str) -> None:
        self.index.keep(self.prefix + SESSIONS[nth], text.encode(), Place(number + 1, b""))

    def seen(self) -> object:
        """Return everything of its sessions."""
        rows = [
            (kind, one.key[2:], one.row)
            for name in SESSIONS
            for kind in (RoundRow, PaymentRow)
            for one in self.index.newest(Sought(kind, session=self.prefix + name), 100)
        ]
        notes = [
            self.index.noted(session, kind.__name__, number)
            for session in self.ids
            for kind in (RoundRow, PaymentRow)
            for number in range(3)
        ]
        states = [self.index.session(self.prefix + name)[1] for name in SESSIONS]
        return rows, notes, states


Act = Callable[..., object]
ACTS = st.tuples(
    st.sampled_from(
        [Store.add, Store.change, Store.note, Store.noted, Store.of_round, Store.drop, Store.keep]
    ),
    st.integers(0, 1),
    st.integers(0, 2),
    st.sampled_from([RoundRow, PaymentRow]),
    st.integers(0, 2),
    st.sampled_from(["", "a", "ab\0c"]),
)
TRANSACTIONS = st.lists(st.tuples(st.lists(ACTS, max_size=12), st.booleans()), max_size=5)


@pytest.fixture
def record(site: FloorSite) -> Iterator[Index]:
    index = record_index(site.reader)
    yield index
    index.close()


@settings(
    max_examples=examples(120),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(transactions=TRANSACTIONS)
def test_both_indexes_hold_the_same(
    record: Index, transactions: list[tuple[list[tuple[Act, ...]], bool]]
) -> None:
    file = FileIndex()
    file.open("test")
    prefix = f"{next(_names)}-"
    stores = [Store(file, prefix), Store(record, prefix)]
    for acts, fails in transactions:
        said = []
        for store in stores:
            answers = []
            with suppress(Stopped), store.index.writing():
                answers += [act(store, *values) for act, *values in acts]
                if fails:
                    raise Stopped
            said.append((answers, store.seen()))
        assert said[0] == said[1]
    file.close()


def test_a_round_that_needed_attention_stays_listed(record: Index) -> None:
    with record.writing():
        session, _ = record.session("bj-07")
        row = row_of(RoundRow, "bj-07", 1, "")
        key = (row.at, row.session, row.seq, 1)
        record.put(session, key, row)
        record.put(session, key, row, noticed=True)
        record.put(session, key, row, noticed=False)
    record.put(session, key, replace(row, reviews=0), noticed=False)
    assert [one.row for one in record.newest(Sought(RoundRow, noticed=True), 10)] == [row]
