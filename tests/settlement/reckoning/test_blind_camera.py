"""What happened while no camera saw the felt is asked about, and is never a certain mistake."""

from dataclasses import replace

import pytest

from models.judgements import ReviewRaised
from settlement.clauses import BREAKS, SHOWN_BY
from settlement.reconcile.timing import SECOND
from simulation.ideal import CAMERA, LEFT, OVERHEAD
from tests.sensors import noise
from tests.sensors.blind import KINDS, Blinding, Kind, blinded, counted, plan_of, spoilt
from tests.settlement.sessions import reconciled, session, settled

ACCUSED = (
    # Each stated a mistake that was none, or no hand where one was played, without a question.
    ("kansas-shoe", 1, 8.0),  # dealer_acted_before_players
    ("pitch-double-deck", 1, 0.0),  # deal_face
    ("pitch-double-deck", 1, 24.0),  # a hand that came and went
    ("pitch-double-deck", 2, 0.0),  # hole_card_exposed
    ("pitch-double-deck", 2, 2.0),  # hole_card_exposed
    ("pitch-double-deck", 2, 22.0),  # wager_on_no_hand
)


def test_what_shows_each_mistake_is_known() -> None:
    assert SHOWN_BY.keys() == BREAKS.keys()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rulebook", "seed", "from_s"), ACCUSED)
def test_a_blind_camera_accuses_nobody(rulebook: str, seed: int, from_s: float, kind: Kind) -> None:
    played = Blinding(
        seed, rulebook, every=0, rounds=2, show=True, spots=(1, 3), from_s=from_s, kind=kind
    )
    counts, lines = counted(played)
    assert counts["false"] == counts["wrong net"] == 0, lines


@pytest.mark.parametrize("code", ["deal_face", "deal_order", "below_table_min"])
def test_what_was_shown_before_is_certain(code: str) -> None:
    assert _certain(code, blind_s=-3) == [code]


@pytest.mark.parametrize("code", ["surrender_not_offered", "even_money_not_offered"])
def test_what_people_entered_is_certain(code: str) -> None:
    assert _certain(code, blind_s=8) == [code]


def test_what_another_camera_saw_is_as_certain_as_ever() -> None:
    plan = plan_of(Blinding(1, "kansas-shoe", every=0, rounds=2, show=True, spots=(1, 3)))
    told = noise.heard(1, replace(plan, eyes=(OVERHEAD, LEFT)))
    blind = Blinding(1, "kansas-shoe", every=0, rounds=2, show=True, from_s=8.0)
    counts, lines = noise.counted(spoilt(told, blind), 1, plan)
    assert counts["exact"] == counts["rounds"], lines
    assert counts["false"] == 0, lines


@pytest.mark.parametrize(
    ("rulebook", "seed", "from_s", "question", "otherwise"),
    [
        # The hole card is seen face up at once; dealt face down the round holds no mistake.
        ("pitch-double-deck", 2, 2.0, "Was the hole card shown too early?", "TS came face down"),
        # Three cards left the shoe that nobody saw: by the turns the dealer drew the last one.
        ("kansas-shoe", 1, 8.0, "Did the dealer play before", "the third card of spot 1 is 5C"),
    ],
)
def test_a_question_offers_the_round_as_it_may_have_gone(
    rulebook: str, seed: int, from_s: float, question: str, otherwise: str
) -> None:
    one = Blinding(seed, rulebook, every=0, rounds=2, show=True, spots=(1, 3), from_s=from_s)
    told = spoilt(noise.heard(seed, plan_of(one)), one)
    (asked,) = [
        one
        for one in noise.published(told)
        if isinstance(one, ReviewRaised) and "no camera saw the felt" in one.review.what
    ]
    assert asked.review.what.startswith(question)
    right = [account.tells for account in asked.accounts or () if not account.mistakes]
    assert any(otherwise in tells for tells in right)


def _certain(code: str, *, blind_s: int) -> list[str]:
    """Return the certain mistakes of a round with one, blinded from so many seconds on.

    Below nought they count from the round's end.
    """
    played = session("kansas-shoe", 1, rounds=1, spots=(1, 3), mistake=code)
    begin_ns = played.heard[0 if blind_s > 0 else -1][0]
    said = reconciled(played, blinded(played.heard, CAMERA, begin_ns + blind_s * SECOND, "black"))
    reviews = [one for one in said if isinstance(one, ReviewRaised) and not one.settles_alike]
    (result,) = settled(
        played.rules, [one for one in said if not isinstance(one, ReviewRaised)]
    ).values()
    return [] if reviews else [found for found, _, _ in result["violations"]]
