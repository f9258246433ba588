"""A report's pictures of a round. Pure: from pictures to blocks of a document."""

from collections.abc import Iterable

from models.events import PlateRead
from server.house.wording import card_text, counted, place
from server.report.document import Block, Picture, Pictures, Text
from server.service.evidence.chip_pictures import Still
from server.service.evidence.report_words import Words
from server.service.evidence.round_evidence import CardShown
from server.service.evidence.round_pictures import ChipsShown, RoundEvidence


def seen(evidence: RoundEvidence, words: Words) -> Iterable[Block]:
    """Show every card of a round, and disputed chips before and after."""
    if not evidence.is_filmed:
        yield Text("No recording of this round lies here.", "quiet")
    elif evidence.cards:
        known = f"The round's {counted(len(evidence.cards), 'card')}"
        found = sum(jpeg is not None for _, jpeg in evidence.cards)
        is_whole = found == len(evidence.cards)
        text = ", each as the camera saw it." if is_whole else f"; the camera saw {found} of them."
        yield Text(known + text, "quiet")
        yield Pictures(tuple(_card_picture(*one, words) for one in _by_place(evidence.cards)))
    for one in evidence.chips:
        yield from _chips(one, words)


def _by_place(
    cards: Iterable[tuple[CardShown, bytes | None]],
) -> list[tuple[int, CardShown, bytes | None]]:
    """Put a hand's cards side by side, each with its number in the deal."""
    numbered = [(number, *one) for number, one in enumerate(cards, start=1)]
    return sorted(
        numbered, key=lambda one: (0 if one[1].to == "dealer" else one[1].to, one[1].hand, one[0])
    )


def _card_picture(number: int, shown: CardShown, jpeg: bytes | None, words: Words) -> Picture:
    name = "Face down" if shown.is_down else card_text(shown.card)
    hand = "dealer" if shown.to == "dealer" else place(shown.to, shown.hand)
    look = shown.sighting
    if look is None:
        where = f"No camera saw it. Entry {shown.seq}"
    else:
        where = f"{words.formats.fine(look.at or 0)}, entry {look.seq}"
    return Picture(jpeg, f"{name}, {hand}, card {number}\n{where}")


def _chips(shown: ChipsShown, words: Words) -> Iterable[Block]:
    """Show a circle before and after, with its plate's readings."""
    one = shown.moment
    named = {"I": ", insurance", "S": ", side wager"}
    where = place(one.spot, int(one.circle) if one.circle.isdecimal() else 0)
    where = where.capitalize() + named.get(one.circle, "")
    what = one.what.replace("_", " ")
    yield Text(f"{where}, the chips at {words.fine(one.at_ns)} ({what}):")
    sides = (("Before", shown.before, one.before), ("After", shown.after, one.after))
    yield Pictures(
        tuple(_circle_picture(side, still, plate, words) for side, still, plate in sides), across=3
    )


def _circle_picture(
    side: str, still: Still | None, plate: PlateRead | None, words: Words
) -> Picture:
    filmed = "no picture of it" if still is None else words.formats.fine(still.at_ns)
    caption = f"{side}, {filmed}. {_plate(plate, words)}"
    return Picture(None if still is None else still.jpeg, caption)


def _plate(plate: PlateRead | None, words: Words) -> str:
    if plate is None:
        return "No bet plate reported."
    chips = ", ".join(
        f"{count} of {words.amount(int(value))}" for value, count in sorted(plate.chips.items())
    )
    counted_as = f" ({chips})" if chips else ""
    return f"The bet plate reported {words.amount(plate.amount)}{counted_as}, entry {plate.seq}."
