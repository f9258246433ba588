"""What people left open or called off in a record, for settling its rounds again."""

from collections import defaultdict

from models.events import ReviewResolved
from models.judgements import AnyEvent, ReviewRaised, RoundResult
from settlement.reconcile import voided, with_reviews


class OpenItems:
    """Items by table and round, and the rounds called off; a record holds no decided items."""

    def __init__(self) -> None:
        self._raised: dict[tuple[str | None, int], list[ReviewRaised]] = defaultdict(list)
        self._decided: dict[tuple[str | None, int], dict[int, str]] = defaultdict(dict)

    def note(self, event: AnyEvent) -> None:
        """Note the event where it is an item, or a decision, which may call its round off."""
        if type(event) is ReviewRaised:
            self._raised[event.table, event.round].append(event)
        elif type(event) is ReviewResolved:
            self._decided[event.table, event.round][event.item] = event.decision

    def held(self, table: str | None, result: RoundResult) -> RoundResult:
        """Return a settled round as people left it.

        With an open item it waits for a person, as in a replay. Called off, it is worth nothing.
        """
        decided = self._decided.get((table, result.round), {})
        standing = voided(result) if "void" in decided.values() else result
        items = self._raised.get((table, result.round))
        return standing if items is None else with_reviews(standing, items)
