"""Side bets from TOML: each is complete, and its conditions fit its cards, or it is refused."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from models.decode import from_tree, toml_tree
from models.errors import InputRefused
from models.money import STEEPEST_SIDE_BET, Odds
from models.side_bet import Award, BetName, Condition, HandAward, Range, SideBet

Shelf: TypeAlias = Callable[[str], str]
"""Finds the text of a shipped side bet by its id."""

_ODDS: Final = f'odds such as "25:1", up to {STEEPEST_SIDE_BET}:1'
_RANGES: Final = ("total", "low_total", "count", "between")
_ON: Final[Mapping[str, tuple[str, ...]]] = {
    "count": ("dealer", "hand"),
    "busted": ("dealer",),
    "blackjack": ("player", "dealer", "hand"),
    "between": ("player_and_up",),
    "doubled": ("hand",),
    "split": ("hand",),
}
"""Conditions that are asked of some cards alone."""
_CARDS: Final = {
    "player": 2,
    "player_and_up": 3,
    "up": 1,
    "dealer_two": 2,
    "player_and_dealer_two": 4,
}
"""How many cards each selection has; the dealer's final hand has any number."""


def side_bets(
    tables: Mapping[str, Any], stating: str, source: str, shelf: Shelf | None
) -> dict[str, SideBet]:
    """Read the side bets of a rulebook; one that ``extends`` a shipped bet states what differs.

    Args:
        tables: the bets' tables, by name.
        stating: the title of the rulebook's document, for a bet that names none.
        source: the file, for messages.
        shelf: finds a shipped bet.

    Raises:
        InputRefused: a bet is incomplete, or has an unknown field, or conditions that its cards
            cannot meet; the message names the bet, the field, what was expected and found.
    """
    return {
        name: _side_bet(name, {"document": stating} | _extended(name, table, source, shelf), source)
        for name, table in tables.items()
    }


def plain(bets: Mapping[str, SideBet]) -> dict[str, Any]:
    """Return side bets as plain values in the notation of TOML, odds as text."""
    found: dict[str, Any] = msgspec.to_builtins(bets)
    for name, bet in bets.items():
        found[name]["pays"] = plain_awards(bet.pays)
        if bet.most_of_main is not None:
            found[name]["most_of_main"] = str(bet.most_of_main)
    return found


def plain_awards(awards: Sequence[Award]) -> list[dict[str, Any]]:
    """Return the lines of a pay table as plain values in the notation of TOML, odds as text."""
    return [msgspec.to_builtins(award) | {"odds": str(award.odds)} for award in awards]


def hand_awards(lines: Any, source: str) -> tuple[HandAward, ...]:
    """Read the lines of the main wager's pay table, the best first.

    Raises:
        InputRefused: a line is incomplete, or has an unknown field, or conditions that no hand can
            meet; the message names the line, the field, what was expected and found.
    """
    read = _priced_lines(lines, source) if isinstance(lines, list | tuple) else lines
    awards = from_tree({"pays": read}, _HandAwards, source, "").pays
    for place, expected, found in _lines_at_fault(awards, "hand"):
        raise InputRefused(source=source, field=place, expected=expected, found=found)
    return awards


class _HandAwards(msgspec.Struct, frozen=True, kw_only=True):
    pays: tuple[HandAward, ...]


def _extended(name: str, table: Any, source: str, shelf: Shelf | None) -> dict[str, Any]:
    """Return a bet's table on top of the shipped bet that it extends."""
    field = f"side_bets.{name}"
    if not isinstance(table, dict):
        raise InputRefused(source=source, field=field, expected="a table", found=repr(table))
    if "extends" not in table:
        return table
    base = table["extends"]
    if shelf is None or not isinstance(base, str):
        expected = "the id of a shipped side bet" if shelf else "no shipped side bet here"
        raise InputRefused(
            source=source, field=f"{field}.extends", expected=expected, found=repr(base)
        )
    own = {key: value for key, value in table.items() if key != "extends"}
    return toml_tree(shelf(base), base) | own


def _side_bet(name: str, table: Mapping[str, Any], source: str) -> SideBet:
    field = f"side_bets.{name}"
    try:
        msgspec.convert(name, BetName)
        bet = from_tree(_priced(table, source), SideBet, source, "")
    except msgspec.ValidationError as fault:
        expected = "a name of up to 40 small letters, digits, +, - and _"
        raise InputRefused(source=source, field=field, expected=expected, found=name) from fault
    except InputRefused as fault:
        raise InputRefused(
            source=source,
            field=f"{field}.{fault.field}",
            expected=fault.expected,
            found=fault.found,
        ) from fault
    for place, expected, found in _faults(bet):
        raise InputRefused(source=source, field=f"{field}.{place}", expected=expected, found=found)
    return bet


def _priced(table: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Return a bet's table with its odds read."""
    read = dict(table)
    if "most_of_main" in table:
        read["most_of_main"] = _odds(table["most_of_main"], "most_of_main", source)
    rows = table.get("pays")
    if isinstance(rows, list | tuple):
        read["pays"] = _priced_lines(rows, source)
    return read


def _priced_lines(rows: Sequence[Any], source: str) -> list[Any]:
    return [
        row | {"odds": _odds(row["odds"], f"pays[{at}].odds", source)}
        if isinstance(row, dict) and "odds" in row
        else row
        for at, row in enumerate(rows)
    ]


def _odds(text: Any, field: str, source: str) -> dict[str, int]:
    try:
        odds = Odds.parse(msgspec.convert(text, str), STEEPEST_SIDE_BET)
    except ValueError as fault:  # msgspec's is one, too
        raise InputRefused(source=source, field=field, expected=_ODDS, found=repr(text)) from fault
    return {"pays": odds.pays, "per": odds.per}


def _faults(bet: SideBet) -> Iterator[tuple[str, str, str]]:
    """Yield ``(field, expected, found)`` for what no bet can be."""
    if bet.min is not None and bet.max is not None and bet.max < bet.min:
        yield "max", f"at least min ({bet.min})", str(bet.max)
    yield from _lines_at_fault(bet.pays, bet.cards)


def _lines_at_fault(awards: Sequence[Award], of: str) -> Iterator[tuple[str, str, str]]:
    """Yield what the lines of a pay table ask that their cards never are.

    The main wager's lines look at the whole hand, those of a side bet never do.
    """
    for row, award in enumerate(awards):
        for at, condition in enumerate(award.when):
            place, looks_at = f"pays[{row}].when[{at}]", condition.of or of
            if (looks_at == "hand") != isinstance(award, HandAward):
                whose = "the hand" if isinstance(award, HandAward) else "a side bet"
                yield f"{place}.of", f"cards of {whose}", f'those of "{looks_at}"'
            for field, expected, found in _unfit(condition, looks_at):
                yield f"{place}{field}", expected, found


def _unfit(condition: Condition, of: str) -> Iterator[tuple[str, str, str]]:
    """Yield what a condition asks that these cards never are."""
    asked = {name: getattr(condition, name) for name in Condition.__struct_fields__ if name != "of"}
    if not any(value not in (None, ()) for value in asked.values()):
        yield "", f"a condition: {', '.join(asked)}", "none"
    for name in _RANGES:
        bounds: Range | None = asked[name]
        if bounds is not None and bounds[0] > bounds[1]:
            yield f".{name}", "the lowest number, then the highest", str(list(bounds))
    for name, fitting in _ON.items():
        if asked[name] is not None and of not in fitting:
            cards = " or ".join(f'"{one}"' for one in fitting)
            yield f".{name}", f"cards of {cards}", f'those of "{of}"'
    yield from _too_many(condition, of)


def _too_many(condition: Condition, of: str) -> Iterator[tuple[str, str, str]]:
    many = _CARDS.get(of)
    for name in ("cards", "ranks"):
        asked = getattr(condition, name)
        if asked and many is not None and len(asked) != many:
            yield f".{name}", f"{many} of them, as {of} has {many} cards", str(len(asked))
    if many is not None and len(condition.holds) > many:
        yield ".holds", f"at most {many}, as {of} has {many} cards", str(len(condition.holds))
    for name in ("cards", "holds"):
        if any(not card.suited for card in getattr(condition, name)):
            yield f".{name}", "cards with their suits", "a rank alone"
