"""What a person is asked of a round: one question for each cause, between accounts of it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from models.cards import Card
from models.events import AnyFact, PaymentMade, Spot, WagerPlaced
from models.judgements import Account, Review
from models.money import Cents
from models.places import whose
from settlement.questions import question
from settlement.reckoning.accounts import Rival, accounts, offering, shown
from settlement.reckoning.decide import Decided
from settlement.reckoning.differing import all_gone_unseen, difference, gone_unseen
from settlement.reckoning.odds import MISJUDGED_FROM
from settlement.reconcile.weighing import Outcome, Weighing
from settlement.sentences import Sentence

Mistaken: TypeAlias = tuple[str, int | None]
"""A code, and the spot it is about."""

MISREAD: Final = "Was a card misread?"
_PAID: Final = frozenset({"payment_missing", "settle_order", "wrong_payout"})
_NO_CLAUSE: Final = {
    "taken_early": "Was the wager of spot {spot} taken before the dealer played?",
    "stood": "Was the wager of spot {spot} taken from a hand that stands?",
    "left_broken": "Was the broken hand of spot {spot} left on the felt?",
}
"""Mistakes that break no clause. No dealer makes them, so a round with one was seen amiss."""
_SHOWN: Final = 3
"""The most mistakes that one question names, and the most that it holds against them."""
_MOST_EVIDENCE: Final = 40
TOGETHER: Final = 3
"""Cards that no camera saw, from which on a person is asked about all of them. Chosen: one or two
were missed each by itself, more by a camera that saw nothing."""


class Asked:
    """What a person is asked of a round, and whether the round settles alike all the same.

    Args:
        review: the question.
        settles_alike: whether the round settles the same under every answer.
        rivals: what else may have happened: the other answers.
        about: the mistakes of the stated account that are in doubt with it: questions about the
            same one have one cause, and are one question.
    """

    def __init__(
        self,
        review: Review,
        *,
        settles_alike: bool = False,
        rivals: Iterable[Rival] = (),
        about: Iterable[Mistaken] = (),
    ) -> None:
        self.review, self.settles_alike = review, settles_alike
        self.rivals, self.about = tuple(rivals), frozenset(about)
        self.accounts: tuple[Account, ...] = ()
        """The accounts between which the question is."""

    def answer(self, otherwise: "Otherwise", *, choosable: bool) -> None:
        """Offer the accounts as answers, and name every sighting that tells between them."""
        record = otherwise.record
        which = names_cards(self.review)
        held = "yes, as recorded" if self.about and not which else None
        found = accounts(record, otherwise.stated, self.rivals, held)
        self.accounts = found if choosable else tuple(replace(one, changes=UNSET) for one in found)
        if which or not found:
            return
        bear = {seq for one in found for seq in _bearing(record, one)}
        looks = [one.looks.get(seq, ()) for one in self.rivals for seq in sorted(bear)]
        seqs = sorted({*self.review.evidence, *bear, *chain(*looks)})[:_MOST_EVIDENCE]
        tells = tuple(one.tells for one in found)
        self.review = replace(self.review, candidates=tells, evidence=tuple(seqs))


class Otherwise:
    """Settles other accounts of a round than the stated one, between which no sensor tells."""

    def __init__(self, weighing: Weighing, record: Sequence[AnyFact]) -> None:
        self._weighing, self.record = weighing, record
        self.stated = weighing.outcome(record, record)
        self.mistakes = weighing.mistakes(record)

    def outcome(self, facts: Sequence[AnyFact]) -> Outcome:
        """Settle an account."""
        return self._weighing.outcome(facts, self.record)

    def __call__(self, facts: Sequence[AnyFact]) -> Rival:
        """Return an account, as likely as the stated one."""
        return Rival(1.0, facts, self.outcome(facts), {})

    def mistakes_of(self, facts: Sequence[AnyFact]) -> list[Mistaken]:
        """Return the mistakes that an account holds."""
        return self._weighing.mistakes(facts)

    def asks(self, code: str, spot: int | None) -> str:
        """Ask whether a mistake was made, with the amounts of a wrong payment."""
        if code in _NO_CLAUSE:
            return _NO_CLAUSE[code].format(spot=spot)
        paid = self._paid(spot) if code == "wrong_payout" and spot is not None else None
        detail = "" if paid is None else Sentence.PAID_WRONGLY.write(*paid)
        return question(code, spot, None, detail)

    def _paid(self, spot: Spot) -> tuple[Cents, Cents, Cents] | None:
        """Return due, paid and their difference of the first hand that was paid wrongly."""
        for (own, hand), (_, _, due) in sorted(self.stated.hands.items()):
            paid = [
                fact.amount
                for fact in self.record
                if isinstance(fact, PaymentMade)
                and (fact.spot, fact.hand, fact.kind) == (spot, hand, "main")
            ]
            if own == spot and paid and due is not None and sum(paid) != due:
                return due, sum(paid), sum(paid) - due
        return None


def between(otherwise: Otherwise, decided: Decided) -> Iterator[Asked]:
    """Yield the question between the two heaviest outcomes of a round, where they leave one open.

    Where all settles alike, and only cards are others, it holds nothing open.
    """
    if not decided.open and decided.alike <= MISJUDGED_FROM:
        return
    record, stated = otherwise.record, otherwise.stated
    rivals = shown(stated, decided.rivals) if decided.open else decided.rivals[:1]
    likeliest = rivals[0]
    spared = [one for rival in rivals for one in stated.mistakes - rival.outcome.mistakes]
    about = [(code, spot) for code, spot, _ in spared] if decided.open else []
    review = _differ(record, decided.rivals, likeliest, misread=bool(about))
    yield Asked(review, settles_alike=not decided.open, rivals=rivals, about=about)


def _differ(
    record: Sequence[AnyFact], rivals: Sequence[Rival], likeliest: Rival, *, misread: bool
) -> Review:
    """Ask in what an account differs from the stated one."""
    if likeliest.came:
        who = whose(likeliest.came[0].to, likeliest.came[0].hand)
        return Review(f"Did {who} get a card that no sensor saw?", (), record[-1].evidence)
    if likeliest.asks:
        return Review(likeliest.asks, (), record[-1].evidence)
    if len(likeliest.faces) == 1:
        (face,) = likeliest.faces
        if face.contradicted or not misread:
            of_card = [rival for rival in rivals if rival.faces == likeliest.faces]
            return offering(face.review, record, of_card)
        return Review(MISREAD, (), face.review.evidence)
    return Review(difference(record, likeliest.facts).asks, (), ())


def lost_together(reviews: Sequence[Review]) -> list[Review]:
    """Make one question of those where cards went that no camera saw, from :data:`TOGETHER` on."""
    lost = [one for one in reviews if _is_of_lost(one)]
    if len(lost) < TOGETHER:
        return list(reviews)
    cards = [Card(one.candidates[0]) for one in lost]
    seqs = sorted({seq for one in lost for seq in one.evidence})
    joined = Review(all_gone_unseen(cards), (), tuple(seqs))
    return [joined, *(one for one in reviews if one not in lost)]


def _is_of_lost(one: Review) -> bool:
    return names_cards(one) and one.what == gone_unseen(Card(one.candidates[0]))


def by_cause(otherwise: Otherwise, found: Sequence[Asked]) -> list[Asked]:
    """Make the questions one that have the same mistakes for their cause."""
    asked: list[Asked] = []
    for one in found:
        if not one.about or one.settles_alike:
            asked.append(one)
            continue
        same = [other for other in asked if other.about & one.about and not other.settles_alike]
        joined = _joined([*same, one])
        at = asked.index(same[0]) if same else len(asked)
        asked = [other for other in asked if other not in same]
        asked.insert(at, joined)
    return [_about_mistakes(otherwise, one) if _has_cause(one) else one for one in asked]


def _has_cause(one: Asked) -> bool:
    return bool(one.about) and not one.settles_alike


def _joined(same: Sequence[Asked]) -> Asked:
    """Return one question in place of several; each one's words stand on a line of their own."""
    lines = dict.fromkeys(line for one in same for line in one.review.what.split("\n"))
    if MISREAD in lines:
        lines = {one: None for one in lines if not one.startswith("Is ")}
    what = [one for one in lines if not any(one.startswith(o[:-1]) for o in lines if o != one)]
    seqs = sorted({seq for one in same for seq in one.review.evidence})
    which = [one.review for one in same if names_cards(one.review)]
    return Asked(
        which[0] if which else Review("\n".join(what), (), tuple(seqs)),
        rivals=[rival for one in same for rival in one.rivals],
        about=frozenset().union(*(one.about for one in same)),
    )


def _about_mistakes(otherwise: Otherwise, one: Asked) -> Asked:
    """Ask whether mistakes were made, or what may explain them.

    Where the shoe and the camera read a card apart, which card it is explains them.
    """
    if names_cards(one.review):
        return one
    mistakes = sorted(one.about, key=str)
    named = [otherwise.asks(code, spot) for code, spot in mistakes[:_SHOWN]]
    left = ["Were there further mistakes?"] if len(mistakes) > len(named) else []
    instead = one.review.what.split("\n")[:_SHOWN]
    otherwise_asked = [f"Or {line[0].lower()}{line[1:]}" for line in instead]
    seqs = {*one.review.evidence, *_chips(otherwise.record, one.about)}
    review = Review(" ".join([*named, *left, *otherwise_asked]), (), tuple(sorted(seqs)))
    return Asked(review, rivals=one.rivals, about=one.about)


def _chips(record: Sequence[AnyFact], about: Iterable[Mistaken]) -> Iterable[int]:
    """Yield what tells of the chips of spots that were settled wrongly."""
    spots = {spot for code, spot in about if code in _PAID}
    for fact in record:
        if isinstance(fact, PaymentMade | WagerPlaced) and fact.spot in spots:
            yield from fact.evidence


def _bearing(record: Sequence[AnyFact], account: Account) -> list[int]:
    """Return the observations that tell an account from the stated one."""
    return [
        seq
        for change in account.changes or ()
        for fact in (*record[change.at : change.at + change.drops], *change.facts)
        for seq in fact.evidence
    ]


def names_cards(review: Review) -> bool:
    """Return whether a question is which card one is."""
    return any(name in Card._value2member_map_ for name in review.candidates)
