"""The cards of the shoe: which left it, which were burned or boxed, and whether they can exist."""

from models.events import ShoeStarted
from settlement.facts import card_named
from settlement.hands import UNKNOWN
from settlement.state import NOT_BOXED, Noted, Shoe, State


def started(state: State, noted: Noted) -> None:
    """Start a fresh shoe; the players of its first round count as entered."""
    table = state.table
    fact: ShoeStarted = noted.fact
    if fact.decks != state.rules.decks:
        detail = f"a shoe of {_decks(fact.decks)} was started; "
        detail += f"this game is dealt from {_decks(state.rules.decks)}"
        state.find("wrong_deck_count", noted.seq, detail)
    table.shoe = Shoe(fact.decks, state.rules.pack, started=state.rules.deals_out)
    table.entered.clear()
    table.newcomers.clear()
    table.cut_now = False


def between_rounds(shoe: Shoe) -> None:
    """Restart the count between rounds, unless the cards out are known to stay out."""
    if not shoe.started:
        shoe.forget()


def _decks(count: int) -> str:
    return "1 deck" if count == 1 else f"{count} decks"


def burned(state: State, noted: Noted) -> None:
    """Count a burned card; one just found boxed is the same card, not another."""
    shoe = state.table.shoe
    for aside in shoe.boxed:
        if noted.read == UNKNOWN or aside in (UNKNOWN, noted.read):
            _put_aside(shoe, aside)
            return
    shoe.burned += 1
    _counted(state, noted.read, noted.seq, None)


def boxed(state: State, noted: Noted) -> None:
    """Count a boxed card, found face up in the shoe; it must be put aside."""
    shoe = state.table.shoe
    _counted(state, noted.read, noted.seq, None)
    shoe.boxed[noted.read] = shoe.boxed.get(noted.read, 0) + 1
    shoe.boxed_last = noted.read


def card_out(state: State, noted: Noted) -> bool:
    """Count a dealt card; return whether it was just found boxed and must not be used.

    A card in doubt between the sensors, or between facts, has left the shoe, but its face proves
    nothing.
    """
    shoe = state.table.shoe
    left = noted.read if _suited(noted.read) else noted.card
    if left != UNKNOWN and left in shoe.boxed and (left == shoe.boxed_last or _all_out(shoe, left)):
        detail = f"{card_named(left)} lay face up in the shoe and was dealt; "
        detail += "it goes to the discard rack"
        state.find("face_up_card_used", noted.seq, detail, noted.spot or None)
        _put_aside(shoe, left)
        return True
    shoe.boxed_last = NOT_BOXED
    certain = not (noted.unsure or noted.between)
    _counted(state, left if certain else UNKNOWN, noted.seq, noted.spot or None)
    return False


def recounted(shoe: Shoe, lying: list[int]) -> None:
    """Restart the count with the cards that lie on the table, by index."""
    shoe.forget()
    for face in lying:
        _count(shoe, face)


def seen_out(shoe: Shoe, face: int, *, from_rack: bool) -> None:
    """Count a card first seen as the floor moved it; from the rack it may be one counted before."""
    if face == UNKNOWN or _surplus(shoe, face):
        return
    if not from_rack:
        _count(shoe, face)
    elif not shoe.out_faces[face]:
        _count(shoe, face)
        unread = shoe.out - sum(shoe.out_faces)
        shoe.out -= min(unread, 1)


def burn_due(state: State, seq: int) -> None:
    """Judge at the first card of a shoe whether the house's burn cards were burned."""
    shoe, due = state.table.shoe, state.rules.burn_after_shuffle
    if shoe.burn_judged or not shoe.started:
        return
    shoe.burn_judged = True
    if shoe.burned < due:
        detail = f"{shoe.burned} cards burned after the shuffle; {due} must be"
        state.find("burn_missing", seq, detail)


def _put_aside(shoe: Shoe, face: int) -> None:
    shoe.boxed[face] -= 1
    if not shoe.boxed[face]:
        del shoe.boxed[face]
    shoe.boxed_last = NOT_BOXED


def _suited(face: int) -> bool:
    """Return whether a card's suit is known, by its index."""
    return face % 5 != 4 and face != UNKNOWN


def _all_out(shoe: Shoe, face: int) -> bool:
    """Return whether the shoe can hold no further card of that face."""
    return shoe.out_faces[face] >= shoe.held_faces[face]


def _count(shoe: Shoe, face: int) -> None:
    shoe.out += 1
    if face != UNKNOWN:
        shoe.out_ranks[face // 5] += 1
        shoe.out_faces[face] += 1


def _counted(state: State, face: int, seq: int, spot: int | None) -> None:
    """Count a card that left the shoe; report, without counting, one that cannot be in it."""
    shoe = state.table.shoe
    if _surplus(shoe, face):
        detail = f"{card_named(face)} is one more than {shoe.decks} decks hold"
        if face != UNKNOWN and not shoe.held[face // 5]:
            detail = f"{card_named(face)} was dealt; this game is played without that rank"
        state.find("impossible_card", seq, detail, spot)
        return
    shoe.out += 1
    if face != UNKNOWN:
        shoe.out_ranks[face // 5] = shoe.out_ranks[face // 5] + 1
        shoe.out_faces[face] = shoe.out_faces[face] + 1


def _surplus(shoe: Shoe, face: int) -> bool:
    """Return whether all such cards of the shoe have been seen."""
    if shoe.out >= shoe.cards:
        return True
    if face == UNKNOWN:
        return False
    return shoe.out_ranks[face // 5] >= shoe.held[face // 5] or _all_out(shoe, face)
