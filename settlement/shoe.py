"""The cards of the shoe: what has left it, what was burned or boxed, whether it may be."""

from models.cards import Card
from models.events import CardBoxed, CardBurned, ShoeStarted
from models.judgements import Violation
from models.rulebook import Rulebook
from settlement.clauses import violation
from settlement.hands import named
from settlement.play import replace
from settlement.state import Shoe, State, Step


def started(state: State, fact: ShoeStarted) -> Step:
    """Begin a fresh shoe; whoever plays its first round has entered."""
    table = replace(
        state.table,
        shoe=Shoe(decks=fact.decks, started=True),
        entered=frozenset(),
        newcomers=frozenset(),
        cut_now=False,
    )
    return Step(replace(state, table=table))


def burned(state: State, fact: CardBurned, seq: int) -> Step:
    """Count a burned card; one found boxed just before is the same card, not another."""
    shoe = state.table.shoe
    for aside in shoe.boxed:
        if fact.card is None or aside is None or aside is fact.card:
            return Step(_with_shoe(state, _without_boxed(shoe, aside)))
    shoe, found = _counted(replace(shoe, burned=shoe.burned + 1), fact.card, seq, None)
    return Step(_with_shoe(state, shoe), found)


def boxed(state: State, fact: CardBoxed, seq: int) -> Step:
    """Count a card found face up in the shoe; it is to be put aside."""
    shoe, found = _counted(state.table.shoe, fact.card, seq, None)
    shoe = replace(shoe, boxed=(*shoe.boxed, fact.card), boxed_last=True)
    return Step(_with_shoe(state, shoe), found)


def card_out(state: State, card: Card | None, seq: int, spot: int | None) -> Step:
    """Count a card dealt; one that had just been found boxed should not have been used."""
    shoe = state.table.shoe
    if card is not None and card in shoe.boxed and (shoe.boxed_last or _all_out(shoe, card)):
        detail = f"{card} lay face up in the shoe and was dealt; it goes to the discard rack"
        found = violation("face_up_card_used", seq, detail, spot)
        return Step(_with_shoe(state, _without_boxed(shoe, card)), (found,))
    shoe, impossible = _counted(replace(shoe, boxed_last=False), card, seq, spot)
    return Step(_with_shoe(state, shoe), impossible)


def burn_due(shoe: Shoe, seq: int, rules: Rulebook) -> tuple[Shoe, tuple[Violation, ...]]:
    """Judge, at the first card of a shoe, whether the house's cards were burned."""
    if shoe.burn_judged or not shoe.started:
        return shoe, ()
    shoe = replace(shoe, burn_judged=True)
    due = rules.burn_after_shuffle
    if shoe.burned >= due:
        return shoe, ()
    detail = f"{shoe.burned} cards burned after the shuffle; {due} must be"
    return shoe, (violation("burn_missing", seq, detail),)


def fresh_count(shoe: Shoe) -> Shoe:
    """Forget what an earlier round showed of a shoe whose start was not observed."""
    return shoe if shoe.started else replace(shoe, out={}, boxed=())


def _without_boxed(shoe: Shoe, card: Card | None) -> Shoe:
    at = shoe.boxed.index(card)
    return replace(shoe, boxed=shoe.boxed[:at] + shoe.boxed[at + 1 :], boxed_last=False)


def _all_out(shoe: Shoe, card: Card) -> bool:
    """Tell whether the shoe can hold no further card of that face."""
    return card.suited and shoe.out.get(card.value, 0) >= shoe.decks


def _with_shoe(state: State, shoe: Shoe) -> State:
    return replace(state, table=replace(state.table, shoe=shoe))


def _counted(
    shoe: Shoe, card: Card | None, seq: int, spot: int | None
) -> tuple[Shoe, tuple[Violation, ...]]:
    out = dict(shoe.out)
    keys = [("", 52)]
    if card is not None:
        keys.append((card.rank, 4))
        if card.suited:
            keys.append((card.value, 1))
    over = ""
    for key, each in keys:
        out[key] = out.get(key, 0) + 1
        if out[key] > each * shoe.decks:
            over = f"{named((card,))} is one more than {shoe.decks} decks hold"
    found = (violation("impossible_card", seq, over, spot),) if over else ()
    return replace(shoe, out=out), found
