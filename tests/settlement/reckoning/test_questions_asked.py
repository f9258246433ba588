"""What a person is asked: one question for each cause, in words of the felt, with what shows it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import settlement
from models.cards import RANKS, Card
from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    CardSighted,
    PaymentMade,
    PlayerActed,
    RoundClosed,
    RoundOpened,
    WagerPlaced,
    WagerRemoved,
)
from models.judgements import Review, ReviewRaised
from settlement.reckoning.asked import lost_together
from settlement.reckoning.differing import (
    Difference,
    came_by_rank,
    difference,
    gone_unseen,
    none_came,
)
from tests.settlement.felt_scene import Scene
from tests.settlement.reconcile.test_sensors_that_lie import missed, two_spots

ROUND: tuple[AnyFact, ...] = (
    RoundOpened(round=1, at=0),
    WagerPlaced(spot=3, kind="main", amount=1000, at=1),
    CardDealt(to=3, card=Card("8H"), at=2),
    CardDealt(to="dealer", card=Card("JS"), at=3),
    CardDealt(to=3, card=Card("8S"), at=4),
    CardDealt(to="dealer", card=None, face="down", at=5),
    CardExposed(to="dealer", card=Card("7H"), at=6),
    PaymentMade(spot=3, amount=1000, at=7),
    RoundClosed(at=8),
)


WORDED = ("reckoning", "reconcile/questions.py", "reconcile/reviews.py")


def worded(tree: ast.AST) -> Iterator[str]:
    """Yield what code asks: the strings that it names ``what``, or gives to a ``Review`` first."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "what":
            yield from literals(node.value)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "Review":
            yield from literals(node.args[0])


def literals(value: ast.expr) -> Iterator[str]:
    if isinstance(value, ast.JoinedStr) or (
        isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value
    ):
        yield ast.unparse(value)


def test_whatever_is_asked_of_a_person_is_a_question() -> None:
    root = Path(settlement.__file__).parent
    files = [file for part in WORDED for file in (root / part).rglob("*.py")] + [
        root / part for part in WORDED if part.endswith(".py")
    ]
    asked = {text for file in files for text in worded(ast.parse(file.read_text()))}
    assert len(asked) > 15
    assert not [text for text in asked if "?" not in text]


def raised(scene: Scene) -> list[ReviewRaised]:
    return [said for said in scene.said() if isinstance(said, ReviewRaised)]


def instead(at: int, *facts: AnyFact, drops: int = 1) -> list[AnyFact]:
    return [*ROUND[:at], *facts, *ROUND[at + drops :]]


@pytest.mark.parametrize(
    ("other", "asks", "held", "said"),
    [
        pytest.param(
            instead(7, CardDealt(to="dealer", card=Card("2H"), at=7), drops=0),
            "Did the dealer draw 2H?",
            "the dealer did not draw 2H",
            "the dealer drew 2H",
            id="a card more",
        ),
        pytest.param(
            instead(4),
            "Did spot 3 get 8S?",
            "spot 3 got 8S",
            "spot 3 did not get 8S",
            id="a card less",
        ),
        pytest.param(
            instead(4, CardDealt(to=3, card=Card("6S"), at=4)),
            "Is the second card of spot 3 8S or 6S?",
            "the second card of spot 3 is 8S",
            "the second card of spot 3 is 6S",
            id="another face",
        ),
        pytest.param(
            instead(4, CardDealt(to=2, card=Card("8S"), at=4)),
            "Did 8S go to spot 3 or to spot 2?",
            "8S went to spot 3",
            "8S went to spot 2",
            id="another spot's",
        ),
        pytest.param(
            instead(6, CardExposed(to="dealer", card=Card("9H"), at=6)),
            "Is the dealer's hole card 7H or 9H?",
            "the dealer's hole card is 7H",
            "the dealer's hole card is 9H",
            id="another hole card",
        ),
        pytest.param(
            instead(6, PlayerActed(spot=3, action="split", at=6), drops=0),
            "Did spot 3 split?",
            "spot 3 did not split",
            "spot 3 split",
            id="a split",
        ),
        pytest.param(
            instead(1, WagerPlaced(spot=3, kind="double", amount=1000, at=1)),
            "Were the 10.00 that spot 3 added a raise or a double?",
            "spot 3 put 10.00 there as a raise",
            "spot 3 put 10.00 there as a double",
            id="a double",
        ),
        pytest.param(
            instead(7, WagerRemoved(spot=3, kind="main", amount=1000, at=7)),
            "Which is right: the dealer paid 10.00 to spot 3, or spot 3 took 10.00 back?",
            "the dealer paid 10.00 to spot 3",
            "spot 3 took 10.00 back",
            id="chips taken back",
        ),
        pytest.param(
            instead(7),
            "Was spot 3 paid 10.00?",
            "the dealer paid 10.00 to spot 3",
            "spot 3 was not paid 10.00",
            id="not paid",
        ),
        pytest.param(
            instead(2, ROUND[3], ROUND[2], drops=2),
            "Which came first: 8H to spot 3, or JS to the dealer?",
            "8H to spot 3 came first",
            "JS to the dealer came first",
            id="the order",
        ),
        pytest.param(
            instead(8, RoundClosed(at=7)),
            "Did this come earlier than recorded: the cards taken up?",
            "it came as recorded",
            "it came earlier",
            id="the time",
        ),
    ],
)
def test_a_difference_is_asked_in_the_words_of_the_felt(
    other: list[AnyFact], asks: str, held: str, said: str
) -> None:
    assert difference(ROUND, other) == Difference(asks, held, said)


def dealt(*ranks: str) -> list[CardDealt]:
    return [CardDealt(to="dealer", card=Card(f"{rank}?")) for rank in ranks]


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        ("8", "the dealer drew an 8"),
        ("89T", "the dealer drew a card: 8, 9 or 10"),
        (RANKS, "the dealer drew a card, of whichever rank"),
    ],
)
def test_a_card_that_nobody_saw_is_told_by_its_ranks(ranks: str, said: str) -> None:
    assert came_by_rank(dealt(*ranks)) == said
    assert none_came(dealt("8")[0]) == "the dealer drew no further card"


def test_a_card_seen_twice_and_counted_by_no_account_is_shown_by_both_sightings() -> None:
    """The shoe counted no such card, and everybody was paid as if the dealer had stood."""
    scene = two_spots().deal_round("9D 8H JS QS QH 7H", spots=(1, 2)).wait(4_000)
    scene.turn_hole("7H").wait(1_000)
    missed(scene.deal("dealer", "2H", shoe=None))
    scene.wait(500).read_again("dealer", 2, {"2H": 0.9999}).wait(500)
    scene.chips(2, 0, 1_000).take(2).chips(1, 0, 1_000).take(1).take("dealer").wait(15_000)
    looks = [
        one.seq
        for _, one in scene.observations()
        if isinstance(one, CardSighted) and "2H" in one.candidates
    ]
    (asked,) = raised(scene)
    assert asked.review.what == "Did the dealer draw 2H?"
    assert asked.review.candidates == ("the dealer did not draw 2H", "the dealer drew 2H")
    assert len(looks) == 2
    assert asked.review.evidence == tuple(looks)


def test_a_wrong_payment_that_any_card_would_explain_is_one_question() -> None:
    """Nobody hears the shoe: each of the cards may be the one that the camera misread."""
    scene = two_spots().fault("shoe", "link_lost").wait(3_000)
    for to, card in ((1, "QC"), (2, "8S"), ("dealer", "9S"), (1, "QH"), (2, "JH")):
        scene.deal(to, card, shoe=None)  # type: ignore[arg-type]
    scene.deal("dealer", "KS", face="down", shoe=None).wait(4_000).turn_hole("KS").wait(1_000)
    scene.chips(2, 0, -1_000).take(2).chips(1, 0, 700).take(1).take("dealer").wait(15_000)
    (asked,) = [one for one in raised(scene) if not one.settles_alike]
    assert (
        asked.review.what
        == "Was spot 1 paid 7.00 where 10.00 were due? Or is the dealer's up card 9S?"
    )
    assert asked.review.candidates[0] == "yes, as recorded"
    accounts = asked.accounts or ()
    assert len(accounts) > 1
    assert all(account.changes for account in accounts[1:])


@pytest.mark.parametrize(
    ("lost", "asked"),
    [
        pytest.param("9C 3C", ["Where did 9C go?", "Where did 3C go?"], id="each"),
        pytest.param("9C 3C 7H", ["Where did 9C, 3C and 7H go?"], id="together"),
        pytest.param("9C 3C 7H TS AD 2S", ["Where did 9C, 3C, 7H, TS and 2 more go?"], id="many"),
    ],
)
def test_cards_that_a_blind_camera_missed_are_one_question(lost: str, asked: list[str]) -> None:
    other = Review("Did spot 1 act out of turn?", (), (9,))
    gone = [
        Review(gone_unseen(Card(card)), (card,), (number,))
        for number, card in enumerate(lost.split())
    ]
    found = [one for one in lost_together([*gone, other]) if one != other]
    assert [f"{one.what.split('?')[0]}?" for one in found] == asked
    assert sorted(seq for one in found for seq in one.evidence) == list(range(len(gone)))
    assert other in lost_together([*gone, other])
