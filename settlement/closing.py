"""Close a round: judge what only its end shows, settle every hand, and sum it up."""

import msgspec
from msgspec import UNSET

from models.judgements import (
    DealerOutcome,
    DealerResult,
    HandResult,
    InsuranceResult,
    Possible,
    RoundResult,
    SpotResult,
    Violation,
)
from models.money import Cents
from settlement import beside
from settlement.beside import side_unseen
from settlement.dealer import Played, draw_faults, hands_live, play, stood_short
from settlement.dealing import deal_unfinished
from settlement.doubt import OUT_OF_REACH, Doubts, Outcome, Way, dealers, gathered, makes
from settlement.facts import CARD_EXPOSED, FOREIGN, ROUND_CALLED_OFF, card_named
from settlement.hands import Counted, named
from settlement.houserules import HouseRules
from settlement.payments import compare, forget_payments, out_of_order, paid_late
from settlement.play import DEAD, NO_LINE, lines, live, owed_card, rescued, turn_over
from settlement.rulings import call_off
from settlement.settling import Due, due, insurance_net, insurance_stake, odd_cents, staked
from settlement.shoe import between_rounds
from settlement.side_bets import settle_sides
from settlement.splits import amount_faults
from settlement.state import Hand, Noted, Round, Spot, State
from settlement.voiding import hands_void, round_void
from settlement.wagering import insurance_faults


class _Table:
    """A finished round: every possible dealer's hand, and the open questions."""

    def __init__(self, state: State, ways: list[Way], doubts: Doubts) -> None:
        self.state = state
        self.ways = ways
        self.doubts = doubts
        self.disputed = state.round.disputed


class Closed:
    """A closed round: its working state, its result, and its mistakes apart from payments."""

    def __init__(self, round_: Round, result: RoundResult, found: list[Violation]) -> None:
        self.round = round_
        self.result = result
        self.found = found


def close(state: State) -> Closed:
    """Settle the round in play and prepare the table for the next round."""
    round_ = state.round
    dealt = [card.card for card in round_.dealer]
    alive = hands_live(round_, state.rules)
    played = play(dealt, alive, state.rules, round_)
    known = played.counted.known()
    doubts = Doubts(state)
    ways = [Way(played, [], "")] if known else dealers(state, dealt, alive, doubts.stock())
    lying = _Table(state, ways, doubts)
    spots = tuple([_spot(lying, spot) for spot in round_.spots if _counts(spot)])
    played.outcome = _outcome(played, lying.ways, spots)
    _judge_the_end(state, played)
    if round_.disputes and not _hangs_on_a_card(spots):
        _foreign_cards(state)
    found = state.found.copy()
    if round_.called_off:
        _owe_nothing(round_)
        if played.outcome in ("short", "unknown"):
            played.outcome = "no_draw"
    _judge_payments(state, over=round_.players_done())
    result = _result(state, played, spots)
    if round_.called_off:
        result = round_void(result)
    _table_after(state, result.spots)
    return Closed(round_, result, found)


def amend(state: State, last: Closed, noted: Noted) -> None:
    """Judge the payments of a closed round again, with one that came after the close."""
    now, found = state.round, state.found
    state.round, state.found = last.round, last.found.copy()
    paid_late(state, noted)
    _judge_payments(state, over=True)
    last.result = msgspec.structs.replace(last.result, violations=_in_order(state.found))
    state.round, state.found = now, found


def call_off_late(state: State, last: Closed, noted: Noted) -> None:
    """Call off a closed round, or hands of it, and judge its payments again."""
    round_ = last.round
    if noted.kind == ROUND_CALLED_OFF:
        round_.called_off = True
        _owe_nothing(round_)
        last.result = round_void(last.result)
    else:
        spot = round_.spot(noted.spot)
        call_off(round_, spot, noted.hand)
        dead = {hand.number for hand in spot.hands if hand.called_off}
        last.result = hands_void(last.result, noted.spot, dead)
        _owe_dead_nothing(spot)
    if not round_.settling_seen() and not _money_moved(last.result.spots):
        state.table.tray_sure = state.table.tray_sure or round_.tray_was_sure
    now, found = state.round, state.found
    state.round, state.found = round_, last.found.copy()
    forget_payments(state)
    _judge_payments(state, over=True)
    last.result = msgspec.structs.replace(last.result, violations=_in_order(state.found))
    state.round, state.found = now, found


def _owe_nothing(round_: Round) -> None:
    for spot in round_.spots:
        for hand in spot.hands:
            hand.called_off = True
        _owe_dead_nothing(spot)
        beside.owe_nothing(spot)


def _owe_dead_nothing(spot: Spot) -> None:
    for hand in spot.hands:
        if hand.called_off:
            hand.net = 0
            beside.leave_open(spot, hand)
    if spot.all_called_off():
        spot.insurance_net = 0
        beside.owe_nothing(spot)


def _judge_payments(state: State, *, over: bool) -> None:
    out_of_order(state)
    if state.round.payments:
        compare(state, over=over and state.round.settling_seen())


def _outcome(played: Played, ways: list[Way], spots: tuple[SpotResult, ...]) -> DealerOutcome:
    """Return how the dealer's hand ended; unknown only where a result depends on it."""
    for way in ways:
        if way.played.outcome != ways[0].played.outcome:
            return "unknown" if _hangs_on_a_card(spots) else played.outcome
    return ways[0].played.outcome


def _hangs_on_a_card(spots: tuple[SpotResult, ...]) -> bool:
    for spot in spots:
        if any(hand.outcome == "unknown" for hand in spot.hands):
            return True
        if spot.side and any(side.outcome == "unknown" for side in spot.side):
            return True
    return False


def _counts(spot: Spot) -> bool:
    return not spot.late or bool(spot.hands[0].cards)


def _spot(lying: _Table, spot: Spot) -> SpotResult:
    insurance: InsuranceResult | None = None
    insured = False
    net: Cents | None = 0
    if spot.insurance:
        insurance = _insurance(spot, lying.ways, lying.state.rules)
        insured = bool(insurance.stake)
        if spot.all_called_off():
            insurance = InsuranceResult(insurance.stake, 0)
        net = spot.insurance_net = insurance.net
    if spot.beside:
        beside.insure(spot, [way.played for way in lying.ways], lying.state.rules)
    hands = tuple([_hand(lying, spot, hand, insured=insured) for hand in spot.hands])
    for hand in hands:
        net = None if net is None or hand.net is None else net + hand.net
    spot.settled = True
    if spot.beside:
        settle_sides(spot, lying.state, lying.ways, hands)
    result = SpotResult(spot=spot.number, net=net, hands=hands, insurance=insurance)
    return beside.with_beside(result, spot, lying.state) if spot.beside else result


def _insurance(spot: Spot, ways: list[Way], rules: HouseRules) -> InsuranceResult:
    stake = insurance_stake(spot.insurance, spot.hands[0].stake, rules)
    net = insurance_net(stake, ways[0].played, rules)
    for way in ways:
        if insurance_net(stake, way.played, rules) != net:
            return InsuranceResult(stake, None)
    if net is None or net < 0 or rules.insured.is_exact(stake, net):
        return InsuranceResult(stake, net)
    return InsuranceResult(stake, net, odd_cents(rules.insured, stake, net))


def _hand(lying: _Table, spot: Spot, hand: Hand, *, insured: bool) -> HandResult:
    rules = lying.state.rules
    if hand.called_off:
        hand.net = 0
        beside.leave_open(spot, hand)
        return _hand_result(spot, hand, Due("void", 0, ()), rules)
    done = turn_over(lying.state.round, spot, hand)
    made = lines(hand, rules) if rules.lines else NO_LINE
    if len(lying.ways) == len(made) == 1 and not lying.doubts.hang_over(spot, hand):
        played, line = lying.ways[0].played, made[0]
        settled = due(hand, played, rules, line=line, insured=insured, done=done)
        hand.net = settled.net
        if spot.beside:
            settled = beside.settled(settled, spot, hand, played, rules, line=line, done=done)
        if not (lying.disputed and _at_odds(lying.state, hand)):
            return _hand_result(spot, hand, settled, rules)
        return _left_open(spot, hand, _disputed(settled), rules)
    gained = _in_doubt(lying, spot, hand, insured=insured, done=done)
    if isinstance(gained, Due):
        return _hand_result(spot, hand, gained, rules)
    return _left_open(spot, hand, gained, rules)


def _left_open(
    spot: Spot, hand: Hand, possible: tuple[Possible, ...], rules: HouseRules
) -> HandResult:
    hand.net = None
    beside.leave_open(spot, hand)
    unknown = _hand_result(spot, hand, Due("unknown", None, ()), rules)
    return msgspec.structs.replace(unknown, possible=possible)


def _at_odds(state: State, hand: Hand) -> bool:
    """Return whether a card moved from its cards, or the dealer's, is none that lay there."""
    return hand.rarely().disputed or (
        state.round.dealer_disputed and live(hand, state.rules) != DEAD and not hand.busted()
    )


def _disputed(settled: Due) -> tuple[Possible, ...]:
    """Return what may be: its cards are what the record has, or else nobody knows them."""
    recorded = Possible(settled.outcome, settled.net, "the cards are those of the record")
    other = Possible("unknown", None, "the card that was moved is one of them, misread")
    return recorded, other


def _in_doubt(
    lying: _Table, spot: Spot, hand: Hand, *, insured: bool, done: bool
) -> Due | tuple[Possible, ...]:
    """Settle a hand under every possibility for the unknown cards."""
    rules, outcomes = lying.state.rules, []
    for filled in lying.doubts.hands(spot, hand):
        stock = lying.doubts.stock()
        ways = [way for way in lying.ways if stock.holds(filled.values + way.values)]
        its, made = filled.hand, lines(filled.hand, rules)
        for line in made if ways else ():
            own = _both(filled.condition(), makes(line) if len(made) > 1 else "")
            each: list[Outcome] = []
            for way in ways:
                gained = Due("pending", None, ())
                if filled.comes_about:
                    gained = due(its, way.played, rules, line=line, insured=insured, done=done)
                    hand.net = gained.net
                if filled.comes_about and spot.beside:
                    gained = beside.settled(
                        gained, spot, its, way.played, rules, line=line, done=done
                    )
                each.append(Outcome(gained, _both(own, way.condition)))
            if isinstance(gathered(each), Due):
                each = [Outcome(each[0].due, own)]  # whatever the dealer's unknown card is
            outcomes += each
    return gathered(outcomes) if outcomes else (OUT_OF_REACH,)


def _both(own: str, theirs: str) -> str:
    return f"{own} and {theirs}" if own and theirs else own or theirs


def _hand_result(spot: Spot, hand: Hand, settled: Due, rules: HouseRules) -> HandResult:
    return HandResult(
        hand=hand.number,
        cards=tuple(hand.cards),
        burned=tuple(hand.burned),
        stake=beside.all_staked(spot, hand, rules) if spot.beside else staked(hand, rules),
        outcome=settled.outcome,
        net=settled.net,
        clauses=settled.clauses,
        odd_cents=settled.odd_cents,
    )


def _judge_the_end(state: State, played: Played) -> None:
    round_ = state.round
    over, ended = round_.players_done(), round_.phases.closed or bool(round_.payments)
    if round_.called_off:
        over = ended = round_.off_in_settling
    draw_faults(state, played)
    _look_misread(state)
    if over:
        stood_short(state, played, _first_settling(round_))
    for spot in round_.spots:
        if spot.insurance:
            insurance_faults(state, spot, only_over=_is_off(state, spot))
        for hand in spot.hands:
            if hand.owed_stake or hand.doubled_seq:
                off = round_.called_off or hand.called_off
                amount_faults(state, spot, hand, only_over=off)
        if spot.beside:
            beside.amount_faults(state, spot)
        if played.blackjack():
            _late_surrender(state, spot)
    if ended:
        _cards_missing(state, played)


def _first_settling(round_: Round) -> int:
    """Return the first payment after the dealer's turn, or the round's last fact."""
    began = round_.dealer[-1].seq if len(round_.dealer) > 2 else round_.hole_shown_seq
    for payment in round_.payments:
        if 0 < began < payment.seq and payment.sweep:
            return payment.seq
    return round_.last_seq


def _is_off(state: State, spot: Spot) -> bool:
    """Return whether all wagers of a spot go back: chips may have been missing when that came."""
    return state.round.called_off or spot.all_called_off()


def _late_surrender(state: State, spot: Spot) -> None:
    """Find each surrender accepted before the hole card was known to make no blackjack.

    One accepted after a check that missed the blackjack came in time: the check was misread.
    Without a hole card to check, nobody could have known.
    """
    round_ = state.round
    if state.rules.surrender != "late" or not state.rules.deals_hole_card:
        return
    for hand in spot.hands:
        seq = hand.surrendered_seq
        cleared = round_.looks_differ or (
            round_.looked and not round_.saw_blackjack and round_.look_seq < seq
        )
        late = seq and not (hand.rarely().surrender_faulted or rescued(hand, state.rules))
        if late and not cleared and not hand.called_off:
            detail = "surrender accepted though the dealer had blackjack; it does not stand "
            detail += "and the whole wager is lost"
            state.find("surrender_vs_dealer_blackjack", seq, detail, spot.number, hand.number)


def _foreign_cards(state: State) -> None:
    """Find each card turned up that none dealt there can be.

    Where money hangs on which of the two facts is wrong, the hand is left open instead.
    """
    for noted in state.round.record:
        if noted.kind == CARD_EXPOSED and noted.turned == FOREIGN:
            shown = card_named(noted.read)
            detail = f"{shown} turned up; that is not the card that was dealt there"
            state.find("foreign_card", noted.seq, detail, noted.spot or None)


def _look_misread(state: State) -> None:
    """Find that the dealer's check of the hole card contradicts the cards."""
    round_ = state.round
    dealt = Counted()
    for card in round_.dealer[:2]:
        dealt.add(card.card)
    if not (round_.looked and len(dealt.cards) == 2 and dealt.known()):
        return
    if dealt.natural() != round_.saw_blackjack:
        entered, made = ("a", "none") if round_.saw_blackjack else ("no", "one")
        detail = f"the look at the hole card was entered as {entered} blackjack; "
        detail += f"{named(dealt.cards)} make {made}, and the cards decide"
        state.find("hole_card_misread", round_.look_seq, detail)


def _cards_missing(state: State, played: Played) -> None:
    """Find each hand that lacks a due card, unless skipping it was already reported."""
    deal_unfinished(state)
    if played.blackjack():
        return
    for spot in state.round.spots:
        for hand in spot.hands:
            seq = owed_card(hand)
            reported = hand.surrendered_seq or (not hand.split and len(hand.cards) < 2)
            reported = reported or hand.called_off
            if seq and not reported:
                detail = "a card was due to the hand and was not dealt"
                state.find("missing_card", seq, detail, spot.number, hand.number)


def _result(state: State, played: Played, spots: tuple[SpotResult, ...]) -> RoundResult:
    net: Cents | None = 0
    for spot in spots:
        net = None if net is None or spot.net is None else net - spot.net
    return RoundResult(
        tray_changes=tuple(state.tray_changes) if state.tray_changes else UNSET,
        round=state.round.number,
        rulebook=state.rules.id,
        overrides=state.rules.overrides,
        rules_hash=state.rules.rules_hash,
        status="pending" if net is None else "final",
        dealer=_dealer_result(played),
        spots=spots,
        violations=_in_order(state.found),
        net=net,
    )


def _dealer_result(played: Played) -> DealerResult:
    counted = played.counted
    sure = counted.known() and bool(counted.cards)
    return DealerResult(
        cards=tuple(counted.cards),
        burned=tuple(played.burned),
        total=counted.total() if sure else None,
        soft=sure and counted.soft(),
        outcome=played.outcome,
    )


def _in_order(found: list[Violation]) -> tuple[Violation, ...]:
    return tuple(sorted(found, key=_seq))


def _seq(found: Violation) -> int:
    return found.seq


def _table_after(state: State, spots: tuple[SpotResult, ...]) -> None:
    """Carry over the state that the next round starts from."""
    table, round_ = state.table, state.round
    round_.tray_was_sure = table.tray_sure
    between_rounds(table.shoe)
    if table.cut_now:
        table.shoe.cut = True
    if round_.counted or round_.called_off:
        return
    unseen = not round_.payments or not round_.settling_seen()
    if (unseen and _money_moved(spots)) or (round_.beside and side_unseen(state)):
        table.tray_sure = False


def _money_moved(spots: tuple[SpotResult, ...]) -> bool:
    for spot in spots:
        for hand in spot.hands:
            if hand.net != 0:
                return True
    return False
