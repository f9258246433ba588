"""Payments compared with what was due: amount, order and time."""

from typing import Final

from models.money import Cents
from settlement.beside import found, is_beside, side_unseen, who
from settlement.play import blackjack, hand_of, up_points, wins_outright
from settlement.sentences import Sentence
from settlement.side_wagers import bet_named
from settlement.state import Account, Beside, Noted, Spot, State

OF_HANDS: Final = ("main", "insurance")
"""The kinds of payments for hands and their insurance, in which settling has an order."""


def paid(state: State, noted: Noted) -> None:
    """Apply a payment; payments without a pause form one settling pass."""
    round_ = state.round
    if noted.what not in OF_HANDS or noted.bettor is not None:
        round_.beside = True
    if _settled_in_turn(state, noted):
        noted.sweep = 0
    else:
        if not round_.in_sweep:
            round_.sweep += 1
        round_.in_sweep = True
        noted.sweep = round_.sweep
    if noted.what == "main" and noted.amount > 0:
        _early(state, noted)
    round_.payments.append(noted)
    state.table.tray_change -= noted.amount


def given_back(state: State, noted: Noted) -> None:
    """Apply chips returned after the floor called a hand off that had been taken before.

    They come out of the tray again: they are a payment, up to what was taken.
    """
    what = noted.what if noted.what == "insurance" else "main"
    taken = 0
    for payment in state.round.payments:
        same = payment.at is noted.at and payment.hand == noted.hand and payment.what == what
        if same and payment.bettor == noted.bettor:
            taken -= payment.amount
    if taken > 0 and noted.what in ("main", "split", "double", "insurance"):
        noted.what, noted.sweep = what, 0
        noted.amount = min(noted.amount, taken)
        state.round.payments.append(noted)
        state.table.tray_change -= noted.amount


def paid_late(state: State, noted: Noted) -> None:
    """Add a payment that came after the round closed, in a pass of its own.

    The round's payments must then be compared again with what was due.
    """
    round_, table = state.round, state.table
    if noted.what not in OF_HANDS or noted.bettor is not None:
        round_.beside = True
    if noted.what in OF_HANDS and not (round_.settling_seen() or side_unseen(state)):
        table.tray_sure = table.tray_sure or round_.tray_was_sure
    forget_payments(state)
    if not round_.in_sweep:
        round_.sweep += 1
    round_.in_sweep = True
    noted.sweep = round_.sweep
    noted.index, noted.at = len(round_.record), round_.spot(noted.spot)
    round_.record.append(noted)
    round_.payments.append(noted)
    table.tray_change -= noted.amount


def account_of(state: State, payment: Noted) -> Account:
    """Return the account that a payment is for."""
    if not (state.round.beside and is_beside(state, payment)):
        return payment.at.account(payment.hand, payment.what)
    one = found(state, payment)
    hand = payment.hand if payment.what in OF_HANDS else 0
    if one is not None:
        return one.account(hand, payment.what)
    fact = payment.fact
    return payment.at.account(hand, who(payment.what, fact.bettor, fact.bet))


def forget_payments(state: State) -> None:
    """Undo the comparison of a round's payments with what was due, to make it again."""
    for payment in state.round.payments:
        account_of(state, payment).begin()
        payment.at.main_pass = payment.at.insurance_pass = 0


def _settled_in_turn(state: State, noted: Noted) -> bool:
    """Return whether a hand that is over is settled at once, outside any pass.

    It busted, was surrendered, or wins whatever the dealer has. A hand left until after the
    dealer's play has its place among the others.
    """
    round_ = state.round
    if round_.beside and noted.what not in OF_HANDS:
        return True
    hand = hand_of(noted.at, noted.hand)
    if hand is not None and (hand.called_off or round_.called_off):
        return True
    if hand is None or not (
        hand.surrendered_seq
        or hand.busted()
        or (state.rules.lines and wins_outright(hand, state.rules))
    ):
        return False
    return not round_.hole_shown_seq or round_.last_play <= hand.script.last_turn


def _early(state: State, noted: Noted) -> None:
    round_ = state.round
    if round_.hole_shown_seq or round_.looked or 0 < round_.first_draw < noted.index:
        return
    hand = hand_of(noted.at, noted.hand)
    if hand is None or hand.even_money or not blackjack(hand, state.rules):
        return
    if wins_outright(hand, state.rules):
        return
    if up_points(round_) in (1, 10) and not hand.rarely().paid_early:
        hand.rarely().paid_early = True
        detail = "blackjack paid against an ace or ten before the hole card was known"
        state.find("blackjack_paid_early", noted.seq, detail, noted.spot, noted.hand)


class _Pass:
    """One settling pass over the hands, or over the insurances."""

    def __init__(self) -> None:
        self.number = 0
        self.reported = False
        self.last = 0
        """The spot furthest to the dealer's left that the pass has reached."""


def out_of_order(state: State) -> None:
    """Find each settling pass that did not run from the dealer's right to the left."""
    if not state.rules.settles_right_to_left:
        return
    hands, insurances = _Pass(), _Pass()
    for payment in state.round.payments:
        if payment.sweep and payment.what == "main":
            _swept(state, hands, payment, payment.at.main_pass)
            payment.at.main_pass = payment.sweep
        elif payment.sweep and payment.what == "insurance":
            _swept(state, insurances, payment, payment.at.insurance_pass)
            payment.at.insurance_pass = payment.sweep


def _swept(state: State, sweep: _Pass, payment: Noted, before: int) -> None:
    """Follow a pass to its next payment; ``before`` is the spot's previous pass."""
    spot = payment.spot
    if payment.sweep != sweep.number:
        sweep.number, sweep.reported, sweep.last = payment.sweep, False, spot
    if spot > sweep.last and before != sweep.number and not sweep.reported:
        sweep.reported = True
        detail = f"spot {spot} settled after spot {sweep.last}; "
        detail += "settling runs from the dealer's right to the left"
        state.find("settle_order", payment.seq, detail, spot, payment.hand)
    sweep.last = min(sweep.last, spot)


def compare(state: State, *, over: bool) -> None:
    """Find every hand and insurance that was paid wrongly or not at all.

    Args:
        state: a round with payments, its hands settled.
        over: whether the record shows that no more payments came.
    """
    round_ = state.round
    for payment in round_.payments:
        _book(state, payment)
    for payment in round_.payments:
        _compare(state, payment)
    if over:
        for spot in round_.spots:
            _unpaid(state, spot)


def _book(state: State, payment: Noted) -> None:
    at, beside = payment.at, state.round.beside
    account = account_of(state, payment) if beside else at.account(payment.hand, payment.what)
    account.booked = True
    account.paid += payment.amount
    account.seq = payment.seq


def _compare(state: State, payment: Noted) -> None:
    """Compare all payments of an account with what it is due, once."""
    at, beside = payment.at, state.round.beside
    account = account_of(state, payment) if beside else at.account(payment.hand, payment.what)
    if account.compared:
        return
    account.compared = True
    due = _due_of(state, payment) if beside else _due(at, payment.hand, payment.what)
    if due is not None and due != account.paid:
        _wrong(state, payment, account, due)


def _due_of(state: State, payment: Noted) -> Cents | None:
    """Return the amount due to a payment's account; ``None`` where it is not settled."""
    spot, kind = payment.at, payment.what
    if not is_beside(state, payment):
        own = _due(spot, payment.hand, kind)
        return (
            own
            if _each_named(state, spot, payment.hand, kind)
            else _joint(spot, payment.hand, kind, own)
        )
    one = found(state, payment)
    if kind == "side" and not _is_declared(state, payment):
        sides = [other for other in spot.beside if other.kind == "side" and other.stakes]
        return None if sides and not state.round.called_off else 0
    if one is None or not spot.settled:
        return 0
    return one.nets.get((payment.hand if kind in OF_HANDS else 0, kind), 0)


def _is_declared(state: State, payment: Noted) -> bool:
    """Return whether the rulebook declares the side bet that a payment names."""
    return bet_named(state.rules, payment) in state.rules.side_bets


def _each_named(state: State, spot: Spot, hand: int, kind: str) -> bool:
    """Return whether each bettor's payment is stated apart, or there is one bettor only."""
    if not spot.backed():
        return True
    for payment in state.round.payments:
        is_for_it = payment.at is spot and payment.hand == hand and payment.what == kind
        if is_for_it and payment.bettor is not None:
            return True
    return False


def _joint(spot: Spot, hand: int, kind: str, own: Cents | None) -> Cents | None:
    """Return what all bettors of a hand or its insurance are due together."""
    total = own
    for one in spot.beside:
        if one.kind == "main":
            theirs = one.nets.get((hand, kind), 0)
            total = None if total is None or theirs is None else total + theirs
    return total


def _due(spot: Spot, hand: int, kind: str) -> Cents | None:
    """Return the amount due to an account; ``None`` where it is not settled."""
    if kind == "insurance":
        return spot.insurance_net if spot.settled and spot.insurance and hand == 0 else 0
    if spot.settled and hand < len(spot.hands):
        return spot.hands[hand].net
    return 0


def _wrong(state: State, payment: Noted, account: Account, due: Cents) -> None:
    amounts = due, account.paid, account.paid - due
    if is_beside(state, payment):
        fact = payment.fact
        name = who(fact.kind, fact.bettor, bet_named(state.rules, payment))
        detail = Sentence.BESIDE_PAID_WRONGLY.write(name, *amounts)
    else:
        is_insurance = payment.what == "insurance"
        sentence = Sentence.INSURANCE_PAID_WRONGLY if is_insurance else Sentence.PAID_WRONGLY
        detail = sentence.write(*amounts)
    state.find("wrong_payout", account.seq, detail, payment.spot, payment.hand)


def _unpaid(state: State, spot: Spot) -> None:
    for hand in spot.hands:
        if hand.net and not hand.account.booked:
            won = hand.net > 0
            sentence = Sentence.HAND_NOT_PAID if won else Sentence.HAND_NOT_TAKEN
            _missing(state, spot.number, hand.number, sentence.write(abs(hand.net)))
    if spot.beside:
        for one in spot.beside:
            _unpaid_beside(state, spot, one)
    if spot.insurance and spot.insurance_net and not spot.insured.booked:
        won = spot.insurance_net > 0
        sentence = Sentence.INSURANCE_NOT_PAID if won else Sentence.INSURANCE_NOT_TAKEN
        _missing(state, spot.number, 0, sentence.write(abs(spot.insurance_net)))


def _unpaid_beside(state: State, spot: Spot, one: Beside) -> None:
    """Find each wager beside the own ones that was left unsettled.

    Where no payment names a bettor, one for all of them was compared with what all were due.
    """
    for (hand, kind), net in one.nets.items():
        joint = one.kind == "main" and not _each_named(state, spot, hand, kind)
        booked = spot.account(hand, kind).booked if joint else one.account(hand, kind).booked
        if net and not booked:
            won = net > 0
            sentence = Sentence.BESIDE_NOT_PAID if won else Sentence.BESIDE_NOT_TAKEN
            detail = sentence.write(who(kind, one.bettor, one.bet), abs(net))
            _missing(state, spot.number, hand, detail)


def _missing(state: State, spot: int, hand: int, detail: str) -> None:
    state.find("payment_missing", state.round.last_seq, detail, spot, hand)
