"""Where two accounts of a round differ, as a question and its two answers, in words of the felt."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from models.cards import RANKS, Card
from models.events import (
    AnyFact,
    CardBoxed,
    CardBurned,
    CardDealt,
    CardExposed,
    CutCardReached,
    HoleCardChecked,
    PaymentMade,
    PlayerActed,
    RoundClosed,
    RoundOpened,
    ShoeStarted,
    WagerPlaced,
    WagerRemoved,
)
from models.money import dollars
from models.places import whose
from settlement.reckoning.in_play import InPlay
from settlement.reckoning.record import gist

_SHOWN: Final = 4
"""The most cards that a question names."""
_NTH: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_RANKS: Final = {"A": "an ace", "8": "an 8", "T": "a 10", "J": "a jack", "Q": "a queen"} | {
    "K": "a king"
}
_ADDED: Final = {"main": "a raise", "double": "a double", "split": "a split"} | {
    "insurance": "insurance",
    "side": "a side wager",
}


# Which card was burned nobody at the table saw.
_NAMED: Final[dict[type, str]] = {
    CardBurned: "a card put aside",
    CardBoxed: "a card put aside",
    HoleCardChecked: "the dealer's look at the hole card",
    RoundClosed: "the cards taken up",
    RoundOpened: "the round opened",
    CutCardReached: "the cut card",
    ShoeStarted: "a fresh shoe",
}


class Difference(NamedTuple):
    """A question between two accounts, and what happened by the one and by the other."""

    asks: str
    held: str
    instead: str


def face(card: Card | None) -> str:
    """Name a card: ``9H``, ``a 7`` where the suit is not known, ``a card`` for any."""
    if card is None:
        return "a card"
    return str(card) if card.suited else _RANKS.get(card.rank, f"a {card.rank}")


def card_at(record: Sequence[AnyFact], at: int) -> str:
    """Name a card by its place: ``the dealer's up card``, ``the third card of spot 2``."""
    fact = record[at]
    assert isinstance(fact, CardDealt | CardExposed)
    if isinstance(fact, CardExposed):
        return _turned(fact)
    before = record[:at]
    nth = sum(isinstance(f, CardDealt) and (f.to, f.hand) == (fact.to, fact.hand) for f in before)
    if fact.to == "dealer" and nth < 2:
        return "the dealer's up card" if fact.face == "up" else "the dealer's hole card"
    number = _NTH[nth] if nth < len(_NTH) else "last"
    if fact.to == "dealer":
        return f"the dealer's {number} card"
    return f"the {number} card of {whose(fact.to, fact.hand)}"


def came_by_rank(cards: Sequence[CardDealt]) -> str:
    """Return what happened where one card came, of any of several ranks."""
    got = "drew" if cards[0].to == "dealer" else "got"
    ranks = [card.card.rank.replace("T", "10") for card in cards if card.card is not None]
    if len(ranks) == 1:
        named = face(cards[0].card)
    elif len(ranks) == len(RANKS):
        named = "a card, of whichever rank"
    else:
        named = f"a card: {', '.join(ranks[:-1])} or {ranks[-1]}"
    return f"{whose(cards[0].to, cards[0].hand)} {got} {named}"


def none_came(card: CardDealt) -> str:
    """Return what happened where such a card did not come."""
    got = "drew" if card.to == "dealer" else "got"
    return f"{whose(card.to, card.hand)} {got} no further card"


def gone_unseen(card: Card | None, since: str = "") -> str:
    """Ask about a card that left the shoe and that no camera saw."""
    which = "a card that was not read" if card is None else str(card)
    return f"Where did {which} go? It left the shoe{since} and was not seen on the felt."


def all_gone_unseen(cards: Sequence[Card]) -> str:
    """Ask about three cards or more that left the shoe and that no camera saw."""
    *named, last = cards if len(cards) <= _SHOWN else (*cards[:_SHOWN], None)
    rest = last or f"{len(cards) - _SHOWN} more"
    which = f"{', '.join(map(str, named))} and {rest}"
    return f"Where did {which} go? They left the shoe and were not seen on the felt."


def lacking(card: InPlay, name: str) -> str | None:
    """Ask what a card of the shoe lacks, that one sensor or neither reported."""
    if card.face == "up" and (card.card is None or not card.card.suited):
        return f"Which card is {name}? Neither the shoe nor the camera read it."
    if card.announced and card.where == "unseen":
        return gone_unseen(card.card)
    if not card.announced and card.face == "up":
        return f"Did {card.card} leave the shoe? It lies on the felt, and the shoe did not read it."
    return None


def difference(stated: Sequence[AnyFact], other: Sequence[AnyFact]) -> Difference:
    """Ask between two accounts of a round about what tells them apart most plainly."""
    lost, gained = _without(stated, other), _without(other, stated)
    for ask in _ASKING:
        found = ask(stated, lost, gained)
        if found is not None:
            return found
    return _in_turn(stated, other)


def changed(stated: Sequence[AnyFact], other: Sequence[AnyFact]) -> list[AnyFact]:
    """Return the facts that only one of two accounts has."""
    return [*_without(stated, other), *_without(other, stated)]


def _without(record: Sequence[AnyFact], other: Sequence[AnyFact]) -> list[AnyFact]:
    """Return what one account has and the other lacks, whenever it was."""
    left = Counter(_told(fact) for fact in other)
    found = []
    for fact in record:
        if left[_told(fact)] > 0:
            left[_told(fact)] -= 1
        else:
            found.append(fact)
    return found


def _told(fact: AnyFact) -> tuple[object, ...]:
    kind, _, *told = gist(fact)
    return (kind, *told)


def _of_cards(
    stated: Sequence[AnyFact], lost: Sequence[AnyFact], gained: Sequence[AnyFact]
) -> Difference | None:
    """Ask which card somebody got, whose a card is, or whether it came at all."""
    went = [fact for fact in lost if isinstance(fact, CardDealt)]
    came = [fact for fact in gained if isinstance(fact, CardDealt)]
    for mine in went:
        for its in came:
            between = _between(stated, mine, its)
            if between is not None:
                return between
    if came:
        return _whether(_drew(came[0]), came=True)
    return _whether(_drew(went[0]), came=False) if went else None


def _between(stated: Sequence[AnyFact], mine: CardDealt, its: CardDealt) -> Difference | None:
    if (mine.to, mine.hand, mine.face) == (its.to, its.hand, its.face):
        name = card_at(stated, _place(stated, mine))
        return _either(name, mine.card, its.card)
    if mine.card is not its.card:
        return None
    one, another = whose(mine.to, mine.hand), whose(its.to, its.hand)
    if one != another:
        card = face(mine.card)
        asks = f"Did {card} go to {one} or to {another}?"
        return Difference(asks, f"{card} went to {one}", f"{card} went to {another}")
    card = card_at(stated, _place(stated, mine))
    if mine.to == "dealer" and mine.card is not None:
        # Which of his cards is the up card is what they differ in.
        card = f"the dealer's {face(mine.card)}"
    asks = f"Was {card} dealt face {mine.face} or face {its.face}?"
    return Difference(asks, f"{card} came face {mine.face}", f"{card} came face {its.face}")


def _of_turned(
    stated: Sequence[AnyFact], lost: Sequence[AnyFact], gained: Sequence[AnyFact]
) -> Difference | None:
    went = [fact for fact in lost if isinstance(fact, CardExposed)]
    came = [fact for fact in gained if isinstance(fact, CardExposed)]
    for mine in went:
        for its in came:
            if (mine.to, mine.hand) == (its.to, its.hand):
                return _either(card_at(stated, _place(stated, mine)), mine.card, its.card)
    if came:
        return _whether(_showed(came[0]), came=True)
    return _whether(_showed(went[0]), came=False) if went else None


def _of_acts(
    _stated: Sequence[AnyFact], lost: Sequence[AnyFact], gained: Sequence[AnyFact]
) -> Difference | None:
    for facts, came in ((gained, True), (lost, False)):
        for fact in facts:
            if isinstance(fact, PlayerActed):
                return _whether(_acted(fact), came=came)
    return None


def _of_chips(
    _stated: Sequence[AnyFact], lost: Sequence[AnyFact], gained: Sequence[AnyFact]
) -> Difference | None:
    """Ask what chips mean, how many there were, or whether they moved at all."""
    went = [fact for fact in lost if isinstance(fact, WagerPlaced | WagerRemoved | PaymentMade)]
    came = [fact for fact in gained if isinstance(fact, WagerPlaced | WagerRemoved | PaymentMade)]
    for mine in went:
        for its in came:
            if mine.spot == its.spot:
                one, another = _moved(mine), _moved(its)
                asks = _meant(mine, its) or f"Which is right: {one}, or {another}?"
                return Difference(asks, one, another)
    if came:
        return _whether(_moving(came[0]), came=True)
    return _whether(_moving(went[0]), came=False) if went else None


def _meant(
    mine: WagerPlaced | WagerRemoved | PaymentMade, its: WagerPlaced | WagerRemoved | PaymentMade
) -> str | None:
    """Ask what the same chips were added for."""
    if not (isinstance(mine, WagerPlaced) and isinstance(its, WagerPlaced)):
        return None
    if mine.amount != its.amount:
        return None
    added = f"the {dollars(mine.amount)} that {whose(mine.spot, mine.hand)} added"
    return f"Were {added} {_ADDED[mine.kind]} or {_ADDED[its.kind]}?"


def _of_the_rest(
    _stated: Sequence[AnyFact], lost: Sequence[AnyFact], gained: Sequence[AnyFact]
) -> Difference | None:
    for facts, came in ((gained, True), (lost, False)):
        for fact in facts:
            return _whether(_happened(fact), came=came)
    return None


_Ask = Callable[
    [Sequence[AnyFact], Sequence[AnyFact], Sequence[AnyFact]],
    Difference | None,
]
_ASKING: Final[tuple[_Ask, ...]] = (_of_cards, _of_turned, _of_acts, _of_chips, _of_the_rest)


def _in_turn(stated: Sequence[AnyFact], other: Sequence[AnyFact]) -> Difference:
    """Ask about accounts that hold the same and differ in its order, or in its times alone."""
    for mine, its in zip(stated, other, strict=False):
        if _told(mine) != _told(its):
            one, another = _phrase(mine), _phrase(its)
            asks = f"Which came first: {one}, or {another}?"
            return Difference(asks, f"{one} came first", f"{another} came first")
    for mine, its in zip(stated, other, strict=False):
        if mine.at != its.at:
            when = "earlier" if (its.at or 0) < (mine.at or 0) else "later"
            asks = f"Did this come {when} than recorded: {_phrase(mine)}?"
            return Difference(asks, "it came as recorded", f"it came {when}")
    return Difference("Did the round go as recorded?", "it went as recorded", "it went otherwise")


class _Told(NamedTuple):
    """What may have happened: as a question, and that it did or did not."""

    asks: str
    did: str
    did_not: str


def _whether(told: _Told, *, came: bool) -> Difference:
    """Ask whether it happened; by the other account alone it did where it ``came``."""
    held, instead = (told.did_not, told.did) if came else (told.did, told.did_not)
    return Difference(told.asks, held, instead)


def _either(name: str, one: Card | None, another: Card | None) -> Difference:
    mine, its = face(one), face(another)
    if one is None:
        return Difference(f"Is {name} {its}?", f"{name} is not known", f"{name} is {its}")
    if another is None:
        return Difference(f"Is {name} {mine}?", f"{name} is {mine}", f"{name} is another card")
    return Difference(f"Is {name} {mine} or {its}?", f"{name} is {mine}", f"{name} is {its}")


def _drew(fact: CardDealt) -> _Told:
    who, card = whose(fact.to, fact.hand), face(fact.card)
    verb, past = ("draw", "drew") if fact.to == "dealer" else ("get", "got")
    return _Told(
        f"Did {who} {verb} {card}?", f"{who} {past} {card}", f"{who} did not {verb} {card}"
    )


def _showed(fact: CardExposed) -> _Told:
    name, card = _turned(fact), face(fact.card)
    return _Told(f"Was {name} {card}?", f"{name} is {card}", f"{name} was not seen turned up")


def _turned(fact: CardExposed) -> str:
    if fact.to == "dealer":
        return "the dealer's hole card"
    return f"the card of {whose(fact.to, fact.hand)} that was turned up"


def _acted(fact: PlayerActed) -> _Told:
    who = whose(fact.spot, fact.hand)
    if fact.action == "even_money":
        return _Told(
            f"Did {who} take even money?", f"{who} took even money", f"{who} took no even money"
        )
    past = {"hit": "drew", "stand": "stood", "double": "doubled", "split": "split"}
    verb = {"hit": "draw"}.get(fact.action, fact.action)
    did = past.get(fact.action, "surrendered")
    return _Told(f"Did {who} {verb}?", f"{who} {did}", f"{who} did not {verb}")


def _moving(fact: WagerPlaced | WagerRemoved | PaymentMade) -> _Told:
    who, amount = whose(fact.spot, fact.hand), dollars(abs(fact.amount))
    if isinstance(fact, WagerPlaced):
        asks = f"Did {who} put {amount} on the felt as {_ADDED[fact.kind]}?"
        return _Told(asks, _moved(fact), f"{who} put no {amount} there")
    if isinstance(fact, WagerRemoved):
        asks = f"Did {who} take {amount} back?"
        return _Told(asks, _moved(fact), f"{who} took nothing back")
    if not fact.amount:
        asks = f"Did the dealer leave the wager of {who} alone?"
        return _Told(asks, _moved(fact), f"the wager of {who} was not left alone")
    if fact.amount > 0:
        return _Told(f"Was {who} paid {amount}?", _moved(fact), f"{who} was not paid {amount}")
    asks = f"Did the dealer take {amount} from {who}?"
    return _Told(asks, _moved(fact), f"the dealer took no {amount} from {who}")


def _moved(fact: WagerPlaced | WagerRemoved | PaymentMade) -> str:
    who, amount = whose(fact.spot, fact.hand), dollars(abs(fact.amount))
    if isinstance(fact, WagerPlaced):
        return f"{who} put {amount} there as {_ADDED[fact.kind]}"
    if isinstance(fact, WagerRemoved):
        return f"{who} took {amount} back"
    if not fact.amount:
        return f"the dealer left the wager of {who} alone"
    if fact.amount > 0:
        return f"the dealer paid {amount} to {who}"
    return f"the dealer took {amount} from {who}"


def _happened(fact: AnyFact) -> _Told:
    phrase = _phrase(fact)
    return _Told(f"Did this happen: {phrase}?", f"it happened: {phrase}", f"it did not: {phrase}")


def _phrase(fact: AnyFact) -> str:
    """Return what happened, as part of a sentence."""
    match fact:
        case CardDealt():
            return f"{face(fact.card)} to {whose(fact.to, fact.hand)}"
        case CardExposed():
            return f"{face(fact.card)} of {whose(fact.to, fact.hand)} turned up"
        case WagerPlaced() | WagerRemoved() | PaymentMade():
            return _moved(fact)
        case PlayerActed():
            return _acted(fact).did
        case _:
            return _NAMED.get(type(fact), type(fact).__name__)


def _place(record: Sequence[AnyFact], fact: AnyFact) -> int:
    return next(at for at, one in enumerate(record) if one is fact)
