"""How many filmed rounds come out right: ``python -m lab.bench.sessions --seeds 20``.

Films sessions of fresh seeds, each with its own deck, felt, camera and light, replays them from
pixels and bytes, and counts the rounds that came out exactly, those left to a person, and those
settled wrongly without a flag (of which there must be none). ``--deck known`` reads by the deck's
profile, learnt from snapshots of it. ``--mistake`` has one round of each film hold that mistake.
Players lay the side bet of ``--side-bet``.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

from lab.bench.record import NETWORKS, Claim, add_option, record
from lab.bench.watching import network_reader
from server.process.stopwatch import Stopwatch
from server.table.comparison import Comparison, tally
from server.table.replay import Replayed, ReplayOptions, replay
from simulation.session import Settings, simulate
from stream.clock import elapsed_ns
from stream.journal import Journal
from vision.reader import Reader
from vision.scenes.decks import deck_ids
from vision.scenes.look import Look, varied_look
from vision.sightings import CardReader


@cache
def knowing(deck: str) -> CardReader:
    """Return the shipped reader with the profile of a deck, learnt from snapshots of it."""
    return network_reader(deck, "own")


def replayed(folder: Path, load_reader: Callable[[], CardReader] = Reader.load) -> Replayed:
    """Replay a filmed session."""
    with Journal.in_memory() as journal:
        return replay(ReplayOptions(folder), journal, load_reader, Stopwatch(elapsed_ns))


def filmed(settings: Settings, folder: Path) -> Path:
    """Film a session, unless it is there already."""
    return folder if folder.exists() else simulate(settings, folder)


def report_lines(found: Replayed) -> Iterator[str]:
    """Say what became of each round that was not exact, and what a person is asked."""
    asked = {one.round: [review.what for review in one.reviews or ()] for one in found.rounds}
    for one in found.comparisons or ():
        if one.verdict != "exact":
            yield f"    round {one.round} {one.verdict}: {'; '.join(one.differences[:4])}"
            yield from (f"        asked: {what}" for what in asked.get(one.round, []))


def main() -> None:
    """Run the seeds and leave with 1 where a round was settled wrongly without a flag."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1001)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rulebook", default="kansas-shoe")
    parser.add_argument("--mistake", action="append", default=[])
    parser.add_argument("--side-bet", default="")
    parser.add_argument("--deck", choices=["unknown", "known"], default="unknown")
    parser.add_argument("--plain", action="store_true", help="the usual look for all")
    parser.add_argument("--keep", type=Path, help="keep the films here, and use those that are")
    add_option(parser)
    arguments = parser.parse_args()
    mistakes = tuple(arguments.mistake)
    every: list[Comparison] = []
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(arguments.first, arguments.first + arguments.seeds):
            look = Look() if arguments.plain else varied_look(seed, decks=deck_ids())
            name = "-".join([arguments.rulebook, str(seed), str(arguments.rounds), *mistakes])
            name += arguments.side_bet
            wanted = Settings(
                rulebook=arguments.rulebook,
                rounds=arguments.rounds,
                seed=seed,
                look=look,
                mistakes=mistakes,
                side_bet=arguments.side_bet,
            )
            folder = filmed(wanted, (arguments.keep or Path(scratch)) / name)
            known = arguments.deck == "known"
            found = replayed(folder, partial(knowing, look.deck) if known else Reader.load)
            one = found.comparisons or ()
            every += one
            counted = tally(one)
            print(
                f"seed {seed}, {look.deck}: {counted.exact} exact, {counted.review} review,"
                f" {counted.wrong} wrong",
                *report_lines(found),
                sep="\n",
                flush=True,
            )
    counted = tally(every)
    share = counted.exact / max(counted.rounds, 1)
    print(
        f"{counted.rounds} rounds: {counted.exact} exact ({share:.0%} without any review),"
        f" {counted.review} for review, {counted.wrong} wrong"
    )
    if arguments.record:
        claims = (
            Claim("rounds settled exactly without review", counted.exact, of=counted.rounds),
            Claim("rounds left to a person", counted.review, of=counted.rounds),
            Claim("rounds wrong without a flag", counted.wrong, of=counted.rounds, most=0),
        )
        record("sessions", claims, networks=NETWORKS)
    sys.exit(1 if counted.wrong else 0)


if __name__ == "__main__":
    main()
