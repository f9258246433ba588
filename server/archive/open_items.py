"""The open review items of a record, for settling its rounds again."""

from collections import defaultdict

from models.judgements import AnyEvent, ReviewRaised, RoundResult
from settlement.reconcile import with_reviews


class OpenItems:
    """Items by table and round; a record's events hold no decided items."""

    def __init__(self) -> None:
        self._raised: dict[tuple[str | None, int], list[ReviewRaised]] = defaultdict(list)

    def note(self, event: AnyEvent) -> None:
        """Note the event where it is an item."""
        if type(event) is ReviewRaised:
            self._raised[event.table, event.round].append(event)

    def held(self, table: str | None, result: RoundResult) -> RoundResult:
        """Return a settled round with its open items: it waits for a person, as in a replay."""
        items = self._raised.get((table, result.round))
        return result if items is None else with_reviews(result, items)
