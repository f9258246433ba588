"""What people at the console state, taken into a story."""

from math import log

from msgspec.structs import replace

from models.events import (
    AnyFact,
    CardBoxed,
    CardBurned,
    CardMoved,
    ConsoleEntry,
    CutCardReached,
    HandCalledOff,
    HoleCardChecked,
    PlayerActed,
    RoundCalledOff,
    RoundClosed,
    RoundOpened,
    ShoeStarted,
    WagerRemoved,
)
from models.judgements import Review
from models.places import whose
from models.rulebook import Rulebook
from settlement.reckoning import shoe
from settlement.reckoning.grammar import due_in_deal, face_in_deal
from settlement.reckoning.holds import ENTRY_HOLD_NS
from settlement.reckoning.odds import HIDDEN, MISTAKE, UNUSUAL
from settlement.reckoning.story import Story
from settlement.reconcile.timing import ENTRY_NS


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
        case CutCardReached() if not story.in_play:
            story.supply.cut_card = fact
        case CardBurned() | CardBoxed() if story.shoe:
            shoe.enter(story, fact)
        case RoundCalledOff() | HandCalledOff() if story.rule_late(fact):
            pass
        case WagerRemoved(by="floor") if story.in_play:
            story.take_off(fact, at + ENTRY_HOLD_NS)
        case RoundOpened():
            story.open_round(at)
        case RoundClosed():
            if story.in_play:
                story.close_round(at, fact.evidence, entered=True)
        case _:
            _learn(story, fact, rules)
            story.state(fact, at + ENTRY_HOLD_NS if story.in_play else 0)


def _learn(story: Story, fact: AnyFact, rules: Rulebook) -> None:
    """Know from an entry what no sensor sees."""
    match fact:
        case CardMoved() if story.in_play:
            story.move_card(fact)
        case RoundCalledOff() if story.in_play:
            story.call_off(fact.at or 0)
        case HandCalledOff() if story.in_play:
            for hand in story.hands.get(fact.spot, ()):
                hand.off |= fact.hand in (None, hand.number)
        case PlayerActed(action="surrender" | "even_money" | "double"):
            _acted(story, fact)
        case HoleCardChecked():
            for to in due_in_deal(story, rules) if story.in_play and not story.shoe else ():
                story.deal(to, 0, face_in_deal(story, to, rules), fact.at or 0)
                story.weigh("camera", log(HIDDEN))
            story.peeked, story.hole_blackjack = True, fact.blackjack
        case ShoeStarted():
            if story.in_play and story.revealed and story.all_paid():
                # A card of the dealer's is seen to lie on, and no round goes on into a fresh shoe.
                story.close_round((fact.at or 0) - 1, fact.evidence, entered=True)
            story.state_cut_card()
            story.supply.fresh_shoe = None
        case _:
            pass


def _acted(story: Story, acted: PlayerActed) -> None:
    hand = story.hand(acted.spot, acted.hand)
    if hand is None:
        return
    allowed = story.allowed(hand)
    if acted.action != "double":
        # Who gives a hand up before his second card lies there was not seen to get it yet.
        up = 0 if story.revealed else story.up_points()
        may = (
            allowed.surrenders
            if acted.action == "surrender"
            else story.moves.takes_even_money(hand.faces, up)
        )
        if not may and len(hand.cards) > 1 and None not in hand.faces:
            story.mistakes += log(MISTAKE)
        hand.over, hand.over_at = True, acted.at or 0
        return
    hand.entered_double = True
    if not (hand.doubled or allowed.doubles) and len(hand.cards) > 1:
        story.mistakes += log(MISTAKE)
    if hand.paid >= 0:
        story.weigh("console", log(UNUSUAL))


def _split(story: Story, fact: PlayerActed) -> None:
    shown_at = story.splits.pop((fact.spot, fact.hand), None)
    if shown_at is not None and abs((fact.at or 0) - shown_at) < ENTRY_NS:
        story.enter_split(fact)
        return
    if not story.split(fact) and story.in_play:
        who = whose(fact.spot, fact.hand)
        what = f"Did {who} split? A split was entered, and the hand had no two cards."
        story.asks.append(Review(what, (), fact.evidence))
        story.state(fact)
