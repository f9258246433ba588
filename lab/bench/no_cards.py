"""Pictures that hold no card: ``python -m lab.bench.no_cards``.

Reads what ``tests/vision/cardless.py`` draws as ``pitwatch read`` does. Counted are cards
called, cards in doubt and backs.
"""

import argparse
from collections import Counter
from typing import Final

import numpy as np

from lab.bench.record import NETWORKS, Claim, add_option, record
from tests.vision.cardless import KINDS, photographed
from vision.reader import Reader

DOUBTS_A_PICTURE: Final = 0.1


def main() -> None:
    """Draw, read, count."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--pictures", type=int, default=20, help="of each kind")
    ask.add_argument("--seed", type=int, default=1)
    add_option(ask)
    asked = ask.parse_args()
    reader, total = Reader.load(), Counter[str]()
    for kind, draw in KINDS.items():
        found = Counter[str]()
        for number in range(asked.pictures):
            rng = np.random.default_rng([asked.seed, number])
            seen = reader.read(photographed(rng, draw(rng)), card_width_px=None)
            sure = seen.card_p.max(1, initial=0.0) >= reader.confident_p
            found["called"] += int(sure.sum())
            found["in doubt"] += int((seen.face_up & ~sure).sum())
            found["backs"] += int((~seen.face_up).sum())
        print(f"{kind}: {asked.pictures} pictures, {dict(found)}", flush=True)
        total += found
    pictures = asked.pictures * len(KINDS)
    print(f"all: {pictures} pictures, {dict(total)}")
    if asked.record:
        doubts = round(total["in doubt"] / pictures, 3)
        claims = (
            Claim("cards called", total["called"], most=0),
            Claim("cards in doubt a picture", doubts, most=DOUBTS_A_PICTURE),
            Claim("backs a picture", round(total["backs"] / pictures, 3)),
        )
        record("no_cards", claims, networks=NETWORKS)


if __name__ == "__main__":
    main()
