"""The journal entries that an incident's report names. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from server.readmodel.cases import AnyCaseEvent, DecisionApproved
from server.readmodel.views import LedgerRow, ReviewRow, RoundRow, ViolationRow
from server.service.evidence.round_pictures import RoundEvidence


def entries_text(row: RoundRow, cited: Iterable[int]) -> str:
    """Describe the round's own entries, and the others that the report names.

    Cards are seen before the wagers that open their round; a ledger is posted after its close.
    """
    others = sorted({seq for seq in cited if not row.seq <= seq <= row.last_seq})
    own = f"{row.seq} to {row.last_seq} of the session's journal"
    return f"{own}; named here besides them: {', '.join(_runs(others))}" if others else own


def cited_entries(
    evidence: RoundEvidence,
    violations: Iterable[ViolationRow],
    reviews: Iterable[ReviewRow],
    ledger: Iterable[LedgerRow],
    history: Iterable[AnyCaseEvent],
) -> Iterator[int]:
    """Yield every entry that a report of these names, in any order."""
    for card, _ in evidence.cards:
        seen = None if card.sighting is None else card.sighting.seq
        yield card.seq if seen is None else seen
    for one in evidence.chips:
        plates = (one.moment.before, one.moment.after)
        yield from (plate.seq for plate in plates if plate is not None and plate.seq is not None)
    yield from (row.seq for row in violations)
    yield from (row.decided.seq for row in reviews if row.decided is not None)
    yield from (row.seq for row in ledger)
    yield from (event.entry for event in history if isinstance(event, DecisionApproved))


def _runs(numbers: Sequence[int]) -> Iterator[str]:
    """Write ascending numbers, with runs joined: ``11, 16, 66 to 71``."""
    first = None
    for at, number in enumerate(numbers):
        first = number if first is None else first
        if at + 1 == len(numbers) or numbers[at + 1] != number + 1:
            yield str(first) if first == number else f"{first} to {number}"
            first = None
