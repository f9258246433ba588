"""Noisy sessions cut off and started again.

A table receives a session with noises and late observations drawn by a seed, in uneven time steps.
Its journal is then cut off after an entry, as a kill leaves it. A start processes it again, from
the last rest if there is one, else from the beginning.
"""

from dataclasses import dataclass
from dataclasses import replace as with_
from random import Random
from typing import Final

from msgspec.structs import replace

from models.errors import PitwatchError
from models.events import AnyObservation
from models.judgements import AnyEvent
from server.table.rest import Rest
from server.table.resume import Past, past_of, recall
from stream.journal import Journal
from tests.server.table.test_going_on import AFTER_NS, Watched, known
from tests.server.table.test_run import concluded
from tests.settlement import noise
from tests.settlement.sessions import Session, session

MS: Final = 1_000_000
OF_SHOES: Final = (
    noise.shoe_misreads,
    noise.shoe_misses_a_number,
    noise.shoe_frames_break,
    noise.shoe_misses_unnoticed,
    noise.shoe_repeats,
)
OF_ANY: Final = (
    noise.line_noise,
    noise.camera_misreads,
    noise.camera_half_reads,
    noise.camera_cannot_read,
    noise.camera_is_late,
    noise.camera_misses,
    noise.camera_sees_ghosts,
    noise.camera_sees_double,
    noise.cards_not_seen_going,
    noise.plates_break,
)
LATE: Final = (
    (0.0, 1, 2),
    (0.05, 20 * MS, 1_000 * MS),
    (0.3, 20 * MS, 1_000 * MS),
    (0.1, 500 * MS, 5_000 * MS),
    (1.0, 1 * MS, 400 * MS),
)
"""Share of the observations that come late, and by how many nanoseconds: from and to."""
LONGEST_STEPS_NS: Final = (150 * MS, 400 * MS, 900 * MS)
SHOE: Final = "kansas-shoe"
BY_HAND: Final = "casino-single-deck"


@dataclass(frozen=True)
class Played:
    """A session as a table received it."""

    session: Session
    events: tuple[AnyEvent, ...]
    """The whole journal."""
    about: str


def played(seed: int) -> Played:
    """Deal, disturb and journal the session of a seed."""
    chance = Random(f"cut {seed}")
    rules = chance.choice([SHOE, SHOE, BY_HAND])
    is_shoe = rules == SHOE
    knobs = ("decks=2",) if is_shoe else ()
    dealt = session(rules, seed, rounds=8 if is_shoe else 4, spots=(1, 3, 5), knobs=knobs)
    observations = list(dealt.heard)
    used = chance.sample([*OF_SHOES, *OF_ANY], chance.randrange(0, 5))
    used = [one for one in used if is_shoe or one not in OF_SHOES]
    for disturb in used:
        observations = disturb(observations, chance)
    late, longest_ns = chance.choice(LATE), chance.choice(LONGEST_STEPS_NS)
    disturbed = with_(dealt, heard=tuple(noise.renumbered(observations)))
    names = ", ".join(one.__name__ for one in used) or "no noise"
    events = tuple(_journalled(disturbed, late, longest_ns, chance))
    return Played(disturbed, events, f"{rules}, {names}, late {late}, steps to {longest_ns}")


def _journalled(
    disturbed: Session, late: tuple[float, int, int], longest_ns: int, chance: Random
) -> list[AnyEvent]:
    share, least_ns, most_ns = late
    coming: list[tuple[int, int, AnyObservation]] = []
    for at_ns, one in disturbed.heard:
        is_late = chance.random() < share
        coming.append((at_ns + (chance.randrange(least_ns, most_ns) if is_late else 0), at_ns, one))
    coming.sort(key=lambda came: came[0])
    with Journal.in_memory() as journal:
        table = Watched(journal, disturbed)
        for comes_ns, at_ns, one in coming:
            while table.now_ns < comes_ns:
                table.now_ns = min(comes_ns, table.now_ns + chance.randrange(MS, longest_ns))
                table.pipeline.observe((), table.now_ns)
            table.pipeline.observe((replace(one, seq=None),), at_ns)
        table.wait(table.now_ns + AFTER_NS)
        return known(journal)


def started_again(whole: Played, cut: int) -> str:
    """Start on the first ``cut`` entries; return what was wrong, empty where nothing was."""
    with Journal.in_memory() as journal:
        journal.append_all(replace(one, seq=None) for one in whole.events[:cut])
        past = past_of(journal)
        refused = ""
        for rest in (past.rest, None) if past.rest is not None else (None,):
            refused = _recalled(journal, whole, past, rest)
            if not refused:
                break
        if refused:
            return f"refused: {refused}"
        found, due = concluded(known(journal)), concluded(whole.events)
        return "" if found == due[: len(found)] else "it came to something else"


def _recalled(journal: Journal, whole: Played, past: Past, rest: Rest | None) -> str:
    table = Watched(journal, whole.session, rest)
    try:
        recall(past, table.pipeline, table.record, rest)
    except PitwatchError as fault:
        return fault.what
    return ""
