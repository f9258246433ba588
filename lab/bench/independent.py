"""Shoe games filmed by another renderer: ``python -m lab.bench.independent``.

Films sessions with Blender (`lab/independent`; `PITWATCH_BLENDER` names it), each with a deck
that no network learnt from and a room of its own: cloth, lamps, camera, lens, people, sensor, a
stream of 4 Mbit/s. Replays them from pixels and bytes and counts the rounds that came out exactly,
those left to a person and those wrong; and of the cards that came to lie on the felt those that
were seen, called rightly, left in doubt and called wrongly, and sightings of nothing. What was
rendered is kept in ``.cache/independent``: a run that is interrupted goes on, and a second one only
replays.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Final

import msgspec

from lab.bench.record import NETWORKS, Claim, add_option, record
from lab.bench.sessions import replayed, report_lines
from lab.independent.film import FPS
from lab.independent.renderer import CACHE
from lab.independent.session import Wanted, filmed_session
from models.events import CardGone, CardSighted
from server.table.comparison import Comparison, tally
from server.table.replay import Replayed
from simulation.session import START_NS, Scene
from tests.vision.scoring import Event, Score, score
from vision.scenes.decks import deck_ids

SPOTS: Final = ((2, 4), (1, 3), (3, 5), (1, 4), (2, 5), (3, 4))
"""Who plays, by the number of the room: its hands are rendered once."""
EXACT: Final = 95.0  # per cent of the rounds


def sessions(rooms: int, first: int, each: int, rounds: int) -> Iterator[Wanted]:
    """List the sessions: every room once, then every room again with another deck and cards."""
    decks = deck_ids()
    for number in range(rooms * each):
        turn, room = divmod(number, rooms)
        deck = decks[(room + turn) % len(decks)]
        yield Wanted(first + room, 7000 + 100 * room + turn, deck, rounds, SPOTS[room % len(SPOTS)])


def seen(found: Replayed, scene: Scene) -> Score:
    """Hold the camera's reports against the cards that came to lie on the felt."""
    events: list[tuple[int, Event]] = []
    for event in found.events:
        if isinstance(event, CardSighted | CardGone):
            told = round((event.frame or 0) * 1e9 / FPS)
            here = msgspec.structs.replace(event, at=(event.at or START_NS) - START_NS)
            events.append((told, here))
    return score(events, scene.staged.performance, scene)


def _tell(name: str, number: int, of: int) -> None:
    if number % 50 == 0 or number == of:
        print(f"    {name}: {number} of {of} parts rendered", flush=True)


def main() -> None:
    """Film, replay, compare, print; leave with 1 where a round was wrong without a flag."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rooms", type=int, default=6)
    parser.add_argument("--first", type=int, default=1, help="the first room's seed")
    parser.add_argument("--each", type=int, default=2, help="sessions in each room")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--filmed", action="store_true", help="only sessions filmed before")
    parser.add_argument("--notes", action="store_true", help="print every miss")
    add_option(parser)
    asked = parser.parse_args()
    every, total = list[Comparison](), Counter[str]()
    for wanted in sessions(asked.rooms, asked.first, asked.each, asked.rounds):
        if asked.filmed and not (CACHE / wanted.name).exists():
            continue
        folder = filmed_session(wanted, CACHE, partial(_tell, wanted.name))
        found = replayed(folder)
        comparisons = found.comparisons or ()
        cards = seen(found, wanted.scene()[1])
        every += comparisons
        total += cards.counts
        counted = tally(comparisons)
        print(
            f"{wanted.name}: {counted.exact} exact, {counted.review} review, {counted.wrong} wrong;"
            f" {', '.join(f'{kind} {n}' for kind, n in sorted(cards.counts.items()) if n)}",
            *report_lines(found),
            *(f"    {note}" for note in cards.notes if asked.notes),
            sep="\n",
            flush=True,
        )
    kept = list(claims(every, total))
    if asked.record:
        record("independent", kept, networks=NETWORKS)
    sys.exit(1 if tally(every).wrong else 0)


def claims(every: list[Comparison], total: Counter[str]) -> Iterator[Claim]:
    """Print the sums, and yield them."""
    counted = tally(every)
    share = round(100 * counted.exact / max(1, counted.rounds), 1)
    print(
        f"{counted.rounds} rounds: {share}% exact, {counted.review} review, {counted.wrong} wrong"
    )
    yield Claim("rounds settled exactly without review", share, "%", of=counted.rounds, least=EXACT)
    yield Claim("rounds left to a person", counted.review, of=counted.rounds)
    yield Claim("rounds wrong without a flag", counted.wrong, of=counted.rounds, most=0)
    up = total["final right"] + total["final doubt"] + total["final WRONG"]
    down = total["seen down"] + total["missed down"]
    missed_up = total["missed"] - total["missed down"]
    print(
        f"{up + missed_up} cards face up: {total['final right']} called rightly,"
        f" {total['final doubt']} doubtful, {total['final WRONG']} wrong, {missed_up} not seen;"
        f" {total['seen down']} of {down} backs; {total['spurious']} sightings of nothing"
    )
    yield Claim("cards face up called rightly", total["final right"], of=up + missed_up)
    yield Claim("cards face up left in doubt", total["final doubt"], of=up + missed_up)
    yield Claim("cards face up called wrongly", total["final WRONG"], of=up + missed_up, most=0)
    yield Claim("cards face up not seen", missed_up, of=up + missed_up)
    yield Claim("cards face down seen", total["seen down"], of=down)
    yield Claim("sightings of nothing", total["spurious"])


if __name__ == "__main__":
    main()
