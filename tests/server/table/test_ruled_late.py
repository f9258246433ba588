"""A ruling entered once the round is over closes what it leaves without consequence."""

from pathlib import Path

import msgspec
import pytest

from models.events import (
    AnyFact,
    ConsoleEntry,
    HandCalledOff,
    PaymentMade,
    RoundCalledOff,
    RoundClosed,
    RoundOpened,
)
from models.judgements import AnyEvent, Review, ReviewRaised, RoundSettled
from server.commands.app import run
from server.house.rulebooks import rules_for
from server.table.pipeline import Pipeline
from server.table.settlement_book import SettlementBook
from settlement.reconcile.answers import Answering
from stream.journal import Journal
from stream.reading import UnknownEvent
from tests.server.doubted import blinded, table
from tests.server.evenings import as_journal, evening, settle_file

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


def known(journal: Journal) -> list[AnyEvent]:
    return [event for event in journal.read() if not isinstance(event, UnknownEvent)]


@pytest.mark.parametrize("archived", [False, True], ids=["journal", "day"])
@pytest.mark.parametrize("rulings", [(SPOT_3_OFF,), (SPOT_1_OFF,)])
def test_a_record_settled_again_leaves_open_what_the_table_left_open(
    tmp_path: Path, rulings: tuple[AnyFact, ...], archived: bool
) -> None:
    with Journal.in_memory() as journal:
        left = asked(ruled(journal, *rulings))
        path = as_journal(tmp_path / "01.journal", known(journal))
    if archived:
        assert run(["archive", "write", str(path), str(tmp_path / "history")]) == 0
        path = tmp_path / "history"
    (settled,) = settle_file(str(path), rules_for("kansas-shoe"))
    assert settled.status == left[0]
    assert len(settled.reviews or ()) == len(left[1])


@pytest.mark.parametrize(
    ("mistakes", "rulings", "closes"),
    [
        pytest.param((), (OFF,), True, id="called-off"),
        pytest.param((), (SPOT_1_OFF,), False, id="a-hand-called-off"),
        pytest.param((), (), False, id="no-ruling"),
        pytest.param(("dealer_hit_hard_17",), (OFF,), False, id="called-off-with-a-mistake"),
    ],
)
def test_a_doubt_of_the_record_closes_where_the_round_comes_to_nothing(
    mistakes: tuple[str, ...], rulings: tuple[AnyFact, ...], closes: bool
) -> None:
    played = evening(1, 4, mistakes=mistakes)
    facts = [fact for fact in played if not isinstance(fact, PaymentMade)]
    begins = next(at for at, fact in enumerate(facts) if isinstance(fact, RoundOpened))
    own = [
        msgspec.structs.replace(fact, seq=seq)
        for seq, fact in enumerate((*facts[begins:], *rulings), 1)
    ]
    doubt = Review("Did the round go as recorded? A line was lost.", (), ())
    raised = [ReviewRaised(round=1, review=doubt)]
    assert Answering(rules_for("kansas-shoe"), None, own, raised, ()).alike(0) is closes
