"""Identify the cards on the felt from one look to the next, in millimetres and nanoseconds.

Pure bookkeeping: a look comes in as :class:`Seen`, a :class:`View` answers questions about the
picture, and changes go out as :class:`Change`.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from models.events import Face
from vision.backdrop import Print
from vision.evidence import Evidence, agreement
from vision.felt import Pose, mean_pose

Kind: TypeAlias = Literal["new", "read", "moved", "turned", "squared", "gone"]

SAME_MM: Final = 12.0
"""Millimetres. A sighting this close to a known card is that card."""
_SAME_BACK_MM: Final = 16.0
"""The same for backs: a half covered one is found by different parts of it."""
ONE_BACK_MM: Final = 6.0
"""Two backs this close in one look are one, found in two parts of the picture; a card tucked under
another may show a strip of 8 mm."""

# Chosen for the steps and gaps of docs/conduct.md, not measured, unless a line says otherwise.
_SAME_DEG: Final = 20.0  # turned by more, it is another card
_ENDS_MM: Final = 30.0  # distance of two finds of one card by its two ends
_TURNED_HERE_MM: Final = 8.0  # a card turned over in place lies this near
_CONTRADICTED_MM: Final = 6.0  # another face this near is the same card misread
_SHIFTED_MM: Final = 14.0  # a farther sighting is reported as moved
_STEADY: Final = 6  # sightings whose mean is a card's place
_MOVED_MM: Final = 240.0  # a card moves this far at most between two sightings
_TURNED_MM: Final = 115.0  # the same where it is turned over beside its place
LIFTED_NS: Final = 600_000_000
"""A card that left its place is sought for this long before it is reported gone. Cards moved aside
for splits on films came to rest within 266 ms after their places were seen to be free (36 cards of
6 sessions)."""
_SWEEP: Final = 3  # cards that leave together are swept up, and gone at once
_SWEEP_MM: Final = 150.0  # so near each other
_SWEEP_NS: Final = 400_000_000  # so soon after each other
_SQUARED_MM: Final = 40.0
"""Millimetres. A hand's cards overlap, and squaring them up moves none farther than this."""
_SQUARED_NS: Final = 500_000_000  # cards squared up into a pile leave within this time
_SAME_FACE: Final = 0.8  # agreement from which two readings are one face
_OTHER_FACE: Final = 0.05  # agreement up to which they are two
_SURE: Final = 0.9  # chance from which a reading can contradict
_FAINT: Final = 0.45
"""Chance of a find below which it may be none. Fingers, sleeves and chips on films had up to 0.43,
a hole card half under the up card 0.47 (session 1)."""
_FAINT_NS: Final = 1_000_000_000
"""A faint find counts at last once it has lain so long. Hands that rested upon cards, of which the
finder took a finger for the strip of a back, stayed up to 0.8 s (filmed sessions 9127, 9128), a
sleeve that was read as a ten 0.8 s (9124)."""
_CAME_WITH_NS: Final = 500_000_000  # so near in time, two cards came to lie there together
_OVERLAP_MM: Final = 109.0  # a card's diagonal: no farther card reaches into this one's outline
_NOTHING_NEW: Final = 0.94
"""Share of an outline that looks as before where no card came to lie. Of the faces that came in 23
films none looked more so than 0.89; of pips beside an arm taken for cards three of five did."""
_MOSTLY_KNOWN: Final = 0.45
"""The same share for a face in doubt. Parts of cards that lie beside an arm look like another one:
four such had 0.49 to 0.89, of 31 cards that came in two films none more than 0.41
(lab/notes/2026-11-29-index-sizes.md)."""
_FORGOTTEN_NS: Final = 3_000_000_000  # a find in doubt that was not made again for so long


@dataclass(frozen=True, slots=True)
class Seen:
    """One card in one look.

    ``at_ns`` is when it came to rest, ``deck_fit`` its fit to the decks in use; NaN where that is
    unknown.
    """

    pose: Pose
    face: Face
    found_p: float
    card_p: NDArray[np.float64]
    at_ns: int
    deck_fit: float = math.nan


class View(Protocol):
    """The picture's present evidence."""

    at_ns: int

    def free(self, pose: Pose, under: Sequence[Pose]) -> bool:
        """Return whether bare felt is visible inside the outline, beside what ``under`` covers."""

    def unchanged(self, pose: Pose, under: Sequence[Pose]) -> bool:
        """Return whether a strip of the card at ``pose`` is visible, and looks as it did."""

    def print_of(self, pose: Pose) -> Print:
        """Return how the card at ``pose`` looks now."""

    def explained(self, pose: Pose, prints: Sequence[Print]) -> float:
        """Return the share of a place that shows felt, or the cards of ``prints`` as they were."""

    def moved_ns(self, pose: Pose) -> int:
        """Return when anything at ``pose`` last moved."""

    def rested_ns(self, pose: Pose) -> int:
        """Return when the card at ``pose`` came to rest, ignoring a hand still over it."""


@dataclass(slots=True, eq=False)
class Track:
    """One card on the felt. ``number`` is never used twice."""

    number: int
    pose: Pose
    face: Face
    at_ns: int
    found_p: float
    seen_ns: int
    evidence: Evidence = field(default_factory=Evidence)
    reported_pose: Pose | None = None
    vanished_ns: int | None = None
    released_ns: int = 0
    """Time of the look that found the place free."""
    came_from: Pose | None = None
    """Its place before its last move."""
    look: Seen | None = None
    """The latest look at it."""
    looks: int = 0
    """The number of looks that measured the fit of its face or back to the decks in use."""
    deck_fit: float = -1.0
    """The best fit among them."""
    fitted_ns: tuple[int, int] = (0, 0)
    """Times of the first and the last of them."""
    print: Print | None = None
    """How it looked when its face was first certain where it lies."""
    _poses: list[Pose] = field(default_factory=list)

    def see(self, seen: Seen, now_ns: int) -> None:
        """Add another look at the card; its place is the mean of the last few."""
        self._poses = [*self._poses, seen.pose][-_STEADY:]
        self.pose = mean_pose(self._poses)
        self.face, self.seen_ns, self.look = seen.face, now_ns, seen
        self.found_p = max(self.found_p, seen.found_p)
        self.vanished_ns = None
        if not math.isnan(seen.deck_fit):
            self.fitted_ns = (self.fitted_ns[0] if self.looks else now_ns, now_ns)
            self.looks, self.deck_fit = self.looks + 1, max(self.deck_fit, seen.deck_fit)
        if seen.face == "up":
            self.evidence.add(seen.card_p)

    def lay_anew(self) -> None:
        """Forget the old place: the card lies elsewhere now."""
        self._poses, self.print = [], None


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one card, with its time."""

    kind: Kind
    track: Track
    at_ns: int


class Tracker:
    """Distinguishes the cards on the felt."""

    def __init__(self) -> None:
        self._lying: list[Track] = []
        self._lifted: list[Track] = []
        self._last = 0
        self.unsettled: tuple[Pose, ...] = ()
        """Where the last look found what does not count before it has lain there longer."""
        self._doubts: list[tuple[Pose, int, int]] = []
        """Places of such finds among known cards, when each was first made, and last."""
        self.left_out: tuple[tuple[Seen, Literal["twice", "print"]], ...] = ()
        """What the last look found that is no card: one in another's place, print of cards."""

    @property
    def lying(self) -> tuple[Track, ...]:
        """Every card on the felt, covered ones too."""
        return tuple(self._lying)

    def look(self, sightings: Sequence[Seen], view: View) -> tuple[Change, ...]:
        """Process one look at a part of the felt; return the changes, in order of time."""
        every, sightings = sightings, _once_each(sightings)
        twice = [s for s in every if not any(s is kept or _like(s, kept) for kept in sightings)]
        pairs = _paired(self._lying, sightings, view)
        changes = [change for t, s in pairs for change in self._seen_again(t, s, view.at_ns)]
        fresh = [s for s in sightings if all(s is not seen for _, seen in pairs)]
        missed = [t for t in self._lying if all(t is not track for track, _ in pairs)]
        self._lift(missed, [s.pose for s in sightings], view)
        fresh = self._put_back(fresh, view, changes)
        prints = [s for s in fresh if self._is_print(s, view)]
        fresh = [s for s in fresh if all(s is not one for one in prints)]
        self.left_out = (*((s, "twice") for s in twice), *((s, "print") for s in prints))
        fresh = self._moved(fresh, view, changes)
        fresh = self._turned(missed, fresh, view, changes)
        unsettled = [s for s in fresh if self._waits(s, fresh, view)]
        self.unsettled = tuple([seen.pose for seen in unsettled])
        fresh = [s for s in fresh if all(s is not seen for seen in unsettled)]
        changes += [self._new(seen, view.at_ns) for seen in fresh]
        for track in self._lying:
            if track.print is None and track.seen_ns == view.at_ns and _is_certain(track):
                track.print = view.print_of(track.pose)
        return tuple(sorted(changes, key=lambda change: (change.at_ns, change.track.number)))

    def advance(self, now_ns: int) -> tuple[Change, ...]:
        """Advance the time: remove the cards that were taken up and have not come back.

        A card that vanished as another one laid upon it was moved slightly lies beneath that one
        now.
        """
        over = [t for t in self._lifted if self._taken(t, now_ns)]
        self._lifted = [t for t in self._lifted if t not in over]
        return tuple(self._square_up(t) or Change("gone", t, t.vanished_ns or now_ns) for t in over)

    def _square_up(self, track: Track) -> Change | None:
        """Put a vanished card beneath the one it was squared up with, if there is one."""
        went_ns = track.vanished_ns or 0
        over = [
            other
            for other in self._lying
            if other.number > track.number
            and other.came_from is not None
            and abs(other.at_ns - went_ns) <= _SQUARED_NS
            and other.came_from.distance_mm(track.pose) <= _SQUARED_MM
            and other.came_from.distance_mm(other.pose) <= _SQUARED_MM
        ]
        if not over:
            return None
        upper = min(over, key=lambda other: other.pose.distance_mm(track.pose))
        track.lay_anew()
        track.pose = track.reported_pose = upper.pose
        track.at_ns, track.vanished_ns = upper.at_ns, None
        self._lying.append(track)
        return Change("squared", track, upper.at_ns)

    def finish(self) -> tuple[Change, ...]:
        """Remove every card that was taken up: there is no later look."""
        return self.advance(self._lifted[-1].released_ns + LIFTED_NS) if self._lifted else ()

    def _new(self, seen: Seen, now_ns: int) -> Change:
        self._last += 1
        track = Track(self._last, seen.pose, seen.face, seen.at_ns, seen.found_p, now_ns)
        track.see(seen, now_ns)
        track.reported_pose = seen.pose
        self._lying.append(track)
        return Change("new", track, seen.at_ns)

    def _seen_again(self, track: Track, seen: Seen, now_ns: int) -> Iterable[Change]:
        if track.face != seen.face:
            return (self._take(track, seen, "turned", now_ns),)
        track.see(seen, now_ns)
        reported = track.reported_pose
        if reported is None or reported.distance_mm(track.pose) <= _SHIFTED_MM:
            return (Change("read", track, now_ns),)
        track.came_from, track.print = reported, None
        track.at_ns, track.reported_pose = seen.at_ns, track.pose
        return (Change("moved", track, seen.at_ns),)

    def _take(self, track: Track, seen: Seen, kind: Kind, now_ns: int) -> Change:
        track.lay_anew()
        track.came_from = track.reported_pose if kind == "moved" else None
        if kind == "turned":
            track.evidence, track.looks, track.deck_fit = Evidence(), 0, -1.0
        track.see(seen, now_ns)
        track.at_ns, track.reported_pose = seen.at_ns, track.pose
        if track in self._lifted:
            self._lifted.remove(track)
            self._lying.append(track)
        return Change(kind, track, seen.at_ns)

    def _lift(self, missed: Sequence[Track], seen: Sequence[Pose], view: View) -> None:
        """Set aside every card whose place is visibly free."""
        for track in missed:
            if track not in self._lying or not view.free(track.pose, seen):
                continue
            self._lying.remove(track)
            self._lifted.append(track)
            track.vanished_ns, track.released_ns = view.rested_ns(track.pose), view.at_ns

    def _taken(self, track: Track, now_ns: int) -> bool:
        return now_ns - track.released_ns >= LIFTED_NS or self._swept(track)

    def _swept(self, track: Track) -> bool:
        """Return whether a card left with others: swept cards do not come back one by one."""
        together = [
            other
            for other in self._lifted
            if abs(other.released_ns - track.released_ns) <= _SWEEP_NS
            and other.pose.distance_mm(track.pose) <= _SWEEP_MM
        ]
        return len(together) >= _SWEEP

    def _put_back(self, fresh: list[Seen], view: View, changes: list[Change]) -> list[Seen]:
        """Find lifted cards that lie where they lay: an arm had looked like felt."""
        left = []
        for seen in fresh:
            here = (t for t in self._lifted if _same_place(t, seen) and _same_face(t, seen))
            track = next(here, None)
            if track is None:
                left.append(seen)
                continue
            self._lifted.remove(track)
            self._lying.append(track)
            track.see(seen, view.at_ns)
            changes.append(Change("read", track, view.at_ns))
        return left

    def _moved(self, fresh: list[Seen], view: View, changes: list[Change]) -> list[Seen]:
        """Find the new places of lifted cards where the identity is certain."""
        left, waiting = list[Seen](), list(fresh)
        while waiting:
            seen = waiting[0]
            rivals = [other for other in waiting if _like(other, seen)]
            origins = [t for t in self._lifted if self._may_be(t, seen, view.at_ns)]
            waiting.remove(seen)
            if not origins or len(origins) != len(rivals):
                left.append(seen)
                continue
            nearest = min(origins, key=lambda t: t.pose.distance_mm(seen.pose))
            changes.append(self._take(nearest, seen, "moved", view.at_ns))
        return left

    def _may_be(self, track: Track, seen: Seen, now_ns: int) -> bool:
        return (
            _same_face(track, seen)
            and now_ns - track.released_ns <= LIFTED_NS
            and track.pose.distance_mm(seen.pose) <= _MOVED_MM
            and not self._swept(track)
        )

    def _turned(
        self, missed: Sequence[Track], fresh: list[Seen], view: View, changes: list[Change]
    ) -> list[Seen]:
        """Find the backs that now show their face, in place or directly beside.

        A back of which a strip shows as before lies there still: another card was laid upon it.
        """
        left = []
        for seen in sorted(fresh, key=lambda s: s.at_ns):
            backs = [
                t
                for t in (*missed, *self._lifted)
                if t.face == "down"
                and seen.face == "up"
                and t.pose.distance_mm(seen.pose) <= _TURNED_MM
                and view.moved_ns(t.pose) > t.seen_ns
                and all(change.track is not t for change in changes)
                and not self._lies_beneath(t, seen, view)
            ]
            if not backs:
                left.append(seen)
                continue
            nearest = min(backs, key=lambda t: t.pose.distance_mm(seen.pose))
            changes.append(self._take(nearest, seen, "turned", view.at_ns))
        return left

    def _is_print(self, seen: Seen, view: View) -> bool:
        """Return whether a face is print of cards that lie there: all looks as it did before.

        Where an arm hides the rest of a card, its pip looks like an index, and its lower index like
        that of another card.
        """
        return seen.face == "up" and self._explained(seen, view) >= _NOTHING_NEW

    def _explained(self, seen: Seen, view: View) -> float:
        """Return the share of a find's place that looks as the cards that lie there did."""
        prints = [
            track.print
            for track in (*self._lying, *self._lifted)
            if track.print is not None and _reaches(track, seen)
        ]
        return view.explained(seen.pose, prints) if prints else 0.0

    def _waits(self, seen: Seen, fresh: Sequence[Seen], view: View) -> bool:
        """Return whether a find may be none, and has not lain there long enough to count.

        One among known cards may be a part of them that an arm leaves to see: the place has been
        still for long, so the find itself must last.
        """
        if _is_sure(seen):
            return False
        if seen.face == "up" and self._explained(seen, view) >= _MOSTLY_KNOWN:
            return view.at_ns - self._first_found_ns(seen, view.at_ns) < _FAINT_NS
        return _is_faint(seen) and not self._counts(seen, fresh, view.at_ns)

    def _first_found_ns(self, seen: Seen, now_ns: int) -> int:
        """Return when a find in doubt among known cards was first made."""
        lately = [one for one in self._doubts if now_ns - one[2] <= _FORGOTTEN_NS]
        here = [one for one in lately if one[0].distance_mm(seen.pose) <= SAME_MM]
        first_ns = min((one[1] for one in here), default=now_ns)
        self._doubts = [one for one in lately if one not in here]
        self._doubts.append((seen.pose, first_ns, now_ns))
        return first_ns

    def _counts(self, faint: Seen, fresh: Sequence[Seen], now_ns: int) -> bool:
        """Return whether a faint find is a card: it came with the one on it, or lies there long.

        The finger of a hand that rests upon cards looks like the strip of another one.
        """
        came_ns = [track.at_ns for track in self._lying if _reaches(track, faint)]
        came_ns += [seen.at_ns for seen in fresh if not _is_faint(seen) and _reaches(seen, faint)]
        together = any(abs(at_ns - faint.at_ns) <= _CAME_WITH_NS for at_ns in came_ns)
        return together or now_ns - faint.at_ns >= _FAINT_NS

    def _lies_beneath(self, track: Track, seen: Seen, view: View) -> bool:
        others = [other.pose for other in self._lying if other is not track]
        return track in self._lying and view.unchanged(track.pose, [seen.pose, *others])


def _once_each(sightings: Sequence[Seen]) -> list[Seen]:
    """Drop a second sighting of one card (read by its other corner)."""
    kept: list[Seen] = []
    for seen in sorted(sightings, key=lambda s: -s.found_p):
        if all(not (_found_twice(seen, o) or _other_end(seen, o)) for o in kept):
            kept.append(seen)
    return kept


def _found_twice(one: Seen, other: Seen) -> bool:
    backs = one.face == other.face == "down"
    return _same_place(one, other) and not (
        backs and one.pose.distance_mm(other.pose) > ONE_BACK_MM
    )


def _other_end(one: Seen, other: Seen) -> bool:
    """Return whether both are one face found by its two ends, with two middles.

    A back has no ends: its direction is known up to half a turn.
    """
    if "down" in (one.face, other.face):
        return False
    apart = abs((one.pose.angle_deg - other.pose.angle_deg) % 360 - 180)
    return apart <= _SAME_DEG and one.pose.distance_mm(other.pose) <= _ENDS_MM and _like(one, other)


def _is_faint(seen: Seen) -> bool:
    """Return whether a find may be a strip of a card beneath another one, a finger or a sleeve.

    A face that is read surely is none of these.
    """
    return seen.found_p < _FAINT and not _is_sure(seen)


def _is_sure(seen: Seen) -> bool:
    return seen.face == "up" and float(seen.card_p.max()) >= _SURE


def _is_certain(track: Track) -> bool:
    return track.face == "up" and float(track.evidence.card_p.max()) >= _SURE


def _reaches(one: Seen | Track, other: Seen) -> bool:
    """Return whether one card can cover some of another."""
    return one.pose.distance_mm(other.pose) < _OVERLAP_MM


def _same_place(one: Seen | Track, other: Seen) -> bool:
    near_mm = _SAME_BACK_MM if one.face == other.face == "down" else SAME_MM
    apart_mm = one.pose.distance_mm(other.pose)
    return apart_mm <= near_mm and one.pose.turn_deg(other.pose) <= _SAME_DEG


def _paired(
    tracks: Sequence[Track], sightings: Sequence[Seen], view: View
) -> list[tuple[Track, Seen]]:
    """Pair known cards with sightings, the most certain pairs first."""
    ranked = sorted(
        (
            (_strangeness(track, seen), i, j)
            for i, track in enumerate(tracks)
            for j, seen in enumerate(sightings)
            if _may_pair(track, seen, view) and not _pushed_over(track, seen, tracks, view)
        ),
    )
    taken_tracks, taken_sightings, pairs = set[int](), set[int](), []
    for _, i, j in ranked:
        if i not in taken_tracks and j not in taken_sightings:
            taken_tracks.add(i)
            taken_sightings.add(j)
            pairs.append((tracks[i], sightings[j]))
    return pairs


def _may_pair(track: Track, seen: Seen, view: View) -> bool:
    apart = track.pose.distance_mm(seen.pose)
    if not _same_place(track, seen):
        return False
    if track.face != seen.face:
        return apart <= _TURNED_HERE_MM and view.moved_ns(track.pose) > track.seen_ns
    return apart <= _CONTRADICTED_MM or not _other_face(track, seen)


def _pushed_over(track: Track, seen: Seen, tracks: Sequence[Track], view: View) -> bool:
    """Return whether another face is visible because its card was pushed over this one."""
    return _other_face(track, seen) and any(
        other is not track
        and _same_face(other, seen)
        and other.pose.distance_mm(seen.pose) <= _SQUARED_MM
        and view.free(other.pose, [seen.pose])
        for other in tracks
    )


def _strangeness(track: Track, seen: Seen) -> float:
    far = track.pose.distance_mm(seen.pose) / SAME_MM + track.pose.turn_deg(seen.pose) / _SAME_DEG
    return far + (1.0 if _other_face(track, seen) else 0.0)


def _same_face(track: Track, seen: Seen) -> bool:
    """Return whether both show the same: two backs, or faces that certainly agree."""
    if track.face != seen.face:
        return False
    return seen.face == "down" or agreement(track.evidence.card_p, seen.card_p) >= _SAME_FACE


def _other_face(track: Track, seen: Seen) -> bool:
    """Return whether both have certain but different readings."""
    sure = min(float(track.evidence.card_p.max()), float(seen.card_p.max())) >= _SURE
    return sure and agreement(track.evidence.card_p, seen.card_p) <= _OTHER_FACE


def _like(one: Seen, other: Seen) -> bool:
    if one.face != other.face:
        return False
    return one.face == "down" or agreement(one.card_p, other.card_p) >= _SAME_FACE
