"""Webhooks: signed, in CloudEvents, at least once, in order, and never lost."""

import hmac
import re
import socket
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.errors import OperatorError
from models.events import Event, RoundOpened
from models.judgements import RoundSettled
from server.integration.config import PlacedIntegration
from server.integration.relay import opened
from server.integration.store import RelayStore
from server.readmodel.folder_floor import FolderFloor
from stream.clock import HostClock
from stream.journal import Journal
from tests.server.integration.receivers import Receiver, Sent, receiving
from tests.server.integration.relays import (
    RAW_KEY,
    SERVICE,
    configured,
    hook,
    metric,
    relaying,
)
from tests.server.service.house import until, write
from tests.thoroughness import examples

EVENING: Final = "bj-07"


def rounds(first: int, last: int) -> list[RoundOpened]:
    return [RoundOpened(round=n, at=n * 1_000, table="BJ-09") for n in range(first, last + 1)]


def rounds_in(requests: list[Sent]) -> list[int]:
    return [request.json["round"] for request in requests]


def whole(folder: Path, receiver: Receiver, **options: Any) -> PlacedIntegration:
    return configured(folder, hook(receiver.url, **options))


def signed(sent: Sent, key: bytes) -> str:
    """As a receiver reckons it."""
    head = f"{sent.headers['webhook-id']}.{sent.headers['webhook-timestamp']}.".encode()
    return "v1," + b64encode(hmac.new(key, head + sent.body, sha256).digest()).decode()


def test_a_mistake_comes_as_a_signed_cloud_event_that_points_to_its_moment(
    evening: Path, tmp_path: Path
) -> None:
    with receiving() as receiver, relaying(evening, tmp_path, whole(tmp_path, receiver)):
        until(lambda: len(receiver.taken) >= 2)
        first = receiver.taken[0]
    assert first.headers["Content-Type"] == "application/cloudevents+json; charset=utf-8"
    assert first.headers["webhook-signature"] == signed(first, RAW_KEY)
    event = first.json
    assert event["specversion"] == "1.0"
    assert event["id"] == first.headers["webhook-id"]
    assert event["type"] == "pitwatch.violation"
    assert event["source"] == f"{SERVICE}/api/sessions/bj-07"
    assert (event["table"], event["session"]) == ("BJ-07", EVENING)
    assert event["subject"] == f"BJ-07/round/{event['round']}"
    assert event["incident"] == f"bj-07.{event['round']}"
    assert event["link"] == f"{SERVICE}/#/incidents/{event['incident']}"
    assert all(re.fullmatch("[a-z0-9]{1,20}", name) for name in event)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z", event["time"])


def test_the_moment_is_the_one_of_the_fact_that_shows_the_mistake(
    evening: Path, tmp_path: Path
) -> None:
    with receiving() as receiver, relaying(evening, tmp_path, whole(tmp_path, receiver)):
        until(lambda: len(receiver.taken) >= 2)
    with Journal.open(evening / "bj-07.journal") as journal:
        at = {event.seq: getattr(event, "at", None) for event in journal.read()}
    for sent in receiver.taken:
        seconds, part = divmod(at[sent.json["data"]["seq"]] or 0, 1_000_000_000)
        assert sent.json["time"].endswith(f"{seconds % 60:02d}.{part:09d}Z")


def test_while_a_secret_is_changed_requests_bear_both_signatures(tmp_path: Path) -> None:
    write(tmp_path / "a.journal", *rounds(1, 1))
    (tmp_path / "next").write_text("a secret of the next quarter")
    with receiving() as receiver:
        destination = hook(receiver.url, send=("round_opened",))
        destination.settings["secrets"].append({"file": "next"})
        with relaying(tmp_path, tmp_path, configured(tmp_path, destination)):
            until(lambda: receiver.taken)
    old, new = receiver.taken[0].headers["webhook-signature"].split()
    assert old == signed(receiver.taken[0], RAW_KEY)
    assert new == signed(receiver.taken[0], b"a secret of the next quarter")


def test_every_event_comes_in_the_journals_order_while_the_table_plays(tmp_path: Path) -> None:
    with receiving() as receiver, Journal.create(tmp_path / "a.journal") as journal:
        configuration = whole(tmp_path, receiver, send=("round_opened",))
        with relaying(tmp_path, tmp_path, configuration) as meters:
            for number in range(1, 31):
                journal.append_all(rounds(number, number))
            until(lambda: len(receiver.taken) == 30)
            until(lambda: metric(meters, "behind") == 0)
            assert metric(meters, "delivered_total") == 30
    assert rounds_in(receiver.taken) == list(range(1, 31))


def test_only_the_events_and_tables_asked_for_are_sent(evening: Path, tmp_path: Path) -> None:
    with receiving() as receiver:
        wanted = hook(receiver.url, send=("round_settled",), tables=("BJ-08",))
        with relaying(evening, tmp_path, configured(tmp_path, wanted)) as meters:
            until(lambda: receiver.taken and metric(meters, "behind") == 0)
    assert {sent.json["type"] for sent in receiver.taken} == {"pitwatch.round_settled"}
    assert {sent.json["table"] for sent in receiver.taken} == {"BJ-08"}


def test_one_that_starts_now_gets_what_comes_and_not_what_was(tmp_path: Path) -> None:
    with receiving() as receiver, Journal.create(tmp_path / "a.journal") as journal:
        journal.append_all(rounds(1, 5))
        configuration = whole(tmp_path, receiver, send=("round_opened",), start="now")
        with relaying(tmp_path, tmp_path, configuration):
            until(lambda: _begun(tmp_path))
            journal.append_all(rounds(6, 7))
            write(tmp_path / "b.journal", *rounds(8, 8))
            until(lambda: len(receiver.taken) == 3)
    assert sorted(rounds_in(receiver.taken)) == [6, 7, 8]


def _begun(state: Path) -> bool:
    store = RelayStore.open(state)
    try:
        return bool(store.places("hook"))
    finally:
        store.close()


def test_after_a_restart_it_goes_on_after_the_last_one_taken(tmp_path: Path) -> None:
    with receiving() as receiver, Journal.create(tmp_path / "a.journal") as journal:
        configuration = whole(tmp_path, receiver, send=("round_opened",))
        journal.append_all(rounds(1, 20))
        with relaying(tmp_path, tmp_path, configuration):
            until(lambda: _is_at(tmp_path, 20))
        journal.append_all(rounds(21, 30))
        with relaying(tmp_path, tmp_path, configuration):
            until(lambda: len(receiver.taken) == 30)
    assert rounds_in(receiver.taken) == list(range(1, 31))


def test_a_receiver_that_is_away_is_waited_for_and_loses_nothing(tmp_path: Path) -> None:
    receiver = Receiver()
    with receiving(receiver):
        pass  # it has its port, and is gone again
    write(tmp_path / "a.journal", *rounds(1, 5))
    configuration = whole(tmp_path, receiver, send=("round_opened",), tries=1)
    with relaying(tmp_path, tmp_path, configuration) as meters:
        until(lambda: metric(meters, "failed_total") > 3)
        assert metric(meters, "up") == 0
        assert metric(meters, "behind") == 5
        with receiving(receiver):
            until(lambda: len(receiver.taken) == 5)
            until(lambda: metric(meters, "up") == 1)
        assert metric(meters, "dead_letters_total") == 0
    assert rounds_in(receiver.taken) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("status", [401, 403, 404, 408, 429, 502, 503, 504])
def test_an_answer_about_the_receiver_costs_no_message(tmp_path: Path, status: int) -> None:
    write(tmp_path / "a.journal", *rounds(1, 2))
    with receiving(Receiver(answers=[status] * 5 + [200])) as receiver:
        configuration = whole(tmp_path, receiver, send=("round_opened",), tries=1)
        with relaying(tmp_path, tmp_path, configuration):
            until(lambda: len(receiver.taken) == 2)
    assert rounds_in(receiver.taken) == [1, 2]


@pytest.mark.parametrize("status", [301, 307, 400, 410, 413, 422])
def test_a_refused_message_becomes_a_dead_letter_and_the_next_is_sent(
    tmp_path: Path, status: int
) -> None:
    write(tmp_path / "a.journal", *rounds(1, 2))
    with receiving(Receiver(answers=[status, 200])) as receiver:
        configuration = whole(tmp_path, receiver, send=("round_opened",))
        with relaying(tmp_path, tmp_path, configuration) as meters:
            until(lambda: receiver.taken)
            assert metric(meters, "dead_letters_total") == 1
    assert rounds_in(receiver.sent) == [1, 2]
    (letter,) = letters(tmp_path)
    assert (letter.message.round, letter.tries, letter.why) == (1, 1, f"answered {status}")


def letters(state: Path) -> Any:
    store = RelayStore.open(state)
    try:
        return store.letters("dead", "again", "sent")
    finally:
        store.close()


def test_a_message_the_receiver_fails_at_is_tried_so_often_and_then_laid_aside(
    tmp_path: Path,
) -> None:
    write(tmp_path / "a.journal", *rounds(1, 2))
    with receiving(Receiver(answers=[500, 500, 500, 200])) as receiver:
        configuration = whole(tmp_path, receiver, send=("round_opened",), tries=3)
        with relaying(tmp_path, tmp_path, configuration):
            until(lambda: receiver.taken)
    assert rounds_in(receiver.sent) == [1, 1, 1, 2]
    assert [letter.tries for letter in letters(tmp_path)] == [3]


def mistakes_in(receiver: Receiver) -> list[str]:
    """Return the ids of the mistakes that were taken."""
    return [sent.json["id"] for sent in receiver.taken if sent.json["type"] == "pitwatch.violation"]


def test_a_mistake_of_a_round_that_settles_anew_is_sent_once(evening: Path, tmp_path: Path) -> None:
    with Journal.open(evening / "bj-07.journal") as journal:
        events = list(journal.read())
    known = [one for one in events if isinstance(one, Event)]
    settled = [one for one in known if isinstance(one, RoundSettled)]
    write(tmp_path / "bj-07.journal", *known, *settled)
    mistakes = sum(len(one.result.violations) for one in settled)
    assert mistakes
    with (
        receiving() as receiver,
        relaying(tmp_path, tmp_path, whole(tmp_path, receiver)) as meters,
    ):
        until(lambda: len(mistakes_in(receiver)) >= mistakes and metric(meters, "behind") == 0)
    ids = mistakes_in(receiver)
    assert len(ids) == len(set(ids)) == mistakes


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    answers=st.lists(st.sampled_from([200, 204, 400, 413, 429, 500, 501, 503]), max_size=40),
    stops=st.lists(st.integers(1, 6), max_size=3),
)
def test_whatever_is_answered_and_whenever_it_is_stopped_nothing_is_lost(
    tmp_path_factory: pytest.TempPathFactory, answers: list[int], stops: list[int]
) -> None:
    """Every message was taken at least once or is a dead letter, in order but for repeats."""
    folder = tmp_path_factory.mktemp("lossless")
    write(folder / "a.journal", *rounds(1, 8))
    with receiving(Receiver(answers=[*answers, 200])) as receiver:
        configuration = whole(folder, receiver, send=("round_opened",), tries=2)
        for after in stops:
            with relaying(folder, folder, configuration):
                until(lambda seen=after: len(receiver.sent) >= seen)
        with relaying(folder, folder, configuration) as meters:
            until(lambda: _is_at(folder, 8) and metric(meters, "behind") == 0)
    taken = rounds_in(receiver.taken)
    laid_aside = [letter.message.round for letter in letters(folder)]
    assert {*taken, *laid_aside} == set(range(1, 9))
    once = list(dict.fromkeys(taken))
    assert once == sorted(once)
    assert len(laid_aside) == len(set(laid_aside))


def _is_at(state: Path, seq: int) -> bool:
    store = RelayStore.open(state)
    try:
        return store.places("hook").get("a") == seq
    finally:
        store.close()


def test_two_relays_never_send_from_one_state(tmp_path: Path) -> None:
    with receiving() as receiver:
        configuration = whole(tmp_path, receiver)
        with (
            relaying(tmp_path, tmp_path, configuration) as registry,
            pytest.raises(OperatorError, match="another relay uses this state"),
            opened(configuration, tmp_path, FolderFloor(tmp_path), HostClock(), registry),
        ):
            pass


def test_a_journal_that_cannot_be_read_holds_up_no_other(tmp_path: Path) -> None:
    write(tmp_path / "b.journal", *rounds(1, 3))
    (tmp_path / "a.journal").write_bytes(b"no journal at all" * 400)
    with receiving() as receiver:
        configuration = whole(tmp_path, receiver, send=("round_opened",))
        with relaying(tmp_path, tmp_path, configuration):
            until(lambda: len(receiver.taken) == 3)


def test_a_journals_name_may_be_any_that_a_file_may_have(tmp_path: Path) -> None:
    write(tmp_path / "Tisch 7 grün.journal", *rounds(1, 1))
    with receiving() as receiver:
        configuration = whole(tmp_path, receiver, send=("round_opened",))
        with relaying(tmp_path, tmp_path, configuration):
            until(lambda: receiver.taken)
    (sent,) = receiver.taken
    assert sent.json["session"] == "Tisch 7 grün"
    assert sent.headers["webhook-id"] == sent.json["id"] == "Tisch%207%20gr%C3%BCn:1"
    assert sent.headers["webhook-signature"] == signed(sent, RAW_KEY)


def test_a_shorter_journal_of_the_same_name_is_sent_from_its_start(tmp_path: Path) -> None:
    with receiving() as receiver:
        configuration = whole(tmp_path, receiver, send=("round_opened",))
        write(tmp_path / "a.journal", *rounds(1, 6))
        with relaying(tmp_path, tmp_path, configuration):
            until(lambda: _is_at(tmp_path, 6))
        (tmp_path / "a.journal").rename(tmp_path / "a.journal.old")
        write(tmp_path / "a.journal", *rounds(7, 8))
        with relaying(tmp_path, tmp_path, configuration):
            until(lambda: len(receiver.taken) == 8)
    assert rounds_in(receiver.taken) == list(range(1, 9))


@pytest.mark.slow
def test_receivers_that_never_answer_hold_up_nobody_else(tmp_path: Path) -> None:
    write(tmp_path / "a.journal", *rounds(1, 3))
    with receiving() as receiver, socket.create_server(("127.0.0.1", 0), backlog=64) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/"
        hung = [
            msgspec.structs.replace(hook(url, send=("round_opened",)), name=f"deaf-{n}")
            for n in range(40)
        ]
        for one in hung:
            one.settings["timeout_ms"] = 5_000
        to = configured(tmp_path, *hung, hook(receiver.url, send=("round_opened",)))
        with relaying(tmp_path, tmp_path, to) as meters:
            until(lambda: len(receiver.taken) == 3)
            assert all(metric(meters, "failed_total", one.name) == 0 for one in hung)
    assert rounds_in(receiver.taken) == [1, 2, 3]
