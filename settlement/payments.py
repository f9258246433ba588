"""What was paid and taken against what was due, in which order and when."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from models.events import PaymentMade
from models.judgements import Violation
from models.money import Cents, dollars
from models.rulebook import Rulebook
from settlement.clauses import violation
from settlement.play import blackjack, hand_of, on, replace
from settlement.state import Payment, Round, State, Step
from settlement.wagering import up_points

Account: TypeAlias = tuple[int, int, str]
"""Spot, hand and kind of what is paid."""


def paid(state: State, fact: PaymentMade, seq: int, rules: Rulebook) -> Step:
    """Apply chips that changed hands; payments without a pause make one settling pass."""
    round_ = state.round
    sweep = round_.sweep if round_.settling else round_.sweep + 1
    known = round_.hole_shown or round_.checked is not None
    payment = Payment(seq, fact.spot, fact.hand, fact.kind, fact.amount, sweep, known)
    found = tuple(_early(round_, payment, rules))
    payments = (*round_.payments, payment)
    after = replace(round_, payments=payments, sweep=sweep, settling=True)
    change = state.table.tray_change - fact.amount
    table = replace(state.table, tray_change=change)
    return Step(replace(on(state, after), table=table), found)


def _early(round_: Round, payment: Payment, rules: Rulebook) -> Iterator[Violation]:
    hand = hand_of(round_, payment.spot, payment.hand)
    if hand is None or payment.kind != "main" or payment.amount <= 0 or payment.hole_known:
        return
    if blackjack(hand, rules) and not hand.even_money and up_points(round_) in (1, 10):
        detail = "blackjack paid against an ace or ten before the hole card was known"
        yield violation("blackjack_paid_early", payment.seq, detail, payment.spot, payment.hand)


def out_of_order(payments: tuple[Payment, ...], rules: Rulebook) -> Iterator[Violation]:
    """Yield each settling pass that did not run from the dealer's right to his left."""
    if rules.settle_order != "right_to_left":
        return
    settled: dict[tuple[int, str], set[int]] = {}
    told: set[tuple[int, str]] = set()
    for payment in payments:
        key = (payment.sweep, payment.kind)
        before = settled.setdefault(key, set())
        back = before and payment.spot > min(before) and payment.spot not in before
        if back and key not in told:
            told.add(key)
            detail = f"spot {payment.spot} settled after spot {min(before)}; "
            detail += "settling runs from the dealer's right to the left"
            yield violation("settle_order", payment.seq, detail, payment.spot, payment.hand)
        before.add(payment.spot)


def compared(
    payments: tuple[Payment, ...],
    dues: Mapping[Account, Cents | None],
    end_seq: int,
    *,
    over: bool,
) -> Iterator[Violation]:
    """Yield every hand and insurance that was paid wrongly or not at all.

    Args:
        payments: all that changed hands in the round.
        dues: what each account is due; ``None`` where it is not settled.
        end_seq: the last fact of the round.
        over: whether the record shows that no more payments came.
    """
    if not payments:
        return
    sums: dict[Account, Cents] = {}
    last: dict[Account, int] = {}
    for payment in payments:
        account = (payment.spot, payment.hand, payment.kind)
        sums[account] = sums.get(account, 0) + payment.amount
        last[account] = payment.seq
    for account, amount in sums.items():
        due = dues.get(account, 0)
        if due is not None and amount != due:
            yield _wrong(account, due, amount, last[account])
    for account, due in dues.items():
        if due and over and account not in sums:
            yield _missing(account, due, end_seq)


def _wrong(account: Account, due: Cents, amount: Cents, seq: int) -> Violation:
    spot, hand, kind = account
    what = "insurance: " if kind == "insurance" else ""
    detail = f"{what}due {dollars(due)}, paid {dollars(amount)}, "
    detail += f"difference {dollars(amount - due)}"
    return violation("wrong_payout", seq, detail, spot, hand)


def _missing(account: Account, due: Cents, seq: int) -> Violation:
    spot, hand, kind = account
    what = "insurance" if kind == "insurance" else "hand"
    verb = "paid" if due > 0 else "taken"
    detail = f"{what} not settled: {dollars(abs(due))} should have been {verb}"
    return violation("payment_missing", seq, detail, spot, hand)
