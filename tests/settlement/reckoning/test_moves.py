"""A move that the house's rules forbid has the price of a mistake, by every knob about moves."""

from collections.abc import Callable
from math import log
from typing import Any

import pytest
from msgspec.structs import replace

from models.cards import Card
from models.events import Action, Dealt, PlateRead, PlayerActed
from models.rulebook import Rulebook
from settlement.reckoning import entries
from settlement.reckoning.chips import Change, meanings
from settlement.reckoning.grammar import Coming, draws
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.moves import Moves
from settlement.reckoning.odds import MISTAKE
from settlement.reckoning.story import Story
from settlement.reconcile.cameras import Cameras
from settlement.reconcile.timing import SECOND
from tests.settlement.felt_scene import rulebook

RULES = rulebook("kansas-shoe")
_STAKE = 1_000


def table(rules: Rulebook, *hands: str, dealer: str = "8C 9D") -> Story:
    """Return spot 1 with these hands, of which several come from splits, after the deal."""
    story = Story(Cameras(), Moves(rules), shoe=True)
    story.open_round(1)
    story.staked = (1,)
    story.hands[1] = []
    for number, cards in enumerate(hands):
        hand = Hand(1, number)
        hand.of_split, hand.cards = len(hands) > 1, lying(1, number, cards)
        story.hands[1].append(hand)
        story.plates[1, str(number)] = _STAKE
    story.dealer = lying("dealer", 0, dealer)
    story.dealer[1].face = "down"
    return story


def lying(to: Dealt, number: int, cards: str) -> list[InPlay]:
    found = []
    for at, name in enumerate(cards.split(), 2):
        card = InPlay(at, to, number, "up", at)
        card.shoe_card, card.where = Card(name), "felt"
        found.append(card)
    return found


def chips(story: Story, kind: str, circle: str, more: int, rules: Rulebook = RULES) -> float:
    """Return the price of the mistakes of chips that mean a double, or insurance."""
    total = story.plates.get((1, circle), 0) + more
    read = PlateRead(source="plate:1", at=9 * SECOND, spot=1, circle=circle, amount=total, raw="")
    found = [one for one in meanings(story, Change(read), rules) if one.kind == kind]
    return max(one.mistakes for one in found)


def doubles(*hands: str) -> Callable[[Story], float]:
    return lambda story: chips(story, "double", str(len(hands) - 1), _STAKE)


def draws_more(story: Story) -> float:
    """Return the price of the mistakes of one more card to the last hand."""
    number = len(story.hands[1]) - 1
    found = draws(story, 1, Coming("up", 9 * SECOND), [], RULES)
    return max(draw.mistakes for draw in found if draw.number == number)


def dealer_draws(story: Story) -> float:
    story.dealer[1].face, story.revealed = "up", True
    return max(draw.mistakes for draw in draws(story, "dealer", Coming("up", 9), [], RULES))


def enters(action: Action) -> Callable[[Story], float]:
    def entered(story: Story) -> float:
        number = len(story.hands[1]) - 1
        entries.take(story, PlayerActed(at=9, spot=1, hand=number, action=action), RULES)
        return story.mistakes

    return entered


def asks_and_draws(story: Story) -> float:
    story.state(PlayerActed(at=8, spot=1, action="hit"))
    return draws_more(story)


def gives_up_doubled(story: Story) -> float:
    story.hands[1][0].doubled = True
    return enters("surrender")(story)


def insures(story: Story) -> float:
    return chips(story, "insurance", "I", _STAKE // 2)


DOUBLES = doubles("")


@pytest.mark.parametrize(
    ("knob", "lets", "forbids", "hands", "price"),
    [
        ("double_on", "any_two", "9-11", ["5S 3D"], DOUBLES),
        ("double_on", "9-11", "10-11", ["5S 4D"], DOUBLES),
        ("double_on", "10-11", "none", ["5S 6D"], DOUBLES),
        ("double_on", "any_number", "any_two", ["2S 3D 5C"], DOUBLES),
        ("double_after_split", True, False, ["8S 3D", "8D 2C"], doubles("", "")),
        ("double_split_aces", True, False, ["AS 3D", "AD 2C"], doubles("", "")),
        ("split_match", "value", "rank", ["KS QD"], enters("split")),
        ("max_hands", 3, 2, ["8S 3D", "8D 8C"], enters("split")),
        ("resplit_aces", True, False, ["AS 3D", "AD AC"], enters("split")),
        ("split_aces_cards", "any", 1, ["AS 3D", "AD 2C"], draws_more),
        ("hit_on_21", True, False, ["5S 6D TC"], asks_and_draws),
        ("surrender", "late", "none", ["TS 6D"], enters("surrender")),
        ("surrender", "early", "none", ["TS 6D"], enters("surrender")),
        ("surrender_after_split", True, False, ["8S 3D", "8D 7C"], enters("surrender")),
        ("double_rescue", True, False, ["5S 6D 2C"], gives_up_doubled),
        ("dealer_soft17", "hit", "stand", ["TS 6D"], dealer_draws),
    ],
)
def test_a_forbidden_move_has_the_price_of_a_mistake(
    knob: str, lets: Any, forbids: Any, hands: list[str], price: Callable[[Story], float]
) -> None:
    rules = replace(RULES, surrender="late", double_split_aces=knob == "double_split_aces")
    dealer = "AC 6D" if knob == "dealer_soft17" else "8C 9D"
    allowed, forbidden = (
        price(table(replace(rules, **{knob: value}), *hands, dealer=dealer))
        for value in (lets, forbids)
    )
    assert (allowed, forbidden) == (0.0, log(MISTAKE))


@pytest.mark.parametrize("knob", ["insurance", "even_money"])
def test_what_is_offered_beside_an_ace_is_a_mistake_beside_another_card(knob: str) -> None:
    price = insures if knob == "insurance" else enters("even_money")
    none = replace(RULES, insurance="none") if knob == "insurance" else RULES
    none = replace(none, even_money=False)
    some = replace(RULES, insurance="up_to_half", even_money=True)
    found = [
        price(table(rules, "AS KD", dealer=f"{up} 9D"))
        for rules, up in ((some, "AC"), (some, "TC"), (none, "AC"))
    ]
    assert found == [0.0, log(MISTAKE), log(MISTAKE)]


def test_the_double_is_for_the_wager_where_the_house_doubles_for_no_less() -> None:
    rules = replace(RULES, double_for_less=False)
    whole, less = (
        chips(table(rules, "5S 6D"), "double", "0", amount, rules)
        for amount in (_STAKE, _STAKE // 2)
    )
    assert (whole, less) == (0.0, log(MISTAKE))
