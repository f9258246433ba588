"""Each card of a round is shown once, by its best look; disputed chips with the plates' reports."""

from models.cards import Card
from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    CardSighted,
    Face,
    PaymentMade,
    PlateRead,
)
from server.readmodel.views import ViolationRow
from server.service.evidence.round_evidence import cards_of, disputed_chips

SECOND = 1_000_000_000


def seen(seq: int, face: Face = "up") -> CardSighted:
    return CardSighted(
        seq=seq,
        source="camera:overhead",
        track=seq,
        change="new",
        face=face,
        card=None,
        x_mm=0.0,
        y_mm=0.0,
        angle_deg=0.0,
        frame=seq,
        crop=(0, 0, 9, 9),
    )


def looks(*sightings: CardSighted) -> dict[int, CardSighted]:
    return {one.seq: one for one in sightings if one.seq is not None}


def test_a_card_seen_before_the_round_was_opened_is_shown() -> None:
    dealt = CardDealt(seq=20, to=1, card=Card("9C"), evidence=(7, 8))
    (shown,) = cards_of([dealt], looks(seen(8)))
    assert (shown.card, shown.seq) == (Card("9C"), 20)
    assert shown.sighting == seen(8)


def test_a_card_that_no_camera_saw_is_shown_without_a_picture() -> None:
    (shown,) = cards_of([CardDealt(seq=20, to=1, card=Card("9C"), evidence=(7,))], {})
    assert (shown.card, shown.sighting) == (Card("9C"), None)


def test_a_hole_card_is_one_card_shown_as_it_was_turned_up() -> None:
    facts: list[AnyFact] = [
        CardDealt(seq=10, to="dealer", card=Card("KS"), evidence=(1,)),
        CardDealt(seq=11, to="dealer", card=Card("7H"), face="down", evidence=(2,)),
        CardExposed(seq=12, to="dealer", card=Card("7H"), evidence=(3,)),
    ]
    up, hole = cards_of(facts, looks(seen(1), seen(2, "down"), seen(3)))
    assert (up.card, up.sighting) == (Card("KS"), seen(1))
    assert (hole.card, hole.is_down, hole.sighting) == (Card("7H"), False, seen(3))


def test_a_card_never_turned_up_is_not_named_even_where_the_shoe_knew_it() -> None:
    dealt = CardDealt(seq=11, to="dealer", card=Card("7H"), face="down", evidence=(2,))
    (shown,) = cards_of([dealt], looks(seen(2, "down")))
    assert (shown.card, shown.is_down, shown.sighting) == (None, True, seen(2, "down"))


def test_a_look_at_the_face_is_better_than_a_later_one_at_the_back() -> None:
    dealt = CardDealt(seq=20, to=1, card=Card("9C"), evidence=(5, 6))
    (shown,) = cards_of([dealt], looks(seen(5), seen(6, "down")))
    assert shown.sighting == seen(5)


def plate(seq: int, at_s: int, amount: int, circle: str = "0") -> PlateRead:
    return PlateRead(
        seq=seq, at=at_s * SECOND, source="plate:1", spot=1, circle=circle, amount=amount
    )


def mistake(code: str, seq: int, at_s: int, hand: int = 0) -> ViolationRow:
    return ViolationRow(
        session="bj-07",
        table="BJ-07",
        at=at_s * SECOND,
        seq=seq,
        round=1,
        code=code,
        spot=1,
        hand=hand,
        clause="payment.due",
        detail="",
        suspected=False,
        question="",
    )


def test_a_wrong_payment_shows_the_chips_from_the_reading_before_to_the_one_after() -> None:
    plates = [plate(1, 10, 1500), plate(5, 40, 2500), plate(8, 43, 0)]
    paid = PaymentMade(seq=6, at=39 * SECOND, spot=1, amount=1000, evidence=(5,))
    (found,) = disputed_chips([mistake("wrong_payout", 6, 39)], [paid], plates)
    assert (found.before, found.after) == (plates[0], plates[1])
    assert found.from_ns >= 34 * SECOND
    assert 39 * SECOND < found.to_ns < 43 * SECOND


def test_a_mistake_of_the_dealer_disputes_no_chips() -> None:
    dealt = CardDealt(seq=6, to="dealer", card=Card("9C"))
    assert disputed_chips([mistake("dealer_hit_hard_17", 6, 39)], [dealt], []) == ()


def test_a_payment_that_was_never_made_shows_what_lay_there() -> None:
    plates = [plate(1, 10, 1500)]
    (found,) = disputed_chips([mistake("payment_missing", 9, 50)], [], plates)
    assert (found.before, found.after) == (plates[0], plates[0])
