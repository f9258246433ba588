"""No card that was not shown at the table, and nothing that counts the shoe, before its time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from models.cards import Card
from models.events import (
    AnyObservation,
    CardBurned,
    CardDealt,
    CardExposed,
    ConsoleEntry,
    Event,
    ReaderFault,
    RoundClosed,
    RoundOpened,
    ShoeCardRead,
    ShoeStarted,
)
from models.judgements import (
    Account,
    Change,
    DealerResult,
    Review,
    ReviewRaised,
    RoundResult,
    RoundSettled,
    Violation,
)
from server.readmodel.redaction import WITHHELD, redacted, redacted_row
from server.readmodel.views import ViolationRow
from settlement.questions import question
from settlement.sentences import Sentence
from stream.journal import Journal
from tests.server.service.house import House, Standing, house, until

HOLE, BURNED, NEXT = "7C", "2D", "9H"


def shoe(at: int, number: int) -> list[Event]:
    """A shoe in which the dealer's hole card is never turned up."""
    cards = (Card("TS"), Card(HOLE))
    dealer = DealerResult(cards=cards, burned=(), total=17, soft=False, outcome="stand")
    wrong = Violation("deal_order", 1, None, None, "deal.order", f"the dealer's {HOLE} was late")
    result = RoundResult(
        round=number,
        rulebook="kansas-shoe",
        status="final",
        dealer=dealer,
        spots=(),
        violations=(wrong,),
        net=0,
        reviews=(),
    )
    review = Review("which card is it", (HOLE, "7S"), (1,))
    events: list[Event] = [
        ShoeStarted(decks=6),
        CardBurned(card=Card(BURNED)),
        RoundOpened(round=number),
        ShoeCardRead(source="shoe", card=Card(HOLE), draw=3, raw="7c"),
        CardDealt(to="dealer", card=Card("TS")),
        CardDealt(to="dealer", card=Card(HOLE), face="down"),
        ReviewRaised(round=number, review=review),
        ReaderFault(source="shoe", kind="gap", detail="number 9 where 4 was due", missing_from=4),
        RoundClosed(),
        RoundSettled(result=result),
        ShoeCardRead(source="shoe", card=Card(NEXT), draw=4, raw="9h"),
    ]
    return [
        msgspec.structs.replace(event, at=at + step, table="BJ-03")
        for step, event in enumerate(events)
    ]


def everything(found: House, client: httpx.Client) -> str:
    """All that a viewer can get out of the service about the table."""
    texts = [
        client.get(path, params={"limit": 500}).text
        for path in (
            "/api/sessions/redacted/events",
            "/api/rounds",
            "/api/hands",
            "/api/violations",
            "/api/reviews",
            "/api/incidents",
            "/api/incidents/redacted.1",
            "/api/payments",
            "/api/sessions/redacted/rounds/1",
            "/api/tables/BJ-03/rounds/at/9000000",
            "/api/tables",
        )
    ]
    return "\n".join(texts)


@contextmanager
def dealing(folder: Path, *events: Event) -> Iterator[House]:
    """A service over a table that is being written, a moment after these events."""
    clock = Standing(3_000)
    with (
        Journal.create(folder / "redacted.journal") as journal,
        house(folder, folder / "state", clock=clock, wait=False) as found,
    ):
        journal.append_all(events)
        with found.anyone() as client:
            until(lambda: client.get("/ready").status_code == 200)
        found.staff()
        yield found


@pytest.fixture(scope="module")
def one_shoe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("one")
    with dealing(folder, *shoe(1_000, 1)) as found:
        yield found


@pytest.fixture(scope="module")
def two_shoes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("two")
    with dealing(folder, *shoe(1_000, 1), *shoe(2_000, 2)) as found:
        yield found


@pytest.mark.parametrize("who", ["surveillance", "pit", "audit"])
def test_while_the_shoe_is_in_use_nobody_sees_a_card_that_was_not_shown(
    one_shoe: House, who: str
) -> None:
    with one_shoe.signed_in(who) as client:
        answers = everything(one_shoe, client)
    assert "TS" in answers
    for secret in (HOLE, BURNED, NEXT, '"draw"', '"raw"', "missing_from", "number 9"):
        assert secret not in answers


@pytest.mark.parametrize("who", ["pit", "audit"])
def test_after_the_shoe_only_surveillance_sees_it(two_shoes: House, who: str) -> None:
    with two_shoes.signed_in(who) as client:
        answers = everything(two_shoes, client)
    for secret in (HOLE, BURNED, NEXT, '"draw"', '"raw"'):
        assert secret not in answers


def test_surveillance_sees_the_shoe_that_has_ended_and_not_the_one_in_use(
    two_shoes: House,
) -> None:
    with two_shoes.signed_in("surveillance") as client:
        events = two_shoes.get(client, "/api/sessions/redacted/events", limit=500)["events"]
        rows = two_shoes.get(client, "/api/rounds")["items"]
    burned = [event["card"] for event in events if event["type"] == "card_burned"]
    assert burned == [BURNED, None]
    assert [row["result"]["dealer"]["cards"] for row in rows] == [[None, None], ["TS", HOLE]]
    assert rows[0]["result"]["dealer"]["total"] is None


@pytest.mark.parametrize("who", ["surveillance", "pit"])
def test_an_incident_is_named_after_its_question_unless_that_is_withheld(
    tmp_path: Path, who: str
) -> None:
    def asked(*cards: Event) -> list[Event]:
        what = f"Did the dealer draw {HOLE}?"
        return [ShoeStarted(decks=6), RoundOpened(round=1), *cards, raised(what), RoundClosed()]

    hidden = asked(CardDealt(to="dealer", card=Card(HOLE), face="down"))
    shown = asked(CardDealt(to="dealer", card=Card(HOLE)))
    titles = []
    for name, events in (
        ("hidden", hidden),
        ("shown", shown),
        ("over", [*hidden, ShoeStarted(decks=6)]),
    ):
        folder = tmp_path / name
        folder.mkdir()
        timed = [msgspec.structs.replace(one, at=n, table="T") for n, one in enumerate(events, 1)]
        with dealing(folder, *timed) as found, found.signed_in(who) as viewer:
            (row,) = found.get(viewer, "/api/incidents")["items"]
            assert found.get(viewer, "/api/incidents/redacted.1")["incident"] == row
            titles.append(row["questions"])
    question = [f"Did the dealer draw {HOLE}?"]
    assert titles == [[], question, question if who == "surveillance" else []]


def raised(what: str) -> ReviewRaised:
    return ReviewRaised(round=1, review=Review(what, (), ()))


def test_a_hole_card_is_shown_once_it_is_turned_up(tmp_path: Path) -> None:
    events = shoe(1_000, 1)
    shown = CardExposed(at=1_006, table="BJ-03", to="dealer", card=Card(HOLE))
    with (
        dealing(tmp_path, *events[:6], shown, *events[8:]) as found,
        found.signed_in("pit") as pit,
    ):
        (row,) = found.get(pit, "/api/rounds")["items"]
        sent = found.get(pit, "/api/sessions/redacted/events", limit=500)["events"]
    assert row["result"]["dealer"]["cards"] == ["TS", HOLE]
    assert [e["card"] for e in sent if e["type"] == "card_dealt"] == ["TS", None]
    assert [e["card"] for e in sent if e["type"] == "card_exposed"] == [HOLE]


def test_the_question_of_a_mistake_tells_no_more_than_its_detail() -> None:
    detail = Sentence.PAID_WRONGLY.write(1500, 1000, -500)
    asked = question("wrong_payout", 1, 0, detail)
    row = ViolationRow(
        session="bj-07", table="BJ-07", at=1, seq=2, round=1, code="wrong_payout", spot=1, hand=0,
        clause="payment.due", detail=detail, suspected=True, question=asked,
    )  # fmt: skip
    assert redacted_row(row, frozenset()) == row
    hidden: Any = redacted_row(row, frozenset({"dealer"}))
    assert (hidden.detail, hidden.question) == (WITHHELD, "Was spot 1 paid wrongly?")


def test_an_account_of_a_round_names_no_card_that_was_burned() -> None:
    """All cards of the round were turned up; one of the shoe's was not."""
    burned = CardBurned(card=Card("9H"), at=1)
    drawn = CardDealt(to="dealer", card=Card("2H"), at=1)
    account = Account(
        odds=1.0,
        tells="a card was put aside",
        hands=(),
        mistakes=(),
        changes=(Change(at=3, drops=1, facts=(burned, drawn)),),
    )
    review = Review("Did the dealer draw 2H?", (), (3,))
    raised = ReviewRaised(round=1, review=review, accounts=(account,))
    shown = redacted(raised, frozenset()).decode()
    assert "9H" not in shown
    assert shown.count("2H") == 2
    assert "accounts" not in redacted(raised, frozenset({"dealer"})).decode()


def test_of_a_new_kind_of_observation_nothing_is_shown() -> None:
    kept = {"type", "seq", "at", "table", "source", "confidence"}
    for kind in AnyObservation.__args__:
        if kind is ConsoleEntry:
            continue
        schema = msgspec.json.schema(kind)["$defs"][kind.__name__]["properties"]
        fields: dict[str, Any] = {name: _some(schema[name]) for name in schema}
        event = msgspec.convert(fields | {"type": kind.__struct_config__.tag}, kind)
        left = msgspec.json.decode(redacted(event, frozenset()))
        assert not {"card", "candidates", "raw", "draw", "crop", "missing_from"} & set(left)
        assert kept & set(left)


def _some(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return None if {"type": "null"} in schema["anyOf"] else _some(schema["anyOf"][0])
    if "$ref" in schema:
        return "AS"
    if schema.get("type") == "array":
        return [1] * schema.get("minItems", 0)
    of_type = {"integer": 1, "number": 0.5, "object": {}, "boolean": True, "string": "AS"}
    return of_type[schema["type"]]
