"""Simulated sessions, their perfect observations, and how a reconciled one compares."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from models.events import AnyFact, AnyObservation
from models.judgements import ReviewRaised, RoundResult
from models.layout import TableLayout
from models.rulebook import Rulebook
from settlement.engine import Engine
from settlement.reckoning import Dealing, Reckoning
from settlement.rulebooks import overridden
from simulation.dealing import deal_session, is_shoe_game
from simulation.ideal import ideal_observations
from simulation.staging import stage
from simulation.steps import Step
from simulation.table import Table
from stream.library import layout_text
from tests.settlement.felt_scene import START_NS, rulebook


@dataclass(frozen=True)
class Session:
    """One session as it happened, and as perfect sensors told of it."""

    rules: Rulebook
    layout: TableLayout
    truth: tuple[AnyFact, ...]
    heard: tuple[tuple[int, AnyObservation], ...]


@dataclass(frozen=True)
class Compared:
    """Rounds against the truth: wrong ones differ and nobody was asked."""

    exact: int
    asked: tuple[str, ...]
    wrong: tuple[str, ...]


@cache
def session(
    rules: str,
    seed: int,
    *,
    rounds: int = 2,
    spots: tuple[int, ...] = (1, 2, 3, 4, 5),
    felt: str = "five-spots",
    mistake: str = "",
    keeps_tracks: bool = True,
    knobs: tuple[str, ...] = (),
    looks_ns: tuple[int, ...] = (),
) -> Session:
    """Deal a session and listen to it."""
    book = overridden(rulebook(rules), knobs)
    table = Table(book, spots, seed)
    steps = deal_session(table, rounds, seed, mistakes=[mistake] if mistake else [])
    return listened(book, steps, seed, felt=felt, keeps_tracks=keeps_tracks, looks_ns=looks_ns)


def listened(
    book: Rulebook,
    steps: Iterable[Step],
    seed: int,
    *,
    felt: str = "five-spots",
    keeps_tracks: bool = True,
    looks_ns: tuple[int, ...] = (),
) -> Session:
    """Stage what was dealt, and listen to it."""
    layout = msgspec.toml.decode(layout_text(felt), type=TableLayout)
    staged = stage(steps, layout, seed, shoe=is_shoe_game(book))
    heard = ideal_observations(
        staged,
        layout,
        start_ns=START_NS,
        table="T",
        seed=seed,
        keeps_tracks=keeps_tracks,
        looks_ns=looks_ns,
    )
    return Session(book, layout, staged.facts, heard)


def reconciled(
    played: Session, heard: Sequence[tuple[int, AnyObservation]]
) -> tuple[AnyFact | ReviewRaised, ...]:
    """Return what is made of what was heard."""
    dealing: Dealing = "shoe" if is_shoe_game(played.rules) else "pitch"
    table = Reckoning(played.rules, played.layout, dealing)
    said = [fact for at, observation in heard for fact in table.feed(observation, at)]
    return (*said, *table.finish())


def compare(played: Session, said: Iterable[AnyFact | ReviewRaised]) -> Compared:
    """Settle truth and reconciled facts by the same engine, and compare the rounds."""
    said = tuple(said)
    reviews = [item for item in said if isinstance(item, ReviewRaised)]
    facts = [item for item in said if not isinstance(item, ReviewRaised)]
    due, found = settled(played.rules, played.truth), settled(played.rules, facts)
    asked = {item.round: item.review.what for item in reviews}
    numbers = sorted({*due, *found})
    same = [number for number in numbers if due.get(number) == found.get(number)]
    return Compared(
        exact=sum(number not in asked for number in same),
        asked=tuple(f"round {n}: {asked[n]}" for n in numbers if n in asked),
        wrong=tuple(
            f"round {n}: due {due.get(n)}, found {found.get(n)}"
            for n in numbers
            if n not in same and n not in asked
        ),
    )


def settled(rules: Rulebook, facts: Iterable[AnyFact]) -> dict[int, dict[str, Any]]:
    """Return the rounds that an engine makes of facts, by their numbers."""
    engine = Engine(rules)
    results = [result for seq, fact in enumerate(facts, 1) for result in engine.feed(fact, seq)]
    return {result.round: essence(result) for result in (*results, *engine.finish())}


def essence(result: RoundResult) -> dict[str, Any]:
    """Return what two accounts of one round must agree on."""
    shown: dict[str, Any] = msgspec.to_builtins(result)
    del shown["rulebook"]
    for spot in shown["spots"]:
        for hand in spot["hands"]:
            del hand["clauses"]
    shown["violations"] = sorted(
        (found["code"], found["spot"] or 0, found["hand"] or 0) for found in shown["violations"]
    )
    return shown
