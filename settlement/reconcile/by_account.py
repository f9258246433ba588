"""The facts of a round as one of its accounts has them, which a person chose. Pure."""

from collections.abc import Sequence

from msgspec import UNSET
from msgspec.structs import replace

from models.errors import OperatorError
from models.events import AnyFact, ReviewResolved
from models.judgements import ReviewRaised


def by_account(
    own: Sequence[AnyFact],
    as_stated: Sequence[AnyFact],
    item: ReviewRaised,
    decision: ReviewResolved,
) -> list[AnyFact]:
    """Return the facts as an account of the item has them."""
    accounts = item.accounts or ()
    if decision.account is None or decision.account >= len(accounts):
        known = f"accounts 0 to {len(accounts) - 1}" if accounts else "no accounts"
        raise refused(decision, "no account of it is named", f"It has {known}")
    changes = accounts[decision.account].changes
    if changes is UNSET:
        raise refused(
            decision,
            "this version cannot put that account into the facts",
            "Name the card, let the record stand, or call the round off",
        )
    found = list(own)
    for change in changes:
        end = change.at + change.drops
        if end > len(as_stated):
            raise refused(decision, "the round is not over yet", "Decide when it has been settled")
        gone = as_stated[change.at : end]
        after = as_stated[end] if end < len(as_stated) else None
        at = _place_of(found, gone[0] if gone else after, decision)
        if not all(
            fact is one for fact, one in zip(found[at : at + len(gone)], gone, strict=False)
        ):
            raise _contradicted(decision)
        found[at : at + len(gone)] = _placed(change.facts, gone, found[:at], decision)
    return found


def _place_of(found: Sequence[AnyFact], fact: AnyFact | None, decision: ReviewResolved) -> int:
    """Return where a fact, or the end, is among facts."""
    if fact is None:
        return len(found)
    places = [at for at, one in enumerate(found) if one is fact]
    if not places:
        raise _contradicted(decision)
    return places[0]


def _contradicted(decision: ReviewResolved) -> OperatorError:
    return refused(
        decision,
        "the answer to another item of the round has other facts there",
        "Put that answer right first",
    )


def _placed(
    facts: Sequence[AnyFact],
    gone: Sequence[AnyFact],
    before: Sequence[AnyFact],
    decision: ReviewResolved,
) -> list[AnyFact]:
    """Return an account's facts as those they replace are in the journal, or the one before."""
    known = gone or before[-1:]
    seqs = [fact.seq for fact in known] or [None]
    table = known[0].table if known else None
    return [
        replace(
            fact,
            seq=seqs[min(at, len(seqs) - 1)],
            table=table,
            evidence=(*fact.evidence, *seqs_of(decision)),
        )
        for at, fact in enumerate(facts)
    ]


def refused(decision: ReviewResolved, what: str, way_out: str) -> OperatorError:
    """Return why a decision cannot be so."""
    return OperatorError(
        what, where=f"review {decision.item} of round {decision.round}", way_out=way_out
    )


def seqs_of(decision: ReviewResolved) -> tuple[int, ...]:
    """Return what a fact that a decision changed rests on beside its sensors."""
    return () if decision.seq is None else (decision.seq,)
