"""Rounds and a felt to test with."""

from models.cards import Card
from models.judgements import (
    DealerResult,
    HandResult,
    InsuranceResult,
    Review,
    RoundResult,
    SpotResult,
    Violation,
)


def cards(text: str) -> tuple[Card | None, ...]:
    """Read ``AS ?? TD`` as a hand."""
    return tuple(None if code == "??" else Card(code) for code in text.split())


BLACKJACK_AND_INSURANCE = RoundResult(
    round=3,
    rulebook="kansas-shoe",
    status="final",
    dealer=DealerResult(cards=cards("AH KS"), burned=(), total=21, soft=True, outcome="blackjack"),
    spots=(
        SpotResult(
            spot=1,
            net=0,
            hands=(
                HandResult(
                    hand=0,
                    cards=cards("TS 9D"),
                    burned=(),
                    stake=1000,
                    outcome="lose",
                    net=-1000,
                    clauses=("dealer.blackjack",),
                ),
            ),
            insurance=InsuranceResult(500, 1000),
        ),
    ),
    violations=(),
    net=0,
)

DEALER_OVERDREW = RoundResult(
    round=4,
    rulebook="kansas-shoe",
    status="final",
    dealer=DealerResult(
        cards=cards("TS 7H"), burned=cards("5C"), total=17, soft=False, outcome="stand"
    ),
    spots=(
        SpotResult(
            spot=2,
            net=1000,
            hands=(
                HandResult(
                    hand=0,
                    cards=cards("9S 9D"),
                    burned=(),
                    stake=1000,
                    outcome="win",
                    net=1000,
                    clauses=("hand.win",),
                ),
            ),
            insurance=None,
        ),
    ),
    violations=(
        Violation(
            "dealer_hit_hard_17",
            9,
            None,
            None,
            "dealer.draw",
            "The dealer drew 5♣ on hard 17; he had to stand.",
        ),
    ),
    net=-1000,
)

CARD_IN_DOUBT = RoundResult(
    round=5,
    rulebook="kansas-shoe",
    status="review",
    dealer=DealerResult(cards=cards("TS ??"), burned=(), total=None, soft=False, outcome="unknown"),
    spots=(),
    violations=(),
    net=None,
    reviews=(Review("the shoe said 7H, the camera KD", ("7H", "KD"), (12, 14)),),
)
