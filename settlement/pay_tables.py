"""Side bets from TOML: each is complete, and its conditions fit its cards, or it is refused."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from models.decode import from_tree, toml_tree
from models.errors import InputRefused
from models.money import STEEPEST_SIDE_BET, Odds
from models.side_bet import BetName, Condition, Range, SideBet

Shelf: TypeAlias = Callable[[str], str]
"""Finds the text of a shipped side bet by its id."""

_ODDS: Final = f'odds such as "25:1", up to {STEEPEST_SIDE_BET}:1'
_RANGES: Final = ("total", "low_total", "count", "between")
_AT_THE_END: Final = ("count", "busted")
"""Conditions on a hand that has been played out."""
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
        for row, award in zip(found[name]["pays"], bet.pays, strict=True):
            row["odds"] = str(award.odds)
        if bet.most_of_main is not None:
            found[name]["most_of_main"] = str(bet.most_of_main)
    return found


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
        read["pays"] = [
            row | {"odds": _odds(row["odds"], f"pays[{at}].odds", source)}
            if isinstance(row, dict) and "odds" in row
            else row
            for at, row in enumerate(rows)
        ]
    return read


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
    for row, award in enumerate(bet.pays):
        for at, condition in enumerate(award.when):
            place = f"pays[{row}].when[{at}]"
            for field, expected, found in _unfit(condition, condition.of or bet.cards):
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
    for name in _AT_THE_END:
        if asked[name] is not None and of != "dealer":
            yield f".{name}", 'cards of the "dealer"', f'those of "{of}"'
    if condition.blackjack is not None and of not in ("player", "dealer"):
        yield ".blackjack", 'cards of the "player" or the "dealer"', f'those of "{of}"'
    if condition.between is not None and of != "player_and_up":
        yield ".between", 'cards of "player_and_up"', f'those of "{of}"'
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
