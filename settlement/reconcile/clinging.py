"""How far the camera clings to its errors, by its own record.

A face that the shoe denies and that look after look names may be the shoe's error, or one that
the camera falls into as long as the card lies there. What tells the two apart is how this
camera errs: whether its next look mostly corrects it, or mostly repeats it.
"""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Final, TypeAlias, TypeVar

from models.cards import Card
from models.events import AnyFact, CardDealt, CardSighted, RoundClosed, RoundOpened, ShoeCardRead
from models.judgements import AnyEvent
from settlement.reconcile.learned import Slips
from settlement.reconcile.sightings import AFRESH, likeliest_face, same

_LEAST: Final = 0.05
"""No record, however long, speaks for more: a gleam or a worn print may come at any time."""

_REMEMBERED: Final = 200
"""Once there are more errors all of them count half: a camera is cleaned, and a deck wears."""

_MANY: Final = 2_000
"""So many looks and readings are kept of cards that no round tells of."""

_Track: TypeAlias = tuple[str, int]

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class _Run:
    """Looks in a row that named the same face."""

    def __init__(self, face: Card, *, afresh: bool) -> None:
        self.face, self.afresh = face, afresh
        """``afresh``: whether the card was moved or turned before the first of them."""
        self.looks = 1


class Clinging:
    """Counts the camera's errors, judged by the shoe: those that lasted, and those that did not.

    It rests on the observations and facts of a journal and on nothing else, so that a table that
    starts again knows of its camera what it knew.
    """

    def __init__(self) -> None:
        self._lasted = self._slips = 0
        self._shoe_cards: dict[int, Card] = {}
        self._seen: dict[int, _Track] = {}
        self._runs: dict[_Track, list[_Run]] = {}

    def learned(self) -> Slips:
        """Return the counts, to go on from where no card is on the felt."""
        return self._lasted, self._slips

    def go_on(self, learned: Slips) -> None:
        """Go on from what :meth:`learned` returned."""
        self._lasted, self._slips = learned

    def recall(self, events: Iterable[AnyEvent]) -> None:
        """Learn from a journal what the table that wrote it had learned."""
        record: list[AnyFact] = []
        for event in events:
            match event:
                case ShoeCardRead() | CardSighted():
                    self.observed(event)
                case RoundOpened():
                    record = []
                case CardDealt():
                    record.append(event)
                case RoundClosed():
                    self.round_over(record)
                    record = []
                case _:
                    pass

    def observed(self, one: ShoeCardRead | CardSighted) -> None:
        """Take note of the shoe's word, or of a look at a card."""
        if one.seq is None:
            return
        if isinstance(one, ShoeCardRead):
            if one.card is not None:
                self._shoe_cards[one.seq] = one.card
            return
        track = (one.source, one.track)
        self._seen[one.seq] = track
        face = likeliest_face(one) if one.face == "up" and one.single_look else None
        if face is not None:
            self._look(track, _Run(face, afresh=one.change in AFRESH))

    def _look(self, track: _Track, look: _Run) -> None:
        runs = self._runs.setdefault(track, [])
        if runs and runs[-1].face is look.face and not look.afresh:
            runs[-1].looks += 1
        else:
            runs.append(look)

    def round_over(self, record: Sequence[AnyFact]) -> None:
        """Judge the camera by the cards of a round, as they are stated at its end.

        Where it was the shoe that misread, and nothing tells so, that counts as an error that
        lasted, too.
        """
        for fact in record:
            if not isinstance(fact, CardDealt):
                continue
            shoe_card = next(
                (self._shoe_cards[seq] for seq in fact.evidence if seq in self._shoe_cards), None
            )
            tracks = dict.fromkeys(self._seen[seq] for seq in fact.evidence if seq in self._seen)
            if shoe_card is not None and fact.card is shoe_card and len(tracks) == 1:
                self._judge(shoe_card, self._runs.get(next(iter(tracks)), []))
            self._forget(fact.evidence, tracks)
        _cut_short(self._shoe_cards)
        _cut_short(self._seen)
        _cut_short(self._runs)

    def _judge(self, shoe_card: Card, runs: Sequence[_Run]) -> None:
        for run, following in zip_longest(runs, runs[1:]):
            if same(shoe_card, run.face):
                continue
            self._lasted += run.looks > 1
            self._slips += run.looks == 1 and following is not None and not following.afresh
        if self._lasted + self._slips > _REMEMBERED:
            self._lasted, self._slips = self._lasted // 2, self._slips // 2

    def _forget(self, seqs: Iterable[int], tracks: Iterable[_Track]) -> None:
        for seq in seqs:
            self._shoe_cards.pop(seq, None)
            self._seen.pop(seq, None)
        for track in tracks:
            self._runs.pop(track, None)

    @property
    def most(self) -> float:
        """The share of its errors that last, at worst: all of them until the next look told."""
        return max(_LEAST, (self._lasted + 1) / (self._lasted + self._slips + 1))

    @property
    def least(self) -> float:
        """That share, at best: none of them until one was seen to last."""
        return max(_LEAST, self.seen)

    @property
    def seen(self) -> float:
        """The share that was seen to last; 0 until one was."""
        return self._lasted / (self._lasted + self._slips + 1)


def _cut_short(kept: dict[_Key, _Value]) -> None:
    while len(kept) > _MANY:
        del kept[next(iter(kept))]
