"""Settle rounds again under other rules, beside their original settlement."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import structs

from models.events import AnyFact
from models.judgements import AnyEvent, RoundResult, RoundSettled, Violation
from models.money import Cents
from models.rulebook import Rulebook
from server.archive.open_items import OpenItems
from server.archive.settling import FACTS, Checked, Settled, TableEngine
from server.house.rules_in_force import RulesName, name_in
from settlement.balance import Account, beside
from settlement.facts import ReadFact

if TYPE_CHECKING:
    from server.archive.history import PartReader

Fate: TypeAlias = tuple[str, Cents | None]
"""The outcome and net of a hand or an insurance."""

_LAG: Final = 16
"""Rounds that may close before the record holds the settlement of the first of them."""


@dataclass(frozen=True, slots=True)
class Resettled:
    """One round, then and now. At least one of the two is present."""

    then: RoundResult | None
    """The original settlement; ``None`` where the record holds none."""
    now: Settled | None
    """The settlement under the new rules; ``None`` where the record lacks the facts."""
    table: str | None

    @property
    def round(self) -> int:
        """The round's number."""
        found = self._result or self.then
        return 0 if found is None else found.round

    @property
    def _result(self) -> RoundResult | None:
        return None if self.now is None else self.now.result

    @property
    def changed(self) -> bool:
        """Whether anything differs."""
        return bool(self.fates_changed() or self.appeared() or self.gone()) or not self.paired

    @property
    def paired(self) -> bool:
        """Whether both settlements are present."""
        return self.then is not None and self.now is not None

    @property
    def in_review(self) -> bool:
        """Whether the round waits for a person: none of its mistakes is certain."""
        return any(one is not None and one.status == "review" for one in (self.then, self._result))

    def held(self, items: OpenItems) -> "Resettled":
        """Return it as people left it, then and now: called off, or under review."""
        then = self.then and items.held(self.table, self.then)
        now = self._result and items.held(self.table, self._result)
        if now is not None and then is not None and then.status == "review":
            now = structs.replace(now, status="review")
        if self.now is None or now is None:
            return replace(self, then=then)
        return replace(self, then=then, now=replace(self.now, result=now))

    def fates_changed(self) -> dict[Account, tuple[Fate | None, Fate | None]]:
        """Return each hand and insurance with another result, as before and now."""
        then, now = fates(self.then), fates(self._result)
        return {
            account: (then.get(account), now.get(account))
            for account in sorted(then | now)
            if then.get(account) != now.get(account)
        }

    def clauses_of_change(self) -> dict[Account, tuple[str, ...]]:
        """Return the clauses behind each changed hand and insurance."""
        dealer = _dealer_clauses(self.then, self._result)
        then, now = _deciding(self.then), _deciding(self._result)
        return {
            account: (*dealer, *_differing(then.get(account, ()), now.get(account, ())))
            for account in self.fates_changed()
        }

    def appeared(self) -> tuple[Violation, ...]:
        """Return the new violations."""
        return _without(_violations(self._result), _violations(self.then))

    def gone(self) -> tuple[Violation, ...]:
        """Return the violations that no longer apply."""
        return _without(_violations(self.then), _violations(self._result))

    def misplaced(self) -> dict[Account, Cents]:
        """Return each account's payment beyond its present due (short: negative).

        It leaves out accounts that are not settled now or have no observed payment.
        """
        if self.now is None:
            return {}
        dues, paid = self.now.due(), self.now.paid()
        differences = {
            account: amount - due
            for account, amount in paid.items()
            if (due := dues.get(account, 0)) is not None
        }
        return {account: found for account, found in differences.items() if found}


def fates(result: RoundResult | None) -> dict[Account, Fate]:
    """Return the result of each hand and insurance of a round."""
    found: dict[Account, Fate] = {}
    for spot in result.spots if result is not None else ():
        for hand in spot.hands:
            found[spot.spot, hand.hand, "main"] = (hand.outcome, hand.net)
        if spot.insurance is not None:
            found[spot.spot, 0, "insurance"] = ("insurance", spot.insurance.net)
        for kind, _, net in beside(spot):
            if kind in ("coupon", "side"):
                found[spot.spot, 0, kind] = (kind, net)
    return found


def _deciding(result: RoundResult | None) -> dict[Account, tuple[str, ...]]:
    """Return the deciding clauses of each hand and insurance of a round."""
    found: dict[Account, tuple[str, ...]] = {}
    for spot in result.spots if result is not None else ():
        for hand in spot.hands:
            found[spot.spot, hand.hand, "main"] = hand.clauses
        if spot.insurance is not None:
            found[spot.spot, 0, "insurance"] = ("insurance.pays",)
        if spot.coupons:
            found[spot.spot, 0, "coupon"] = ("table.side_wagers",)
        if spot.side:
            found[spot.spot, 0, "side"] = ("side_bet.pays",)
    return found


def _differing(then: tuple[str, ...], now: tuple[str, ...]) -> tuple[str, ...]:
    """Return the clauses of one side only; where the sides agree, all, as the terms differ."""
    only = tuple(clause for clause in (*then, *now) if (clause in then) != (clause in now))
    return only or now


def _dealer_clauses(then: RoundResult | None, now: RoundResult | None) -> tuple[str, ...]:
    if then is None or now is None or then.dealer == now.dealer:
        return ()
    drew_for_nobody = "no_draw" in (then.dealer.outcome, now.dealer.outcome)
    return ("dealer.no_live_hands",) if drew_for_nobody else ("dealer.draw",)


def _violations(result: RoundResult | None) -> tuple[Violation, ...]:
    return () if result is None else result.violations


def _without(these: Sequence[Violation], others: Sequence[Violation]) -> tuple[Violation, ...]:
    left = Counter(map(_place, others))
    kept: list[Violation] = []
    for found in these:
        if left[_place(found)]:
            left[_place(found)] -= 1
        else:
            kept.append(found)
    return tuple(kept)


def _place(found: Violation) -> tuple[str, int, int | None, int | None]:
    return found.code, found.seq, found.spot, found.hand


def resettled(found: Checked, rules: Rulebook, was: Rulebook | None) -> Iterator[Resettled]:
    """Settle every round again, and yield it beside its original settlement.

    A round that the floor called off is worth nothing under any rules.

    Args:
        found: facts, with the original settlements among them unless ``was`` is given.
        rules: the new rules.
        was: the original rules; ``None`` for the settlements in the record.
    """
    part = found.part
    rounds = _of_part(part, rules, was) if part is not None else _of(found.events, rules, was)
    for one in rounds:
        yield one.held(found.open_items)


def _of(
    events: Iterable[tuple[int, AnyEvent]], rules: Rulebook, was: Rulebook | None
) -> Iterator[Resettled]:
    tables: dict[str | None, _Table] = {}
    for line, event in events:
        if type(event) not in FACTS and not isinstance(event, RoundSettled):
            continue
        table = tables.get(event.table)
        if table is None:
            table = tables[event.table] = _Table(event.table, rules, was)
        if isinstance(event, RoundSettled):
            yield from table.settled_then(event.result)
        else:
            yield from table.feed(event, line)  # type: ignore[arg-type]  # one of FACTS
    for table in tables.values():
        yield from table.finish()


def _of_part(part: "PartReader", rules: Rulebook, was: Rulebook | None) -> Iterator[Resettled]:
    """Settle one table's part of an archived day again.

    Facts come without numbers, and only those with their time that say when a round was.
    """
    table = _Table(part.part.table, rules, was)
    # All are read before the first is used: none is refused half-way.
    judged = iter([(entry, one) for entry, one in part.judged() if isinstance(one, RoundSettled)])
    then = next(judged, None)
    for entry, read, at in part.timed():
        while then is not None and then[0] < entry:
            yield from table.settled_then(then[1].result)
            then = next(judged, None)
        known = table.feed_read(read, entry, at)
        if known:
            yield from known
    while then is not None:
        yield from table.settled_then(then[1].result)
        then = next(judged, None)
    yield from table.finish()


class _Table:
    """One table's new settlements, waiting for the original ones."""

    def __init__(self, name: str | None, rules: Rulebook, was: Rulebook | None) -> None:
        self._name = name
        self._now = TableEngine(name, rules)
        self._then = None if was is None else TableEngine(name, was)
        self._waiting: deque[Settled] = deque()
        self._early: dict[int, RoundResult] = {}

    def feed(self, fact: AnyFact, line: int) -> Iterator[Resettled]:
        then = () if self._then is None else self._then.feed(fact, line)
        return self._fed(then, self._now.feed(fact, line))

    def feed_read(self, read: ReadFact, seq: int, at: int | None) -> Iterator[Resettled] | None:
        then = () if self._then is None else self._then.feed_read(read, seq, at)
        now = self._now.feed_read(read, seq, at)
        return self._fed(then, now) if now or then else None

    def _fed(self, then: Sequence[Settled], now: Sequence[Settled]) -> Iterator[Resettled]:
        if self._then is not None:
            return self._side_by_side(then, now)
        self._waiting.extend(now)
        return self._known() if now else iter(())

    def settled_then(self, result: RoundResult) -> Iterator[Resettled]:
        if self._then is None:
            self._early[result.round] = result
            yield from self._known()

    def finish(self) -> Iterator[Resettled]:
        now = self._now.finish()
        if self._then is not None:
            yield from self._side_by_side(self._then.finish(), now)
            return
        self._waiting.extend(now)
        yield from self._known()
        yield from (Resettled(None, now, self._name) for now in self._waiting)
        yield from (Resettled(then, None, self._name) for then in self._early.values())

    def _side_by_side(self, then: Sequence[Settled], now: Sequence[Settled]) -> Iterator[Resettled]:
        for one, other in zip(then, now, strict=True):
            yield Resettled(one.result, other, self._name)

    def _known(self) -> Iterator[Resettled]:
        """Yield the rounds whose original settlement is known, or will not come any more."""
        while self._waiting:
            number = self._waiting[0].result.round
            if number not in self._early and not self._passed_over():
                return
            yield Resettled(self._early.pop(number, None), self._waiting.popleft(), self._name)

    def _passed_over(self) -> bool:
        """Return whether the record lacks the first round's settlement: it holds later ones."""
        later = any(waiting.result.round in self._early for waiting in self._waiting)
        return later or len(self._waiting) > _LAG


@dataclass(slots=True)
class SpotChange:
    """The changes at one spot over many rounds. ``then`` and ``now`` are the player's gain."""

    then: Cents = 0
    now: Cents = 0
    overpaid: Cents = 0
    underpaid: Cents = 0
    open_stakes: Cents = 0
    """Stakes on hands that are not settled now."""
    open_then: Cents = 0
    """Original gain on hands that are not settled now."""


@dataclass(slots=True)
class Changes:
    """The changes over many rounds. Payments are compared only in rounds that change."""

    rounds: int = 0
    changed: int = 0
    unsettled_then: int = 0
    """Rounds without a settlement in the record."""
    without_facts: int = 0
    """Settlements of rounds without facts in the record."""
    opened: int = 0
    """Rounds settled originally but not now."""
    closed: int = 0
    """Rounds open originally and settled now."""
    in_review: int = 0
    """Rounds under review: their results and mistakes wait for a person and are not counted."""
    house_then: Cents = 0
    """The house's original gain, over the rounds settled both times."""
    house_now: Cents = 0
    appeared: Counter[str] = field(default_factory=Counter)
    gone: Counter[str] = field(default_factory=Counter)
    spots: dict[tuple[str | None, int], SpotChange] = field(default_factory=dict)
    rules_then: dict[str, RulesName] = field(default_factory=dict)
    """The original rules of the rounds, without repeats."""

    def add(self, one: Resettled) -> None:
        """Count one round."""
        self.rounds += 1
        self.unsettled_then += one.then is None
        self.without_facts += one.now is None
        if one.then is not None:
            name = name_in(one.then)
            self.rules_then.setdefault(name.text, name)
        if one.in_review:
            self.in_review += 1
        elif one.then is not None and one.now is not None:
            self._add_house(one.then.net, one.now.result.net)
        if not one.changed:
            return
        self.changed += 1
        if one.paired and not one.in_review:
            self.appeared.update(found.code for found in one.appeared())
            self.gone.update(found.code for found in one.gone())
            self._add_spots(one)

    def merge(self, other: "Changes") -> None:
        """Add another's counts."""
        self.rounds += other.rounds
        self.changed += other.changed
        self.unsettled_then += other.unsettled_then
        self.without_facts += other.without_facts
        self.opened += other.opened
        self.closed += other.closed
        self.in_review += other.in_review
        self.house_then += other.house_then
        self.house_now += other.house_now
        self.appeared.update(other.appeared)
        self.gone.update(other.gone)
        self.rules_then = other.rules_then | self.rules_then
        for place, spot in other.spots.items():
            mine = self.spots.setdefault(place, SpotChange())
            mine.then += spot.then
            mine.now += spot.now
            mine.overpaid += spot.overpaid
            mine.underpaid += spot.underpaid
            mine.open_stakes += spot.open_stakes
            mine.open_then += spot.open_then

    def _add_house(self, then: Cents | None, now: Cents | None) -> None:
        if then is not None and now is not None:
            self.house_then += then
            self.house_now += now
        self.opened += then is not None and now is None
        self.closed += then is None and now is not None

    def _add_spots(self, one: Resettled) -> None:
        for (spot, _, _), (then, now) in one.fates_changed().items():
            place = self.spots.setdefault((one.table, spot), SpotChange())
            before, after = then[1] if then else 0, now[1] if now else 0
            if after is None:
                place.open_then += before or 0
            elif before is not None:
                place.then += before
                place.now += after
        for (spot, _, _), difference in one.misplaced().items():
            place = self.spots.setdefault((one.table, spot), SpotChange())
            place.overpaid += max(difference, 0)
            place.underpaid += max(-difference, 0)
        for spot_now in one.now.result.spots if one.now is not None else ():
            stakes = sum(hand.stake for hand in spot_now.hands if hand.net is None)
            if stakes:
                place = self.spots.setdefault((one.table, spot_now.spot), SpotChange())
                place.open_stakes += stakes
