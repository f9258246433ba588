"""The camera's tracks: pending until a draw explains them, and what becomes of them after."""

from collections.abc import Callable
from dataclasses import replace
from statistics import mean

from models.cards import Card
from models.events import CardGone, CardSighted, Face
from settlement.reconcile.clinging import Clinging
from settlement.reconcile.felt import Felt, apart_mm
from settlement.reconcile.happenings import Agenda, Arrived, Moved, Taken, Turned
from settlement.reconcile.looks import Reading
from settlement.reconcile.sightings import AGREED_P, Lying, Place, Sight, Track
from settlement.reconcile.table import Table
from settlement.reconcile.timing import CARRY_NS, HIDDEN_NS, MS, ORPHAN_NS, SECOND, SWEPT_NS

_ECHO_MM = 12.0
"""Two tracks of one face this near to each other are one card seen twice."""

_MANY = 400
"""Tracks remembered before those of past rounds are forgotten."""

_TWIN_MM = 36.0
"""The next card of a hand is laid within this of the last one."""

_DOUBLE_MM = 66.0
_DOUBLE_NS = 300 * MS
"""One card leaves the shoe at a time: two like ones that came to rest together, and nearer than
this, are one card seen twice."""

_STRIP_MM = 30.0
"""A back of which only a strip shows is placed no better than this."""

_TURN_MM = 130.0
"""A card is turned over within this of where it lay."""


class Camera:
    """Keeps the identity of cards on the felt where the camera's own tracks broke.

    Args:
        felt: the layout.
        table: what lies on it.
        agenda: where what becomes of known cards is put.
    """

    def __init__(self, felt: Felt, table: Table, agenda: Agenda) -> None:
        self._felt, self._table, self._agenda = felt, table, agenda
        self.pending: list[Lying] = []
        self.clinging = Clinging()
        self._lying: dict[Track, Lying] = {}
        self._rested: dict[Track, int] = {}
        self._alias: dict[Track, Track] = {}
        self._ignored: set[Track] = set()
        self._dismissed: list[Lying] = []
        """Faces held to be another card seen doubled or askew, in the order they came to rest."""
        self._steps: list[tuple[Place, Lying]] = []

    def sighted(self, sight: Sight) -> None:
        """Take in what a camera tells of a card."""
        seen, told = sight.seen, sight.track
        if self._alias.get(told) == _second(told):
            self._same_after_all(sight)
        track = self._alias.get(told, told)
        if track in self._ignored or track in self._table.left:
            self._lying.pop(track, None)
            return
        known = self._lying.get(track)
        lying = replace(Lying.of(sight), track=track)
        if known is not None and _another(known, lying):
            self._alias[told] = track = _second(told)
            lying, known = replace(lying, track=track), None
        lying = lying if known is None else known.after(lying, sight)
        if seen.change != "read":
            self._rested[track] = seen.at or 0
        self._keep(lying)
        if known is None:
            self._came(lying)
        elif not self._better_read(lying):
            self._changed(known, lying, seen)

    def _same_after_all(self, sight: Sight) -> None:
        """A card that moved was misread just then, and taken for another: it is itself again."""
        track = sight.track
        before, since = self._lying.get(track), self._lying.get(_second(track))
        if before is None or since is None or before.card is None:
            return
        again = _agrees(Lying.of(sight), before.card)
        if again and any(lying.track == since.track for lying in self.pending):
            del self._alias[track]
            self.join(since, track)
            self._keep(replace(before, place=since.place, seqs=before.seqs + since.seqs))
            self._moved(since.at, track, since.seqs)

    def _came(self, lying: Lying) -> None:
        """A new track is pending, unless it is the double of another: the surer face stays.

        Where a shoe deals, no card lies face down by a betting circle or outside the zones of
        cards: chips and furniture only look so.
        """
        nowhere = self._felt.tucked(lying.place) or not self._felt.zone(lying.place).owners
        if lying.face == "down" and nowhere:
            self.ignore(lying)
            return
        for other in self._lying.values():
            if not (self._doubles(other, lying) or self._same_back(other, lying)):
                continue
            if lying.face == "down":
                self.join(lying, other.track)
            elif other in self.pending and _surety(other) < _surety(lying):
                self.ignore(other)
                break
            else:
                self.ignore(lying)
            return
        self.pending.append(lying)

    def only_a_glimpse(self, lying: Lying) -> bool:
        """Tell whether what no draw explains lies upon a known card, and was read as no other.

        It is that card seen askew. One that lies by itself, or was read as another, be it each
        time as a different one, is a person's matter; so is one of a like face that was read
        again, and the card under it was not lost meanwhile.
        """
        near = (
            self._table.owner(track)
            for track, place in self._table.places.items()
            if track != lying.track and apart_mm(place, lying.place) < _DOUBLE_MM
        )
        seen = self._lying.get(lying.track, lying)
        return any(found is not None and _askew(seen, found[1].card) for found in near)

    def _doubles(self, one: Lying, other: Lying) -> bool:
        together = abs(self._rested.get(one.track, one.at) - other.at) < _DOUBLE_NS
        if not together or one.track == other.track or one.face != other.face:
            return False
        alike = one.names()[:1] == other.names()[:1]
        if not alike or (one.face == "up" and not one.names()):
            return False
        return apart_mm(one.place, other.place) < _DOUBLE_MM

    def _same_back(self, one: Lying, other: Lying) -> bool:
        """The dealer's one face-down card, of which a strip shows, is seen here and there."""
        if one.track == other.track or "up" in (one.face, other.face):
            return False
        near = apart_mm(one.place, other.place) < _STRIP_MM
        return near and self._felt.zone(other.place).owner == "dealer"

    def twin(self, card: Card, at: int) -> Lying | None:
        """Return what only seemed to be another ``card`` moved or doubled, and is a second one."""
        return self._laid_upon(card, at) or self._not_doubled(card, at)

    def _not_doubled(self, card: Card, at: int) -> Lying | None:
        """Two like cards seen at once, when an arm had gone that hid the first of them."""
        for lying in self._dismissed:
            late_ns = lying.at - at - CARRY_NS
            if -SECOND < late_ns < HIDDEN_NS and _agrees(lying, card):
                self._dismissed.remove(lying)
                self._ignored.discard(lying.track)
                return lying
        return None

    def _laid_upon(self, card: Card, at: int) -> Lying | None:
        """Return the track that seems to have moved where a second ``card`` was laid upon it."""
        for before, lying in self._steps:
            step = apart_mm(before, lying.place)
            meant = abs(lying.at - at - CARRY_NS) < SECOND and (lying.p(card) or 0.0) >= AGREED_P
            if meant and _ECHO_MM / 2 < step < _TWIN_MM:
                self._steps.remove((before, lying))
                return lying
        return None

    def gone(self, gone: CardGone) -> None:
        """Take in that a card was taken up."""
        told = (gone.source, gone.track)
        track = self._alias.get(told, told)
        if track not in self._ignored:
            self._agenda.add(Taken(gone.at or 0, track, _seqs(gone)))

    def explained(self, lying: Lying) -> None:
        """A pending card was matched: what follows of it happens to a card in play."""
        self.pending = [other for other in self.pending if other.track != lying.track]

    def ignore(self, lying: Lying) -> None:
        """A pending card is not in play."""
        self.explained(lying)
        self._ignored.add(lying.track)
        if lying.face == "up":
            self._dismissed.append(lying)

    def dismissed(self, by_ns: int) -> list[Lying]:
        """Return the faces that came to rest by then and were no cards; they are forgotten."""
        found = [lying for lying in self._dismissed if lying.at <= by_ns]
        self._dismissed = [lying for lying in self._dismissed if lying.at > by_ns]
        return found

    # --- tracks that broke ----------------------------------------------------------------

    def mend(self, lying: Lying, now_ns: int, *, strictly: bool) -> bool:
        """Explain a new track by a card that lies or lay on the felt already.

        Args:
            lying: the new track.
            now_ns: how far the camera has been heard.
            strictly: whether its face must have been read beyond doubt.
        """
        return (
            self._echo(lying)
            or self._uncovered(lying)
            or self._shown(lying)
            or self._seen_at_last(lying)
            or self._turned(lying, strictly)
            or self._relocated(lying, now_ns - SWEPT_NS, strictly)
        )

    def _echo(self, lying: Lying) -> bool:
        """A card told of a second time where it lies."""
        for track, place in self._table.places.items():
            near = track != lying.track and apart_mm(place, lying.place) <= _ECHO_MM
            if near and self._may_be(track, lying) and self._gone(track) is None:
                self.join(lying, track)
                return True
        return False

    def _uncovered(self, lying: Lying) -> bool:
        """A card whose track went over to its twin, laid upon it, is told of again."""
        for held in self._table.all_cards():
            lost = held.track is None and held.dealt_to is not None and held.card is not None
            if not lost or held.dealt_to is None or held.card is None:
                continue
            agrees = (lying.p(held.card) or 0.0) >= AGREED_P
            if agrees and apart_mm(held.dealt_to, lying.place) <= _ECHO_MM:
                self.explained(lying)
                held.track = lying.track
                return True
        return False

    def _shown(self, lying: Lying) -> bool:
        """The dealer's card that nobody saw, turned up or its back uncovered."""
        hole = self._table.presumed_hole()
        if hole is None or self._felt.zone(lying.place).owner != "dealer":
            return False
        agrees = hole.card is not None and (lying.p(hole.card) or 0.0) >= AGREED_P
        if lying.face == "up" and not agrees:
            return False
        self.explained(lying)
        hole.track = lying.track
        if lying.face == "up":
            self._agenda.add(Turned(lying.at, lying.track, lying, lying.seqs))
        return True

    def _seen_at_last(self, lying: Lying) -> bool:
        """A card dealt unseen comes into view where it was held to lie."""
        zone = self._felt.zone(lying.place).owner
        for hand in self._table.all_hands():
            for held in hand.cards:
                lost = held.unseen is not None and held.track is None and held.card is not None
                if lost and held.card and hand.spot == zone and _agrees(lying, held.card):
                    self.explained(lying)
                    held.track = lying.track
                    return True
        return False

    def _relocated(self, lying: Lying, heard_ns: int, strictly: bool) -> bool:
        """A card gone from its place and come to another of the same spot: the nearest such.

        One that lay on for long after this came to rest, or until both were taken up together,
        is a like card, and not the same.
        """
        own = self._gone(lying.track)
        lay_on_ns = heard_ns if own is None else own.at - SWEPT_NS
        gone = {
            found.track: found
            for found in self._agenda
            if isinstance(found, Taken)
            and found.at < min(lying.at + ORPHAN_NS, lay_on_ns)
            and self._may_have_come(found.track, lying, strictly)
        }
        if not gone:
            return False
        nearest = min(gone, key=lambda track: apart_mm(self._table.places[track], lying.place))
        taken = gone.get(self._of_twins(nearest, lying))
        if taken is None:
            return False
        self._agenda.drop(taken)
        self.join(lying, taken.track)
        self._moved(lying.at, taken.track, lying.seqs)
        return True

    def _of_twins(self, track: Track, lying: Lying) -> Track:
        """Choose between two like cards of a hand laid apart: the left one stays the left one.

        No picture tells them apart once they have moved; the boxes of their wagers stand in
        the same order as the hands. Of a hand split already only the second card moves.
        """
        found = self._table.owner(track)
        if found is None or found[0] is None or found[0].of_split or found[1].card is None:
            return track
        hand, held = found[0], found[1]
        across = {
            twin.track: self._felt.rightward_mm(self._table.places[twin.track], hand.spot)
            for twin in hand.cards
            if twin.card is held.card
            and twin.track is not None
            and twin.track in self._table.places
        }
        went_right = self._felt.rightward_mm(lying.place, hand.spot) > mean(across.values())
        return (max if went_right else min)(across, key=lambda twin: across[twin])

    def _may_have_come(self, track: Track, lying: Lying, strictly: bool) -> bool:
        place = self._table.places.get(track)
        if place is None or not self._same_zone(place, lying.place):
            return False
        sure = (self._agreement(track, lying) or 0.0) >= AGREED_P
        return self._may_be(track, lying) and (sure or not strictly)

    def _turned(self, lying: Lying, strictly: bool) -> bool:
        """A face beside a back that is gone, or still held to lie there: the back was turned."""
        if lying.face == "down":
            return False
        for track, place in list(self._table.places.items()):
            found = self._table.owner(track)
            if found is None or found[1].face == "up" or found[1].gone or self._shows(track):
                continue
            card, gone = found[1].card, self._gone(track)
            if card is not None and lying.excludes(card) and (strictly or gone is None):
                continue
            if apart_mm(place, lying.place) <= _TURN_MM and self._same_zone(place, lying.place):
                if gone is not None:
                    self._agenda.drop(gone)
                self._keep_as(lying, track)
                return True
        return False

    def _shows(self, track: Track) -> bool:
        """Tell whether the camera has already told of the card's face."""
        known = self._lying.get(track)
        return known is not None and known.face == "up"

    def turned_while_pending(self, fits: Callable[[Lying, Lying], bool]) -> None:
        """Join a face to the back it was turned from, where neither was matched yet.

        Args:
            fits: tells whether a card that left the shoe may be both this back and this face.
        """
        faces = [lying for lying in self.pending if lying.face == "up"]
        for back in [lying for lying in self.pending if lying.face == "down"]:
            gone = self._gone(back.track)
            for face in faces:
                near = apart_mm(back.place, face.place) <= _TURN_MM
                if gone and near and face.at > back.at and fits(back, face):
                    self._agenda.drop(gone)
                    self._keep_as(face, back.track)
                    break

    def _keep_as(self, face: Lying, track: Track) -> None:
        self.join(face, track)
        turned = replace(face, track=track)
        self._agenda.add(Turned(face.at, track, turned, face.seqs))

    def _same_zone(self, one: Place, other: Place) -> bool:
        return self._felt.zone(one).owner == self._felt.zone(other).owner

    def latest(self, lying: Lying) -> Lying:
        """Return what was read of a card since, where it still shows the same side."""
        now = self._lying.get(lying.track, lying)
        if now.face != lying.face:
            return lying
        return replace(now, at=lying.at, place=lying.place)

    def reading(self, track: Track) -> Reading | None:
        """Return all that was read of a card's face."""
        known = self._lying.get(track)
        return None if known is None else known.reading

    def join(self, lying: Lying, track: Track) -> None:
        """Say that a new track is a card known already, as ``track``."""
        self.explained(lying)
        self._alias[lying.track] = track
        self._agenda.rename(lying.track, track)
        latest = self._lying.pop(lying.track, lying)
        self._table.places.pop(lying.track, None)
        self._keep(replace(latest, track=track))

    def _gone(self, track: Track) -> Taken | None:
        return next(
            (found for found in self._agenda if isinstance(found, Taken) and found.track == track),
            None,
        )

    def _agreement(self, track: Track, lying: Lying) -> float | None:
        dealt = self._dealt(track)
        return None if dealt is None or dealt[0] is None else lying.p(dealt[0])

    def _may_be(self, track: Track, lying: Lying) -> bool:
        dealt = self._dealt(track)
        if dealt is None or dealt[1] != lying.face:
            return False
        return dealt[0] is None or lying.face == "down" or not lying.excludes(dealt[0])

    def _dealt(self, track: Track) -> tuple[Card | None, Face] | None:
        """Return what a card in play is, and which side of it shows; ``None`` for no such card."""
        found = self._table.owner(track)
        if found is not None:
            return found[1].card, found[1].face
        for waiting in self._agenda:
            if isinstance(waiting, Arrived) and waiting.lying and waiting.lying.track == track:
                return waiting.card, waiting.lying.face
        return None

    def _moved(self, at: int, track: Track, seqs: tuple[int, ...]) -> None:
        self._table.rests_since[track] = at
        self._agenda.add(Moved(at, track, seqs))

    # --- inside ---------------------------------------------------------------------------

    def _keep(self, lying: Lying) -> None:
        if len(self._lying) > _MANY:
            past = self._table.left.intersection(self._lying)
            self._lying = {t: known for t, known in self._lying.items() if t not in past}
            self._rested = {t: at for t, at in self._rested.items() if t in self._lying}
        self._lying[lying.track] = lying
        self._table.places[lying.track] = lying.place

    def _better_read(self, after: Lying) -> bool:
        """Tell whether a pending card was told of again where, and as, it came to rest."""
        for at, other in enumerate(self.pending):
            stays = after.face == other.face and apart_mm(after.place, other.place) <= _ECHO_MM
            if other.track == after.track and stays:
                self.pending[at] = after
                return True
        return False

    def _changed(self, before: Lying, after: Lying, seen: CardSighted) -> None:
        at, seqs = seen.at or 0, _seqs(seen)
        self._steps = [*self._steps[-8:], (before.place, after.since(at))]
        if apart_mm(before.place, after.place) > _ECHO_MM and seen.change != "squared":
            self._moved(at, after.track, seqs)
        if after.face != before.face or seen.change in ("turned", "read"):
            unseen = after.face != before.face and seen.change == "read"
            self._agenda.add(Turned(at, after.track, after, seqs, unseen))


def _second(track: Track) -> Track:
    """Return the identity of another card that went on under a track."""
    source, number = track
    return source, -number


def _another(known: Lying, seen: Lying) -> bool:
    """Tell whether a track went over from a card that lies there, read, to another elsewhere."""
    if known.face == "down" or seen.face == "down" or known.card is None:
        return False
    return apart_mm(known.place, seen.place) > _STRIP_MM and seen.excludes(known.card)


def _askew(lying: Lying, card: Card | None) -> bool:
    """Tell whether a face may be that of a card it lies upon: unread, or read once as just it."""
    if lying.card is None:
        return card is None or not lying.excludes(card)
    return lying.card is card and len(lying.seqs) == 1


def _agrees(lying: Lying, card: Card) -> bool:
    """Tell whether the camera says that a face is the one."""
    return (lying.p(card) or 0.0) >= AGREED_P


def _surety(lying: Lying) -> float:
    return 0.0 if lying.card is None else lying.p(lying.card) or 0.0


def _seqs(event: CardSighted | CardGone) -> tuple[int, ...]:
    return () if event.seq is None else (event.seq,)
