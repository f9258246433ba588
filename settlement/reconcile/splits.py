"""Splits: two cards of a hand laid apart, chips in a new box, and what was entered of it."""

from msgspec.structs import replace

from models.events import AnyFact, Dealt, PlayerActed, Spot
from models.places import spot_hand
from settlement.reconcile.happenings import Agenda, Entered, Moved
from settlement.reconcile.table import Table
from settlement.reconcile.timing import ENTRY_NS, TAKING_NS
from settlement.reconcile.voice import Voice


def evidenced(entry: Entered) -> AnyFact:
    """Return what was entered as a fact that rests on the entry."""
    return replace(entry.fact, seq=None, table=None, at=entry.at, evidence=entry.seqs)


class Splits:
    """Tells when a hand was split, by at least two of three: cards, chips, console."""

    def __init__(self, table: Table, agenda: Agenda, voice: Voice) -> None:
        self._table, self._agenda, self._voice = table, agenda, voice
        self._inferred: dict[tuple[Spot, int], int] = {}

    def moved(self, moved: Moved, now_ns: int) -> bool:
        """Take in that a card lies elsewhere; ``False`` while the split may yet be entered."""
        found = self._table.owner(moved.track)
        if found is None:
            return True
        hand, _ = found
        if hand is None or self._table.split_apart(hand.spot, moved.at) is None:
            return True
        if self._entry_of_split(hand.spot, moved.at) is None and now_ns - moved.at < TAKING_NS:
            return False
        self.find(hand.spot, moved.at, moved.seqs)
        return True

    def find(self, spot: Spot, at: int, seqs: tuple[int, ...]) -> None:
        """The cards of a hand lie apart: somebody entered the split, or it shows by itself."""
        hand = self._table.split_apart(spot, at)
        if hand is None:
            return
        entry = self._entry_of_split(spot, at)
        if entry is not None:
            self._agenda.drop(entry)
            fact = evidenced(entry)
            if isinstance(fact, PlayerActed):
                self.entered(fact)
            return
        new = len(self._table.hands[spot])
        if not self._table.plates.get((spot, str(new))):
            what = (
                f"the cards of {spot_hand(spot, hand.number)} lie apart, and nobody entered a split"
            )
            self._voice.doubt(what, ("split", "one hand"), seqs)
        self._inferred[spot, hand.number] = at
        self._table.split(hand)
        self._voice.say(
            PlayerActed(at=at, spot=spot, hand=hand.number, action="split", evidence=seqs)
        )

    def explain(self, to: Dealt | None, at: int) -> bool:
        """Tell whether a hand's second card was laid apart as its split was entered.

        An arm may hide the card until the dealer has moved it from where it was dealt.
        """
        if not isinstance(to, int) or self._entry_of_split(to, at) is None:
            return False
        return [len(hand.cards) for hand in self._table.hands.get(to, [])] == [1]

    def _entry_of_split(self, spot: Spot, at: int) -> Entered | None:
        for found in self._agenda:
            if (
                isinstance(found, Entered)
                and isinstance(found.fact, PlayerActed)
                and (found.fact.action, found.fact.spot) == ("split", spot)
                and abs(found.at - at) < ENTRY_NS
            ):
                return found
        return None

    def entered(self, fact: PlayerActed) -> None:
        """Take in that a person entered a split: once, also where the cards showed it before."""
        hand = self._table.hand(fact.spot, fact.hand)
        shown_at = self._inferred.pop((fact.spot, fact.hand), None)
        if shown_at is not None and abs((fact.at or 0) - shown_at) < ENTRY_NS:
            return
        if hand is not None and len(hand.cards) > 1:
            self._table.split(hand)
        elif self._voice.in_play:
            what = (
                f"a split of {spot_hand(fact.spot, fact.hand)} was entered, which has no two cards"
            )
            self._voice.doubt(what, (), fact.evidence)
        self._voice.say(fact)
