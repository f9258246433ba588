"""Several cameras as one: which camera's track is which card.

Each camera counts its own tracks. A card that two cameras see has two of them. It is known here by
the track that reported it first; the other camera's looks become further looks at that card. Places
are fused by each camera's own error. What one camera alone reports is passed on unchanged.

A camera that has seen cards about a place, and did not see this one there, is a witness against it;
every further camera that saw it is one for it.

A camera may lag, stop or err. So a card is off the felt once every camera that saw it says so, or
``GONE_HOLD_NS`` after the first one did where no later look contradicts it. A camera that reports a
card after the others saw it go adds nothing.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import hypot, sqrt
from typing import Final, TypeAlias

from msgspec.structs import replace

from models.cards import Card
from models.events import CardGone, CardSighted, Face
from models.judgements import AnyEvent
from settlement.reconcile.learned import Cover
from settlement.reconcile.sightings import (
    AFRESH,
    AGREED_P,
    Place,
    Sight,
    Track,
    likeliest_face,
)
from settlement.reconcile.timing import BETWEEN_CARDS_NS, SECOND

Joined: TypeAlias = Sight | CardGone

GONE_HOLD_NS: Final = 2 * SECOND
"""A card that one camera saw go is gone after this, whatever a camera that stopped still holds. A
camera reports a card that left alone after 1.2 s, and one that an arm hid somewhat later."""

LAG_NS: Final = 2 * SECOND
"""A camera's clock may be so late."""

SPREAD_MM: Final = 3.0
"""Standard error of a place on each axis, where a camera does not state its own."""

_REACH: Final = 3.5
"""Two cameras see one card within so many standard errors: farther ones are 1 in 450."""

_MOST_REACH_MM: Final = 18.0
"""No camera is so bad that a card counts as its neighbour, which lies 20 mm away."""

_AT_ONCE_MM: Final = 40.0
"""Two cameras that read one face at one time see one card up to so far apart. Chosen: 1 in 450 of
two cameras' places is beyond their reach, and one pair of sightings was 20 mm apart."""

_CELL_MM: Final = 100.0
"""A camera that saw a card sees as far around it: to the next cell of so many millimetres."""

_LACKED_NS: Final = 3 * SECOND
"""What a camera sees only so long after the others is not joined with what they saw: the stories
tell whether it is the same card. Chosen."""

_COVERS_NS: Final = 600 * SECOND
"""A camera that saw a card come sees there for so long: what stands in its way later is noticed."""

_PAST: Final = 64
"""So many cards that are gone are remembered, for a camera that lags."""


class _View:
    """A card as one camera sees it."""

    def __init__(self, x_mm: float, y_mm: float, angle_deg: float, spread_mm: float) -> None:
        self.x_mm: Final = x_mm
        self.y_mm: Final = y_mm
        self.angle_deg: Final = angle_deg
        self.spread_mm: Final = spread_mm
        self.stale = False
        """Whether the card was moved since, and this camera has not reported it."""

    @classmethod
    def of(cls, seen: CardSighted) -> "_View":
        return cls(seen.x_mm, seen.y_mm, seen.angle_deg, seen.spread_mm or SPREAD_MM)


@dataclass(slots=True)
class _Card:
    """A card on the felt, and every camera that sees it."""

    track: Track
    face: Face
    since: int
    views: dict[str, _View]
    cell: tuple[int, int]
    """Where it was first seen."""
    names: dict[str, Card | None] = field(default_factory=dict)
    """The face that each camera named last, where it was certain."""
    likeliest: dict[str, Card | None] = field(default_factory=dict)
    """The face that each camera held the likeliest last."""
    gone: CardGone | None = None
    """The first report that it went, until it is believed."""
    left: set[str] = field(default_factory=set)
    """The cameras that saw it go."""
    saw: set[str] = field(default_factory=set)
    """The cameras that saw it."""

    def place(self) -> _View:
        """Return where it lies by every camera, each weighed by its error."""
        fresh = [view for view in self.views.values() if not view.stale]
        views = fresh or list(self.views.values())
        if len(views) == 1:
            return views[0]
        weights = [1.0 / view.spread_mm**2 for view in views]
        whole = sum(weights)
        best = min(views, key=lambda view: view.spread_mm)
        x_mm = sum(w * view.x_mm for w, view in zip(weights, views, strict=True)) / whole
        y_mm = sum(w * view.y_mm for w, view in zip(weights, views, strict=True)) / whole
        return _View(x_mm, y_mm, best.angle_deg, sqrt(1.0 / whole))


class Witnesses:
    """Which cameras saw a card that is gone, and which would have seen it and did not.

    ``since`` is when it was first seen, in nanoseconds.
    """

    def __init__(self, saw: frozenset[str], lacked: frozenset[str], since: int) -> None:
        self.saw: Final = saw
        self.lacked: Final = lacked
        self.since: Final = since


class Cameras:
    """Knows every card on the felt by one track, whichever cameras see it."""

    def __init__(self) -> None:
        self._sources: set[str] = set()
        self._cards: dict[Track, _Card] = {}
        self._of: dict[Track, Track] = {}
        self._going: list[_Card] = []
        self._past: deque[_Card] = deque(maxlen=_PAST)
        self._heard: dict[str, int] = {}
        """When each camera reported anything last."""
        self._covers: dict[tuple[str, int, int], int] = {}
        """When a card came into each camera's view last, in each cell of the felt."""
        self._witnesses: dict[Track, Witnesses] = {}

    def learned(self) -> tuple[Cover, ...]:
        """Return where each camera sees cards, to go on from where no card is on the felt."""
        return tuple((*key, at) for key, at in self._covers.items())

    def go_on(self, learned: Iterable[Cover]) -> None:
        """Go on from what :meth:`learned` returned."""
        self._covers = {(source, column, row): at for source, column, row, at in learned}

    def recall(self, events: Iterable[AnyEvent]) -> None:
        """Learn from a journal where each camera sees cards."""
        for event in events:
            if isinstance(event, CardSighted):
                self._learn(event)

    def witnesses(self, track: Track) -> Witnesses | None:
        """Return which cameras saw the card whose end was reported last as ``track``."""
        return self._witnesses.pop(track, None)

    def watching(self, place: Place, since_ns: int) -> int:
        """Return how many cameras were at work since a time, and see cards thereabouts."""
        cell = _cell(place.x_mm, place.y_mm)
        return sum(self._watched(source, cell, since_ns) for source in self._sources)

    @property
    def count(self) -> int:
        """How many cameras have reported anything yet."""
        return len(self._sources)

    def sighted(self, seen: CardSighted) -> tuple[Joined, ...]:
        """Return what a sighting says, in terms of cards; nothing where it adds nothing."""
        track = (seen.source, seen.track)
        self._sources.add(seen.source)
        self._heard[seen.source] = seen.at or 0
        self._learn(seen)
        known = self._of.get(track)
        if known is None:
            return self._new(track, seen)
        card = self._cards.get(known)
        return () if card is None else self._seen(card, seen)

    def gone(self, gone: CardGone) -> tuple[CardGone, ...]:
        """Return the card that a camera's report says is gone, once that is believed."""
        track = (gone.source, gone.track)
        self._heard[gone.source] = gone.at or 0
        known = self._of.pop(track, None)
        if known is None:
            return (gone,)
        card = self._cards.get(known)
        if card is None:
            return ()
        card.views.pop(gone.source, None)
        card.left.add(gone.source)
        card.gone = card.gone or gone
        if not card.views:
            return (self._over(card),)
        if card not in self._going:
            self._going.append(card)
        return ()

    def due(self, now_ns: int) -> tuple[CardGone, ...]:
        """Return the cards that a camera saw go, and that no other has reported again by now."""
        if not self._going:
            return ()
        over = [c for c in self._going if c.gone and (c.gone.at or 0) + GONE_HOLD_NS <= now_ns]
        over.sort(key=_gone_at)
        return tuple(self._over(card) for card in over)

    # --- inside ---------------------------------------------------------------------------

    def _learn(self, seen: CardSighted) -> None:
        if seen.change == "new":
            self._covers[(seen.source, *_cell(seen.x_mm, seen.y_mm))] = seen.at or 0

    def _new(self, track: Track, seen: CardSighted) -> tuple[Joined, ...]:
        before: tuple[Joined, ...] = ()
        if len(self._sources) > 1:
            near = [
                card
                for card in self._cards.values()
                if _near(card, seen) and not self._lacked_long(card, seen)
            ]
            before = tuple(self._over(card) for card in near if seen.source in card.left)
            card = _likeliest((c for c in near if seen.source not in c.left), seen)
            card = card or _likeliest(
                (c for c in self._cards.values() if _came_at_once(c, seen)), seen
            )
            if card is not None:
                self._of[track] = card.track
                return before + self._seen(card, seen)
            if self._seen_late(track, seen):
                return before
        cell = _cell(seen.x_mm, seen.y_mm)
        card = _Card(track, seen.face, seen.at or 0, {seen.source: _View.of(seen)}, cell)
        card.names[seen.source], card.likeliest[seen.source] = seen.card, likeliest_face(seen)
        card.saw.add(seen.source)
        self._of[track], self._cards[track] = track, card
        return (*before, Sight.alone(seen))

    def _seen_late(self, track: Track, seen: CardSighted) -> bool:
        """Tell whether it is a card that the others saw come and go: this camera lags."""
        for card in reversed(self._past):
            lay = card.since - LAG_NS <= (seen.at or 0) <= _gone_at(card) + LAG_NS
            knew = seen.source in card.left or seen.source in card.views
            if lay and not knew and card.face == seen.face and _near(card, seen):
                if _differ(card, seen):
                    continue
                card.views[seen.source] = _View.of(seen)
                self._of[track] = card.track
                return True
        return False

    def _seen(self, card: _Card, seen: CardSighted) -> tuple[Joined, ...]:
        """A camera tells of a card that is known."""
        view = _View.of(seen)
        others = [other for name, other in card.views.items() if name != seen.source]
        afresh = seen.change in AFRESH
        card.views[seen.source], card.names[seen.source] = view, seen.card
        card.likeliest[seen.source] = likeliest_face(seen)
        further = seen.source not in card.saw and seen.face == card.face
        card.saw.add(seen.source)
        if not others and not card.left:
            card.face = seen.face
            return (Sight(seen, card.track, afresh),)
        if card.gone is not None and (seen.at or 0) > (card.gone.at or 0):
            self._still_there(card)
        change = self._changed(card, view, others, seen)
        if change is None and not further:
            return ()
        place = card.place()
        joined = replace(
            seen,
            change=change or "read",
            x_mm=place.x_mm,
            y_mm=place.y_mm,
            angle_deg=place.angle_deg,
        )
        return (Sight(joined, card.track, afresh, further),)

    def _changed(
        self, card: _Card, view: _View, others: list[_View], seen: CardSighted
    ) -> str | None:
        """Return what became of the card by this look; ``None`` where the look says nothing of it.

        A back where another camera reads a face is no look at that face: something lies over it.
        """
        if seen.face != card.face:
            if seen.face == "down" and seen.change != "turned":
                return None
            card.face = seen.face
            _moved_from(others, view)
            return "turned"
        if seen.change in ("moved", "squared") and _moved_from(others, view):
            return seen.change
        return "read" if seen.face == "up" else None

    def _still_there(self, card: _Card) -> None:
        card.gone = None
        card.left.clear()
        self._going = [other for other in self._going if other is not card]

    def _over(self, card: _Card) -> CardGone:
        """A card is off the felt; what a camera still tells of it is past."""
        del self._cards[card.track]
        self._going = [other for other in self._going if other is not card]
        if len(self._sources) > 1:
            self._past.append(card)
            lacked = frozenset(one for one in self._sources if self._would_have_seen(one, card))
            self._witnesses[card.track] = Witnesses(frozenset(card.saw), lacked, card.since)
        assert card.gone is not None
        source, number = card.track
        return replace(card.gone, source=source, track=number)

    def _would_have_seen(self, source: str, card: _Card) -> bool:
        """Tell whether a camera lacked a card."""
        return source not in card.saw and self._watched(source, card.cell, card.since)

    def _lacked_long(self, card: _Card, seen: CardSighted) -> bool:
        """Tell whether a camera saw nothing there for so long that this is another card.

        What the others saw until then may have been nothing. Where none of them holds its face the
        likeliest, as long as a camera lags is long enough.
        """
        unlike = seen.card is not None and seen.card not in card.likeliest.values()
        long = (seen.at or 0) - card.since > (LAG_NS if unlike else _LACKED_NS)
        return long and self._would_have_seen(seen.source, card)

    def _watched(self, source: str, cell: tuple[int, int], since_ns: int) -> bool:
        """Tell whether a camera was at work since a time, and sees cards thereabouts."""
        if self._heard[source] < since_ns:
            return False
        column, row = cell
        near = ((source, column + x, row + y) for x in (-1, 0, 1) for y in (-1, 0, 1))
        return any(self._covers.get(key, -_COVERS_NS) > since_ns - _COVERS_NS for key in near)


def _moved_from(others: list[_View], view: _View) -> bool:
    """Tell whether a card lies where no other camera saw it last: those reports are of before."""
    fresh = [other for other in others if not other.stale]
    if any(_apart_mm(other, view) <= _reach_mm(other, view) for other in fresh):
        return False
    for other in others:
        other.stale = True
    return True


def _cell(x_mm: float, y_mm: float) -> tuple[int, int]:
    return int(x_mm // _CELL_MM), int(y_mm // _CELL_MM)


def _gone_at(card: _Card) -> int:
    return 0 if card.gone is None else card.gone.at or 0


def _likeliest(near: Iterable[_Card], seen: CardSighted) -> _Card | None:
    """Return the card that a new track is: one of a like face rather than of another."""
    fits = [card for card in near if seen.source not in card.views]
    view = _View.of(seen)
    return min(fits, key=lambda card: _strangeness(card, seen, view), default=None)


def _strangeness(card: _Card, seen: CardSighted, view: _View) -> float:
    place = card.place()
    unlike = card.face != seen.face or _differ(card, seen)
    return _apart_mm(place, view) / _reach_mm(place, view) + unlike


def _near(card: _Card, seen: CardSighted) -> bool:
    place = card.place() if card.views else None
    view = _View.of(seen)
    return place is not None and _apart_mm(place, view) <= _reach_mm(place, view)


def _came_at_once(card: _Card, seen: CardSighted) -> bool:
    """Tell whether another camera saw the same face, or a back, come at the same time near there.

    No hand lays two cards so fast: one of the cameras errs about the place.
    """
    is_soon = abs((seen.at or 0) - card.since) < BETWEEN_CARDS_NS
    if not is_soon or seen.source in card.left or seen.face != card.face:
        return False
    if likeliest_face(seen) not in card.likeliest.values():
        return False
    return _apart_mm(card.place(), _View.of(seen)) <= _AT_ONCE_MM


def _differ(card: _Card, seen: CardSighted) -> bool:
    """Tell whether every camera that named the face named another."""
    names = {name for name in card.names.values() if name is not None}
    likeliest = max(seen.candidates.values(), default=0.0) >= AGREED_P
    return likeliest and seen.card is not None and bool(names) and seen.card not in names


def _apart_mm(one: _View, other: _View) -> float:
    return hypot(one.x_mm - other.x_mm, one.y_mm - other.y_mm)


def _reach_mm(one: _View, other: _View) -> float:
    return min(_MOST_REACH_MM, _REACH * hypot(one.spread_mm, other.spread_mm))
