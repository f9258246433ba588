"""Strangers' refused tries: the first is an entry at once, the rest of a minute is counted."""

from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from server.service.access.activity import PersonActed
from server.service.access.strangers import INTERVAL_NS, Strangers
from stream.reading import UnknownEvent, read_journal
from tests.server.service.house import house


def tried(at_ns: int, name: str = "ann", address: str = "192.0.2.1") -> PersonActed:
    return PersonActed(
        at=at_ns, person=name, by="password", action="signed_in", outcome="refused", address=address
    )


def test_the_first_is_written_at_once_and_the_others_as_one() -> None:
    kept = Strangers()
    assert kept.take(tried(10**18)) == (tried(10**18),)
    for number in range(1, 500):
        assert kept.take(tried(10**18 + number)) == ()
    (counted,) = kept.due(10**18 + INTERVAL_NS)
    assert (counted.count, counted.person, counted.address) == (499, "ann", "192.0.2.1")
    assert kept.due(10**18 + 2 * INTERVAL_NS) == ()


def test_the_names_that_were_tried_are_listed() -> None:
    kept = Strangers()
    for number in range(200):
        kept.take(tried(number, f"name-{number:03}"))
    (counted,) = kept.all(INTERVAL_NS)
    assert counted.person == ""
    assert 2 <= len(counted.names) <= 10


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 2000)), max_size=500))
def test_nothing_is_lost_and_an_interval_writes_a_bounded_number(
    given_: list[tuple[int, int]],
) -> None:
    kept, now_ns, written = Strangers(), 0, list[PersonActed]()
    for pause_ns, address in given_:
        now_ns += pause_ns
        written += kept.take(tried(now_ns, address=f"10.0.{address // 250}.{address % 250}"))
    written += kept.all(now_ns)
    assert sum(one.count for one in written) == len(given_)
    intervals = now_ns // INTERVAL_NS + 1
    assert len(written) <= 70 * intervals


def test_a_hundred_wrong_sign_ins_are_a_few_entries(tmp_path: Path) -> None:
    with house(tmp_path, tmp_path / "state") as found, found.anyone() as guessing:
        for number in range(100):
            sent = {"name": f"name-{number}", "password": "x"}
            assert guessing.post("/api/sign-in", json=sent).status_code == 401
    bodies = [
        msgspec.json.decode(event.body, type=PersonActed)
        for event in read_journal(tmp_path / "state" / "activity.journal")
        if isinstance(event, UnknownEvent)
    ]
    refused = [one for one in bodies if one.outcome == "refused"]
    assert len(refused) <= 4
    assert sum(one.count for one in refused) == 100
