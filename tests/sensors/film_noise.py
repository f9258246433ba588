"""What a camera does to a simulated session, at the rates measured on films.

``lab.bench.rates`` measures them; :func:`spoilt` does the same to sessions that no film was made
of. An error of reading lasts as long as the card lies still: on films, looks at one card agree.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import hypot
from random import Random
from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from models.cards import DECK, Card
from models.events import AnyObservation, CardGone, CardSighted
from models.layout import Point, TableLayout, inside

Game: TypeAlias = Literal["shoe", "hand"]
Timed: TypeAlias = tuple[int, AnyObservation]
Told: TypeAlias = tuple[int, CardSighted | CardGone]

LATER_S: Final = (1, 2, 4)
"""Of the late ones, those are counted that are late by so many seconds."""
TOGETHER_NS: Final = 1_000_000_000
TOGETHER_MM: Final = 60.0
"""Cards that come face up so soon after one another, so near, are a hand shown."""
_SECOND: Final = 10**9
_LATE_NS: Final = (_SECOND // 2, 5 * _SECOND)
"""A late card is at least so late, and at most. On films none was late by 2 s."""
_SEEN_NS: Final = 160_000_000
"""A late card was seen all the same: it lay there for so long after."""
_GONE_LATE_NS: Final = (3 * _SECOND, 10 * _SECOND)
_GHOST_NS: Final = (2 * _SECOND, 20 * _SECOND)
"""A report of nothing where cards are dealt lasts for so long."""
_STRAY_NS: Final = (_SECOND, 3 * _SECOND // 2)
"""One elsewhere does, mostly."""
_STRAY_SHORT: Final = 0.7
"""Share of those that last no longer than that; the others last as those among cards."""
_GHOST_MM: Final = 20.0
"""Standard deviation of a place among cards about that of a card, on each axis: it is mostly a part
of it."""
_GHOST_TRACK: Final = 500_000_000
_SURE_P: Final = 0.9999


@dataclass(frozen=True, slots=True)
class FilmRates:
    """How often a camera errs, per card; ``changed`` per second look."""

    misread: float
    misread_sure: float
    """Share of the misread faces that it is sure of."""
    doubted: float
    changed: float
    """Share of second looks that name another face than the first."""
    hand_missed: float
    """Of hands shown, cards that come face up together: what hides one face hides them all."""
    back_missed: float
    late: float
    going_late: float
    ghost_face: float
    ghost_back: float
    ghost_in_zone: float
    """Share of the reports of nothing that lie where cards are dealt."""
    misread_rank: float = 1.0
    """Share of the misread faces, but for sure ones, that are of another rank."""
    doubted_rank: float = 0.0
    """Share of the faces in doubt whose rank is left open."""
    late_by: tuple[float, ...] = (8 / 9, 6 / 9, 2 / 9)
    """Shares of the late cards that are late by each of ``LATER_S``; as stated here, any time from
    half a second to five is as likely as any other."""

    @property
    def misread_as_another(self) -> float:
        """Share of the misread faces that are of another rank: sure ones, and some of the rest."""
        return 1.0 - (1.0 - self.misread_sure) * (1.0 - self.misread_rank)

    def times(self, factor: float) -> "FilmRates":
        """Return these rates, but for shares of errors, multiplied by ``factor``."""
        return dataclasses.replace(
            self,
            misread=min(1.0, self.misread * factor),
            doubted=min(1.0, self.doubted * factor),
            hand_missed=min(1.0, self.hand_missed * factor),
            back_missed=min(1.0, self.back_missed * factor),
            late=min(1.0, self.late * factor),
            going_late=min(1.0, self.going_late * factor),
            ghost_face=min(1.0, self.ghost_face * factor),
            ghost_back=min(1.0, self.ghost_back * factor),
        )


FAULTLESS: Final = FilmRates(
    misread=0.0,
    misread_sure=0.0,
    doubted=0.0,
    changed=0.0,
    hand_missed=0.0,
    back_missed=0.0,
    late=0.0,
    going_late=0.0,
    ghost_face=0.0,
    ghost_back=0.0,
    ghost_in_zone=0.0,
)


def spoilt(heard: Sequence[Timed], rates: FilmRates, seed: int, layout: TableLayout) -> list[Timed]:
    """Return filmed observations with every camera's errors, each camera's by itself."""
    told = [timed for timed in heard if not isinstance(timed[1], CardSighted | CardGone)]
    for source in sorted({one.source for _, one in heard if isinstance(one, CardSighted)}):
        own: list[Told] = [
            (at, one)
            for at, one in heard
            if isinstance(one, CardSighted | CardGone) and one.source == source
        ]
        told += _Camera(rates, Random(f"{seed}:{source}:errors"), layout).spoil(own)
    told.sort(key=lambda timed: timed[0])
    return [(at, replace(one, seq=seq)) for seq, (at, one) in enumerate(told, start=1)]


class _Camera:
    """One camera's errors."""

    def __init__(self, rates: FilmRates, chance: Random, layout: TableLayout) -> None:
        self._rates, self._chance, self._layout = rates, chance, layout
        self._ghosts = 0

    def spoil(self, own: Sequence[Told]) -> Iterator[Timed]:
        tracks: dict[int, list[Told]] = {}
        for at, one in own:
            tracks.setdefault(one.track, []).append((at, one))
        missed = self._missed(tracks.values())
        for number, track in tracks.items():
            yield from self._track(track, missed=number in missed)

    def _missed(self, tracks: Iterable[Sequence[Told]]) -> set[int]:
        """Return the tracks whose card is missed as it first lies there."""
        faces = [t[0][1] for t in tracks if isinstance(t[0][1], CardSighted)]
        up = sorted((one for one in faces if one.face == "up"), key=lambda one: one.at or 0)
        hands = together([(one.at or 0, one.x_mm, one.y_mm) for one in up])
        hidden = {hand for hand in sorted(set(hands)) if self._strikes(self._rates.hand_missed)}
        found = {one.track for one, hand in zip(up, hands, strict=True) if hand in hidden}
        backs = (one.track for one in faces if one.face == "down")
        return found | {track for track in backs if self._strikes(self._rates.back_missed)}

    def _strikes(self, share: float) -> bool:
        return self._chance.random() < share

    def _between(self, span_ns: tuple[int, int]) -> int:
        return self._chance.randrange(*span_ns)

    def _track(self, track: Sequence[Told], *, missed: bool) -> Iterator[Timed]:
        first = track[0][1]
        if not isinstance(first, CardSighted):
            return
        yield from self._ghost(track[0][0], first)
        if missed:
            track = self._turned_later(track)
        late_ns = self._late_ns(track) if self._strikes(self._rates.late) else 0
        seen_ns = track[0][0] + late_ns if track else 0
        known: dict[Card, Card] = {}
        for number, (at, one) in enumerate(track):
            if isinstance(one, CardGone):
                going = self._strikes(self._rates.going_late)
                yield max(at, seen_ns) + (self._between(_GONE_LATE_NS) if going else 0), one
            elif number == 0 and late_ns:
                lies = _as_it_lies(track, seen_ns)
                yield seen_ns, self._read(replace(lies, at=seen_ns, change="new"), known)
            elif at >= seen_ns:
                told = self._read(one, known)
                if one.change != "read" or told.card is not None:
                    yield at, told

    def _late_ns(self, track: Sequence[Told]) -> int:
        """Return how late a card is seen: as long as it lies there, since it was seen."""
        late_ns = self._as_late_as_on_films(self._between(_LATE_NS))
        ends = [one.at or at for at, one in track if isinstance(one, CardGone)]
        if not ends or track[0][0] + late_ns + _SEEN_NS <= ends[0]:
            return late_ns
        most_ns = ends[0] - _SEEN_NS - track[0][0]
        return self._between((_LATE_NS[0], most_ns)) if most_ns > _LATE_NS[0] else 0

    def _as_late_as_on_films(self, evenly_ns: int) -> int:
        """Return the lateness that as many late cards exceed as ``evenly_ns``, were all alike."""
        least_ns, most_ns = _LATE_NS
        share = (most_ns - evenly_ns) / (most_ns - least_ns)
        ends_ns = (least_ns, *(second * _SECOND for second in LATER_S), most_ns)
        shares = (1.0, *self._rates.late_by, 0.0)
        at = max(place for place, exceeded in enumerate(shares[:-1]) if exceeded >= share)
        within = (shares[at] - share) / (shares[at] - shares[at + 1])
        return round(ends_ns[at] + within * (ends_ns[at + 1] - ends_ns[at]))

    def _turned_later(self, track: Sequence[Told]) -> Sequence[Told]:
        """Return what is left of a card that was missed as it first lay: it is seen once turned."""
        for number, (at, one) in enumerate(track):
            if isinstance(one, CardSighted) and one.change == "turned":
                return [(at, replace(one, change="new")), *track[number + 1 :]]
        return ()

    def _read(self, seen: CardSighted, known: dict[Card, Card]) -> CardSighted:
        """Look at a face: rightly, in doubt, or as another, mostly the same one each time."""
        card = seen.card
        if card is None:
            return seen
        if card not in known or self._strikes(self._rates.changed):
            known[card] = self._misread(card) if self._strikes(self._rates.misread) else card
        named = known[card]
        if not self._strikes(self._doubt(card, named)):
            return replace(seen, card=named, candidates={named.value: _SURE_P})
        other = self._second(card) if named is card else card
        p = round(self._chance.uniform(0.5, 0.95), 4)
        candidates = {named.value: p, other.value: round(0.98 - p, 4)}
        candidates = {face: p for face, p in candidates.items() if p >= 0.01}
        return replace(seen, card=None, candidates=candidates, confidence=p)

    def _misread(self, card: Card) -> Card:
        share = self._rates.misread_as_another
        # No chance is drawn where there is none to take: seeds keep their errors.
        another = share == 1.0 or self._strikes(share)
        return self._another(card) if another else _of_like_print(card)

    def _doubt(self, card: Card, named: Card) -> float:
        """Return how likely a look at a card is in doubt that names this one."""
        rates = self._rates
        if named is card:
            return rates.doubted
        if rates.misread_as_another < 1.0 and named is _of_like_print(card):
            return 1.0
        return 1.0 - rates.misread_sure / rates.misread_as_another

    def _second(self, card: Card) -> Card:
        """Return what a card in doubt may be as well."""
        rank = self._rates.doubted_rank
        return self._another(card) if rank and self._strikes(rank) else _of_like_print(card)

    def _ghost(self, at: int, near: CardSighted) -> Iterator[Timed]:
        rates = self._rates
        chance = rates.ghost_face if near.face == "up" else 0.0
        face = self._strikes(chance)
        if not face and not self._strikes(rates.ghost_back if near.face == "up" else 0.0):
            return
        self._ghosts += 1
        track = _GHOST_TRACK + self._ghosts
        card = self._chance.choice(DECK)
        p = round(self._chance.uniform(0.3, 0.65), 4)
        place = self._ghost_place((near.x_mm, near.y_mm))
        ghost = replace(
            near,
            track=track,
            change="new",
            face="up" if face else "down",
            card=None,
            candidates={card.value: p, self._another(card).value: 0.3} if face else {},
            confidence=p,
            x_mm=round(place[0], 1),
            y_mm=round(place[1], 1),
        )
        yield at, ghost
        stray = not in_a_zone(place, self._layout) and self._strikes(_STRAY_SHORT)
        gone_ns = at + self._between(_STRAY_NS if stray else _GHOST_NS)
        yield (
            gone_ns,
            CardGone(
                source=near.source, at=gone_ns, table=near.table, track=track, frame=near.frame
            ),
        )

    def _ghost_place(self, near: Point) -> Point:
        """Return a place about a card, or one where no card is dealt."""
        chance, layout = self._chance, self._layout
        in_zone = self._strikes(self._rates.ghost_in_zone)
        while True:
            place = (near[0] + chance.gauss(0.0, _GHOST_MM), near[1] + chance.gauss(0.0, _GHOST_MM))
            if not in_zone:
                half = layout.width_mm / 2
                place = (chance.uniform(-half, half), chance.uniform(0.0, layout.depth_mm))
            if in_a_zone(place, layout) == in_zone:
                return place

    def _another(self, card: Card) -> Card:
        return self._chance.choice([other for other in DECK if other is not card])


def together(shown: Sequence[tuple[int, float, float]]) -> list[int]:
    """Return the hand that each card belongs to, of cards as they come face up.

    Args:
        shown: of each when (ns) and where (mm) it came up, in the order of time.
    """
    hands: list[int] = []
    for at, (when, x_mm, y_mm) in enumerate(shown):
        hands.append(at)
        for before in range(at - 1, -1, -1):
            then, its_x_mm, its_y_mm = shown[before]
            if when - then > TOGETHER_NS:
                break
            if hypot(x_mm - its_x_mm, y_mm - its_y_mm) < TOGETHER_MM:
                hands[at] = hands[before]
                break
    return hands


def in_a_zone(point: Point, layout: TableLayout) -> bool:
    """Return whether cards are dealt there."""
    zones = (layout.dealer_cards, *(spot.cards for spot in layout.spots))
    return any(inside(point, zone) for zone in zones)


def _as_it_lies(track: Sequence[Told], at_ns: int) -> CardSighted:
    """Return the last report of a card up to a time: it may have been turned or moved by then."""
    return [one for at, one in track if at <= at_ns and isinstance(one, CardSighted)][-1]


def _of_like_print(card: Card) -> Card:
    """Return a card's rank in the other suit of its colour."""
    other = {"S": "C", "C": "S", "H": "D", "D": "H"}
    return Card(card.rank + other[card.suit])
