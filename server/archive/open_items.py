"""What people left open or called off in a record, for settling its rounds again."""

from collections import defaultdict

from msgspec import UnsetType

from models.events import ReviewResolved
from models.judgements import AnyEvent, ReviewRaised, RoundResult, RoundSettled
from settlement.reconcile import voided, with_reviews


class OpenItems:
    """Items by table and round, and the rounds called off; a record holds no decided items."""

    def __init__(self) -> None:
        self._raised: dict[tuple[str | None, int], list[ReviewRaised]] = defaultdict(list)
        self._decided: dict[tuple[str | None, int], dict[int, str]] = defaultdict(dict)

    def note(self, event: AnyEvent) -> None:
        """Note an item, a decision, which may call its round off, or a settlement."""
        if type(event) is ReviewRaised:
            self._raised[event.table, event.round].append(event)
        elif type(event) is ReviewResolved:
            self._decided[event.table, event.round][event.item] = event.decision
        elif type(event) is RoundSettled:
            self._settled(event.table, event.result)

    def _settled(self, table: str | None, result: RoundResult) -> None:
        """Close the items that the table's own settlement no longer lists: a ruling closed them."""
        raised = self._raised.get((table, result.round))
        left = result.reviews
        if raised and not isinstance(left, UnsetType):
            raised[:] = [one for one in raised if one.review in left]

    def held(self, table: str | None, result: RoundResult) -> RoundResult:
        """Return a settled round as people left it.

        With an open item it waits for a person, as in a replay. Called off, it is worth nothing.
        """
        decided = self._decided.get((table, result.round), {})
        standing = voided(result) if "void" in decided.values() else result
        items = self._raised.get((table, result.round))
        return standing if items is None else with_reviews(standing, items)
