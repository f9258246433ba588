"""Recorded sessions with a card that no sensor could read: a person must decide what it was."""

import gzip
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from models.cards import Card
from models.decode import from_toml
from models.events import AnyObservation, CardSighted, ReviewResolved, ShoeCardRead
from models.judgements import ReviewRaised
from models.layout import TableLayout
from server.house.rulebooks import rules_for
from server.process.stopwatch import Stopwatch
from server.table.pipeline import Pipeline, Record
from server.table.resolving import decide_closed
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from stream import library
from stream.journal import Journal
from stream.reading import read_journal
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


DEMO = Path(__file__).parent / "service/recordings/demo.events.jsonl.gz"
READ = 28
"""The shoe's cards that were heard of the demo session: the capture was cut in round 4."""


@cache
def without_shoe() -> tuple[AnyObservation, ...]:
    """Return what was observed of the demo session until its shoe fell silent, and after it."""
    events = map(msgspec.json.decode, gzip.decompress(DEMO.read_bytes()).splitlines())
    known = {one.__struct_config__.tag for one in AnyObservation.__args__}
    seen = [
        msgspec.convert(one | {"seq": None}, AnyObservation)
        for one in events
        if one["type"] in known
    ]
    drawn = [one for one in seen if isinstance(one, ShoeCardRead)]
    lost = set(map(id, drawn[READ:]))
    return tuple(one for one in seen if id(one) not in lost)


def play_without_shoe(journal: Record, name: str) -> Pipeline:
    """Play that session: rounds 4 and 5 wait for a person, one payment is suspected wrong."""
    return played_again(journal, without_shoe(), name)


def played_again(
    journal: Record, observations: Iterable[AnyObservation], name: str = "BJ-07"
) -> Pipeline:
    """Play observations of one session to its end, then people's decisions among them."""
    played = table(journal, name)
    now_ns, decisions = 0, []
    for one in observations:
        if isinstance(one, ReviewResolved):
            decisions.append(replace(one, seq=None))
            continue
        now_ns = max(now_ns, one.at or 0)
        played.observe((replace(one, seq=None),), now_ns)
    played.finish()
    for decision in decisions:
        played.observe((decision,), now_ns)
    return played


def let_stand(path: Path) -> None:
    """Decide every item of a closed journal: the record is right."""
    rounds = [one.round for one in read_journal(path) if isinstance(one, ReviewRaised)]
    for at, number in enumerate(rounds):
        item = rounds[:at].count(number)
        decision = ReviewResolved(source="console:ann", round=number, item=item, decision="stands")
        decide_closed(path, decision)
