"""The catalogue of mistakes, and the rules that make each of them one."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from models.cards import Card
from models.errors import OperatorError
from models.rulebook import Rulebook
from settlement.houserules import HouseRules
from settlement.play import hand_with
from settlement.state import Hand
from simulation.house import house
from simulation.round import Round
from simulation.steps import HandKey, Rig
from simulation.table import Table
from stream import library

Commit: TypeAlias = Callable[[Table], None]
Fault: TypeAlias = Callable[[Hand, HouseRules], tuple[str, str] | None]
"""What a hand does, judged: the violation code and the right procedure, or nothing."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One kind of mistake.

    Attributes:
        name: what it is called; its violation code, unless the floor rules on it as well.
        code: its violation code.
        commit: plays its round.
        possible: whether a house's rules make it a mistake.
        spots: the number of spots that must play.
        knobs: settings under which any shipped rulebook makes it one.
    """

    name: str
    code: str
    commit: Commit
    possible: Callable[[Rulebook], bool]
    spots: int
    knobs: tuple[str, ...]


_KNOWN: Final[dict[str, Mistake]] = {}


def mistake(
    code: str,
    *,
    name: str = "",
    when: Callable[[Rulebook], bool] = lambda _: True,
    spots: int = 1,
    knobs: tuple[str, ...] = (),
) -> Callable[[Commit], Commit]:
    """Register a function that commits ``code``, by that code or by a name of its own."""

    def enter(commit: Commit) -> Commit:
        _KNOWN[name or code] = Mistake(name or code, code, commit, when, spots, knobs)
        return commit

    return enter


def granted(
    code: str, fault: Fault, cards: str, *, split: bool = False, knobs: tuple[str, ...] = ()
) -> Callable[[Commit], Commit]:
    """Register a function that commits ``code`` where the house forbids what a hand does.

    Args:
        code: the violation code.
        fault: what the hand does, as :mod:`settlement.play` judges it.
        cards: the hand's, as ``"AS 7D"``.
        split: whether it comes from a split.
        knobs: settings under which any shipped rulebook forbids it.
    """
    hand = hand_with(map(Card, cards.split()), split=split)

    def forbidden(rules: Rulebook) -> bool:
        found = fault(hand, HouseRules(rules))
        return found is not None and found[0] == code

    return mistake(code, when=forbidden, knobs=knobs)


def known() -> Mapping[str, Mistake]:
    """Return every mistake by its name, in the order of the catalogue."""
    return _KNOWN


def mistake_for(name: str, rules: Rulebook, spots: int) -> Mistake:
    """Return the mistake ``name`` for this table.

    Raises:
        OperatorError: there is no such mistake, or this table cannot commit it; the way out names
            a rulebook that can.
    """
    found = _KNOWN.get(name)
    if found is None:
        raise OperatorError(
            f"no mistake is called {name!r}",
            where="mistake",
            way_out=f"Choose one of {', '.join(_KNOWN)}",
        )
    if not found.possible(rules):
        raise OperatorError(
            f"under {rules.id} this is no mistake, or cannot come about",
            where=f"mistake {name}",
            way_out=f"Choose the rulebook {next(_houses(found), 'of a house that forbids it')}",
        )
    if spots < found.spots:
        raise OperatorError(
            f"{spots} spots are too few for it",
            where=f"mistake {name}",
            way_out=f"Let at least {found.spots} spots play",
        )
    return found


def knobs_for(name: str, rules: Rulebook) -> tuple[str, ...]:
    """Return the settings that make ``name`` a mistake under ``rules``."""
    found = _KNOWN.get(name)
    return found.knobs if found is not None and not found.possible(rules) else ()


def _houses(found: Mistake) -> Iterator[str]:
    for name in library.rulebook_ids():
        if found.possible(house(name).rules):
            yield name


# --- the quiet table of a mistake ---------------------------------------------------------

OTHERS: Final = ("X X", "9 X", "8 X")
"""Hands that stand against every dealer's card from 7 up."""


def scene(
    table: Table,
    dealer: str = "9 X",
    *,
    cards: dict[HandKey, str] | None = None,
    others: tuple[str, ...] = OTHERS,
    sits_out: tuple[int, ...] = (),
) -> Round:
    """Begin a round in which only suits are random."""
    rigged: dict[HandKey, str] = {("dealer", 0): dealer, **(cards or {})}
    return Round(
        table, Rig(cards=rigged, others=others, insured=(), sits_out=sits_out), peek=table.peek
    )


def first(table: Table) -> int:
    """Return the spot of the mistakes: the first that plays."""
    return table.spots[0]


def last(table: Table) -> int:
    """Return the last spot that plays."""
    return table.spots[-1]


def odd_chips(amount: int) -> int:
    """Return half an amount in available chips."""
    return amount // 200 * 100 or amount // 2
