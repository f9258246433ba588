"""One fact after another: ``step`` never refuses what happened, it says what was wrong with it."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from models.events import (
    CardBoxed,
    CardBurned,
    CardDealt,
    CardExposed,
    CardsTouched,
    CutCardReached,
    Fact,
    HoleCardChecked,
    PaymentMade,
    PlayerActed,
    PlayerLeft,
    PlayerSeated,
    RoundClosed,
    RoundOpened,
    ShoeStarted,
    TrayCounted,
    WagerPlaced,
    WagerRemoved,
)
from models.rulebook import Rulebook
from settlement import acting, cards, payments, shoe, tables, wagering
from settlement.play import replace
from settlement.state import Noted, State, Step

_Apply: TypeAlias = Callable[[State, Any, int, Rulebook], Step]


def step(state: State, noted: Noted, rules: Rulebook) -> Step:
    """Apply one fact.

    Total: whatever happened at the table, the state after it follows, with the mistakes that
    the fact shows.
    """
    told = _APPLY[type(noted.fact)](state, noted.fact, noted.seq, rules)
    after = told.after
    settling = after.round.settling and _in_sweep(noted.fact)
    round_ = replace(after.round, settling=settling, last_seq=noted.seq)
    return Step(replace(after, round=round_, index=after.index + 1), told.findings)


def _in_sweep(fact: Fact) -> bool:
    """Tell whether a settling pass goes on: hands may be turned up one by one as it runs."""
    if isinstance(fact, CardExposed):
        return fact.to != "dealer"
    return isinstance(fact, PaymentMade | TrayCounted)


def _dealt(state: State, fact: CardDealt, seq: int, rules: Rulebook) -> Step:
    told = cards.dealt(state, fact, seq, rules)
    spot = None if fact.to == "dealer" else fact.to
    left = fact.card if fact.card is not None and fact.card.suited else None
    left = left or state.round.script.cards[state.index]
    out = shoe.card_out(told.after, left, seq, spot)
    findings = told.findings
    if any(found.code == "face_up_card_used" for found in out.findings):
        findings = tuple(found for found in findings if found.code not in _FACES)
    return Step(out.after, (*findings, *out.findings))


_FACES: Final = ("deal_face", "hole_card_exposed")
"""What a card that lay face up in the shoe shows as well, being the same mistake."""


def _cut_card(state: State) -> Step:
    round_ = state.round
    return tables.cut_card(state, in_round=round_.opened or bool(round_.spots) or round_.dealing)


def _opened(state: State, fact: RoundOpened) -> Step:
    return Step(replace(state, round=replace(state.round, number=fact.round, opened=True)))


def _closed(state: State) -> Step:
    return Step(replace(state, round=replace(state.round, closed=True)))


_APPLY: Final[dict[type[Fact], _Apply]] = {
    ShoeStarted: lambda state, fact, _seq, _rules: shoe.started(state, fact),
    CardBurned: lambda state, fact, seq, _rules: shoe.burned(state, fact, seq),
    CardBoxed: lambda state, fact, seq, _rules: shoe.boxed(state, fact, seq),
    CutCardReached: lambda state, _fact, _seq, _rules: _cut_card(state),
    PlayerSeated: lambda state, fact, _seq, _rules: tables.seated(state, fact),
    PlayerLeft: lambda state, fact, _seq, _rules: tables.left(state, fact),
    RoundOpened: lambda state, fact, _seq, _rules: _opened(state, fact),
    WagerPlaced: wagering.placed,
    WagerRemoved: lambda state, fact, seq, _rules: wagering.removed(state, fact, seq),
    CardDealt: _dealt,
    CardExposed: cards.exposed,
    HoleCardChecked: lambda state, fact, _seq, _rules: acting.checked(state, fact),
    PlayerActed: acting.acted,
    CardsTouched: acting.touched,
    PaymentMade: payments.paid,
    TrayCounted: lambda state, fact, seq, _rules: tables.tray(state, fact, seq),
    RoundClosed: lambda state, _fact, _seq, _rules: _closed(state),
}
