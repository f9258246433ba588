"""Recorded sessions with a card that no sensor could read: a person must decide what it was."""

from collections.abc import Iterator

from msgspec.structs import replace

from models.cards import Card
from models.decode import from_toml
from models.events import AnyObservation, CardSighted, ShoeCardRead
from models.layout import TableLayout
from server.house.rulebooks import rules_for
from server.process.stopwatch import Stopwatch
from server.table.pipeline import Pipeline, Record
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from stream import library
from stream.journal import Journal
from tests.golden.sessions import Heard, heard
from tests.settlement.sessions import session

DRAW, TRACK = 2, 20
"""The card that nobody could read: the second of ``plain``, dealt to spot 3."""
TRUE, FALSE = Card("6H"), Card("8H")


def blinded() -> Iterator[Heard]:
    """Yield the observations of session ``plain`` when neither sensor can read that card."""
    for one in heard("plain"):
        yield Heard(one.now_ns, _blind(one.observation))


def _blind(seen: AnyObservation) -> AnyObservation:
    if isinstance(seen, ShoeCardRead) and seen.draw == DRAW:
        return replace(seen, card=None)
    if isinstance(seen, CardSighted) and seen.track == TRACK and seen.face == "up":
        doubt = {str(TRUE): 0.5, str(FALSE): 0.5}
        return replace(seen, card=None, candidates=doubt, confidence=0.5)
    return seen


def table(journal: Record, name: str = "BJ-01", *, kept: int | None = None) -> Pipeline:
    """Return a table under the rules that the recorded sessions were dealt by."""
    rules = rules_for("kansas-shoe")
    layout = from_toml(library.layout_text("five-spots"), TableLayout, "five-spots")
    reconciler = Reckoning(rules, layout)
    return Pipeline(name, journal, reconciler, Engine(rules), Stopwatch(lambda: 0), kept=kept)


def play_between_accounts(journal: Journal, name: str) -> None:
    """Play a round dealt by hand of which two accounts remain: a win unpaid, or a card misread."""
    played = session(
        "casino-single-deck",
        1,
        rounds=1,
        spots=(1, 3, 4),
        mistake="payment_missing",
        looks_ns=(1_000_000_000, 3_000_000_000),
    )
    reading = Reckoning(played.rules, played.layout, "pitch")
    engine = Engine(played.rules)
    pipeline = Pipeline(name, journal, reading, engine, Stopwatch(lambda: 0))
    for at, one in played.heard:
        pipeline.observe((one,), at)
    pipeline.finish()


def play_blinded(journal: Journal, name: str = "BJ-01", *, kept: int | None = None) -> Pipeline:
    """Play the session through and return the table as it then stands."""
    pipeline = table(journal, name, kept=kept)
    for one in blinded():
        pipeline.observe((one.observation,), one.now_ns)
    pipeline.finish()
    return pipeline
