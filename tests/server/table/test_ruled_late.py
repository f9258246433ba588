"""A ruling entered once the round is over closes what it leaves without consequence."""

import pytest

from models.events import AnyFact, ConsoleEntry, HandCalledOff, RoundCalledOff, RoundClosed
from models.judgements import RoundSettled
from server.table.pipeline import Pipeline
from server.table.settlement_book import SettlementBook
from stream.journal import Journal
from tests.server.doubted import blinded, table

OFF = RoundCalledOff(reason="misdeal", by="ann")
SPOT_3_OFF = HandCalledOff(spot=3, reason="cards fouled", by="ann")
SPOT_1_OFF = HandCalledOff(spot=1, reason="cards fouled", by="ann")
SPOT_4_OFF = HandCalledOff(spot=4, reason="cards fouled", by="ann")


def ruled(journal: Journal, *rulings: AnyFact, name: str = "BJ-01") -> Pipeline:
    """Play a round of which a card of spot 3 was never read, and enter rulings after its end."""
    pipeline = table(journal, name)
    for one in blinded():
        pipeline.observe((one.observation,), one.now_ns)
        if any(isinstance(event, RoundClosed) for event in journal.read()):
            break
    for ruling in rulings:
        entry = ConsoleEntry(source="console:ann", at=one.now_ns, fact=ruling)
        pipeline.observe((entry,), one.now_ns)
    return pipeline


def asked(pipeline: Pipeline) -> tuple[str, list[str]]:
    """Return the round's status and its open questions; one is whose the chips are that went."""
    (result,) = pipeline.rounds()
    return result.status, [
        "chips" if "before the ruling was entered" in one.what else one.what.split(" is ")[0]
        for one in result.reviews or ()
    ]


@pytest.mark.parametrize(
    ("rulings", "left"),
    [
        ((), ["Which card"]),
        ((OFF,), ["chips"]),
        ((SPOT_3_OFF,), ["chips"]),
        ((SPOT_1_OFF,), ["Which card", "chips"]),
        ((SPOT_4_OFF, OFF), ["chips"]),
    ],
)
def test_a_question_closes_once_every_answer_comes_to_the_same(
    rulings: tuple[AnyFact, ...], left: list[str]
) -> None:
    with Journal.in_memory() as journal:
        assert asked(ruled(journal, *rulings)) == ("review", left)


@pytest.mark.parametrize("rulings", [(OFF,), (SPOT_3_OFF,), (SPOT_1_OFF,)])
def test_it_stays_so_for_a_table_that_is_started_again(rulings: tuple[AnyFact, ...]) -> None:
    with Journal.in_memory() as journal:
        pipeline = ruled(journal, *rulings)
        settled = [event.result for event in journal.read() if isinstance(event, RoundSettled)]
        book = SettlementBook(list, journal.read)
        book.recall(journal.read(), pipeline._engine.rules)
        assert book.rounds() == pipeline.rounds()
        assert pipeline.rounds()[0].reviews == settled[-1].reviews
