"""What a round without end costs to settle: ``python -m lab.bench.long_rounds``.

A broken sensor or a hostile file can make one round of any length. Each line is a round that
repeats one thing, settled at a quarter of the length and at all of it: four times the facts may
cost about four times the time, never sixteen times.
"""

import argparse
from collections.abc import Callable, Mapping
from itertools import cycle, islice
from typing import Final

from models.cards import Card
from models.events import (
    AnyFact,
    CardBoxed,
    CardBurned,
    CardDealt,
    CardExposed,
    PaymentMade,
    PlayerActed,
    PlayerLeft,
    PlayerSeated,
    RoundClosed,
    RoundOpened,
    TrayCounted,
    WagerPlaced,
    WagerRemoved,
)
from settlement import COMPILED
from settlement.engine import Engine
from simulation.house import house
from stream.clock import elapsed_ns

ACE: Final = Card("AS")
KING: Final = Card("KH")
EIGHT: Final = Card("8D")

SHAPES: Final[Mapping[str, tuple[AnyFact, ...]]] = {
    "cards to one hand": (CardDealt(to=1, card=ACE),),
    "unread cards to one hand": (CardDealt(to=1, card=None),),
    "cards to the dealer": (CardDealt(to="dealer", card=ACE),),
    "unread cards to the dealer": (CardDealt(to="dealer", card=None),),
    "cards dealt down, others turned up": (
        CardDealt(to=1, card=None, face="down"),
        CardExposed(to=1, card=KING),
    ),
    "splits": (PlayerActed(spot=1, action="split"), CardDealt(to=1, card=EIGHT)),
    "decisions": (PlayerActed(spot=1, action="hit"), PlayerActed(spot=1, action="double")),
    "chips for a split": (WagerPlaced(spot=1, hand=1, kind="split", amount=500),),
    "wagers laid and taken back": (
        WagerPlaced(spot=1, kind="main", amount=500),
        WagerRemoved(spot=1, kind="main", amount=500),
    ),
    "payments": (PaymentMade(spot=1, amount=500), PaymentMade(spot=2, amount=500)),
    "boxed and burned cards": (CardBoxed(card=ACE), CardBurned(card=ACE)),
    "cards to a hand that is not there": (CardDealt(to=5, hand=3, card=ACE),),
    "counts of the tray": (TrayCounted(amount=500),),
    "players who come and go": (
        PlayerSeated(player="A", spots=(1,)),
        PlayerLeft(player="A", spots=(1,)),
    ),
}


def begun() -> list[AnyFact]:
    """Return a round up to the first decision, on a pair of eights."""
    return [
        RoundOpened(round=1),
        WagerPlaced(spot=1, kind="main", amount=1000),
        CardDealt(to=1, card=EIGHT),
        CardDealt(to="dealer", card=Card("TH")),
        CardDealt(to=1, card=Card("8S")),
        CardDealt(to="dealer", card=Card("7H"), face="down"),
    ]


def settled_ms(shape: tuple[AnyFact, ...], facts: int, clock_ns: Callable[[], int]) -> float:
    """Return how long a round of this many facts takes to settle."""
    record = [*begun(), *islice(cycle(shape), facts), RoundClosed()]
    engine = Engine(house("kansas-shoe").rules)
    began = clock_ns()
    for line, fact in enumerate(record, start=1):
        engine.feed(fact, line)
    engine.finish()
    return (clock_ns() - began) / 1e6


def main() -> None:
    """Print a line a shape."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=20_000, help="of the longer round")
    facts = parser.parse_args().facts
    print(f"{'compiled' if COMPILED else 'interpreted'}; {facts // 4:,} and {facts:,} facts")
    print("| a round of | ms | ms | times |\n| --- | --- | --- | --- |")
    for name, shape in SHAPES.items():
        short = min(settled_ms(shape, facts // 4, elapsed_ns) for _ in range(3))
        whole = min(settled_ms(shape, facts, elapsed_ns) for _ in range(3))
        print(f"| {name} | {short:.1f} | {whole:.1f} | {whole / short:.1f} |", flush=True)


if __name__ == "__main__":
    main()
