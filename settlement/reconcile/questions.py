"""What is doubtful of a round that is over, card by card, and the stories it might have been."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from models.cards import Card
from models.events import AnyFact, CardDealt, CardExposed
from models.judgements import Review
from settlement.reconcile.draws import Composition
from settlement.reconcile.identity import rivals
from settlement.reconcile.looks import Reading
from settlement.reconcile.weighing import Question, Rival

_NAMED_ODDS = 0.01
"""A person is offered the faces that have these odds; where none has, the likeliest few."""

_NAMED = 5


@dataclass(frozen=True, slots=True)
class Stated:
    """A card as it is stated."""

    name: str
    """``the dealer's up card``, ``the second card of spot 3``."""
    card: Card
    shoe_card: Card | None
    """What the shoe read it as."""
    seqs: tuple[int, ...]
    places: Sequence[int]
    """The places of its facts in the round's record."""


def of_face(
    held: Stated,
    reading: Reading | None,
    record: Sequence[AnyFact],
    shoe: Composition,
    clinging: tuple[float, float],
) -> Question | None:
    """Ask which card one is; ``None`` where its sensors leave no doubt, or nobody read it.

    Args:
        held: the card, and its published facts.
        reading: all the camera's looks at its face.
        record: the facts of the round.
        shoe: what the shoe can still hold.
        clinging: the share of the camera's errors that last from look to look: the most and
            the least that it may be.
    """
    most, least = clinging
    others = rivals(held.card, held.shoe_card, reading, shoe.holds, most)
    doubted = rivals(held.card, held.shoe_card, reading, shoe.holds, least)
    if not (others or doubted):
        return None
    others = dict.fromkeys(doubted, 0.0) | others
    ordered = sorted(others, key=lambda face: (-others[face], face.value))
    stories = tuple(
        Rival(
            others[face],
            _as(face, held, record),
            max(others[face], doubted.get(face, 0.0)),
        )
        for face in ordered
    )
    likely = [face for face in ordered if others[face] >= _NAMED_ODDS] or ordered[:_NAMED]
    names = (str(held.card), *map(str, likely))
    contradicted = reading is not None and not reading.agrees(held.shoe_card)
    what = _what(held, reading, names if contradicted else ())
    return Question(Review(what, names, held.seqs), stories, contradicted)


def _as(face: Card, held: Stated, record: Sequence[AnyFact]) -> dict[int, tuple[AnyFact, ...]]:
    own = {at: record[at] for at in held.places}
    return {
        at: (replace(fact, card=face),)
        for at, fact in own.items()
        if isinstance(fact, CardDealt | CardExposed) and fact.card is not None
    }


def _what(held: Stated, reading: Reading | None, names: Sequence[str]) -> str:
    if held.shoe_card is not None and reading is not None:
        return read_apart(held.name, str(held.shoe_card), " or ".join(reading.possible))
    if reading is not None and len(names) > 1:
        return f"Is {held.name} {names[0]} or {names[1]}? The camera read it as one and the other."
    alone = "the camera" if held.shoe_card is None else "the shoe"
    return f"Is {held.name} {held.card}? Only {alone} read it."


def read_apart(name: str, by_shoe: str, by_camera: str) -> str:
    """Ask which card one is that the shoe and the camera read apart."""
    return f"Is {name} {by_shoe}, as the shoe read it, or {by_camera}, as the camera did?"
