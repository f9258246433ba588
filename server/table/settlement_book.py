"""The engine's and people's results, round by round; final ones are posted to the ledger."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from models.errors import OperatorError
from models.events import AnyFact, HandCalledOff, ReviewResolved, RoundCalledOff, ShoeStarted
from models.judgements import (
    AnyEvent,
    LedgerPosted,
    ReviewRaised,
    RoundResult,
    RoundSettled,
)
from models.rulebook import Rulebook
from server.table.kept_book import KeptBook
from server.table.round_starts import RoundStart, RoundStarts
from server.table.settling_again import Again, amounts_of, bare, by_round, due_lines
from settlement.engine import Engine
from settlement.reconcile import (
    NOTHING_DECIDED,
    Answering,
    Decided,
    Item,
    check_decision,
    decided,
    voided,
    with_reviews,
)
from stream.reading import UnknownEvent

Append: TypeAlias = Callable[[Sequence[Any]], list[Any]]
"""Appends events to the journal and returns them with their ``seq``."""
Read: TypeAlias = Callable[[int], Iterable[AnyEvent | UnknownEvent]]
"""Reads the journal after an entry."""

HELD: Final = "held for review: "
ANEW: Final = "settled anew: "


class SettlementBook:
    """A session's rounds with their present results.

    A decision is processed from the opening of its round to the first round with an unchanged
    start: later rounds cannot have changed.

    Args:
        append: writes to the journal.
        read: reads it; used only for a decision, or where an old round is doubted.
        kept: the number of rounds in memory, for a table that runs for months; earlier ones are
            read from the journal. ``None`` keeps all.
    """

    def __init__(self, append: Append, read: Read, kept: int | None = None) -> None:
        self._append, self._read, self._kept = append, read, kept
        self._starts = RoundStarts()
        self._settled: dict[int, RoundResult] = {}
        self._posted: dict[int, list[LedgerPosted]] = {}
        self._raised: list[ReviewRaised] = []
        self._decisions: list[ReviewResolved] = []
        self._decided: dict[int, Decided] = {}
        self._ruling_seq: int | None = None
        """The last ruling read that called something off."""
        self._ruled: dict[int, frozenset[Item]] = {}
        """By round, the items that a later ruling of the floor left without consequence."""
        self._forgotten = 0
        """Some rounds up to this one are no longer in memory."""
        self._processed_seq = 0
        """The last fact that the engine has processed; the journal may hold further ones."""
        self._last: RoundSettled | None = None
        """The last settlement appended or read."""
        self._changed: set[int] = set()
        """Rounds whose last settlement is far from their facts in the journal; they stay in
        memory."""

    def rounds(self) -> tuple[RoundResult, ...]:
        """Return every settled round in memory, each with its open items."""
        return tuple(self._whole(result) for _, result in sorted(self._settled.items()))

    def processed(self, fact: AnyFact, engine: Engine) -> None:
        """Note a fact that the engine has just processed."""
        self._processed_seq = fact.seq or self._processed_seq
        self._starts.note(fact, engine)

    def settled(
        self,
        result: RoundResult,
        at: int | None,
        because: tuple[int, ...],
        engine: Engine,
        *,
        amends: bool = False,
    ) -> Engine:
        """Process a round's settlement; return the engine to continue with.

        Args:
            result: the settled round.
            at: the time of the settlement.
            because: the facts since the last settlement.
            engine: the one that settled it.
            amends: whether the last of those facts is a payment or ruling for a round that may
                have settled before; its settlement then rests on the facts of both.
        """
        before, last = None, self._last
        if amends and last is not None and last.result.round == result.round:
            before, because = last, (*last.because, *because)
            self._changed.add(result.round)
            self._rule(result.round, engine.rules)
        self._settled[result.round] = result
        if any(decision.round == result.round for decision in self._decisions):
            # Decided during play: later facts must be processed again with the decision.
            again = self._played_again(result.round, engine)
            engine = again.engine
            result = again.results.get(result.round, result)
            self._settled[result.round] = result
            self._starts.put_right(again.starts)
        whole = self._whole(result)
        (self._last,) = self._append([RoundSettled(at=at, because=because, result=whole)])
        if before is None:
            self._post(whole, at, because)
        else:
            self._post_anew(whole, at, because)
        self._forget()
        return engine

    def raised(self, raised: ReviewRaised) -> None:
        """Add an item: a doubted round moves no money until a person decides."""
        self._raised.append(raised)
        self._look_up(raised.round)
        because = () if raised.seq is None else (raised.seq,)
        self._take_back(raised.round, raised.at, because, HELD)
        self._forget()

    def kept(self, number: int) -> KeptBook | None:
        """Return what a later book needs of the rounds before one.

        No event since that one opened may concern an earlier round. ``None`` where the start of
        that round is not known.
        """
        start = self._starts.of(number)
        if start is None:
            return None
        changed = {one for one in self._changed if one < number}
        return KeptBook(
            start,
            self._starts.until(start),
            tuple(one for one in self._raised if (one.seq or 0) < start.seq),
            tuple(self._decisions),
            {
                one: (
                    tuple(self._closed(one)),
                    tuple(self._decided.get(one, NOTHING_DECIDED).void),
                )
                for one in {*self._decided, *self._ruled}
                if one < number
            },
            tuple(self._settled[one] for one in sorted(changed & set(self._settled))),
            {one: tuple(self._posted[one]) for one in sorted(changed & set(self._posted))},
        )

    def _go_on(self, kept: KeptBook) -> None:
        """Restore what :meth:`kept` returned."""
        self._starts = kept.starts.until(kept.start)
        self._raised, self._decisions = list(kept.raised), list(kept.decisions)
        self._decided = {
            one: Decided((), frozenset(items), frozenset(void))
            for one, (items, void) in kept.decided.items()
        }
        self._settled = {one.round: one for one in kept.changed}
        self._posted = {one: list(lines) for one, lines in kept.posted.items()}
        self._changed = set(self._settled)
        self._forgotten = kept.start.number - 1

    def check(self, decision: ReviewResolved, engine: Engine) -> None:
        """Check a decision; as :func:`settlement.reconcile.check_decision`."""
        facts, numbers = self._facts_about(decision)
        earlier = [one for one in self._decisions if one.round in numbers]
        continuous = engine.rules.shoe == "continuous"
        decks = engine.rules.decks
        check_decision(facts, self._raised, earlier, decision, decks, continuous=continuous)

    def resolve(self, decision: ReviewResolved, engine: Engine) -> Engine:
        """Apply a person's decision, and settle the affected rounds again.

        Args:
            decision: the journal's entry.
            engine: the present one.

        Returns:
            the engine to continue with: it has processed the decided facts.
        """
        self._decisions.append(decision)
        again = self._played_again(decision.round, engine)
        for result in again.results.values():
            self._look_up(result.round)
            was = self._settled.get(result.round)
            if was is not None and (self._differ(result, was) or result.round == decision.round):
                self._settle_anew(result, again.facts.get(result.round, ()), decision)
        self._starts.put_right(again.starts)
        self._forget()
        return again.engine

    def recall(
        self,
        events: Iterable[AnyEvent | UnknownEvent],
        rules: Rulebook,
        kept: KeptBook | None = None,
    ) -> Engine:
        """Restore a journal's state, and return an engine that has processed its facts.

        Args:
            events: the journal's; with ``kept`` those from the opening of its round on.
            rules: those in force.
            kept: what :meth:`kept` returned; it is taken as true.

        Raises:
            OperatorError: under these rules the facts do not give the journal's settlements.
        """
        start = None if kept is None else kept.start
        if kept is not None:
            self._go_on(kept)
        earlier = set(self._settled)
        known = [event for event in events if not isinstance(event, UnknownEvent)]
        for event in known:
            self._remember(event)
        facts = [fact for number, own in by_round(known) for fact in self._decide(number, own)]
        for number in {one.round for one in self._decisions} - set(self._decided):
            self._decide(number, ())
        engine = Engine(rules, None if start is None else start.engine_state)
        results = dict[int, list[RoundResult]]()
        for fact in facts:
            for result in engine.feed(fact):
                results.setdefault(result.round, []).append(result)
            self.processed(fact, engine)
        if set(self._settled) - earlier - set(results):
            for result in self._ended(rules, facts, start):
                results[result.round] = [result]
        for versions in results.values():
            self._check_same(versions)
        self._forget()
        return engine

    # --- processing again -------------------------------------------------------------------

    def _played_again(self, number: int, engine: Engine) -> "Again":
        """Process the facts again from a decided round, until the results are unchanged."""
        start = self._starts.before(number)
        again = Again(Engine(engine.rules, None if start is None else start.engine_state))
        after_seq = 0 if start is None else start.seq - 1
        for other, own in by_round(self._read(after_seq), self._processed_seq):
            was = self._starts.of(other) if other > number else None
            first, *rest = again.facts[other] = self._decide(other, own)
            engine_state = again.opens(other, first)
            if was is not None and engine_state == was.engine_state:
                again.engine = engine
                return again
            again.process(rest)
        if number not in again.facts:
            self._decide(number, ())
        last = max(again.facts, default=0)
        if last in self._settled and last not in again.results:
            facts = [fact for own in again.facts.values() for fact in own]
            again.take(self._ended(engine.rules, facts, start))
        return again

    def _ended(
        self, rules: Rulebook, facts: Iterable[AnyFact], start: RoundStart | None = None
    ) -> tuple[RoundResult, ...]:
        """Settle the last round of a finished session, complete or not."""
        engine = Engine(rules, None if start is None else start.engine_state, patient=True)
        for fact in facts:
            engine.feed(fact)
        return engine.finish()

    def _facts_about(self, decision: ReviewResolved) -> tuple[list[AnyFact], set[int]]:
        """Return the facts of its round and, where a card is named, of that round's shoe.

        With them come the rounds that they cover completely.
        """
        number, start = decision.round, self._starts.before(decision.round)
        after = 0 if start is None else start.seq - 1
        if decision.choice is not None:
            after = min(after, max(0, self._starts.shoe_of(number) - 1))
        found: list[AnyFact] = []
        numbers = {number}
        for other, own in by_round(self._read(after)):
            if other > number and decision.choice is None:
                break
            found += own
            numbers |= {other} if other or not after else set()
            if other >= number and any(isinstance(fact, ShoeStarted) for fact in own):
                break
        return found, numbers

    def _decide(self, number: int, own: Sequence[AnyFact]) -> Sequence[AnyFact]:
        """Apply a round's decisions to its facts."""
        decisions = [one for one in self._decisions if one.round == number]
        if not decisions:
            return own
        found = self._decided[number] = decided(own, self._raised, decisions)
        return found.facts

    def _rule(self, number: int, rules: Rulebook) -> None:
        """Close the items of a round that its last fact, a ruling, leaves without consequence."""
        raised = [one for one in self._raised if one.round == number]
        start = self._starts.of(number)
        if not raised or start is None:
            return
        own = next((own for _, own in by_round(self._read(start.seq - 1), self._processed_seq)), [])
        if own and isinstance(own[-1], HandCalledOff | RoundCalledOff):
            decisions = [one for one in self._decisions if one.round == number]
            answering = Answering(rules, start.engine_state, own, raised, decisions)
            alike = (item for item in range(len(raised)) if answering.alike(item))
            self._ruled[number] = frozenset((number, item) for item in alike)

    def _recall_rule(self, event: RoundSettled) -> None:
        """Know from a settlement which items the ruling before it had closed."""
        number, last = event.result.round, self._last
        if last is None or last.result.round != number or self._ruling_seq not in event.because:
            return
        left = event.result.reviews or ()
        own = [one.review for one in self._raised if one.round == number]
        items = {(number, item) for item, review in enumerate(own) if review not in left}
        self._ruled[number] = frozenset(items - {(one.round, one.item) for one in self._decisions})

    # --- memory -----------------------------------------------------------------------------

    def _differ(self, one: RoundResult, other: RoundResult) -> bool:
        """Return whether two results differ beyond the items of their round, which may be open."""
        return bare(self._whole(one)) != bare(self._whole(other))

    def _forget(self) -> None:
        """Drop the oldest rounds beyond those that are kept."""
        if self._kept is None:
            return
        plain = sorted(set(self._settled) - self._changed)
        for number in plain[: max(0, len(plain) - self._kept)]:
            del self._settled[number]
            self._posted.pop(number, None)
            self._forgotten = max(self._forgotten, number)

    def _look_up(self, number: int) -> None:
        """Load a dropped round again: its settlement and its postings."""
        if number in self._settled or number > self._forgotten:
            return
        last = self._last
        self._load(number)
        self._last = last

    def _load(self, number: int) -> None:
        """Read the first settlement of a round in the journal, and the postings after it."""
        start = self._starts.before(number)
        for event in self._read(0 if start is None else start.seq):
            if isinstance(event, RoundSettled) and event.result.round == number:
                self._remember(event)
            elif number in self._settled:
                if not (isinstance(event, LedgerPosted) and event.round == number):
                    return
                self._remember(event)

    def _check_same(self, versions: Sequence[RoundResult]) -> None:
        """Check a round that was settled once, and again with each late payment.

        An interrupted run may have written the payment without the settlement after it.
        """
        result = versions[-1]
        was = self._settled.get(result.round)
        recorded = was and bare(self._whole(was))
        if was is not None and all(bare(self._whole(one)) != recorded for one in versions):
            raise OperatorError(
                f"under these rules round {result.round} does not give the recorded settlement",
                where=f"rulebook {result.rulebook}",
                way_out="Name the rules that were in force with --rulebook and --set",
            )
        self._settled[result.round] = result

    def _remember(self, event: AnyEvent) -> None:
        match event:
            case ReviewRaised():
                self._raised.append(event)
            case ReviewResolved():
                self._decisions.append(event)
            case HandCalledOff() | RoundCalledOff():
                self._ruling_seq = event.seq
            case RoundSettled(result=result):
                self._recall_rule(event)
                self._last = event
                self._changed |= {result.round} & set(self._settled)
                self._settled[result.round] = result
            case LedgerPosted() if event.memo.startswith((HELD, ANEW)):
                self._changed.add(event.round)
                self._posted.pop(event.round, None)
            case LedgerPosted():
                self._posted.setdefault(event.round, []).append(event)

    def _whole(self, result: RoundResult) -> RoundResult:
        known = self._decided.get(result.round, NOTHING_DECIDED)
        standing = voided(result) if result.round in known.void else result
        return with_reviews(standing, self._raised, self._closed(result.round))

    def _closed(self, number: int) -> frozenset[Item]:
        """Return the items of a round that hold nothing open any more."""
        known = self._decided.get(number, NOTHING_DECIDED)
        return known.items | self._ruled.get(number, frozenset())

    # --- writing ----------------------------------------------------------------------------

    def _settle_anew(
        self, result: RoundResult, own: Sequence[AnyFact], decision: ReviewResolved
    ) -> None:
        self._settled[result.round] = result
        self._changed.add(result.round)
        whole = self._whole(result)
        seqs = {fact.seq for fact in own if fact.seq is not None} | {decision.seq or 0}
        because = tuple(sorted(seqs))
        (settled,) = self._append([RoundSettled(at=decision.at, because=because, result=whole)])
        if self._last is not None and self._last.result.round == result.round:
            self._last = settled
        self._post_anew(whole, decision.at, because)

    def _post_anew(self, result: RoundResult, at: int | None, because: tuple[int, ...]) -> None:
        """Post a round again whose result has changed."""
        if amounts_of(self._posted.get(result.round, [])) != amounts_of(due_lines(result)):
            self._take_back(result.round, at, because, ANEW)
            self._post(result, at, because)

    def _post(self, result: RoundResult, at: int | None, because: tuple[int, ...]) -> None:
        """Post a final result; an undecided one moves no money."""
        lines = [replace(line, at=at, because=because) for line in due_lines(result)]
        if lines:
            self._posted[result.round] = self._append(lines)

    def _take_back(self, number: int, at: int | None, because: tuple[int, ...], why: str) -> None:
        """Reverse the posting of a round."""
        lines = self._posted.pop(number, [])
        if lines:
            self._changed.add(number)
        self._append(
            [
                replace(line, at=at, because=because, amount=-line.amount, memo=why + line.memo)
                for line in lines
            ]
        )
