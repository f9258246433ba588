"""A payment after the round closed belongs to that round, until the next wager, card or opening."""

import pytest

from models.judgements import RoundResult
from settlement.engine import Engine
from tests.settlement.table import facts, found, nets, rounds, rules

PLAYED = "bet 1 1000; bet 2 1000; 1 TS; 2 9S; D TC; 1 9C; 2 7C; D 8C down; show D 8C; "
NEXT = "bet 1 1000; 1 TH; D TD; 1 9D; D 8D down; show D 8D; pay 1 1000; close"


def test_a_payment_after_the_close_is_judged_in_the_round_just_closed() -> None:
    in_time = PLAYED + "pay 2 -1000; pay 1 1000; close"
    late = PLAYED + "pay 2 -1000; close; pay 1 1000"
    assert found(in_time) == found(late) == []
    assert nets(late) == [1000, -1000]
    assert len(rounds(late)) == 1


def test_a_wrong_payment_after_the_close_is_found_at_that_payment() -> None:
    assert found(PLAYED + "pay 2 -1000; close; pay 1 900") == [("wrong_payout", 12)]
    assert found(PLAYED + "pay 2 -1000; pay 1 900; close; pay 1 100") == []
    assert found(PLAYED + "pay 2 -1000; pay 1 900; close; pay 1 50") == [("wrong_payout", 13)]


def test_a_payment_for_nobody_after_the_close_is_found_too() -> None:
    text = PLAYED + "pay 2 -1000; pay 1 1000; close; pay 3 500"
    assert found(text) == [("wrong_payout", 13)]
    assert len(rounds(text)) == 1


def test_insurance_may_be_paid_late() -> None:
    text = "bet 1 1000; 1 TS; D AC; 1 9C; D KC down; ins 1 500; show D KC; {}close; {}"
    assert found(text.format("pay 1 -1000; ", "payins 1 1000")) == []
    assert found(text.format("pay 1 -1000; ", "")) == [("payment_missing", 9)]


def test_what_is_still_missing_stays_missing() -> None:
    assert found(PLAYED + "close") == []
    assert found(PLAYED + "close; pay 1 1000") == [("payment_missing", 10)]
    assert found(PLAYED + "close; pay 2 -1000; pay 1 1000") == []


UNWAGERED = NEXT.replace("bet 1 1000; ", "").replace("pay 1 1000; ", "")


@pytest.mark.parametrize("next_", [NEXT, "open 2; " + NEXT, UNWAGERED])
def test_the_next_wager_card_or_opening_ends_it(next_: str) -> None:
    text = PLAYED + "pay 2 -1000; close; pay 1 1000; " + next_
    (first, second) = rounds(text)
    assert first.violations == ()
    assert second.violations == ()


def test_what_happens_between_rounds_does_not_end_it() -> None:
    for between in ("cut; shoe 6; ", "shoe 6; ", "seat ANN 1; ", "leave ANN 1; ", "tray 100000; "):
        text = PLAYED + "pay 2 -1000; close; " + between + "pay 1 1000; " + NEXT
        assert found(text) == []
        assert len(rounds(text)) == 2


def test_a_mistake_between_rounds_stays_with_the_next() -> None:
    text = PLAYED + "pay 2 -1000; close; shoe 8; pay 1 1000; " + NEXT
    (first, second) = rounds(text)
    assert first.violations == ()
    assert [one.code for one in second.violations] == ["wrong_deck_count"]


def test_late_payments_make_a_pass_of_their_own() -> None:
    assert found(PLAYED + "pay 1 1000; close; pay 2 -1000") == []
    assert found(PLAYED + "close; pay 2 -1000; pay 1 1000") == []
    assert found(PLAYED + "close; pay 1 1000; pay 2 -1000") == [("settle_order", 12)]
    assert found(PLAYED + "pay 1 1000; pay 2 -1000; close; pay 1 0") == [("settle_order", 11)]


def test_the_tray_counts_a_late_payment() -> None:
    text = "tray 100000; " + PLAYED + "pay 2 -1000; close; {}tray {}; {}" + NEXT
    assert found(text.format("pay 1 1000; ", 100000, "")) == []
    assert found(text.format("", 101000, "pay 1 1000; ") + "; tray 99000") == []
    unpaid = "tray 100000; " + PLAYED + "close; pay 2 -1000; pay 1 1000; tray {}"
    assert found(unpaid.format(100000)) == []
    assert found(unpaid.format(90000)) == [("tray_mismatch", 14)]


def test_a_payment_before_any_round_begins_one() -> None:
    (result,) = rounds("pay 1 500; close")
    assert result.spots == ()


def _returned(text: str, *, patient: bool) -> list[list[RoundResult]]:
    engine = Engine(rules(), patient=patient)
    return [list(engine.feed(fact)) for fact in facts(text)] + [list(engine.finish())]


def test_a_live_engine_settles_at_once_and_again_with_a_late_payment() -> None:
    text = PLAYED + "pay 2 -1000; close; pay 1 1000; cut; pay 1 1; " + NEXT
    returned = _returned(text, patient=False)
    assert [n for n, results in enumerate(returned, 1) if results] == [11, 12, 14, 22]
    first, paid, overpaid = (returned[n - 1][0] for n in (11, 12, 14))
    assert {one.round for one in (first, paid, overpaid)} == {1}
    codes = [[one.code for one in result.violations] for result in (first, paid, overpaid)]
    assert codes == [["payment_missing"], [], ["wrong_payout"]]
    assert [spot.net for spot in first.spots] == [spot.net for spot in overpaid.spots]


def test_a_patient_engine_returns_each_round_once() -> None:
    text = PLAYED + "pay 2 -1000; close; pay 1 1000; cut; pay 1 1; " + NEXT
    returned = _returned(text, patient=True)
    assert [n for n, results in enumerate(returned, 1) if results] == [15, 23]
    assert [len(results) for results in returned if results] == [1, 1]
    at_once = [result for results in _returned(text, patient=False) for result in results]
    last = {result.round: result for result in at_once}
    assert list(last.values()) == [result for results in returned for result in results]


def test_a_round_that_waits_for_its_tray_is_returned_once_with_the_payment() -> None:
    text = "tray 100000; " + PLAYED + "pay 2 -1000; close; pay 1 1000; " + NEXT
    returned = _returned(text, patient=False)
    first = next(results for results in returned if results)
    assert [result.violations for result in first] == [()]
