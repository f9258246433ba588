"""What cards win, as far as they are known: never more, never less than every card would say."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.cards import DECK, Card
from models.side_bet import Condition
from settlement.hands import UNKNOWN
from settlement.pay_tables import side_bets
from settlement.side_cards import MAYBE, NO, WAITS, YES, Asked, Bet, Seen
from stream.library import side_bet_ids, side_bet_text

ANSWERS = {"yes": YES, "no": NO, "maybe": MAYBE, "waits": WAITS}


def faces(cards: str) -> list[int]:
    return [UNKNOWN if card == "??" else Card(card).index for card in cards.split()]


def seen(player: str, dealer: str = "") -> Seen:
    two = faces(dealer)[:2]
    return Seen(faces(player), two, 0 if two else -1)


CASES = (
    ({"same": ("rank",)}, "8S 8H", "yes"),
    ({"same": ("rank",)}, "8S 9S", "no"),
    ({"same": ("rank",)}, "8S ??", "maybe"),
    ({"same": ("rank",)}, "8S", "waits"),
    ({"same": ("value",)}, "TS KH", "yes"),
    ({"same": ("suit",)}, "8S 9S", "yes"),
    ({"same": ("suit",)}, "8S 9?", "maybe"),
    ({"same": ("colour",)}, "8H 9D", "yes"),
    ({"same": ("colour",)}, "8H 9C", "no"),
    ({"same": ("rank", "suit")}, "8? 9?", "no"),
    ({"sequence": True}, "AS KH", "yes"),
    ({"sequence": True}, "AS 2H", "yes"),
    ({"sequence": True}, "AS 3H", "no"),
    ({"sequence": True}, "8S ??", "maybe"),
    ({"cards": (Card.QH, Card.KH)}, "KH QH", "yes"),
    ({"cards": (Card.QH, Card.KH)}, "QH QH", "no"),
    ({"cards": (Card.QH, Card.KH)}, "QH K?", "maybe"),
    ({"cards": (Card.QH, Card.KH)}, "QH J?", "no"),
    ({"cards": (Card.QH, Card.KH)}, "Q? Q?", "no"),
    ({"holds": (Card.QH,)}, "2C QH", "yes"),
    ({"holds": (Card.QH,)}, "2C Q?", "maybe"),
    ({"holds": (Card.QH,)}, "2C J?", "no"),
    ({"ranks": "KQ"}, "QH K?", "yes"),
    ({"ranks": "KQ"}, "QH QS", "no"),
    ({"ranks": "KQ"}, "QH ??", "maybe"),
    ({"among": "TJQKA"}, "TH A?", "yes"),
    ({"among": "TJQKA"}, "9H ??", "no"),
    ({"suit": "H"}, "9H 2H", "yes"),
    ({"suit": "H"}, "9H 2?", "maybe"),
    ({"colour": "red"}, "9H 2S", "no"),
    ({"total": (20, 20)}, "AH 9?", "yes"),
    ({"total": (20, 20)}, "TH ??", "maybe"),
    ({"low_total": (2, 12)}, "AH AS", "yes"),
    ({"low_total": (14, 20)}, "AH KS", "no"),
    ({"blackjack": True}, "AH KS", "yes"),
    ({"blackjack": True}, "AH ??", "maybe"),
    ({"blackjack": True}, "5H ??", "no"),
)


@pytest.mark.parametrize(("asked", "cards", "answer"), CASES)
def test_a_condition_on_the_players_cards(asked: dict[str, Any], cards: str, answer: str) -> None:
    found = Asked(Condition(**asked), "player").holds(seen(cards))
    assert found == ANSWERS[answer]


@pytest.mark.parametrize(
    ("cards", "up", "answer"),
    [
        ("4S 8S", "6H", "yes"),
        ("8S 4S", "6H", "yes"),
        ("4S 8S", "8H", "no"),
        ("4S AS", "KH", "no"),
        ("JS AS", "KH", "no"),
        ("TS AS", "KH", "yes"),
        ("AS 2S", "KH", "no"),
        ("4S 8S", "??", "maybe"),
        ("4S 8S", "", "waits"),
    ],
)
def test_a_card_between_two_others(cards: str, up: str, answer: str) -> None:
    found = Asked(Condition(between=(3, 3)), "player_and_up").holds(seen(cards, up))
    assert found == ANSWERS[answer]


def bet(name: str) -> Bet:
    return Bet(name, side_bets({name: {"extends": name}}, "", "", side_bet_text)[name], 1, up=False)


BETS = tuple(bet(name) for name in side_bet_ids())
CARDS = st.sampled_from([*(card.index for card in DECK)])


@given(
    known=st.lists(CARDS, min_size=4, max_size=4),
    hidden=st.sets(st.integers(0, 3), min_size=1, max_size=1),
    which=st.sampled_from(BETS),
)
def test_what_a_hidden_card_leaves_open_is_what_its_faces_would_win(
    known: list[int], hidden: set[int], which: Bet
) -> None:
    def prizes(cards: list[int]) -> set[tuple[int, ...]]:
        return set(which.prizes(Seen(cards[:2], cards[2:], 0)))

    filled = product(
        *(
            [card.index for card in DECK] if at in hidden else [card]
            for at, card in enumerate(known)
        )
    )
    won = set[tuple[int, ...]]().union(*(prizes(list(cards)) for cards in filled))
    masked = [UNKNOWN if at in hidden else card for at, card in enumerate(known)]
    assert won <= prizes(masked)
    if len(prizes(masked)) == 1:
        assert won == prizes(masked)
