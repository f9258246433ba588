"""What is doubtful of a round that is over, card by card, and the stories it might have been."""

from collections.abc import Sequence

from msgspec.structs import replace

from models.cards import Card
from models.events import AnyFact, CardBurned, CardDealt, CardExposed
from models.judgements import Review
from settlement.reconcile.draws import Composition
from settlement.reconcile.identity import rivals
from settlement.reconcile.looks import Reading
from settlement.reconcile.table import Held
from settlement.reconcile.weighing import Question, Rival

_LOST_P = 0.01
"""A card that was not seen on the felt was put aside: one in so many."""

_NONE_P = 0.01
"""What the camera saw twice over where a card was due, and the shoe did not, is no card, but
another one seen doubled: one in so many, at worst."""

_NONE_IF_SEEN_ONCE_P = 1.0
"""What it saw but once may as well be no card: the round's course must tell."""

_NAMED_ODDS = 0.01
"""A person is offered the faces that have these odds; where none has, the likeliest few."""

_NAMED = 5


def of_face(
    held: Held,
    reading: Reading | None,
    record: Sequence[AnyFact],
    shoe: Composition,
    clinging: tuple[float, float],
) -> Question | None:
    """Ask which card one is; ``None`` where its sensors leave no doubt, or nobody read it.

    Args:
        held: the card, and the facts that were told of it.
        reading: all that the camera's looks said of its face.
        record: the facts of the round.
        shoe: what the shoe can still hold.
        clinging: the share of the camera's errors that last from look to look: the most and
            the least that it may be.
    """
    if held.card is None:
        return None
    most, least = clinging
    others = rivals(held.card, held.said, reading, shoe.holds, most)
    doubted = rivals(held.card, held.said, reading, shoe.holds, least)
    if not (others or doubted):
        return None
    others = dict.fromkeys(doubted, 0.0) | others
    ordered = sorted(others, key=lambda face: (-others[face], face.value))
    stories = tuple(
        Rival(others[face], _as(face, held, record), doubted.get(face, 0.0)) for face in ordered
    )
    likely = [face for face in ordered if others[face] >= _NAMED_ODDS] or ordered[:_NAMED]
    names = (str(held.card), *map(str, likely))
    contradicted = reading is not None and not reading.agrees(held.said)
    return Question(Review(_what(held, reading), names, held.seqs), stories, contradicted)


def of_place(held: Held, review: Review, record: Sequence[AnyFact]) -> Question:
    """Ask whose a card was that nobody saw, or whether it went aside: burned, or to the floor."""
    stories = []
    for at in held.told:
        fact = record[at]
        if isinstance(fact, CardDealt):
            stories += [
                Rival(1.0, {at: (replace(fact, to=to, hand=hand),)}) for to, hand in held.elsewhere
            ]
            aside = CardBurned(at=fact.at, card=fact.card, evidence=fact.evidence)
            stories.append(Rival(_LOST_P, {at: (aside,)}))
    return Question(review, tuple(stories))


def of_being(held: Held, review: Review, reading: Reading | None) -> Question:
    """Ask whether a card was dealt at all that only the camera told of."""
    once = reading is None or reading.looks == 1
    odds = _NONE_IF_SEEN_ONCE_P if once else _NONE_P
    return Question(review, (Rival(odds, dict.fromkeys(held.told, ())),))


def _as(face: Card, held: Held, record: Sequence[AnyFact]) -> dict[int, tuple[AnyFact, ...]]:
    told = {at: record[at] for at in held.told}
    return {
        at: (replace(fact, card=face),)
        for at, fact in told.items()
        if isinstance(fact, CardDealt | CardExposed) and fact.card is not None
    }


def _what(held: Held, reading: Reading | None) -> str:
    if held.said is not None and reading is not None:
        return f"the shoe said {held.said}, the camera reads {_names(reading)}"
    alone = "the camera" if held.said is None else "the shoe"
    return f"only {alone} read {held.card}, and the round's course speaks for another card"


def _names(reading: Reading) -> str:
    return " or ".join(str(face) for face, p in reading.listed if p >= 0.01)
