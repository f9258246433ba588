"""What a round rests on as it is told, once all that is doubtful of it was weighed."""

from collections.abc import Iterator, Sequence
from typing import Final

from models.events import AnyFact, CardDealt, Dealt
from models.judgements import Review
from models.places import spot_hand
from settlement.reconcile.camera import Camera
from settlement.reconcile.identity import upheld
from settlement.reconcile.table import Held, Table
from settlement.reconcile.unread import never_known
from settlement.reconcile.voice import Voice
from settlement.reconcile.weighing import Weighing

_OF_ORDER: Final = frozenset(
    {"deal_order", "spot_skipped", "player_turn_order", "split_hand_order", "hole_card_exposed"}
)
"""Mistakes of whose turn it was, and when: a card seen late there looks like one."""


class Grounds:
    """Leaves to a person what no weighing of known stories answers.

    Args:
        table: what lies on the felt.
        camera: its tracks.
        weighing: settles the round as it is told.
        voice: says what is asked.
    """

    def __init__(self, table: Table, camera: Camera, weighing: Weighing, voice: Voice) -> None:
        self._table, self._camera = table, camera
        self._weighing, self._voice = weighing, voice

    def ask(self, record: Sequence[AnyFact]) -> None:
        """Ask about a round as it is told, from ``round_opened`` to ``round_closed``."""
        evidence = record[-1].evidence
        settled = self._weighing.settled(record)
        self._ask_unread(record, settled=settled)
        for short in self._weighing.short_of_a_card(record):
            what = f"spot {short} seems to have got a card that neither sensor told of"
            self._voice.doubt(what, (), evidence)
        doubtful, late = self._ill_founded(record[-1].at or 0), self._late()
        if self._voice.asked or (settled and not (doubtful or late)):
            return
        mistakes = self._weighing.mistakes(record)
        if not (settled or mistakes):
            what = "the round does not settle by the cards that were told of"
            self._voice.doubt(what, (), evidence)
        for code, spot in mistakes:
            seqs = {seq for to in doubtful.keys() & {spot, "dealer"} for seq in doubtful[to]}
            if code in _OF_ORDER:
                seqs |= {seq for to in late.keys() & _beside(spot) for seq in late[to]}
            if seqs:
                self._ask_ill_founded(code, spot, seqs.union(evidence))
                return

    def _ask_unread(self, record: Sequence[AnyFact], *, settled: bool) -> None:
        """Ask what nobody read; where all ``settled``, it does so whatever the cards are."""
        for whose, dealt in _unread(record).items():
            seqs = {seq for fact in (*dealt, record[-1]) for seq in fact.evidence}
            review = Review(f"a card of {whose} was never read", (), tuple(sorted(seqs)))
            self._voice.ask(review, settles_alike=settled)

    def _ask_ill_founded(self, code: str, spot: int | None, seqs: set[int]) -> None:
        """Ask about a mistake where not both sensors vouch for the cards.

        A card missed or misread looks like a mistake as often as not, and in more ways than
        there are stories to weigh.
        """
        where = "" if spot is None else f" at spot {spot}"
        what = f"{code}{where} may be a card that a sensor missed, misread or saw late"
        self._voice.doubt(what, (), tuple(sorted(seqs)))

    def _late(self) -> dict[Dealt, set[int]]:
        """Return whose cards were seen late, with the observations that tell of them."""
        found: dict[Dealt, set[int]] = {}
        for owner, held in self._cards():
            if held.late:
                found.setdefault(owner, set()).update(held.seqs)
        return found

    def _ill_founded(self, closed_ns: int) -> dict[Dealt, set[int]]:
        """Return who holds cards of which the sensors do not agree, or showed what was no card.

        With the observations that tell of them.
        """
        found: dict[Dealt, set[int]] = {}
        for owner, held in self._cards():
            if not self._vouched_for(held):
                found.setdefault(owner, set()).update(held.seqs)
        for lying in self._camera.dismissed(closed_ns):
            zone = self._table.felt.zone(lying.place).owner
            if zone is not None:
                found.setdefault(zone, set()).update(lying.seqs)
        return found

    def _cards(self) -> Iterator[tuple[Dealt, Held]]:
        yield from (("dealer", held) for held in self._table.dealer)
        for hand in self._table.all_hands():
            yield from ((hand.spot, held) for held in hand.cards)

    def _vouched_for(self, held: Held) -> bool:
        """Tell whether both sensors told of a card, and of the same one where they read it."""
        if held.said is None or held.track is None:
            return False
        reading = self._camera.reading(held.track) or held.reading
        return reading is None or upheld(held.said, reading)


def _beside(spot: int | None) -> set[Dealt]:
    """Return whose turn comes just before, at and just after a spot's; of none, the dealer's."""
    return {"dealer"} if spot is None else {spot - 1, spot, spot + 1}


def _unread(record: Sequence[AnyFact]) -> dict[str, list[CardDealt]]:
    """Return the cards whose faces were never told, by whose they are."""
    found: dict[str, list[CardDealt]] = {}
    for at, fact in enumerate(record):
        if isinstance(fact, CardDealt) and never_known(record, at, fact):
            whose = spot_hand(fact.to, fact.hand) if isinstance(fact.to, int) else "the dealer"
            found.setdefault(whose, []).append(fact)
    return found
