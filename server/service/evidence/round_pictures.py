"""A recording's pictures of a round's cards and of disputed chips, for a report."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, get_args

import msgspec

from models.events import AnyFact, CardSighted, PlateRead
from server.readmodel.entries import Entry
from server.readmodel.floor import Floor
from server.readmodel.session import Session
from server.readmodel.views import RoundRow
from server.service.access.people import Person, Right
from server.service.evidence.chip_pictures import Still, stills
from server.service.evidence.round_evidence import CardShown, ChipsMoment, cards_of, disputed_chips
from server.service.evidence.video import Found, card_pictures
from server.service.http.turns import Turns

_PAGE: Final = 2000
_EVIDENCE: Final = 2000
"""Entries before a round's first that are searched for its facts' observations."""
Observed: TypeAlias = CardSighted | PlateRead

_FACT: Final = msgspec.json.Decoder(AnyFact)
_OBSERVATION: Final = msgspec.json.Decoder(Observed)
_FACTS: Final = frozenset(str(one.__struct_config__.tag) for one in get_args(AnyFact))
_OBSERVED: Final = frozenset(str(one.__struct_config__.tag) for one in get_args(Observed))


@dataclass(frozen=True, slots=True)
class ChipsShown:
    """Disputed chips, with the pictures of their circle."""

    moment: ChipsMoment
    before: Still | None
    after: Still | None


@dataclass(frozen=True, slots=True)
class RoundEvidence:
    """Every card of a round, and disputed chips, with their pictures."""

    cards: tuple[tuple[CardShown, bytes | None], ...]
    chips: tuple[ChipsShown, ...]
    is_filmed: bool
    """Whether there is a recording of the round."""


async def round_pictures(
    floor: Floor,
    session: Session,
    row: RoundRow,
    who: Person,
    *,
    recording: Found | None,
    turns: Turns,
) -> RoundEvidence:
    """Gather a report's evidence of a round; face-down cards are named only with the right to it.

    ``turns`` limits the heavy work at the same time.

    Raises:
        TechnicianError: the journal cannot be read.
    """
    facts = await _facts(floor, session, row, who)
    rests_on = {seq for fact in facts for seq in fact.evidence}
    first = max(min(rests_on, default=row.seq), row.seq - _EVIDENCE, 1)
    observed = await _observed(floor, session, first, row.last_seq)
    sightings = {e.seq: e for e in observed if isinstance(e, CardSighted) and e.seq in rests_on}
    plates = [event for event in observed if isinstance(event, PlateRead)]
    cards = cards_of(facts, sightings)
    chips = disputed_chips(session.rounds.violations_of(row.round), facts, plates)
    if recording is None:
        bare = tuple(ChipsShown(one, None, None) for one in chips)
        return RoundEvidence(tuple((card, None) for card in cards), bare, is_filmed=False)
    async with turns:
        found = await asyncio.to_thread(_cut, recording, cards)
        shown = await asyncio.to_thread(_circles, recording, chips)
    pictured = tuple((card, found.get(_sighted(card))) for card in cards)
    return RoundEvidence(pictured, shown, is_filmed=True)


def _cut(recording: Found, cards: Iterable[CardShown]) -> dict[int, bytes]:
    seen = [card.sighting for card in cards if card.sighting is not None]
    found: dict[int, bytes] = {}
    for source in dict.fromkeys(one.source for one in seen):
        own = [one for one in seen if one.source == source]
        found |= card_pictures(recording, source.partition(":")[2], own)
    return found


def _sighted(card: CardShown) -> int:
    return 0 if card.sighting is None else card.sighting.seq or 0


def _circles(recording: Found, chips: Sequence[ChipsMoment]) -> tuple[ChipsShown, ...]:
    camera = next((one.name for one in recording.description.cameras), "")
    return tuple(ChipsShown(one, *stills(recording, camera, one)) for one in chips)


async def _facts(floor: Floor, session: Session, row: RoundRow, who: Person) -> tuple[AnyFact, ...]:
    whole = who.may(Right.SEE_UNDEALT) and session.is_round_past(row.round)
    entries = await _entries(floor, session, row.seq, row.last_seq, _FACTS)
    return tuple(_FACT.decode(one.plain if whole else one.redacted) for one in entries)


async def _observed(floor: Floor, session: Session, first: int, last: int) -> list[Observed]:
    """Return the cameras' and plates' observations: all were visible at the table."""
    entries = await _entries(floor, session, first, last, _OBSERVED)
    return [_OBSERVATION.decode(one.plain) for one in entries]


async def _entries(
    floor: Floor, session: Session, first: int, last: int, kinds: Collection[str]
) -> list[Entry]:
    found: list[Entry] = []
    after = first - 1
    while after < last:
        some = await floor.entries(session, after, min(_PAGE, last - after))
        if not some:
            break
        found += (one for one in some if one.type in kinds)
        after = some[-1].seq
    return found
