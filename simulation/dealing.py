"""A whole session as a script: rounds by a seed, with the scenes and mistakes asked for."""

from collections.abc import Sequence

from models.rulebook import Rulebook
from simulation.round import Round
from simulation.steps import Rig, Step
from simulation.table import Table


def deal_session(
    rules: Rulebook, spots: Sequence[int], rounds: int, seed: int, *, peek: bool = True
) -> tuple[Step, ...]:
    """Deal ``rounds`` rounds without fault.

    Args:
        rules: the rulebook in force.
        spots: the spots that play.
        rounds: how many rounds.
        seed: decides every card and every wager.
        peek: whether the dealer looks under an ace or a ten before the players act.
    """
    table = Table(rules, spots, seed)
    table.sit_down()
    for _ in range(rounds):
        shuffle_if_due(table)
        Round(table, Rig(), peek=peek).play()
    return tuple(table.steps)


def shuffle_if_due(table: Table) -> None:
    """Start a fresh shoe where the last is through, or might not last the round."""
    if table.shoe.finished or len(table.shoe) < 5 * len(table.spots) + 9:
        table.start_shoe()


def is_shoe_game(rules: Rulebook) -> bool:
    """Tell whether cards come from a shoe that reads them, not from the dealer's hand."""
    return rules.player_cards == "up"
