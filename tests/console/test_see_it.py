"""See it: a card when it lies, a payment when no hand is over it any more."""

import re
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import av
import httpx
import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from models.events import CardDealt, CardExposed, CardSighted, PaymentMade
from stream.reading import read_journal
from tests.console.looking import Screen
from tests.server.service.house import House

pytestmark = pytest.mark.slow

SECOND_NS: Final = 1_000_000_000
HAND: Final = 0.10
"""A hand covers more than this share of the square around a circle."""


def seen(at_work: House, officer: httpx.Client, seq: int) -> dict[str, Any]:
    found: dict[str, Any] = at_work.get(officer, f"/api/sessions/bj-07/moments/{seq}")
    return found


def mistake(at_work: House, officer: httpx.Client, code: str) -> dict[str, Any]:
    (found,) = at_work.get(officer, "/api/violations", code=code, table="BJ-07")["items"]
    return dict(found)


def picture(officer: httpx.Client, at_ns: int) -> NDArray[np.float32]:
    """Return the camera's grey picture of a moment."""
    jpeg = officer.get("/api/sessions/bj-07/pictures/overhead", params={"at": at_ns}).content
    with av.open(BytesIO(jpeg), "r") as opened:
        return next(opened.decode(video=0)).to_ndarray(format="gray").astype(np.float32)


def test_a_card_is_seen_when_it_lies_and_not_when_it_leaves_the_shoe(
    at_work: House, recorded: Path
) -> None:
    events = {one.seq: one for one in read_journal(recorded / "bj-07.journal")}
    with at_work.signed_in("surveillance") as officer:
        drawn = mistake(at_work, officer, "dealer_hit_hard_17")
        found = seen(at_work, officer, drawn["seq"])
    fact = events[drawn["seq"]]
    assert isinstance(fact, CardDealt)
    (rested_ns,) = [
        one.at or 0 for seq in fact.evidence if isinstance(one := events[seq], CardSighted)
    ]
    assert found["shows"] == "card"
    assert found["told_at"] == fact.at
    assert found["told_at"] < rested_ns <= found["at"] < rested_ns + SECOND_NS


def test_a_card_turned_up_is_seen_with_its_face(at_work: House, recorded: Path) -> None:
    events = {one.seq: one for one in read_journal(recorded / "bj-07.journal")}
    turned = [one for one in events.values() if isinstance(one, CardExposed)]
    assert turned
    with at_work.signed_in("surveillance") as officer:
        for fact in turned:
            (faced_ns,) = [
                one.at or 0
                for seq in fact.evidence
                if isinstance(one := events[seq], CardSighted) and one.face == "up"
            ]
            found = seen(at_work, officer, fact.seq or 0)
            assert faced_ns <= found["at"] < faced_ns + SECOND_NS


def test_a_payment_is_seen_when_no_hand_is_over_it(at_work: House, recorded: Path) -> None:
    payments = [
        one
        for one in read_journal(recorded / "bj-07.journal")
        if isinstance(one, PaymentMade) and one.amount > 0
    ]
    assert payments
    with at_work.signed_in("surveillance") as officer:
        layout = at_work.get(officer, "/api/sessions/bj-07/footage")
        for payment in payments:
            found = seen(at_work, officer, payment.seq or 0)
            assert found["shows"] == "chips"
            assert 0 <= found["at"] - found["told_at"] < 1.5 * SECOND_NS
            before, free, later = (
                around(picture(officer, at), layout, payment.spot)
                for at in (found["told_at"], found["at"], found["at"] + SECOND_NS // 5)
            )
            assert np.mean(np.abs(free - later) > 40) < HAND / 4
            assert np.mean(np.abs(before - later) > 40) > HAND / 4, "the hand was there before"


def around(grey: NDArray[np.float32], footage: Any, spot: int) -> NDArray[np.float32]:
    """Cut the square around a betting circle out of a picture."""
    (camera,) = footage["cameras"]
    circle = next(one for one in footage["layout"]["spots"] if one["spot"] == spot)["circle"]
    matrix = np.array(camera["flat_from_mm"])
    reach = circle["radius_mm"]
    corners = [
        matrix @ np.array([circle["x_mm"] + dx * reach, circle["y_mm"] + dy * reach, 1.0])
        for dx, dy in ((-1, -1), (1, 1), (-1, 1), (1, -1))
    ]
    xs, ys = ([int(one[axis] / one[2]) for one in corners] for axis in (0, 1))
    return grey[max(0, min(ys)) : max(ys), max(0, min(xs)) : max(xs)]


def test_any_other_event_is_seen_when_it_happened(at_work: House) -> None:
    with at_work.signed_in("surveillance") as officer:
        found = seen(at_work, officer, 1)
    assert (found["shows"], found["at"]) == ("event", found["told_at"])


def test_where_nothing_was_recorded_the_plates_time_counts(at_work: House, recorded: Path) -> None:
    paid = next(
        one for one in read_journal(recorded / "bj-08.journal") if isinstance(one, PaymentMade)
    )
    with at_work.signed_in("surveillance") as officer:
        found = at_work.get(officer, f"/api/sessions/bj-08/moments/{paid.seq}")
    assert found["shows"] == "event"
    assert found["at"] >= found["told_at"]


@pytest.mark.parametrize("seq", ["999999", "0", "x"])
def test_an_event_that_is_not_there_is_not_seen(at_work: House, seq: str) -> None:
    with at_work.signed_in("surveillance") as officer:
        assert officer.get(f"/api/sessions/bj-07/moments/{seq}").status_code in (404, 422)


def test_see_it_goes_to_the_card_lying(officer: Screen, at_work: House) -> None:
    with at_work.signed_in("surveillance") as asking:
        drawn = mistake(at_work, asking, "dealer_hit_hard_17")
        lying = seen(at_work, asking, drawn["seq"])["at"]
    officer.go(f"round/bj-07/{drawn['round']}")
    seconds = lying // SECOND_NS % 60
    moment = f"20:00:{seconds:02}.{lying // 1_000_000 % 1000:03}"
    officer.page.get_by_role("button", name=f"See it at {moment}").click()
    shown = re.compile(re.escape(moment))
    expect(officer.page.locator(".now-at")).to_have_text(shown)
    officer.go("floor")
    officer.go(f"round/bj-07/{drawn['round']}/{drawn['seq']}")
    expect(officer.page.locator(".now-at")).to_have_text(shown)
    officer.shot("see-it")
    officer.go(f"incidents/bj-07.{drawn['round']}")
    officer.page.get_by_role("button", name=f"See it at {moment}").click()
    expect(officer.page.locator(".now-at")).to_have_text(shown)


def shown_ns(officer: Screen, like_ns: int) -> int:
    """Return the moment that the player shows, in the minute of another."""
    clock = re.search(r"20:00:(\d\d)\.(\d{3})", officer.page.locator(".now-at").inner_text())
    assert clock, officer.page.locator(".now-at").inner_text()
    minute_ns = like_ns // (60 * SECOND_NS) * 60 * SECOND_NS
    return minute_ns + int(clock[1]) * SECOND_NS + int(clock[2]) * 1_000_000


def test_watching_a_round_begins_at_its_mistake_and_plays(officer: Screen, at_work: House) -> None:
    with at_work.signed_in("surveillance") as asking:
        drawn = mistake(at_work, asking, "dealer_hit_hard_17")
        lying = seen(at_work, asking, drawn["seq"])["at"]
    officer.go(f"incidents/bj-07.{drawn['round']}")
    officer.page.get_by_role("link", name="Watch the round").click()
    begins_and_plays(officer, lying)


def test_a_round_in_doubt_begins_at_what_is_to_decide(
    officer: Screen, at_work: House, recorded: Path
) -> None:
    with at_work.signed_in("surveillance") as asking:
        asked = at_work.get(asking, "/api/sessions/bj-08/rounds/1")["result"]["reviews"][0]
        moment = at_work.get(asking, f"/api/sessions/bj-08/moments/{asked['evidence'][0]}")["at"]
    officer.go("rounds/BJ-08")
    officer.page.get_by_role("link", name="Round 1", exact=True).click()
    begins_and_plays(officer, moment)


def test_a_round_without_either_begins_at_the_first_card(
    officer: Screen, at_work: House, recorded: Path
) -> None:
    dealt = [
        one.at for one in read_journal(recorded / "bj-08.journal") if isinstance(one, CardDealt)
    ]
    with at_work.signed_in("surveillance") as asking:
        opened = at_work.get(asking, "/api/sessions/bj-08/rounds/2")["at"]
    officer.go("round/bj-08/2")
    begins_and_plays(officer, min(at for at in dealt if at is not None and at > opened))


def begins_and_plays(officer: Screen, at_ns: int) -> None:
    """The player goes on from shortly before a moment; how far, a loaded machine decides."""
    expect(officer.page.get_by_role("button", name="Pause")).to_be_visible()
    officer.page.keyboard.press(" ")
    paused_ns = shown_ns(officer, at_ns)
    assert -1.5 * SECOND_NS <= paused_ns - at_ns < 8 * SECOND_NS
    expect(officer.page.get_by_role("button", name="Play", exact=False)).to_be_visible()
