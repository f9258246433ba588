"""What people at the console state, taken into a story."""

from math import log
from typing import Final

from msgspec.structs import replace

from models.events import (
    AnyFact,
    ConsoleEntry,
    CutCardReached,
    HoleCardChecked,
    PlayerActed,
    RoundClosed,
    RoundOpened,
)
from models.judgements import Review
from models.places import spot_hand
from models.rulebook import Rulebook
from settlement.reckoning.grammar import due_in_deal, face_in_deal
from settlement.reckoning.odds import HIDDEN
from settlement.reckoning.story import ENTRY_HOLD_NS, SECOND, Story

ENTRY_NS: Final = 8 * SECOND
"""A person's entry may be this far from what it tells of."""


def stated(entry: ConsoleEntry) -> AnyFact:
    """Return what was entered as a fact that rests on the entry."""
    at = entry.fact.at or entry.at or 0
    seqs = () if entry.seq is None else (entry.seq,)
    return replace(entry.fact, seq=None, table=None, at=at, evidence=seqs)


def take(story: Story, fact: AnyFact, rules: Rulebook) -> None:
    """Take an entered fact into a story."""
    at = fact.at or 0
    match fact:
        case PlayerActed(action="split"):
            _split(story, fact)
            return
        case PlayerActed(action="surrender" | "even_money"):
            hand = story.hand(fact.spot, fact.hand)
            if hand is not None:
                hand.over = True
        case CutCardReached() if not story.in_play:
            story.cut_card = fact
            return
        case HoleCardChecked():
            for to in due_in_deal(story, rules) if story.in_play else ():
                story.deal(to, 0, face_in_deal(story, to, rules), at)
                story.evidence += log(HIDDEN)
            story.peeked, story.hole_blackjack = True, fact.blackjack
        case RoundOpened():
            story.open_round(at)
            return
        case RoundClosed():
            if story.in_play:
                story.close_round(at, fact.evidence)
            return
        case _:
            pass
    story.state(fact, at + ENTRY_HOLD_NS if story.in_play else 0)


def _split(story: Story, fact: PlayerActed) -> None:
    shown_at = story.splits.pop((fact.spot, fact.hand), None)
    if shown_at is not None and abs((fact.at or 0) - shown_at) < ENTRY_NS:
        return
    if not story.split(fact) and story.in_play:
        what = f"a split of {spot_hand(fact.spot, fact.hand)} was entered, which has no two cards"
        story.asks.append(Review(what, (), fact.evidence))
        story.state(fact)
