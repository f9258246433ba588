"""The sources of violations are quoted in the house's words."""

import httpx

from tests.server.service.house import House


def test_a_mistake_is_answered_with_the_words_it_breaks(at_work: House) -> None:
    with at_work.signed_in("pit") as pit:
        found = {
            one["code"]: one
            for number in (1, 2)
            for one in at_work.get(pit, f"/api/sessions/bj-07/rounds/{number}/verdicts")
        }
    (stands,) = found["dealer_hit_hard_17"]["breaks"]["passages"]
    assert "stand on any total of 17 through 21" in stands["says"]
    assert stands["origin"] == "Kansas Lottery: rules of blackjack"
    assert "must be burned" in found["dealer_hit_hard_17"]["settled_by"]["says"]
    paid = found["wrong_payout"]
    assert paid["breaks"]["clause"] == "payment.due"
    assert paid["due"]
    assert paid["settled_by"] is None


def test_a_missing_round_has_no_sources(at_work: House) -> None:
    with at_work.signed_in("pit") as pit:
        for path in ("none/rounds/1", "bj-07/rounds/99"):
            answer: httpx.Response = pit.get(f"/api/sessions/{path}/verdicts")
            assert answer.status_code == 404
