"""Chips on a spot beside its own player's wagers: other bettors, tokes, coupons and side bets.

Another bettor's wagers are judged and settled like the player's own, each by itself. He may let a
double or split go by. A toke is the dealers' wager on the first hand. A coupon pays with that hand
and is no chip: a loss costs nothing. A side bet that the rulebook does not declare is not judged.
"""

from fractions import Fraction
from typing import Final

import msgspec

from models.judgements import (
    BettorResult,
    CouponResult,
    InsuranceResult,
    OddCents,
    SideResult,
    SpotResult,
    TokeResult,
    WagerResult,
)
from models.money import Cents, net_sum
from settlement.dealer import Played
from settlement.houserules import HouseRules
from settlement.play import hand_of, lines
from settlement.rulings import call_off
from settlement.sentences import Sentence
from settlement.settling import Due, due, insurance_net, insurance_stake, staked
from settlement.side_cards import HandLine
from settlement.side_wagers import bet_named, declared
from settlement.splits import double_begins
from settlement.state import Beside, Hand, Noted, Spot, State

ON_HANDS: Final = ("main", "double", "split", "insurance")


def is_beside(state: State, noted: Noted) -> bool:
    """Return whether chips are no wager of the spot's own player on a hand or an insurance."""
    bettor = noted.bettor
    if noted.what not in ON_HANDS:
        return True
    return bettor is not None and bettor != state.table.seats.get(noted.spot)


def found(state: State, noted: Noted) -> Beside | None:
    """Return the chips that a wager or payment is about."""
    kind = "main" if noted.what in ON_HANDS else noted.what
    return noted.at.lies_beside(kind, _bettor(state, noted), bet_named(state.rules, noted))


def has_wager(state: State, noted: Noted) -> bool:
    """Return whether the bettor of an insurance has a wager that it insures."""
    one = found(state, noted)
    return one is not None and bool(one.stakes)


def _bettor(state: State, noted: Noted) -> str | None:
    bettor: str | None = noted.bettor
    return None if bettor == state.table.seats.get(noted.spot) else bettor


def made(state: State, noted: Noted) -> Beside:
    """Return the chips that a wager adds to, first made with it."""
    state.round.beside = True
    one = found(state, noted)
    if one is None:
        kind = "main" if noted.what in ON_HANDS else noted.what
        one = Beside(kind, _bettor(state, noted), bet_named(state.rules, noted))
        noted.at.beside.append(one)
    return one


def who(kind: str, bettor: str | None, bet: str | None) -> str:
    """Name a wager in a detail: ``insurance of ANN``, ``side bet pairs``, ``toke``."""
    named = f"side bet {bet}" if kind == "side" and bet else kind.replace("side", "side bet")
    if bettor is None:
        return named
    return bettor if kind == "main" else f"{named} of {bettor}"


# --- chips laid and taken off -------------------------------------------------------------


def placed(state: State, noted: Noted) -> None:
    """Apply chips laid beside the own player's wagers; what comes too late does not count."""
    one = made(state, noted)
    if _counts(state, one, noted):
        _lay(one, noted)
    else:
        one.uncounted += noted.amount


def _lay(one: Beside, noted: Noted) -> None:
    hand = noted.hand if one.kind == "main" else 0
    into = one.added if noted.what == "double" or _with_double(noted) else one.stakes
    into[hand] = into.get(hand, 0) + noted.amount
    one.seqs[hand] = noted.seq


def _with_double(noted: Noted) -> bool:
    """Return whether a toke comes with the chips of a double."""
    hand = hand_of(noted.at, 0)
    return noted.what == "toke" and hand is not None and hand.doubled_seq > 0


def _counts(state: State, one: Beside, noted: Noted) -> bool:
    """Judge when chips were laid, and where; return whether they count."""
    if noted.what == "main":
        return _main(state, one, noted)
    if noted.what == "double":
        return _double(state, noted)
    if noted.what == "split":
        return _split(state, noted)
    if noted.what in ("side", "coupon") and not _taken_here(state, noted):
        return noted.what == "side"
    if state.round.phases.dealt and not _with_double(noted):
        detail = _late(one, noted)
        state.find("wager_after_deal", noted.seq, detail, noted.spot)
        return noted.what == "side" and declared(state.rules, one) is None
    return True


def _taken_here(state: State, noted: Noted) -> bool:
    coupon = noted.what == "coupon"
    if state.rules.coupon != "none" if coupon else state.rules.side_wagers:
        return True
    sentence = Sentence.NO_COUPONS if coupon else Sentence.NO_SIDE_WAGERS
    state.find("side_wager_prohibited", noted.seq, sentence.write(noted.amount), noted.spot)
    return False


def _late(one: Beside, noted: Noted) -> str:
    if one.kind == "side":
        return Sentence.LATE_SIDE_WAGER.write(noted.amount)
    return Sentence.LATE_BESIDE.write(who(one.kind, one.bettor, one.bet), noted.amount)


def _main(state: State, one: Beside, noted: Noted) -> bool:
    round_, spot = state.round, noted.at
    round_.wagered = True
    if noted.hand and noted.hand >= len(spot.hands):
        detail = Sentence.STRAY_WAGER.write(noted.amount, noted.hand + 1)
        state.find("wager_on_no_hand", noted.seq, detail, spot.number, noted.hand)
        return False
    if not round_.phases.dealt:
        if not spot.in_play:
            round_.enter(spot)
        return True
    if one.stakes:
        detail = Sentence.ADDED_AFTER_DEAL.write(noted.amount)
        state.find("stake_increased_after_deal", noted.seq, detail, spot.number, noted.hand)
    else:
        state.find("wager_after_deal", noted.seq, _late(one, noted), spot.number)
    return False


def _double(state: State, noted: Noted) -> bool:
    """Judge a bettor's double; where the spot's own player has no wager, it doubles the hand."""
    hand = hand_of(noted.at, noted.hand)
    if hand is None or not hand.cards:
        detail = Sentence.STRAY_DOUBLE.write(noted.amount)
        state.find("wager_after_deal", noted.seq, detail, noted.spot)
        return False
    if hand.double_card:
        detail = Sentence.ADDED_AFTER_DEAL.write(noted.amount)
        state.find("stake_increased_after_deal", noted.seq, detail, noted.spot, noted.hand)
        return False
    if not hand.stake:
        double_begins(state, noted.at, hand, noted.seq)
    state.round.acted = True
    return True


def _split(state: State, noted: Noted) -> bool:
    spot = noted.at
    if not spot.in_play or not spot.hands[0].cards:
        detail = Sentence.STRAY_SPLIT.write(noted.amount)
        state.find("wager_after_deal", noted.seq, detail, spot.number)
        return False
    hand = hand_of(spot, noted.hand)
    if not noted.hand or (hand is not None and len(hand.cards) >= 2):
        detail = Sentence.ADDED_TO_SPLIT.write(noted.amount)
        state.find("stake_increased_after_deal", noted.seq, detail, spot.number, noted.hand)
        return False
    state.round.acted = True
    return True


def removed(state: State, noted: Noted) -> None:
    """Apply chips taken back, or off by the floor: first those that do not count."""
    one, hand = found(state, noted), hand_of(noted.at, noted.hand)
    if one is None or (hand is not None and hand.called_off):
        return
    by_floor = noted.fact.by == "floor"
    if declared(state.rules, one) is not None and state.round.phases.dealt and not by_floor:
        _side_taken_back(state, one, noted)
        return
    if one.kind == "main" and not by_floor and _stands(state, noted):
        detail = Sentence.TAKEN_BACK.write(noted.amount)
        state.find("stake_reduced_after_deal", noted.seq, detail, noted.spot, noted.hand)
        return
    beside = min(one.uncounted, noted.amount) if by_floor else 0
    one.uncounted -= beside
    one.ruled = one.ruled or (by_floor and noted.amount > beside)
    _less(state, one, noted, noted.amount - beside)


def _side_taken_back(state: State, one: Beside, noted: Noted) -> None:
    """Find a declared side bet taken back before it was settled; its stake stands.

    Chips that came too late do not count, and may go.
    """
    round_ = state.round
    if one.uncounted:
        one.uncounted = max(0, one.uncounted - noted.amount)
        return
    paid = any(found(state, payment) is one for payment in round_.payments)
    if not (paid or round_.phases.settling or round_.phases.closed):
        detail = Sentence.TAKEN_BACK.write(noted.amount)
        state.find("stake_reduced_after_deal", noted.seq, detail, noted.spot)


def _stands(state: State, noted: Noted) -> bool:
    """Return whether a bettor may no longer take chips back."""
    round_, hand = state.round, hand_of(noted.at, noted.hand)
    if noted.what == "insurance":
        return round_.acted or round_.looked
    if noted.what == "double":
        return hand is None or hand.double_card
    if noted.what == "split":
        return hand is not None and len(hand.cards) >= 2
    return round_.phases.dealt


def _less(state: State, one: Beside, noted: Noted, amount: int) -> None:
    if noted.what == "insurance":
        one.insurance = max(0, one.insurance - amount)
        return
    hand = noted.hand if one.kind == "main" else 0
    of = one.added if noted.what == "double" else one.stakes
    of[hand] = max(0, of.get(hand, 0) - amount)
    if of[hand]:
        return
    del of[hand]
    own = noted.at.hands[0]
    left = hand_of(noted.at, hand) if one.kind == "main" and state.round.phases.dealt else None
    if left is not None and not noted.at.wagered_on(left):
        call_off(state.round, noted.at, hand)
    elif not one.stakes and not state.round.phases.dealt and noted.at.in_play:
        noted.at.beside.remove(one)
        if not (own.stake or noted.at.backed()) and one.kind == "main":
            state.round.leave(noted.at)


# --- amounts, once all chips are laid -----------------------------------------------------


def amount_faults(state: State, spot: Spot) -> None:
    """Find wrong amounts of other bettors' splits, doubles and insurance."""
    for one in spot.beside:
        if one.kind == "main" and not one.ruled and not state.round.called_off:
            for hand in spot.hands:
                _split_fault(state, spot, hand, one)
                _double_fault(state, spot, hand, one)
            _insurance_fault(state, spot, one)


def _split_fault(state: State, spot: Spot, hand: Hand, one: Beside) -> None:
    laid, main = one.stake(hand.number), one.stake(0)
    if hand.number and laid and laid != main and not hand.called_off:
        detail = Sentence.SPLIT_UNEQUAL.write(laid, main)
        state.find("split_wager_mismatch", one.seqs[hand.number], detail, spot.number, hand.number)


def _double_fault(state: State, spot: Spot, hand: Hand, one: Beside) -> None:
    laid, main = one.added.get(hand.number, 0), one.stake(hand.number)
    if laid and not hand.doubled_seq:
        code, detail = "stake_increased_after_deal", Sentence.ADDED_AFTER_DEAL.write(laid)
    elif laid > main:
        code, detail = "double_over_original", Sentence.DOUBLED_OVER.write(laid, main)
    elif 0 < laid < main and not (state.rules.double_for_less or hand.called_off):
        code = "double_for_less_not_allowed"
        detail = Sentence.DOUBLED_FOR_LESS.write(laid, main)
    else:
        return
    state.find(code, one.seqs[hand.number], detail, spot.number, hand.number)


def _insurance_fault(state: State, spot: Spot, one: Beside) -> None:
    laid, main = one.insurance, one.stake(0)
    if not laid or not main or one.faulted:
        return
    seq, half = one.insurance_seq, main // 2
    if 2 * laid > main:
        detail = Sentence.INSURANCE_OVER_HALF.write(laid, main, half)
        state.find("insurance_over_half", seq, detail, spot.number)
    elif state.rules.insurance == "exactly_half" and laid != half:
        detail = Sentence.INSURANCE_NOT_HALF.write(laid, main, half)
        state.find("insurance_not_half", seq, detail, spot.number)


# --- settling -----------------------------------------------------------------------------


def insure(spot: Spot, dealers: list[Played], rules: HouseRules) -> None:
    """Settle the other bettors' insurance against every dealer's hand that may be."""
    for one in spot.beside:
        one.insurance_counts = insurance_stake(one.insurance, one.stake(0), rules)
        if one.insurance:
            net = insurance_net(one.insurance_counts, dealers[0], rules)
            for played in dealers:
                if insurance_net(one.insurance_counts, played, rules) != net:
                    net = None
            one.nets[0, "insurance"] = 0 if spot.all_called_off() else net


def settled(
    own: Due,
    spot: Spot,
    hand: Hand,
    dealer: Played,
    rules: HouseRules,
    *,
    line: HandLine | None,
    done: bool,
) -> Due:
    """Settle the chips beside a hand's own wager; return what the hand comes to in all.

    Args:
        own: what its own wager comes to.
        spot: where it lies.
        hand: the hand, or one that it may be.
        dealer: the dealer's.
        rules: the house's.
        line: what the hand makes of the pay table.
        done: whether the record shows that its player has finished.
    """
    total = own
    stake, added, even = hand.stake, hand.added, hand.even_money
    for one in spot.beside:
        if one.kind == "side" or (one.kind != "main" and hand.number):
            continue
        if not one.stake(hand.number):
            continue
        hand.stake, hand.added = one.stake(hand.number), _doubled(one, hand)
        hand.even_money = even and not one.insurance_counts
        insured = one.insurance_counts > 0
        made = lines(hand, rules) if bool(added) != bool(hand.added) else [line]
        theirs = Due("unknown", None, ())
        if len(made) == 1:
            its = made[0] if one.kind == "main" or made[0] is None else made[0].plain
            theirs = due(hand, dealer, rules, line=its, insured=insured, done=done)
        if one.kind == "coupon":
            theirs = _coupon(theirs, hand.stake, rules)
        one.nets[hand.number, one.kind] = theirs.net
        one.odd.pop((hand.number, one.kind), None)
        if isinstance(theirs.odd_cents, OddCents):
            one.odd[hand.number, one.kind] = theirs.odd_cents
        if one.kind == "main":
            net = None if total.net is None or theirs.net is None else total.net + theirs.net
            total = Due(own.outcome, net, own.clauses, _both(theirs, total))
    hand.stake, hand.added, hand.even_money = stake, added, even
    return total


def _doubled(one: Beside, hand: Hand) -> Cents:
    """Return a bettor's chips of a double, which count if the hand was doubled."""
    return one.added.get(hand.number, 0) if hand.doubled_seq else 0


def _both(theirs: Due, total: Due) -> OddCents | msgspec.UnsetType:
    """Add up exact winnings, of which any were rounded."""
    one, other = total.odd_cents, theirs.odd_cents
    if not isinstance(one, OddCents) and not isinstance(other, OddCents):
        return msgspec.UNSET
    exact = _exactly(total) + _exactly(theirs)
    return OddCents(
        exact=(exact.numerator, exact.denominator), paid=_rounded(total) + _rounded(theirs)
    )


def _exactly(one: Due) -> Fraction:
    odd = one.odd_cents
    return Fraction(*odd.exact) if isinstance(odd, OddCents) else Fraction(one.net or 0)


def _rounded(one: Due) -> Cents:
    odd = one.odd_cents
    return odd.paid if isinstance(odd, OddCents) else one.net or 0


def _coupon(theirs: Due, stake: int, rules: HouseRules) -> Due:
    """Return what a coupon gains: a loss costs nothing, for it is no chip."""
    if theirs.net is None or theirs.outcome not in ("win", "blackjack"):
        return Due(theirs.outcome, None if theirs.net is None else 0, theirs.clauses)
    full = theirs.outcome == "blackjack" and rules.coupon == "as_wager"
    price = rules.blackjack if full else rules.even
    return Due(theirs.outcome, price.won(stake), theirs.clauses)


def leave_open(spot: Spot, hand: Hand) -> None:
    """Settle nothing beside a hand whose result is not known, or pay nothing where it is dead."""
    for one in spot.beside:
        for kind in ("main", "toke", "coupon"):
            if one.kind == kind and (kind == "main" or not hand.number):
                one.nets[hand.number, kind] = 0 if hand.called_off else None


def owe_nothing(spot: Spot) -> None:
    """Have every wager beside go back."""
    for one in spot.beside:
        for key in list(one.nets):
            one.nets[key] = 0


def all_staked(spot: Spot, hand: Hand, rules: HouseRules) -> Cents:
    """Return all bettors' chips at stake on a hand."""
    others = [_staked(one, hand, rules) for one in spot.beside if one.kind == "main"]
    return staked(hand, rules) + sum(others)


def _staked(one: Beside, hand: Hand, rules: HouseRules) -> Cents:
    stake, added = hand.stake, hand.added
    hand.stake, hand.added = one.stake(hand.number), _doubled(one, hand)
    chips = staked(hand, rules) if hand.stake else 0
    hand.stake, hand.added = stake, added
    return chips


def side_unseen(state: State) -> bool:
    """Return whether a side bet may have moved chips that nobody saw."""
    if not state.round.beside:
        return False
    payments = [paid for paid in state.round.payments if paid.what == "side"]
    for spot in state.round.spots:
        for one in spot.beside:
            if one.kind == "side" and one.stakes and one.nets.get((0, "side")) != 0:
                seen = [paid for paid in payments if paid.at is spot and found(state, paid) is one]
                if not seen:
                    return True
    return False


# --- results ------------------------------------------------------------------------------


def with_beside(result: SpotResult, spot: Spot, state: State) -> SpotResult:
    """Add what lies beside to a spot's result."""
    rules = state.rules
    insurance = result.insurance
    sides = _of(spot, "side")
    extra = net_sum(
        [_net(one, 0, "coupon") for one in _of(spot, "coupon")]
        + [one.side.net for one in sides if one.side is not None]
    )
    insured = [one for one in _of(spot, "main") if one.insurance]
    if insured:
        stakes = sum([one.insurance_counts for one in insured])
        nets = net_sum([one.nets[0, "insurance"] for one in insured])
        before = insurance or InsuranceResult(0, 0)
        insurance = InsuranceResult(before.stake + stakes, net_sum([before.net, nets]))
        extra = net_sum([extra, nets])
    return msgspec.structs.replace(
        result,
        net=net_sum([result.net, extra]),
        insurance=insurance,
        side=_sides(spot, state),
        bettors=_bettors(result, spot, rules) if _several(spot) else msgspec.UNSET,
        toke=_toke(spot),
        coupons=_coupons(result, spot, rules),
    )


def _several(spot: Spot) -> bool:
    """Return whether others than the spot's own player have chips on it that are settled."""
    return spot.backed() or any(
        one.bettor is not None and one.side is not None for one in spot.beside
    )


def _of(spot: Spot, kind: str) -> list[Beside]:
    return [one for one in spot.beside if one.kind == kind and (one.stakes or one.insurance)]


def _net(one: Beside, hand: int, kind: str) -> Cents | None:
    return one.nets.get((hand, kind), 0)


def _sides(spot: Spot, state: State) -> tuple[SideResult, ...] | msgspec.UnsetType:
    sides = []
    for one in _of(spot, "side"):
        paid = [
            payment.amount
            for payment in state.round.payments
            if payment.at is spot and payment.what == "side" and found(state, payment) is one
        ]
        made = sum(paid) if paid else None
        if one.side is not None:
            sides.append(msgspec.structs.replace(one.side, paid=made))
            continue
        sides.append(
            SideResult(
                bet=one.bet,
                stake=one.stake(0),
                outcome="unjudged",
                net=None,
                paid=made,
                bettor=one.bettor or msgspec.UNSET,
            )
        )
    return tuple(sides) or msgspec.UNSET


def _bettors(result: SpotResult, spot: Spot, rules: HouseRules) -> tuple[BettorResult, ...]:
    own = [
        WagerResult(hand=hand.number, kind="main", stake=staked(hand, rules), net=hand.net)
        for hand in spot.hands
        if hand.stake
    ]
    if spot.insurance:
        stake = result.insurance.stake if result.insurance is not None else 0
        own.append(WagerResult(hand=0, kind="insurance", stake=stake, net=spot.insurance_net))
    own += _apart(spot, None)
    found = [_bettor_result(None, own)] if own else []
    for one in _of(spot, "main"):
        wagers = [
            WagerResult(
                hand=hand.number,
                kind="main",
                stake=_staked(one, hand, rules),
                net=_net(one, hand.number, "main"),
                odd_cents=one.odd.get((hand.number, "main"), msgspec.UNSET),
            )
            for hand in spot.hands
            if one.stake(hand.number)
        ]
        if one.insurance:
            net = one.nets[0, "insurance"]
            wagers.append(
                WagerResult(hand=0, kind="insurance", stake=one.insurance_counts, net=net)
            )
        found.append(_bettor_result(one.bettor, wagers + _apart(spot, one.bettor)))
    listed = [one.bettor for one in found]
    others = [one.bettor for one in _of(spot, "side") if one.side and one.bettor not in listed]
    found += [_bettor_result(one, _apart(spot, one)) for one in dict.fromkeys(others)]
    return tuple(found)


def _apart(spot: Spot, bettor: str | None) -> list[WagerResult]:
    """Return a bettor's coupon and declared side bets."""
    coupons = [
        WagerResult(hand=0, kind="coupon", stake=one.stake(0), net=_net(one, 0, "coupon"))
        for one in _of(spot, "coupon")
        if one.bettor == bettor
    ]
    return coupons + [
        WagerResult(hand=0, kind="side", stake=one.stake(0), net=one.side.net, bet=one.bet)
        for one in _of(spot, "side")
        if one.bettor == bettor and one.side is not None
    ]


def _bettor_result(bettor: str | None, wagers: list[WagerResult]) -> BettorResult:
    return BettorResult(
        bettor=bettor, net=net_sum([one.net for one in wagers]), wagers=tuple(wagers)
    )


def _toke(spot: Spot) -> TokeResult | msgspec.UnsetType:
    tokes = _of(spot, "toke")
    if not tokes:
        return msgspec.UNSET
    stake = sum([one.stake(0) + one.added.get(0, 0) for one in tokes])
    return TokeResult(stake=stake, net=net_sum([_net(one, 0, "toke") for one in tokes]))


def _coupons(
    result: SpotResult, spot: Spot, rules: HouseRules
) -> tuple[CouponResult, ...] | msgspec.UnsetType:
    outcome = result.hands[0].outcome
    stays = outcome in ("void", "pending", "unknown")
    stays = stays or (outcome == "push" and rules.coupon_taken == "decided")
    return (
        tuple(
            [
                CouponResult(
                    stake=one.stake(0),
                    outcome=outcome,
                    net=_net(one, 0, "coupon"),
                    taken=not stays,
                    bettor=one.bettor or msgspec.UNSET,
                )
                for one in _of(spot, "coupon")
            ]
        )
        or msgspec.UNSET
    )
