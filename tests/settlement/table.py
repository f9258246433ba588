"""A short notation for what happens at a table, so that a test reads like the round it is.

Facts are separated by ``;``. ``1`` is a spot, ``1.2`` its hand 2, ``D`` the dealer::

    bet 1 1000; 1 TS; D 6H; 1 9C; D TC down; show D TC; D 5S; pay 1 -1000; close

A word ``@ANN`` in a wager or payment is its bettor, ``%pairs`` its side bet.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from models import events as ev
from models.cards import Card
from models.events import AnyFact
from models.judgements import HandResult, RoundResult
from models.rulebook import Rulebook
from settlement.engine import Engine
from settlement.rulebooks import overridden, parse

RULEBOOKS = Path("models/rulebooks")
IDS = tuple(sorted(path.stem for path in RULEBOOKS.glob("*.toml")))


@cache
def rules(name: str = "kansas-shoe", *settings: str) -> Rulebook:
    path = RULEBOOKS / f"{name}.toml"
    return overridden(parse(path.read_text("utf-8"), path.name).rules, settings)


def facts(text: str) -> list[AnyFact]:
    return [_fact(part.split()) for part in text.replace("\n", " ").split(";") if part.strip()]


def _fact(words: list[str]) -> AnyFact:
    fact = _FACTS.get(words[0], _dealt)([word for word in words if word[0] not in "@%"])
    named = {_NAMED[word[0]]: word[1:] for word in words if word[0] in "@%"}
    return replace(fact, **named)


_NAMED = {"@": "bettor", "%": "bet"}


def rounds(text: str, name: str = "kansas-shoe", *settings: str) -> list[RoundResult]:
    engine = Engine(rules(name, *settings), patient=True)
    results: list[RoundResult] = []
    for fact in facts(text):
        results.extend(engine.feed(fact))
    results.extend(engine.finish())
    return results


def one_round(text: str, name: str = "kansas-shoe", *settings: str) -> RoundResult:
    (result,) = rounds(text, name, *settings)
    return result


def codes(text: str, name: str = "kansas-shoe", *settings: str) -> list[str]:
    return [found.code for result in rounds(text, name, *settings) for found in result.violations]


def only_hand(text: str, name: str = "kansas-shoe", *settings: str) -> HandResult:
    ((hand,),) = (spot.hands for spot in one_round(text, name, *settings).spots)
    return hand


def _card(text: str) -> Card | None:
    return None if text == "??" else Card(text)


def _at(place: str) -> tuple[int, int]:
    spot, _, hand = place.partition(".")
    return int(spot), int(hand or 0)


def _dealt(words: list[str]) -> AnyFact:
    face: ev.Face = "down" if words[-1] == "down" else "up"
    if words[0] == "D":
        return ev.CardDealt(to="dealer", card=_card(words[1]), face=face)
    spot, hand = _at(words[0])
    return ev.CardDealt(to=spot, hand=hand, card=_card(words[1]), face=face)


def _wager(words: list[str]) -> AnyFact:
    kind = {"bet": "main", "ins": "insurance"}.get(words[0], words[0])
    spot, hand = _at(words[1])
    return ev.WagerPlaced(spot=spot, hand=hand, kind=kind, amount=int(words[2]))  # type: ignore[arg-type]


def _back(words: list[str]) -> AnyFact:
    spot, hand = _at(words[1])
    kind = words[3] if len(words) > 3 else "main"
    by: Literal["player", "floor"] = "floor" if words[0] == "take-off" else "player"
    return ev.WagerRemoved(spot=spot, hand=hand, kind=kind, amount=int(words[2]), by=by)  # type: ignore[arg-type]


def _acted(words: list[str]) -> AnyFact:
    spot, hand = _at(words[1])
    manner = words[2] if len(words) > 2 else None
    action = words[0].removeprefix("say-")
    return ev.PlayerActed(spot=spot, hand=hand, action=action, manner=manner)  # type: ignore[arg-type]


def _shown(words: list[str]) -> AnyFact:
    if words[1] == "D":
        return ev.CardExposed(to="dealer", card=_card(words[2]))
    spot, hand = _at(words[1])
    return ev.CardExposed(to=spot, hand=hand, card=_card(words[2]))


def _paid(words: list[str]) -> AnyFact:
    spot, hand = _at(words[1])
    kind = {"pay": "main", "payins": "insurance"}.get(words[0], words[0].removeprefix("pay-"))
    return ev.PaymentMade(spot=spot, hand=hand, kind=kind, amount=int(words[2]))  # type: ignore[arg-type]


def _off(words: list[str]) -> AnyFact:
    if len(words) == 1:
        return ev.RoundCalledOff(reason="misdeal")
    spot, dot, hand = words[1].partition(".")
    return ev.HandCalledOff(spot=int(spot), hand=int(hand) if dot else None, reason="fouled")


def _moved(words: list[str]) -> AnyFact:
    source, _, target = words[2].partition(">")
    return ev.CardMoved(card=_card(words[1]), origin=_place(source), to=_place(target))


def _place(text: str) -> ev.Place:
    if text == "rack":
        return "rack"
    if text == "D":
        return ev.HandPlace(to="dealer")
    spot, hand = _at(text)
    return ev.HandPlace(to=spot, hand=hand)


def _seat(words: list[str]) -> AnyFact:
    kind = ev.PlayerSeated if words[0] == "seat" else ev.PlayerLeft
    return kind(player=words[1], spots=tuple(int(spot) for spot in words[2].split(",")))


_FACTS: dict[str, Callable[[list[str]], AnyFact]] = {
    **dict.fromkeys(("bet", "side", "double", "split", "ins", "toke", "coupon"), _wager),
    **dict.fromkeys(("hit", "stand", "say-double", "say-split", "surrender", "even_money"), _acted),
    **dict.fromkeys(("pay", "payins", "pay-side", "pay-toke", "pay-coupon"), _paid),
    **dict.fromkeys(("seat", "leave"), _seat),
    **dict.fromkeys(("back", "take-off"), _back),
    "off": _off,
    "move": _moved,
    "reshuffle": lambda _: ev.DiscardsReshuffled(),
    "change": lambda words: ev.TrayChanged(amount=int(words[1]), reason=words[2]),  # type: ignore[arg-type]
    "show": _shown,
    "peek": lambda words: ev.HoleCardChecked(blackjack=words[1] == "yes"),
    "touch": lambda words: ev.CardsTouched(spot=int(words[1]), manner=words[2]),  # type: ignore[arg-type]
    "tray": lambda words: ev.TrayCounted(amount=int(words[1])),
    "close": lambda _: ev.RoundClosed(),
    "open": lambda words: ev.RoundOpened(round=int(words[1])),
    "shoe": lambda words: ev.ShoeStarted(decks=int(words[1])),
    "burn": lambda words: ev.CardBurned(card=_card(words[1])),
    "boxed": lambda words: ev.CardBoxed(card=_card(words[1])),
    "cut": lambda _: ev.CutCardReached(),
}


def found(text: str, name: str = "kansas-shoe", *settings: str) -> list[tuple[str, int]]:
    """Return each violation's code and the number of the fact it happened at."""
    return [
        (violation.code, violation.seq)
        for result in rounds(text, name, *settings)
        for violation in result.violations
    ]


def nets(text: str, name: str = "kansas-shoe", *settings: str) -> list[int | None]:
    """Return what each spot gains, round after round."""
    return [spot.net for result in rounds(text, name, *settings) for spot in result.spots]
