"""Many rounds of a rule set through the engine, and how far the mean lies from the exact value."""

import hashlib
import math
import resource
from collections.abc import Iterable, Iterator
from functools import partial
from multiprocessing import get_context
from typing import Final

import msgspec

from models.events import AnyFact
from models.judgements import RoundResult
from models.rulebook import Rulebook
from settlement.engine import Engine
from tests.oracle.player import WAGER, Table
from tests.oracle.rule_sets import RuleSet, rulebook

BLOCK_ROUNDS: Final = 100_000
"""Rounds dealt from one seed: the unit that is played, reported and kept."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One block of rounds: the same block always has the same cards."""

    name: str
    digest: str
    """Of the rules and the strategy."""
    seed: int
    spots: int
    block: int
    rounds: int


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """What a block of rounds came to.

    Attributes:
        asked: which block it is.
        gain: the players' net, in cents.
        squares: the sum of each round's net squared.
        core_seconds: the processor time it took, dealing and settling.
    """

    asked: Asked
    gain: int
    squares: int
    core_seconds: float


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """A rule set's mean beside its exact value, in % of the first wager."""

    name: str
    rounds: int
    hands: int
    mean_pct: float
    error_pct: float
    exact_pct: float
    hands_a_core_second: float
    """Dealt, played and settled in a second of one core's time."""

    @property
    def errors_off(self) -> float:
        """How many standard errors the mean lies above the exact value."""
        return (self.mean_pct - self.exact_pct) / self.error_pct

    @property
    def holds(self) -> bool:
        """Whether the mean lies within three standard errors."""
        return abs(self.errors_off) <= 3


class RoundFaulted(Exception):
    """The engine found fault with legal play, or could not settle what it knew in full.

    Args:
        asked: the block in which it happened.
        facts: the round, from shuffle to close.
        results: what the engine made of it.
    """

    def __init__(self, asked: Asked, facts: tuple[AnyFact, ...], results: object) -> None:
        super().__init__(asked, facts, results)
        self.asked, self.facts, self.results = asked, facts, results

    def __str__(self) -> str:
        lines = [b"a round of legal play was not settled cleanly; its facts:"]
        lines += [msgspec.json.encode(fact) for fact in self.facts]
        lines += [b"and what came of them:", msgspec.json.encode(self.results)]
        return b"\n".join(lines).decode()


def blocks(rule_set: RuleSet, rounds: int, spots: int, seed: int) -> Iterator[Asked]:
    """Cut a number of rounds into blocks."""
    digest = _digest(rule_set)
    for block, start in enumerate(range(0, rounds, BLOCK_ROUNDS)):
        share = min(BLOCK_ROUNDS, rounds - start)
        yield Asked(
            name=rule_set.name, digest=digest, seed=seed, spots=spots, block=block, rounds=share
        )


def _digest(rule_set: RuleSet) -> str:
    """Tell rule sets apart that play differently, wherever they stand."""
    plain = msgspec.structs.replace(rule_set, line=0, ev_pct_TD=0.0)
    return hashlib.sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()[:16]


def play(rule_set: RuleSet, asked: Asked, rules: Rulebook | None = None) -> Block:
    """Play one block of rounds through the engine.

    Args:
        rule_set: the game and its strategy.
        asked: which block.
        rules: another rulebook to settle by than the rule set's own.

    Raises:
        RoundFaulted: the engine did not settle a round, or found a violation in it.
    """
    table = Table(rule_set, asked.spots, f"{asked.seed}:{asked.name}:{asked.block}")
    engine = Engine(rulebook(rule_set) if rules is None else rules)
    began = _core_seconds()
    gain = squares = 0
    for _ in range(asked.rounds):
        facts = table.deal()
        results = _fed(engine, facts)
        if len(results) != 1 or results[0].violations or results[0].net is None:
            raise RoundFaulted(asked, tuple(facts), results)
        net = -results[0].net
        gain += net
        squares += net * net
    return Block(asked=asked, gain=gain, squares=squares, core_seconds=_core_seconds() - began)


def _fed(engine: Engine, facts: list[AnyFact]) -> list[RoundResult]:
    results: list[RoundResult] = []
    for fact in facts:
        closed = engine.feed(fact)
        if closed:
            results.extend(closed)
    return results


def _core_seconds() -> float:
    """Return the processor time used so far: other work on the machine does not count."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def played(rule_set: RuleSet, asked: Iterable[Asked], jobs: int) -> Iterator[Block]:
    """Play blocks, ``jobs`` at a time, each in a process of its own; yield them as they end.

    Raises:
        RoundFaulted: see :func:`play`.
    """
    if jobs == 1:
        for block in asked:
            yield play(rule_set, block)
        return
    with get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(partial(play, rule_set), asked)


def measured(rule_set: RuleSet, blocks_: Iterable[Block]) -> Measured:
    """Sum blocks of one rule set up.

    The spots of a round share their dealer, so that their gains hang together; rounds do not.
    The mean is therefore over spots, its standard error over rounds. By exchangeability of the
    cards of a fresh shoe what one spot expects does not depend on how many others play, as long
    as none of them decides by what it sees of the others.
    """
    parts = tuple(blocks_)
    rounds = sum(part.asked.rounds for part in parts)
    hands = sum(part.asked.rounds * part.asked.spots for part in parts)
    staked = WAGER * hands / rounds
    mean = sum(part.gain for part in parts) / rounds
    spread = math.sqrt(sum(part.squares for part in parts) / rounds - mean * mean)
    return Measured(
        name=rule_set.name,
        rounds=rounds,
        hands=hands,
        mean_pct=100 * mean / staked,
        error_pct=100 * spread / math.sqrt(rounds) / staked,
        exact_pct=rule_set.ev_pct_TD,
        hands_a_core_second=hands / sum(part.core_seconds for part in parts),
    )
