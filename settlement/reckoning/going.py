"""What it means that a card is off the felt."""

from math import log

from models.events import CardGone
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.odds import (
    MISSED,
    TRACK_ERRS,
)
from settlement.reckoning.story import Story
from settlement.reconcile.cameras import LAG_NS, Witnesses


def may_end(story: Story, gone: CardGone) -> bool:
    """Return whether the round may be over by a card that is off the felt."""
    if story.over_at or story.called_off:
        return True
    ident = story.tracks.get((gone.source, gone.track), 0)
    return any(card.ident == ident for card in story.dealer)


def has_twin(story: Story, gone: CardGone) -> bool:
    """Return whether a card that is off the felt has a second track."""
    card = story.card(story.tracks.get((gone.source, gone.track), 0))
    return card is not None and len(card.tracks) > 1


def attest(story: Story, gone: CardGone, witnesses: Witnesses) -> None:
    """Weigh which cameras lacked a card that is gone."""
    track = (gone.source, gone.track)
    card = story.card(story.tracks.get(track, 0))
    if card is None:
        return
    card.attested += (witnesses,)
    if card.tracks == (track,):
        story.weigh("camera", len(lacked(card.attested)) * log(MISSED))
        card.attested = ()


def lacked(attested: tuple[Witnesses, ...]) -> frozenset[str]:
    """Return the cameras that lacked a card, while others saw it, under one of its tracks.

    A camera that saw it under a later track lacked it all the same: the first may be of nothing.
    """
    found: frozenset[str] = frozenset()
    for own in attested:
        soon = [other.saw for other in attested if other.since <= own.since + LAG_NS]
        found |= own.lacked.difference(*soon)
    return found


def leave(story: Story, gone: CardGone, *, wholly: bool = False) -> None:
    """Take in that a card is off the felt; ``wholly`` where its other tracks linger."""
    track = (gone.source, gone.track)
    ident = story.tracks.pop(track, 0)
    card = story.card(ident) if ident else None
    if card is None:
        return
    card.tracks = tuple(one for one in card.tracks if one != track)
    if wholly:
        story.tracks.update(dict.fromkeys(card.tracks, 0))
        card.tracks = ()
    if card.tracks:
        return
    seqs = () if gone.seq is None else (gone.seq,)
    at = gone.at or 0
    hand = story.hand_of(card)
    if hand is not None and not _may_be_settled(story) and _is_to_stay(story, hand, card):
        story.weigh("camera", log(TRACK_ERRS))
    story.take_up(card, at, seqs)
    if card.to == "dealer":
        story.withdraw_unpaid()
    if _were_last(story, card):
        story.over_at, story.over_seqs = at, seqs
    story.close_if_over(at)


def _were_last(story: Story, card: InPlay) -> bool:
    """Return whether a round is over with a card: the dealer's last, or of one called off any."""
    if story.called_off:
        return not story.lies(story.cards())
    return card.to == "dealer" and not story.lies(story.dealer)


def _may_be_settled(story: Story) -> bool:
    """Return whether the dealer's hand is known, or its hole card was never seen, nor turned."""
    hidden = any(card.face == "down" and card.where == "unseen" for card in story.dealer)
    return story.revealed or hidden


def _is_to_stay(story: Story, hand: Hand, card: InPlay) -> bool:
    """Return whether a card lies open on the felt until the dealer's hand is known."""
    return hand.owed or (card.face == "up" and not story.settles_early(hand))
