"""What the engine and people come to, round by round; what is final is posted to the ledger."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from models.errors import OperatorError
from models.events import AnyFact, Fact, ReviewResolved
from models.judgements import (
    AnyEvent,
    LedgerPosted,
    ReviewRaised,
    RoundResult,
    RoundSettled,
)
from models.rulebook import Rulebook
from settlement.engine import Engine
from settlement.ledger import post
from settlement.reconcile import (
    NOTHING_DECIDED,
    check_decision,
    decided,
    facts_of_round,
    voided,
    with_reviews,
)
from stream.journal import UnknownEvent

Append: TypeAlias = Callable[[Sequence[Any]], list[Any]]
"""Appends events to the journal and returns them with their ``seq``."""
Read: TypeAlias = Callable[[], Iterable[AnyEvent | UnknownEvent]]
"""Reads the journal from its first entry."""

HELD: Final = "held for review: "
ANEW: Final = "settled anew: "


class Verdicts:
    """A session's rounds as they stand.

    Args:
        append: writes to the journal.
        read: reads it; asked only when a person decides something, or an old round is doubted.
        kept: how many rounds are remembered, for a table that runs for months: those before
            them are looked up in the journal. ``None`` remembers all.
    """

    def __init__(self, append: Append, read: Read, kept: int | None = None) -> None:
        self._append, self._read, self._kept = append, read, kept
        self._forgot = False
        self._settled: dict[int, RoundResult] = {}
        self._raised: list[ReviewRaised] = []
        self._decisions: list[ReviewResolved] = []
        self._decided = NOTHING_DECIDED
        self._posted: dict[int, list[LedgerPosted]] = {}

    def rounds(self) -> tuple[RoundResult, ...]:
        """Return every round settled so far that is remembered, each with its open items."""
        return tuple(self._whole(result) for _, result in sorted(self._settled.items()))

    def settled(self, result: RoundResult, at: int | None, because: tuple[int, ...]) -> None:
        """Take the engine's word on a round."""
        self._settled[result.round] = result
        if any(decision.round == result.round for decision in self._decisions):
            # Decided while it was played: what was asked since may be answered by that.
            self._decided = decided(self._facts(None), self._raised, self._decisions)
        whole = self._whole(result)
        self._append([RoundSettled(at=at, because=because, result=whole)])
        self._post(whole, at, because)
        self._forget()

    def raised(self, raised: ReviewRaised) -> None:
        """Take up an item: a round that is doubted moves no money until somebody decides."""
        self._raised.append(raised)
        if raised.round < min(self._settled, default=0):
            self._look_up(raised.seq)
        because = () if raised.seq is None else (raised.seq,)
        self._take_back(raised.round, raised.at, because, HELD)
        self._forget()

    def check(self, decision: ReviewResolved, engine: Engine) -> None:
        """Refuse a decision that cannot be so; as :func:`settlement.reconcile.check_decision`."""
        facts = self._facts(None)
        check_decision(facts, self._raised, self._decisions, decision, engine.rules.decks)

    def resolve(self, decision: ReviewResolved, engine: Engine) -> Engine:
        """Take a person's decision, and settle anew what it changes.

        Args:
            decision: as it stands in the journal.
            engine: the one that settled so far.

        Returns:
            the engine to go on with: it has heard the facts as they are now.
        """
        self._decisions.append(decision)
        self._look_up(decision.seq)
        facts = self._facts(decision.seq)
        self._decided = decided(facts, self._raised, self._decisions)
        anew, results = self._played(self._decided.facts, engine.rules)
        for result in results:
            was = self._settled.get(result.round)
            if was is not None and (self._differ(result, was) or result.round == decision.round):
                self._settle_anew(result, decision)
        self._forget()
        return anew

    def recall(self, events: Iterable[AnyEvent | UnknownEvent], rules: Rulebook) -> Engine:
        """Take up what a journal holds, and return an engine that has heard its facts.

        Raises:
            OperatorError: under these rules the facts do not give what was settled then.
        """
        known = [event for event in events if not isinstance(event, UnknownEvent)]
        for event in known:
            self._remember(event)
        facts = [event for event in known if isinstance(event, Fact)]
        self._decided = decided(facts, self._raised, self._decisions)
        engine, results = self._played(self._decided.facts, rules)
        for result in results:
            self._check_same(result)
        return engine

    def _differ(self, one: RoundResult, other: RoundResult) -> bool:
        """Whether two results differ in more than the items of their round, which may be open."""
        return _bare(self._whole(one)) != _bare(self._whole(other))

    def _forget(self) -> None:
        """Let go of the oldest rounds beyond those that are kept."""
        while self._kept is not None and len(self._settled) > self._kept:
            oldest = next(iter(self._settled))
            del self._settled[oldest]
            self._posted.pop(oldest, None)
            self._forgot = True

    def _look_up(self, before_seq: int | None) -> None:
        """Remember every round again, as the journal has it before an entry."""
        if not self._forgot:
            return
        self._settled.clear()
        self._posted.clear()
        for event in self._read():
            if before_seq is not None and (event.seq or 0) >= before_seq:
                break
            if isinstance(event, RoundSettled | LedgerPosted):
                self._remember(event)
        self._forgot = False

    def _played(
        self, facts: Sequence[AnyFact], rules: Rulebook
    ) -> tuple[Engine, list[RoundResult]]:
        """Have an engine hear the facts; a session that has ended settles its last round too."""
        engine = Engine(rules)
        results = [result for fact in facts for result in engine.feed(fact)]
        if set(self._settled) - {result.round for result in results}:
            ended = Engine(rules)
            for fact in facts:
                ended.feed(fact)
            results += ended.finish()
        return engine, results

    def _check_same(self, result: RoundResult) -> None:
        was = self._settled.get(result.round)
        if was is not None and _bare(self._whole(result)) != _bare(was):
            raise OperatorError(
                f"under these rules round {result.round} does not come to what was settled then",
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
            case RoundSettled():
                self._settled[event.result.round] = event.result
            case LedgerPosted() if event.memo.startswith((HELD, ANEW)):
                self._posted.pop(event.round, None)
            case LedgerPosted():
                self._posted.setdefault(event.round, []).append(event)

    def _facts(self, before_seq: int | None) -> list[AnyFact]:
        return [
            event
            for event in self._read()
            if isinstance(event, Fact) and (before_seq is None or (event.seq or 0) < before_seq)
        ]

    def _whole(self, result: RoundResult) -> RoundResult:
        standing = voided(result) if result.round in self._decided.void else result
        return with_reviews(standing, self._raised, self._decided.items)

    def _settle_anew(self, result: RoundResult, decision: ReviewResolved) -> None:
        self._settled[result.round] = result
        whole = self._whole(result)
        own = facts_of_round(self._decided.facts, result.round)
        seqs = {fact.seq for fact in own if fact.seq is not None} | {decision.seq or 0}
        because = tuple(sorted(seqs))
        self._append([RoundSettled(at=decision.at, because=because, result=whole)])
        if _lines(self._posted.get(result.round, [])) != _lines(_due(whole)):
            self._take_back(result.round, decision.at, because, ANEW)
            self._post(whole, decision.at, because)

    def _post(self, result: RoundResult, at: int | None, because: tuple[int, ...]) -> None:
        """Post what is final; what a person has still to decide moves no money."""
        lines = [replace(line, at=at, because=because) for line in _due(result)]
        if lines:
            self._posted[result.round] = self._append(lines)

    def _take_back(self, number: int, at: int | None, because: tuple[int, ...], why: str) -> None:
        """Undo the posting of a round."""
        self._append(
            [
                replace(line, at=at, because=because, amount=-line.amount, memo=why + line.memo)
                for line in self._posted.pop(number, [])
            ]
        )


def _due(result: RoundResult) -> tuple[LedgerPosted, ...]:
    return post(result) if result.status == "final" else ()


def _lines(lines: Iterable[LedgerPosted]) -> list[tuple[str, int, str]]:
    return [(line.account, line.amount, line.memo) for line in lines]


def _bare(result: RoundResult) -> RoundResult:
    """A round without its items and what they make of its status."""
    return replace(result, reviews=UNSET, status="final")
