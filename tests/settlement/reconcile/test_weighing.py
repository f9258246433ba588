"""A round settled in every way it may have gone: what its course answers, and what it does not."""

from models.cards import Card
from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    PaymentMade,
    RoundClosed,
    RoundOpened,
    TrayCounted,
    WagerPlaced,
)
from models.judgements import Review
from settlement.reconcile.draws import Composition
from settlement.reconcile.weighing import Question, Rival, Weighing
from tests.settlement.felt_scene import RULES

SEVENTEEN = 5
"""Place of the dealer's turned card in :func:`played`."""


def weighing() -> Weighing:
    return Weighing(RULES, Composition(RULES.decks).room)


def played(paid: int = 1000, *, dealers: str = "7C") -> list[AnyFact]:
    """Ten and nine for 10 against the dealer's ten and another card."""
    return [
        RoundOpened(round=1),
        WagerPlaced(spot=1, kind="main", amount=1000),
        CardDealt(to=1, card=Card("TS")),
        CardDealt(to="dealer", card=Card("TD")),
        CardDealt(to=1, card=Card("9H")),
        CardDealt(to="dealer", card=Card(dealers), face="down"),
        CardExposed(to="dealer", card=Card(dealers)),
        PaymentMade(spot=1, amount=paid),
        RoundClosed(),
    ]


def holes(record: list[AnyFact], **odds: float) -> Question:
    """Ask which card the dealer turned up."""
    stories = []
    for name, p in odds.items():
        card = Card(name.removeprefix("c"))
        dealt = CardDealt(to="dealer", card=card, face="down")
        shown = CardExposed(to="dealer", card=card)
        stories.append(Rival(p, {SEVENTEEN: (dealt,), SEVENTEEN + 1: (shown,)}))
    return Question(Review("which card is it", (), ()), tuple(stories))


def test_what_settles_alike_need_not_be_known() -> None:
    record = played()
    assert weighing().answers(record, [holes(record, c8C=0.2)]) == ["alike"]


def test_a_count_of_the_tray_is_no_mistake_of_another_story() -> None:
    record = [*played(), TrayCounted(amount=500_000)]
    weigh = weighing()
    for paid in (1000, 500, 1000):
        story = [*played(paid), TrayCounted(amount=500_000)]
        codes = {code for code, _, _ in weigh.outcome(story, record).mistakes}
        assert codes == (set() if paid == 1000 else {"wrong_payout"})


def test_a_story_that_wants_a_wrong_payout_gives_way_to_one_that_wants_none() -> None:
    record = played()
    assert weighing().answers(record, [holes(record, cTC=0.2)]) == ["settled"]


def test_a_payout_that_is_wrong_by_the_stated_story_and_right_by_another_is_for_a_person() -> None:
    record = played(-1000)
    assert weighing().answers(record, [holes(record, cTC=0.2)]) == ["open"]


def test_two_mistakes_spared_state_the_other_story() -> None:
    """A dealer's 17 that drew and was paid as 21 was no 17."""
    record = played(-1000)
    record.insert(SEVENTEEN + 2, CardDealt(to="dealer", card=Card("6D")))
    instead = weighing().instead(record, [holes(record, c5C=0.2)])
    assert [fact.card for fact in instead.values() if isinstance(fact, CardExposed)] == [Card("5C")]


def test_one_mistake_spared_states_nothing_else() -> None:
    record = played(-1000)
    assert weighing().instead(record, [holes(record, cTC=0.2)]) == {}


def test_a_story_without_one_more_of_a_face_than_the_shoe_held_is_stated() -> None:
    record = played()
    spent = Weighing(RULES, lambda card: -1 if card is Card("7C") else 1)
    instead = spent.instead(record, [holes(record, c8C=0.2)])
    assert [fact.card for fact in instead.values() if isinstance(fact, CardExposed)] == [Card("8C")]


def test_likelihood_alone_does_not_settle_what_the_course_does_not_show() -> None:
    unpaid: list[AnyFact] = [fact for fact in played() if not isinstance(fact, PaymentMade)]
    assert weighing().answers(unpaid, [holes(unpaid, cTC=0.2)]) == ["open"]


def test_no_question_is_no_work() -> None:
    assert weighing().answers(played(), []) == []


def test_weighing_one_round_leaves_nothing_behind_for_the_next() -> None:
    same, record = weighing(), played()
    first = same.answers(record, [holes(record, c8C=0.2, cTC=0.2)])
    assert all(same.answers(record, [holes(record, c8C=0.2, cTC=0.2)]) == first for _ in range(40))
