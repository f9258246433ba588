"""A whole session as a script: rounds from a seed, with the requested scenes and mistakes."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final, TypeAlias

from models.cards import RANKS
from models.errors import OperatorError
from models.rulebook import Rulebook
from simulation.mistakes import mistake_for
from simulation.round import Round
from simulation.scenes import scene_for
from simulation.steps import Step
from simulation.table import Table

Play: TypeAlias = Callable[[Table], None]
"""Plays a round, or the few rounds of a scene."""

SCENE_RANKS: Final = 4
"""A scene starts a fresh shoe where one rank has fewer cards left.

Measured: of 1,248 sessions with one mistake in each of 20 rounds 489 held others, or fewer, without
this rule; 7 with 3, and 3 with 4 or 6.
"""


def deal_session(
    table: Table,
    rounds: int,
    seed: int,
    *,
    mistakes: Sequence[str] = (),
    include: Sequence[str] = (),
) -> tuple[Step, ...]:
    """Deal ``rounds`` rounds, each scene and each mistake in a round of its own.

    Args:
        table: a table at which nothing has happened yet.
        rounds: the number of rounds, including scenes and mistakes.
        seed: determines their rounds.
        mistakes: names of mistakes, each committed once.
        include: situations, each brought about once; ``a+b`` in the same round.

    Raises:
        OperatorError: a scene or a mistake is unknown, impossible at this table, or there are more
            of them than rounds.
    """
    asked = [*_scenes(table, include), *_mistakes(table, mistakes)]
    if len(asked) > rounds:
        raise OperatorError(
            f"{len(asked)} scenes and mistakes do not fit into {rounds} rounds",
            where="rounds",
            way_out=f"Deal at least {len(asked)} rounds, or join situations with +",
        )
    places = sorted(Random(f"{seed}:scenes").sample(range(rounds), len(asked)))
    scripted = dict(zip(places, asked, strict=True))
    table.sit_down()
    for number in range(rounds):
        shuffle_if_due(table)
        scripted.get(number, _by_chance)(table)
    return tuple(table.steps)


def shuffle_if_due(table: Table) -> None:
    """Start a fresh shoe where the last is finished, or might not last the round."""
    if table.shoe.finished or len(table.shoe) < 5 * len(table.spots) + 9:
        table.start_shoe()


def is_shoe_game(rules: Rulebook) -> bool:
    """Return whether cards come from a shoe that reads them, not from the dealer's hand."""
    return rules.player_cards == "up"


def _by_chance(table: Table) -> None:
    Round(table, peek=table.peek).play()


def _mistakes(table: Table, codes: Sequence[str]) -> list[Play]:
    return [_alone(mistake_for(code, table.rules, len(table.spots)).commit) for code in codes]


def _scenes(table: Table, names: Sequence[str]) -> list[Play]:
    return [_alone(scene_for(name, table)) for name in names]


def _alone(play: Play) -> Play:
    """Give a scene a deck with its cards, and clear the table after it."""

    def played(table: Table) -> None:
        small = table.rules.decks <= 2
        if small or any(table.shoe.left(rank) < SCENE_RANKS for rank in RANKS):
            table.start_afresh()
        play(table)
        if table.deals_out and (small or table.rested()):
            table.start_shoe()

    return played
