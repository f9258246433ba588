"""What a wrong payment came to is one in lists, exports, verdicts, reports and a day's total."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from models.events import Event, RoundOpened
from models.judgements import Review, ReviewRaised, RoundSettled
from server.commands.app import run
from settlement.engine import Engine
from tests.server.service.house import House, house, until, write
from tests.settlement.table import facts, rules

DAY = 86_400 * 10**9
DEALT = "bet 1 1500; bet 2 8000; 1 TS; 2 9S; D TC; 1 9C; 2 7C; D 8C down; show D 8C; "
"""Spot 1 wins 15.00 and spot 2 loses 80.00: the house is due 65.00."""
SHORT = DEALT + "pay 2 -8000; pay 1 1000; close; "
BURNED = "bet 1 1500; 1 TS; D TC; 1 9C; D 7C down; show D 7C; D 2H; pay 1 1500; close; "
DOUBT = ReviewRaised(round=5, review=Review("which card is it", ("AS", "AH"), ()))

ROUNDS = (
    "open 1; " + SHORT,
    "open 2; " + SHORT + "pay 1 500; ",
    "open 3; " + DEALT + "pay 2 -8000; pay 1 2000; close; ",
    "open 4; " + DEALT + "close; ",
    "open 5; " + SHORT,
    "open 6; " + BURNED,
)


def told() -> Iterator[Event]:
    """Yield the facts of the rounds with the settlements of a live table; the fifth is doubted."""
    engine, at = Engine(rules()), 20_000 * DAY
    for seq, fact in enumerate(facts("".join(ROUNDS)), 1):
        at += 10**9
        yield replace(fact, at=at, table="BJ-01")
        if isinstance(fact, RoundOpened) and fact.round == 6:
            yield replace(DOUBT, at=at, table="BJ-01")
        for result in engine.feed(fact, seq):
            yield RoundSettled(at=at, table="BJ-01", result=result)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    place = tmp_path_factory.mktemp("balances")
    (place / "journals").mkdir()
    write(place / "journals" / "a.journal", *told())
    with house(place / "journals", place / "state") as found:
        found.staff()
        with found.signed_in("audit") as audit:
            until(lambda: found.get(audit, "/api/sessions/a")["rounds"] == len(ROUNDS))
        yield found


@pytest.fixture(scope="module")
def officer(own: House) -> Iterator[httpx.Client]:
    with own.signed_in("surveillance") as client:
        yield client


def row(own: House, officer: httpx.Client, number: int) -> dict[str, Any]:
    found: dict[str, Any] = own.get(officer, f"/api/sessions/a/rounds/{number}")
    return found


def test_a_round_has_its_balance(own: House, officer: httpx.Client) -> None:
    found = row(own, officer, 1)["balance"]
    differences = [(one["due"], one["paid"], one["difference"]) for one in found["lines"]]
    assert differences == [(1500, 1000, -500), (-8000, -8000, 0)]
    assert (found["due"], found["paid"], found["difference"]) == (-6500, -7000, -500)
    assert found["says"] == ["the house kept 70.00 where 65.00 were due"]


def test_a_later_payment_recovers_the_difference(own: House, officer: httpx.Client) -> None:
    found = row(own, officer, 2)["balance"]
    assert (found["difference"], found["underpaid"], found["recovered"]) == (0, 0, 500)
    assert found["says"][1] == "spot 1 was owed 5.00 at the close and got it later"
    (late,) = own.get(officer, "/api/payments", round=2, spot=1)["items"][:1]
    assert (late["amount"], late["late"]) == (500, True)


def test_a_mistake_says_what_it_came_to(own: House, officer: httpx.Client) -> None:
    def came_to(number: int) -> list[list[str]]:
        found = own.get(officer, f"/api/sessions/a/rounds/{number}/verdicts")
        return [one["came_to"] for one in found]

    owed = "spot 1 is still owed 5.00"
    assert came_to(1) == [[owed, "the house kept 70.00 where 65.00 were due"]]
    assert came_to(3) == [["spot 1 has 5.00 too much", "the house kept 60.00 where 65.00 were due"]]
    assert came_to(5) == [[]], "a suspected mistake has no bottom line"
    assert came_to(6) == [[]]


def test_a_round_doubted_after_it_settled_has_no_difference(
    own: House, officer: httpx.Client
) -> None:
    found = row(own, officer, 5)
    assert found["status"] == "review"
    assert [one["difference"] for one in found["balance"]["lines"]] == [None, None]
    assert (found["balance"]["underpaid"], found["net"]) == (0, 6500)
    hands = own.get(officer, "/api/hands", round=5)["items"]
    assert [one["difference"] for one in hands] == [None, None]
    assert {one["paid"] for one in hands} == {1000, -8000}


def test_a_day_has_its_total(own: House, officer: httpx.Client) -> None:
    (day,) = own.get(officer, "/api/balances")["days"]
    assert (day["at"], day["currency"]) == (20_000 * DAY, "USD")
    totals = day["totals"]
    assert (totals["underpaid"], totals["overpaid"], totals["rounds"]) == (500, 500, 4)
    assert (totals["to_decide"], totals["unobserved"]) == (1, 1)
    assert day["says"] == (
        "the house still owes 5.00, players have 5.00 too much "
        "(not counted: 1 round to decide, 1 round without an observed payment)"
    )
    assert own.get(officer, "/api/balances", table="BJ-99")["days"] == []


def test_exports_add_up_to_the_days_total(own: House, officer: httpx.Client) -> None:
    def lines(kind: str) -> list[dict[str, str]]:
        text = officer.get(f"/api/exports/{kind}.csv").text
        return list(csv.DictReader(io.StringIO(text)))

    rounds = lines("rounds")
    for name, total in (("underpaid", 500), ("overpaid", 500), ("recovered", 500)):
        assert sum(int(one[name]) for one in rounds) == total
    assert [one["kept"] for one in rounds] == ["-1500", "7000", "", "6000", "6500", "7000"]
    assert rounds[0]["dealer_burned"] == "2H"
    differences = [int(one["difference"]) for one in lines("hands") if one["difference"]]
    assert sum(one for one in differences if one < 0) == -500
    assert sum(one for one in differences if one > 0) == 500


def test_reports_agree(own: House, officer: httpx.Client) -> None:
    session = officer.get("/api/sessions/a/report.html").text
    assert "The house still owes 5.00, players have 5.00 too much" in session
    assert "Spot 1 is still owed 5.00; the house kept 70.00 where 65.00 were due" in session
    incident = officer.get("/api/incidents/a.1/report.html").text
    assert "Spot 1 is still owed 5.00; the house kept 70.00 where 65.00 were due." in incident
    burned = officer.get("/api/incidents/a.6/report.html").text
    assert "10♣ 7♣; 2♥ burned, not counted" in burned
    assert "17 stand" in burned
    assert "Everything due was paid" in burned
    doubted = officer.get("/api/incidents/a.5/report.html").text
    assert "still owed" not in doubted
    assert "until the round is decided" in doubted


def test_settling_the_journal_agrees(
    own: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["settle", str(own.journals / "a.journal"), "--rulebook", "kansas-shoe", "--summary"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "balance the house still owes 5.00, players have 5.00 too much" in printed
    assert "(not counted: 1 round to decide, 1 round without an observed payment)" in printed
