"""Rounds of the noise bench that no reader can settle: ``python -m lab.bench.unread``.

A card that lay face up and that no report of the camera names is known to nobody. Where the round
settles otherwise by other faces of it, only the payment could tell, and what a payment is judged by
may not rest on that payment. The truth is settled again with such cards unread. What is not final
then is the least that any reader of these observations leaves to a person.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from lab.bench.rates import film_rates
from models.cards import Card
from models.events import AnyFact, CardDealt, CardExposed, CardSighted, RoundOpened
from settlement.engine import Engine
from simulation.ideal import LEFT, OVERHEAD, RIGHT
from simulation.session import START_NS
from tests.sensors.noise import Heard, Plan, Rates, Timed, heard

SECOND = 1_000_000_000


def rounds_of(facts: Sequence[AnyFact]) -> Iterator[list[AnyFact]]:
    """Yield the facts of each round, from its opening to the next one's."""
    own: list[AnyFact] = []
    for fact in facts:
        if isinstance(fact, RoundOpened):
            if own:
                yield own
            own = []
        if own or isinstance(fact, RoundOpened):
            own.append(fact)
    if own:
        yield own


def named(spoilt: Sequence[Timed], since_ns: int, until_ns: int) -> Counter[Card]:
    """Return how many tracks named each face in a time, in doubt or not."""
    tracks = {
        (one.track, Card(max(one.candidates, key=lambda face: one.candidates[face])))
        for at, one in spoilt
        if since_ns <= at < until_ns and isinstance(one, CardSighted) and one.candidates
    }
    return Counter(card for _, card in tracks)


def unread(facts: Sequence[AnyFact], seen: Counter[Card]) -> list[AnyFact]:
    """Return a round's facts with the cards unread that nobody named."""
    left, found = seen.copy(), list[AnyFact]()
    for fact in facts:
        own = fact
        if isinstance(fact, CardDealt | CardExposed) and fact.card is not None:
            if left[fact.card] <= 0 and not seen[fact.card]:
                own = replace(fact, card=None)
            left[fact.card] -= 1
        found.append(own)
    return found


def counted(told: Heard) -> Counter[str]:
    """Count the rounds of a session, those with an unread card, and those not final without it."""
    counts: Counter[str] = Counter()
    opened = [fact.at or 0 for fact in told.facts if isinstance(fact, RoundOpened)]
    ends = [*opened[1:], 2**61]
    for facts, since, until in zip(rounds_of(told.facts), opened, ends, strict=True):
        counts["rounds"] += 1
        lacking = unread(facts, named(told.spoilt, START_NS + since, START_NS + until))
        if lacking == facts:
            continue
        counts["unread"] += 1
        engine = Engine(told.rules)
        results = [one for seq, fact in enumerate(lacking, 1) for one in engine.feed(fact, seq)]
        results += engine.finish()
        counts["open"] += any(result.status != "final" for result in results)
    return counts


def main() -> None:
    """Print one line for a rulebook."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rulebook", default="casino-single-deck")
    parser.add_argument("--times", type=float, default=1.0, help="factor of the stated noise")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--session", type=int, default=50)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--rates", choices=["assumed", "measured"], default="assumed")
    parser.add_argument("--cameras", type=int, choices=[1, 2, 3], default=1)
    asked = parser.parse_args()
    rates, film = Rates().times(asked.times), None
    if asked.rates == "measured":
        rates, film = rates.of_shoe(), film_rates("hand", "unknown").times(asked.times)
    plan = Plan(
        asked.rulebook,
        rates,
        asked.session,
        10,
        clinging=False,
        show=False,
        film=film,
        eyes=(OVERHEAD, LEFT, RIGHT)[: asked.cameras],
    )
    counts: Counter[str] = Counter()
    for seed in range(asked.first, asked.first + -(-asked.rounds // asked.session)):
        counts += counted(heard(seed, plan))
    share = counts["open"] / max(1, counts["rounds"])
    print(
        f"{asked.rulebook}, {asked.times:g} x noise: {counts['rounds']} rounds,"
        f" {counts['unread']} with a card that no report names,"
        f" {counts['open']} ({share:.2%}) of them not final without it"
    )


if __name__ == "__main__":
    main()
