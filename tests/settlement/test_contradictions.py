"""Facts that contradict each other on one card settle nothing that hangs on it."""

from collections.abc import Iterator, Sequence
from random import Random

import pytest

from models import events as ev
from models.cards import Card, pack
from models.events import AnyFact
from models.judgements import RoundResult
from models.rulebook import Rulebook
from tests.settlement.plain.game import Game, Style
from tests.settlement.table import codes, found, nets, one_round, only_hand
from tests.settlement.test_unknown_cards import HOUSES, hands, settled

HOLE = "bet 1 1000; 1 TS; D {}; 1 9D; D {} down; {}stand 1; {}close"


def ways(text: str, *settings: str) -> dict[str, int | None]:
    """Return what the hand may come to, by the condition."""
    possible = only_hand(text, "kansas-shoe", *settings).possible
    assert isinstance(possible, tuple)
    return {way.condition: way.net for way in possible}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(HOLE.format("TH", "7D", "", "show D TD; "), id="dealt-and-exposed"),
        pytest.param(HOLE.format("TH", "??", "", "show D 7D; show D TD; "), id="exposed-twice"),
        pytest.param(HOLE.format("TH", "7D", "peek no; ", "show D TD; "), id="looked-at-too"),
        pytest.param(HOLE.format("TH", "7D", "", "show D 7D; show D TD; "), id="three-times"),
        pytest.param(HOLE.format("TH", "7D", "", "show D TD; show D 7D; "), id="as-dealt-again"),
    ],
)
def test_two_faces_of_the_hole_card_leave_open_what_hangs_on_it(text: str) -> None:
    result = one_round(text)
    assert (result.status, result.net, result.violations) == ("pending", None, ())
    assert (result.dealer.cards[1], result.dealer.total) == (None, None)
    assert ways(text) == {"the dealer's card is 7D": 1000, "the dealer's card is TD": -1000}


def test_the_look_chooses_between_no_two_faces() -> None:
    text = HOLE.format("AH", "7D", "peek no; ", "show D TD; ")
    assert ways(text) == {"the dealer's card is 7D": 1000, "the dealer's card is TD": -1000}
    assert found(text) == []
    assert ways(text.replace("peek no", "ins 1 500; peek no")) == ways(text)
    assert nets(text.replace("peek no", "ins 1 500; peek no")) == [None]


def test_two_looks_that_differ_tell_nothing() -> None:
    text = HOLE.format("AH", "??", "peek no; peek yes; ", "")
    assert ways(text)["the dealer's unknown card is 9 or a ten"] == -1000
    assert ways(text) == ways(text.replace("peek no; peek yes; ", ""))
    assert ways(text) == ways(text.replace("peek no; peek yes", "peek yes; peek no"))
    assert found(text) == []
    assert nets(text.replace("peek no; peek yes", "peek yes; peek yes")) == [-1000]


def test_a_face_that_the_shoe_cannot_hold_is_not_possible() -> None:
    burned = "shoe 1; burn 7S; burn 7H; burn 7C; burn {}; "
    text = HOLE.format("TH", "7D", "", "show D TD; ")
    assert nets(burned.format("2D") + text, "kansas-shoe", "decks=1") == [None]
    assert nets(burned.format("7D") + text, "kansas-shoe", "decks=1") == [-1000]


def test_a_contradiction_that_no_money_hangs_on_is_a_foreign_card() -> None:
    text = HOLE.format("TH", "7D", "", "show D 7S; ")
    assert (found(text), nets(text)) == ([("foreign_card", 7)], [1000])
    broken = "bet 1 1000; 1 TS; D TH; 1 6D; D 7D down; hit 1; 1 9C; show D TD; close"
    assert (found(broken), nets(broken)) == ([("foreign_card", 8)], [-1000])


def test_no_draw_is_judged_by_a_face_in_dispute() -> None:
    text = HOLE.format("TH", "7D", "", "show D 6D; D 5S; ")
    assert found(text) == []
    assert ways(text) == {"the dealer's card is 7D": 1000, "the dealer's card is 6D": -1000}


PLAYER = "bet 1 1000; 1 {}; D TH; 1 {}; D 7D down; {}stand 1; show D 7D; {}close"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PLAYER.format("TS", "??", "show 1 8D; show 1 6D; ", ""), id="exposed-twice"),
        pytest.param(PLAYER.format("TS", "8D down", "", "show 1 6D; "), id="dealt-and-exposed"),
    ],
)
def test_a_players_card_stated_twice_leaves_his_hand_open(text: str) -> None:
    assert ways(text) == {"the hand's card is 8D": 1000, "the hand's card is 6D": -1000}
    assert "foreign_card" not in codes(text)


def test_a_face_that_is_neither_of_two_cards_may_be_either() -> None:
    """Never both: it was stated of one card."""
    text = PLAYER.format("TS", "8D", "", "show 1 3C; ")
    assert set(ways(text)) == {
        "the hand's cards make hard 18",
        "the hand's cards make hard 13 or hard 11",
    }
    assert ways(text)["the hand's cards make hard 18"] == 1000
    assert codes(text) == []


def test_an_option_is_not_judged_by_a_card_in_dispute() -> None:
    dealt = "bet 1 1000; 1 6S down; D TH; 1 {} down; D 7D down; double 1 1000; 1 9C; show D 7D; "
    end = "show 1 6S; show 1 6D; close"
    assert codes(dealt.format("6D") + end, "pitch-double-deck") == ["double_total_not_allowed"]
    assert codes(dealt.format("5D") + end, "pitch-double-deck") == ["foreign_card"]


# --- at random -------------------------------------------------------------------------------


def _rounds(house: Rulebook, count: int) -> Iterator[tuple[Sequence[AnyFact], int, Card]]:
    """Yield rounds, each with the place of its hole card's fact, and another card."""
    random = Random(house.id)
    for number in range(count):
        style = Style(True, False, False, bool(number % 2), True, 1.0, "none", False, False)
        game = Game(house, f"{house.id}:odds:{number}", spots=3, style=style)
        facts = [
            fact
            for fact in game.play().facts
            if not isinstance(fact, ev.CardExposed | ev.CardBoxed | ev.CardBurned)
        ]
        down = [at for at, fact in enumerate(facts) if _is_hole(fact)]
        if down:
            yield facts, down[0], random.choice(pack(house.pack_without))


def _is_hole(fact: AnyFact) -> bool:
    return isinstance(fact, ev.CardDealt) and fact.to == "dealer" and fact.face == "down"


def _told(
    house: Rulebook, facts: Sequence[AnyFact], at: int, dealt: Card | None, shown: Card | None
) -> RoundResult:
    """Settle a round with its hole card dealt and turned up as these faces."""
    hole = ev.CardDealt(to="dealer", card=dealt, face="down")
    turned = ev.CardExposed(to="dealer", card=shown)
    return settled(house, [*facts[:at], hole, *facts[at + 1 : -1], turned, facts[-1]])


@pytest.mark.parametrize("house", HOUSES, ids=lambda house: house.id)
def test_two_faces_settle_exactly_what_both_agree_on(house: Rulebook) -> None:
    tried = 0
    for facts, at, other in _rounds(house, 40):
        lying = facts[at].card  # type: ignore[union-attr]  # the hole card's fact
        if lying == other or other in {getattr(fact, "card", None) for fact in facts}:
            continue
        tried += 1
        either = [hands(_told(house, facts, at, face, face)) for face in (lying, other)]
        result = _told(house, facts, at, lying, other)
        open_ = False
        for key, hand in hands(result).items():
            may = {(way[key].outcome, way[key].net) for way in either}
            if len(may) == 1:
                assert (hand.outcome, hand.net) in may
                continue
            open_ = True
            assert (hand.outcome, hand.net) == ("unknown", None)
            assert isinstance(hand.possible, tuple)
            assert {(way.outcome, way.net) for way in hand.possible} == may
        told = [one.code for one in result.violations].count("foreign_card")
        assert told == (0 if open_ else 1)
    assert tried > 5 or house.dealer_second_card == "after_players"
