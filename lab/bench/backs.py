"""Cards that come to lie face down in hand-dealt games: ``python -m lab.bench.backs``.

Films sessions of the hand-dealt rulebooks, each with a shipped deck that no network learnt from and
a felt, camera and light of its own, and holds what the watcher says against what was performed:
how many of the cards that came to lie face down were seen, and how many sightings there were of
cards that did not come.
"""

import argparse
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

from lab.bench.record import NETWORKS, Claim, add_option, record
from lab.bench.watching import watch
from simulation.session import Settings, prepare, simulate
from tests.vision.scoring import score
from vision.reader import Reader
from vision.scenes.decks import deck_ids
from vision.scenes.look import varied_look

RULEBOOKS: Final = ("casino-single-deck", "pitch-double-deck", "casino-double-deck")
"""The rulebooks under which the players' cards are dealt face down."""
SEEN, NOTHING_A_ROUND = 98.0, 0.1
"""Per cent of the cards that are to be seen, and the sightings of nothing allowed in a round."""


def main() -> None:
    """Film, watch, compare, print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--seeds", type=int, default=4, help="sessions of each rulebook")
    ask.add_argument("--first", type=int, default=9101)
    ask.add_argument("--rounds", type=int, default=2)
    ask.add_argument("--keep", type=Path, help="keep the films here, and use those that are")
    ask.add_argument("--notes", action="store_true", help="print every miss")
    add_option(ask)
    asked = ask.parse_args()
    reader, total = Reader.load(), Counter[str]()
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(asked.seeds * len(RULEBOOKS)):
            seed, rulebook = asked.first + number, RULEBOOKS[number % len(RULEBOOKS)]
            look = varied_look(seed, decks=deck_ids())
            wanted = Settings(seed=seed, rounds=asked.rounds, rulebook=rulebook, look=look)
            scene = prepare(wanted)
            folder = (asked.keep or Path(scratch)) / f"{rulebook}-{seed}-{asked.rounds}"
            if not folder.exists():
                simulate(wanted, folder)
            events, _, shows = watch(folder, scene, reader, 1e9)
            found = score(events, scene.staged.performance, scene, shows)
            total += found.counts
            counts = ", ".join(f"{kind} {n}" for kind, n in sorted(found.counts.items()) if n)
            print(f"seed {seed}, {rulebook}, {look.deck}: {counts}", flush=True)
            for note in found.notes if asked.notes else ():
                print(f"    {note}")
    rounds = asked.seeds * len(RULEBOOKS) * asked.rounds
    down = total["seen down"] + total["missed down"]
    print(f"{rounds} rounds: {total['seen down']} of {down} cards face down seen")
    print(f"{total['spurious']} sightings of nothing, {total['first WRONG']} cards called wrongly")
    share = round(100 * total["seen down"] / max(1, down), 1)
    if asked.record:
        claims = (
            Claim("cards face down seen", share, "%", of=down, least=SEEN),
            Claim("sightings of nothing a round", total["spurious"] / rounds, most=NOTHING_A_ROUND),
            Claim("cards called wrongly", total["first WRONG"], most=0),
        )
        record("backs", claims, networks=NETWORKS)


if __name__ == "__main__":
    main()
