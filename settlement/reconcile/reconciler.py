"""Observations in, facts and review items out.

The shoe says which card and in what order, the camera which card and where, the plates how
much, the console what only a person can tell. What they do not settle between them becomes a
review item.
"""

import dataclasses
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from models.events import (
    AnyObservation,
    CameraFault,
    CardBoxed,
    CardBurned,
    CardGone,
    CardSighted,
    ConsoleEntry,
    CutCardReached,
    Dealt,
    ForeignCardSighted,
    PlateRead,
    ReaderFault,
    ShoeCardRead,
    ShoeCutCard,
    ShoeLoaded,
    ShoeStarted,
)
from models.judgements import AnyEvent, Review
from models.layout import TableLayout
from models.rulebook import Rulebook
from settlement.reconcile.camera import Camera
from settlement.reconcile.cameras import Cameras, Joined
from settlement.reconcile.draws import (
    LARGEST_GAP,
    Composition,
    Draw,
    ShoeCount,
    merged,
    possible_draw,
    unread,
)
from settlement.reconcile.faces import card_name, read_face
from settlement.reconcile.felt import Felt
from settlement.reconcile.happenings import (
    Agenda,
    Arrived,
    ChipsChanged,
    Doubted,
    Entered,
    Happening,
)
from settlement.reconcile.identity import upheld
from settlement.reconcile.matching import ANY_TURN, MARGIN, fits, judge, on_time
from settlement.reconcile.reviews import seen_amiss
from settlement.reconcile.rounds import Rounds
from settlement.reconcile.sightings import AGREED_P, EXCLUDED_P, Lying
from settlement.reconcile.table import Table
from settlement.reconcile.timing import (
    CARRY_NS,
    DEADLINE_NS,
    DISPUTE_NS,
    DUE_HOLD_NS,
    ENTRY_NS,
    HIDDEN_NS,
    HOLD_NS,
    ORPHAN_NS,
    PATIENCE_NS,
    PLATE_DWELL_NS,
    SECOND,
    SECOND_LOOK_NS,
)
from settlement.reconcile.voice import Said

_LEAD_NS = CARRY_NS + 150_000_000
"""A card that came to rest may have left the shoe this long before."""

_END_NS = 60 * SECOND
"""After the last observation nothing is waited for any longer than this."""


class Reconciler:
    """One table's sensors, reconciled, where a shoe reads each card as it leaves.

    Pure: the same observations in the same order give the same facts, however fast they come.

    Args:
        rules: the rulebook in force; doubtful rounds are settled by it in every way they may
            have gone.
        layout: the felt that the camera's millimetres are of.
        played: the rounds of the session that are over, and not to be heard of again.
    """

    def __init__(self, rules: Rulebook, layout: TableLayout, *, played: int = 0) -> None:
        felt = Felt(layout)
        self._decks = rules.decks
        self._agenda = Agenda()
        self._table = Table(felt)
        self._cameras = Cameras()
        self._camera = Camera(felt, self._table, self._agenda)
        self._composition = Composition(rules.decks)
        self._rounds = Rounds(self._table, self._agenda, self._composition, rules, self._camera)
        self._rounds.go_on_after(played)
        self._count = ShoeCount()
        self._draws: list[Draw] = []
        self._entries: list[ConsoleEntry] = []
        self._boxed: list[Draw] = []
        self._now = 0

    def recall(self, events: Iterable[AnyEvent]) -> None:
        """Know again what rounds of the session that are over taught of the camera."""
        self._camera.clinging.recall(events)

    def learned(self) -> tuple[int, ...]:
        """Return what rounds that are over taught, as numbers for :meth:`go_on`."""
        return self._camera.clinging.learned()

    def go_on(self, learned: Sequence[int]) -> None:
        """Know again what an earlier table had learned when no card lay on the felt."""
        self._camera.clinging.go_on(learned)

    def feed(self, observation: AnyObservation, through_ns: int) -> tuple[Said, ...]:
        """Take one observation in; ``through_ns`` is how far the sources have been read.

        Returns the facts and review items that it settles, in order.
        """
        match observation:
            case ShoeCardRead():
                self._camera.clinging.observed(observation)
                self._draws = merged(self._draws, self._count.read(observation))
            case ShoeCutCard():
                fact = CutCardReached()
                self._agenda.add(Entered(observation.at or 0, fact, _seqs(observation)))
            case ShoeLoaded():
                self._count.loaded()
                self._composition.shuffled(self._decks)
                self._rounds.shoe_loaded(observation.at or 0, _seqs(observation))
            case CardSighted():
                self._camera.clinging.observed(observation)
                self._of_cameras(self._cameras.sighted(observation))
            case CardGone():
                self._of_cameras(self._cameras.gone(observation))
            case PlateRead():
                self._plate(observation)
            case ConsoleEntry():
                self._entry(observation)
            case ReaderFault():
                self._fault(observation)
            case ForeignCardSighted() | CameraFault(kind="moved" | "unwatched"):
                self._doubt(observation.at or 0, seen_amiss(observation), (), _seqs(observation))
        return self.advance(through_ns)

    def advance(self, now_ns: int) -> tuple[Said, ...]:
        """Tell that the sources have been read up to ``now_ns``: deadlines pass by this."""
        self._now = max(self._now, now_ns)
        self._of_cameras(self._cameras.due(self._now))
        self._resolve()
        self._play()
        return self._rounds.spoken()

    def finish(self) -> tuple[Said, ...]:
        """Tell that the session is over: nothing more is waited for."""
        said = self.advance(self._now + _END_NS)
        self._rounds.unfinished()
        return said + self._rounds.spoken()

    # --- taking in ------------------------------------------------------------------------

    def _of_cameras(self, joined: Sequence[Joined]) -> None:
        for one in joined:
            if isinstance(one, CardGone):
                self._camera.gone(one)
            else:
                self._camera.sighted(one)

    def _plate(self, read: PlateRead) -> None:
        at = max(0, (read.at or 0) - PLATE_DWELL_NS)
        self._agenda.add(ChipsChanged(at, read.spot, read.circle, read.amount, _seqs(read)))

    def _entry(self, entry: ConsoleEntry) -> None:
        if isinstance(entry.fact, ShoeStarted):
            self._composition.shuffled(entry.fact.decks)
        if isinstance(entry.fact, CardBurned | CardBoxed):
            self._entries.append(entry)
        else:
            self._agenda.add(Entered(_entered_at(entry), entry.fact, _seqs(entry)))

    def _fault(self, fault: ReaderFault) -> None:
        if fault.source.startswith("plate"):
            what = f"a bet plate's report was lost ({fault.detail}): an amount may be wrong"
            self._doubt(fault.at or 0, what, (), _seqs(fault))
            return
        at = fault.at or 0
        if fault.kind == "link_lost":
            self._count.lost(at)
        elif fault.kind == "uncounted":
            self._count.returned(at)
        elif unread(fault) > LARGEST_GAP:
            what = f"{unread(fault)} cards left the shoe unread: {fault.detail}"
            self._doubt(at, what, (), _seqs(fault))
        draw = possible_draw(fault)
        if draw is not None:
            self._draws = merged(self._draws, (draw,))

    def _doubt(
        self, at: int, what: str, candidates: tuple[str, ...], seqs: tuple[int, ...]
    ) -> None:
        self._agenda.add(Doubted(at, Review(what, candidates, seqs), seqs))

    # --- cards out of play ----------------------------------------------------------------

    def _put_aside(self) -> None:
        """Give each card entered as burned or boxed the draw that it was."""
        for entry in list(self._entries):
            at = _entered_at(entry)
            draw = self._drawn_aside(entry, at)
            if draw is None and self._now - at < PATIENCE_NS:
                continue
            self._entries.remove(entry)
            fact, seqs = entry.fact, _seqs(entry)
            if draw is not None:
                self._draws.remove(draw)
                at, seqs = draw.at, draw.seqs + seqs
                self._boxed += [draw] if isinstance(fact, CardBoxed) else []
                if isinstance(fact, CardBurned | CardBoxed):
                    fact = replace(fact, card=fact.card or draw.card)
            self._agenda.add(Entered(at, fact, seqs))

    def _drawn_aside(self, entry: ConsoleEntry, at: int) -> Draw | None:
        assert isinstance(entry.fact, CardBurned | CardBoxed)
        card = entry.fact.card
        near = [
            draw
            for draw in self._draws
            if draw.certain
            and abs(draw.at - at) < ENTRY_NS
            and (card is None or draw.card is None or card is draw.card)
        ]
        return min(near, key=lambda draw: abs(draw.at - at), default=None)

    # --- joining draws and tracks ---------------------------------------------------------

    def _resolve(self) -> None:
        self._put_aside()
        self._camera.turned_while_pending(self._one_card)
        self._mend(strictly=True)
        self._decide_all()
        self._mend(strictly=False)
        self._orphans()

    def _mend(self, *, strictly: bool) -> None:
        for lying in list(self._camera.pending):
            late = self._now - lying.at > ORPHAN_NS
            if (strictly or late) and not self._awaited(lying):
                self._camera.mend(lying, self._now, strictly=strictly)

    def _one_card(self, back: Lying, face: Lying) -> bool:
        """Tell whether a draw fits the back by its time and the face by what was read."""
        return any(
            draw.card is not None and fits(draw, back) and (face.p(draw.card) or 0) >= AGREED_P
            for draw in self._draws
        )

    def _awaited(self, lying: Lying) -> bool:
        """Tell whether a card that certainly left the shoe may be this one."""
        return any(
            draw.certain
            and draw.earliest < lying.at
            and (draw.card is None or not lying.excludes(draw.card))
            for draw in self._draws
        )

    def _decide_all(self) -> None:
        """Settle what became of the pending draws, in order; a mere fault holds up nothing."""
        for draw in list(self._draws):
            if not self._decide(draw) and draw.certain:
                return

    def _decide(self, draw: Draw) -> bool:
        """Settle what became of a draw, where that can be told by now."""
        draws = self._draws[self._draws.index(draw) :]
        dues = self._rounds.dues(draws)
        verdict = judge(
            draws,
            self._camera.pending,
            self._now,
            lambda number, lying: dues[number] is not None and self._zone(lying) == dues[number],
            lambda number, lying: ANY_TURN if dues[number] else self._turn(lying),
        )
        expired = self._now - draw.at > (DEADLINE_NS if draw.certain else ORPHAN_NS)
        astray = verdict.lying is not None and dues[0] not in (None, self._zone(verdict.lying))
        if not expired and not self._ripe(draw, verdict.lying, verdict.margin, astray=astray):
            return False
        self._draws.remove(draw)
        if verdict.lying is None:
            if not self._twin(draw):
                self._unseen(draw)
            return True
        card = draw.card or read_face(verdict.lying, self._composition)
        doubts = self._doubts(draw, verdict.lying, verdict.margin)
        seqs = tuple(sorted(draw.seqs + verdict.lying.seqs))
        self._camera.explained(verdict.lying)
        after = (later.at - 1 for later in draws if later.timed and later.certain)
        at = draw.at if draw.timed else min(verdict.lying.at - CARRY_NS, next(after, self._now))
        self._arrive(Arrived(at, card, verdict.lying, seqs, doubts, said=draw.card))
        return True

    def _arrive(self, card: Arrived) -> None:
        seen = None if card.lying is None else card.lying.reading
        sure = card.said is not None and seen is not None and seen.p(card.said) >= AGREED_P
        miscounted = self._composition.miscounts(card.card)
        if miscounted and not (sure and self._composition.disproved(card.card)):
            what = f"one {card.card} more than the shoe held: another may have been misread"
            doubt = Review(what, (str(card.card),), card.seqs)
            card = dataclasses.replace(card, doubts=(*card.doubts, doubt))
        down = card.lying is not None and card.lying.face == "down"
        self._composition.left_shoe(card.card, sure=sure, down=down)
        self._agenda.add(card)

    def _zone(self, lying: Lying) -> Dealt | None:
        return self._table.felt.zone(lying.place).owner

    def _turn(self, lying: Lying) -> float:
        """Return when the hand plays beside which a card lies: spot by spot, the dealer last."""
        owner = self._zone(lying)
        if owner is None:
            return ANY_TURN
        return float("inf") if owner == "dealer" else float(owner)

    def _ripe(self, draw: Draw, lying: Lying | None, margin: float, *, astray: bool) -> bool:
        """Tell whether to believe where a draw lies; ``astray`` is elsewhere than it was due."""
        if lying is None or margin < MARGIN:
            return False
        if draw.card is None:
            once = lying.reading is not None and lying.reading.looks == 1
            return self._now - draw.at > (SECOND_LOOK_NS if once else PATIENCE_NS)
        p = lying.p(draw.card)
        if p is None:
            return self._now - draw.at > (DISPUTE_NS if astray else PATIENCE_NS)
        if p < EXCLUDED_P:
            borne_out = lying.reading is not None and upheld(draw.card, lying.reading)
            return borne_out or self._now - draw.at > DISPUTE_NS
        if astray and not on_time(draw, lying):
            return self._now - draw.at > DISPUTE_NS
        return p >= AGREED_P or self._now - draw.at > PATIENCE_NS

    def _twin(self, draw: Draw) -> bool:
        """A second card of one face, laid upon the first, looks as if the first had moved."""
        lying = None if draw.card is None else self._camera.twin(draw.card, draw.at)
        if lying is None:
            return False
        seqs = tuple(sorted(draw.seqs + lying.seqs[-1:]))
        self._arrive(Arrived(draw.at, draw.card, lying, seqs, said=draw.card))
        return True

    def _unseen(self, draw: Draw) -> None:
        if not draw.certain:
            return
        what = f"{card_name(draw.card)} left the shoe and was not seen on the felt"
        candidates = () if draw.card is None else (str(draw.card),)
        doubt = Review(what, candidates, draw.seqs)
        self._arrive(Arrived(draw.at, draw.card, None, draw.seqs, (doubt,), said=draw.card))

    def _doubts(self, draw: Draw, lying: Lying, margin: float) -> tuple[Review, ...]:
        seqs = tuple(sorted(draw.seqs + lying.seqs))
        found = []
        disputed = draw.card is not None and lying.excludes(draw.card)
        if margin < MARGIN and not disputed and not self._as_good(draw, lying):
            what = f"which card on the felt is {card_name(draw.card)} cannot be told"
            found.append(Review(what, lying.names(), seqs))
        if draw.card is None and lying.face == "up" and read_face(lying, self._composition) is None:
            what = "neither the shoe nor the camera read a card"
            found.append(Review(what, lying.names(), seqs))
        return tuple(found)

    def _as_good(self, draw: Draw, lying: Lying) -> bool:
        """Tell whether a like card beside it makes it all the same which of the two it is."""
        card = draw.card
        return card is not None and any(
            other.track != lying.track
            and self._zone(other) == self._zone(lying)
            and (other.p(card) or 0.0) >= AGREED_P
            for other in self._camera.pending
        )

    def _orphans(self) -> None:
        """Deal with cards on the felt that no draw and no other card explains."""
        for lying in list(self._camera.pending):
            if not self._forsaken(lying):
                continue
            if self._unannounced_hole(lying):
                continue
            glimpsed = self._only_a_glimpse(lying)
            if glimpsed and self._may_be_a_twin(lying):
                continue
            if self._table.felt.aside(lying.place) or glimpsed:
                self._camera.ignore(lying)
                continue
            self._camera.explained(lying)
            if self._used_although_boxed(lying):
                continue
            self._unannounced(lying)

    def _unannounced(self, lying: Lying) -> None:
        """Deal a card that the shoe did not tell of: it could not be heard, or missed it."""
        card, at = read_face(lying, self._composition), lying.at - CARRY_NS
        heard = not self._count.deaf(at)
        what = f"{card_name(card)} lies on the felt and never left the shoe"
        if not heard:
            what = "the shoe could not be heard, and the camera cannot read a card"
        doubt = Review(what, lying.names(), lying.seqs)
        doubts = (doubt,) if heard or card is None else ()
        at = min(at, (self._passed(lying) or at + 1) - 1)
        read = card is not None
        self._arrive(Arrived(at, card, lying, lying.seqs, doubts, welcome_if_due=read))

    def _passed(self, lying: Lying) -> int | None:
        """Return when a card left the shoe that must have come after one first seen late.

        Of one that no draw tells of: it lies where a card was due, and the next went elsewhere.
        """
        if self._awaited(lying):
            return None
        passed_at = self._rounds.passed_over(self._zone(lying), lying.at)
        late = passed_at is not None and lying.at - passed_at < HIDDEN_NS
        return passed_at if late else None

    def _only_a_glimpse(self, lying: Lying) -> bool:
        """Tell whether it is a known card seen askew.

        It is not where a card was due just there, and the next one went on to somebody else.
        """
        owner = self._table.felt.zone(lying.place).owner
        due = owner is not None and self._rounds.due_at(lying.at) == owner
        passed = due and self._rounds.next_owner(lying.at) not in (None, owner)
        return not passed and self._camera.only_a_glimpse(lying)

    def _may_be_a_twin(self, lying: Lying) -> bool:
        """Tell whether a second look may yet show a like card upon another, not that one askew."""
        once = len(lying.seqs) == 1 and lying.card is not None
        return once and self._now - lying.at < SECOND_LOOK_NS

    def _unannounced_hole(self, lying: Lying) -> bool:
        """Deal the dealer's face-down card, in its turn, though the shoe did not tell of it."""
        dealers = self._table.felt.zone(lying.place).owner == "dealer"
        if not (dealers and lying.face == "down" and self._rounds.due_at(lying.at) == "dealer"):
            return False
        self._camera.explained(lying)
        self._arrive(Arrived(lying.at - CARRY_NS, None, lying, lying.seqs))
        return True

    def _forsaken(self, lying: Lying) -> bool:
        """Tell whether no draw will come to explain a card; a gap shows at the next reading."""
        age = self._now - lying.at
        told = age > DEADLINE_NS or self._count.last_ns > lying.at
        return age > ORPHAN_NS and told and not self._awaited(lying) and not self._claimed(lying)

    def _claimed(self, lying: Lying) -> bool:
        """Tell whether a card that left the shoe is likelier this one, misread, than unseen."""
        return any(
            draw.certain
            and fits(draw, lying)
            and judge(self._draws[at:], self._camera.pending, self._now).lying is lying
            for at, draw in enumerate(self._draws)
        )

    def _used_although_boxed(self, lying: Lying) -> bool:
        """Deal a card that was found face up in the shoe and is dealt all the same."""
        for draw in self._boxed:
            late = lying.at - draw.at
            if draw.card and 0 < late < ENTRY_NS and (lying.p(draw.card) or 0.0) >= AGREED_P:
                self._boxed.remove(draw)
                seqs = tuple(sorted(draw.seqs + lying.seqs))
                at = lying.at - CARRY_NS
                self._agenda.add(Arrived(at, draw.card, lying, seqs, said=draw.card))
                return True
        return False

    # --- playing out ----------------------------------------------------------------------

    def _play(self) -> None:
        while (happening := self._next()) is not None:
            if not self._rounds.apply(happening, self._now):
                return
            self._agenda.drop(happening)

    def _next(self) -> Happening | None:
        """Return the next happening, once nothing that is still unseen can come before it."""
        explained_ns = self._explained_ns()
        happening = self._agenda.first(min(explained_ns, self._now - HOLD_NS))
        if happening is not None:
            return happening
        soon = self._agenda.first(min(explained_ns, self._now - DUE_HOLD_NS))
        return soon if isinstance(soon, Arrived) and self._rounds.was_due(soon) else None

    def _explained_ns(self) -> int:
        """Return the moment before which no draw and no card on the felt waits to be explained."""
        pending = [
            min(lying.at - _LEAD_NS, (self._passed(lying) or lying.at) - 1)
            for lying in self._camera.pending
        ]
        drawn = [draw.earliest - 1 for draw in self._draws if draw.certain]
        return min([self._now, *drawn, *pending])


def _entered_at(entry: ConsoleEntry) -> int:
    return entry.fact.at or entry.at or 0


def _seqs(observation: AnyObservation) -> tuple[int, ...]:
    return () if observation.seq is None else (observation.seq,)
