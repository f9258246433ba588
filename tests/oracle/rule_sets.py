"""A file of rule sets, each with one fixed strategy and what it is worth, exactly."""

import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from models.errors import InputRefused
from models.rulebook import Rulebook
from settlement.rulebooks import overridden, parse

STAGES: Final = 3
"""First decision, with three or more cards, with two cards after a split."""

UP_CARDS: Final = "23456789TA"
ROWS: Final = (
    *(f"h{total}" for total in range(4, 21)),
    *(f"s{total}" for total in range(12, 22)),
    *(f"p{points}" for points in range(1, 11)),
)
"""Hard totals, soft totals, and pairs by the value of their cards."""

BASE: Final = Path("models/rulebooks/kansas-shoe.toml")
SHIPPED: Final = Path("tests/oracle/rule_sets.jsonl")


class RuleSet(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of one game, one strategy, and the strategy's exact worth.

    Attributes:
        name: what it is called on the command line.
        decks: in the shoe.
        soft17: whether the dealer hits soft 17 (``H17``) or stands (``S17``).
        double: on which first two cards; ``any2`` or hard totals.
        double_soft: whether soft hands may double.
        das: double after split.
        max_hands: the most hands a spot may be split into.
        rsa: re-split aces.
        late_surrender: whether it is offered.
        bj_pay: what a blackjack pays for one staked.
        peek: whether the dealer looks for a blackjack before the players act; where he does
            not, doubles and splits are lost to one as well.
        td: for each of :data:`ROWS`, a word a stage with a letter an up card: H hit, S stand,
            D double else hit, P split, R surrender.
        ev_pct_TD: what that strategy gains, in % of the first wager, in the first round of a
            fresh shoe.
        line: where it stands in its file.
    """

    name: Annotated[str, Meta(min_length=1)]
    decks: Annotated[int, Meta(ge=1, le=8)]
    soft17: Literal["S17", "H17"]
    double: Literal["any2", "9-11", "10-11"]
    double_soft: bool
    das: bool
    max_hands: Annotated[int, Meta(ge=1, le=8)]
    rsa: bool
    late_surrender: bool
    bj_pay: Annotated[float, Meta(gt=0, le=10)]
    peek: bool = True
    td: Mapping[str, tuple[str, ...]]
    ev_pct_TD: float  # noqa: N815
    line: int = 0


def read(path: Path) -> tuple[RuleSet, ...]:
    """Read every rule set of a JSON Lines file.

    Raises:
        InputRefused: a line is no rule set, or two have one name; line and field are named.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as fault:
        raise _refused(
            path, None, "file", "a file that can be read", str(fault.strerror)
        ) from fault
    sets = [_decoded(line, path, at) for at, line in enumerate(lines, 1) if line.strip()]
    if not sets:
        raise _refused(path, None, "file", "a rule set a line", "none")
    named: dict[str, int] = {}
    for rule_set in sets:
        first = named.setdefault(rule_set.name, rule_set.line)
        if first != rule_set.line:
            found = f"{rule_set.name!r} again, as on line {first}"
            raise _refused(path, rule_set.line, "name", "a name of its own", found)
    return tuple(sets)


def rulebook(rule_set: RuleSet) -> Rulebook:
    """Return the house's rulebook with the knobs set as the rule set has them."""
    offered = "late" if rule_set.late_surrender else "none"
    odds = Fraction(str(rule_set.bj_pay))
    low_soft = rule_set.double_soft and rule_set.double != "any2"
    return overridden(
        parse(BASE.read_text("utf-8"), BASE.name).rules,
        (
            f"decks={rule_set.decks}",
            f"dealer_soft17={'hit' if rule_set.soft17 == 'H17' else 'stand'}",
            f"double_on={'any_two' if rule_set.double == 'any2' else rule_set.double}",
            f"double_soft_as_low_total={_word(low_soft)}",
            f"double_after_split={_word(rule_set.das)}",
            f"max_hands={rule_set.max_hands}",
            f"resplit_aces={_word(rule_set.rsa)}",
            f"surrender={offered}",
            f"signals.surrender={'hand' if rule_set.late_surrender else 'none'}",
            f"blackjack_payout={odds.numerator}:{odds.denominator}",
            f"dealer_blackjack_collects={'original_only' if rule_set.peek else 'all_wagers'}",
        ),
    )


def _word(flag: bool) -> str:
    return "true" if flag else "false"


def _decoded(text: bytes, path: Path, line: int) -> RuleSet:
    try:
        rule_set = msgspec.json.decode(text, type=RuleSet)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        wrong, _, place = str(fault).partition(" - at `$")
        field = re.sub(r"^\.|`$", "", place) or "line"
        raise _refused(path, line, field, "a rule set's field", wrong) from fault
    for field, expected, found in _contradictions(rule_set):
        raise _refused(path, line, field, expected, found)
    return msgspec.structs.replace(rule_set, line=line)


def _contradictions(rule_set: RuleSet) -> list[tuple[str, str, str]]:
    """Return ``(field, expected, found)`` of what no game can be, or no engine play."""
    contradictions = []
    if rule_set.double == "any2" and not rule_set.double_soft:
        contradictions.append(("double_soft", "true where any two cards double", "false"))
    if rule_set.late_surrender and not rule_set.peek:
        contradictions.append(
            ("late_surrender", "false, as the dealer does not look first", "true")
        )
    if rule_set.rsa and rule_set.max_hands < 3:
        contradictions.append(("rsa", f"false, as max_hands is {rule_set.max_hands}", "true"))
    for row in ROWS:
        words = rule_set.td.get(row)
        if words is None:
            contradictions.append((f"td.{row}", "three words of ten letters", "nothing"))
        elif len(words) != STAGES or any(len(word) != len(UP_CARDS) for word in words):
            contradictions.append((f"td.{row}", "three words of ten letters", repr(list(words))))
        else:
            letters = _letters(row, rule_set)
            for stage, word in enumerate(words):
                wrong = set(word) - letters[stage]
                if wrong:
                    expected = f"letters of {''.join(sorted(letters[stage]))}"
                    contradictions.append((f"td.{row}[{stage}]", expected, repr(word)))
    return contradictions


def _letters(row: str, rule_set: RuleSet) -> tuple[set[str], ...]:
    """Return the letters that may stand in a row's three words."""
    first, later, parted = set("HSD"), set("HS"), set("HS")
    if row.startswith("p") and rule_set.max_hands > 1:
        first.add("P")
    if rule_set.late_surrender:
        first.add("R")
    if rule_set.das:
        parted.add("D")
    return first, later, parted


def _refused(path: Path, line: int | None, field: str, expected: str, found: str) -> InputRefused:
    return InputRefused(source=str(path), line=line, field=field, expected=expected, found=found)
