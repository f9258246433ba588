"""Tables for the tests of this folder: settings without a video, and what they settle to."""

from functools import cache

from models.judgements import RoundResult, RoundSettled
from models.rulebook import Rulebook
from simulation.house import house
from simulation.session import Scene, Settings, prepare, truth
from stream import library

RULEBOOKS = library.rulebook_ids()
LAYOUTS = library.layout_ids()


@cache
def rules_of(rulebook: str) -> Rulebook:
    return house(rulebook).rules


def dealt(settings: Settings) -> Scene:
    return prepare(settings)


def results(settings: Settings) -> list[RoundResult]:
    events = truth(prepare(settings), settings)
    return [event.result for event in events if isinstance(event, RoundSettled)]
