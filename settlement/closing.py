"""Close a round: judge what can only be told at its end, settle every hand, sum it up."""

from collections.abc import Iterator, Sequence
from typing import Final

from models.judgements import (
    DealerOutcome,
    DealerResult,
    HandResult,
    InsuranceResult,
    RoundResult,
    SpotResult,
    Violation,
)
from models.money import Cents, dollars
from models.rulebook import Rulebook
from settlement.clauses import violation
from settlement.dealer import Played, draw_faults, hands_live, play, stood_short
from settlement.doubt import dealers, gathered, variants
from settlement.hands import known, total
from settlement.payments import Account, compared, out_of_order
from settlement.play import owed_card, replace
from settlement.settling import Due, due, insurance_net, insurance_stake, staked
from settlement.splits import amount_faults
from settlement.state import Cards, Hand, Round, Spot, State

_OPEN: Final = ("pending", "unknown")


def close(state: State, found: Sequence[Violation], rules: Rulebook) -> tuple[State, RoundResult]:
    """Settle the round in play; return the table after it, and the round's result."""
    round_ = state.round
    cards: Cards = tuple(laid.card for laid in round_.dealer)
    alive = hands_live(round_, rules)
    played = play(cards, alive, rules, round_.checked)

    ways = _ways(played, cards, alive, round_, rules)
    spots = tuple(_spot(spot, ways, rules) for spot in round_.spots if _counts(spot))
    played = replace(played, outcome=_outcome(played, ways, spots))
    judged = (*found, *_at_the_end(state, played, spots, rules))
    result = _result(round_, rules, played, spots, judged)
    return _table_after(state, spots), result


def _ways(
    played: Played, cards: Cards, alive: tuple[bool, bool], round_: Round, rules: Rulebook
) -> tuple[tuple[Played, str], ...]:
    """Return the dealer's hand, or every hand it may be where a card of it is not known."""
    if known(cards):
        return ((played, ""),)
    return dealers(cards, lambda filled: play(filled, alive, rules), round_.checked)


def _outcome(
    played: Played, ways: Sequence[tuple[Played, str]], spots: Sequence[SpotResult]
) -> DealerOutcome:
    outcomes = {way.outcome for way, _ in ways}
    if len(outcomes) == 1:
        return outcomes.pop()
    decides = any(hand.outcome == "unknown" for spot in spots for hand in spot.hands)
    return "unknown" if decides else played.outcome


def _counts(spot: Spot) -> bool:
    return not spot.late or bool(spot.hands[0].cards)


def _spot(spot: Spot, ways: Sequence[tuple[Played, str]], rules: Rulebook) -> SpotResult:
    main = spot.hands[0].stake
    stake = insurance_stake(spot.insurance, main, rules)
    hands = tuple(
        _hand(spot, number, ways, rules, insured=stake > 0) for number in range(len(spot.hands))
    )
    insurance = _insurance(stake, ways, rules) if spot.insurance else None
    nets = [hand.net for hand in hands] + ([insurance.net] if insurance else [])
    return SpotResult(spot=spot.number, net=_sum(nets), hands=hands, insurance=insurance)


def _insurance(
    stake: Cents, ways: Sequence[tuple[Played, str]], rules: Rulebook
) -> InsuranceResult:
    nets = {insurance_net(stake, way, rules) for way, _ in ways}
    return InsuranceResult(stake, nets.pop() if len(nets) == 1 else None)


def _sum(nets: Sequence[Cents | None]) -> Cents | None:
    settled = [net for net in nets if net is not None]
    return sum(settled) if len(settled) == len(nets) else None


def _hand(
    spot: Spot,
    number: int,
    ways: Sequence[tuple[Played, str]],
    rules: Rulebook,
    *,
    insured: bool,
) -> HandResult:
    hand = spot.hands[number]
    outcomes = (
        (due(filled, number, way, rules, insured=insured), _both(own, theirs))
        for filled, own in _fillings(hand)
        for way, theirs in ways
    )
    settled = gathered(outcomes)
    if isinstance(settled, Due):
        return _hand_result(hand, number, settled)
    unknown = Due("unknown", None, ())
    return replace(_hand_result(hand, number, unknown), possible=settled)


def _fillings(hand: Hand) -> Iterator[tuple[Hand, str]]:
    if known(hand.cards):
        yield hand, ""
        return
    for cards, said in variants(hand.cards, "the hand's"):
        yield replace(hand, cards=cards), said


def _both(own: str, theirs: str) -> str:
    return f"{own} and {theirs}" if own and theirs else own or theirs


def _hand_result(hand: Hand, number: int, settled: Due) -> HandResult:
    return HandResult(
        hand=number,
        cards=hand.cards,
        burned=hand.burned,
        stake=staked(hand),
        outcome=settled.outcome,
        net=settled.net,
        clauses=settled.clauses,
    )


def _at_the_end(
    state: State, played: Played, spots: Sequence[SpotResult], rules: Rulebook
) -> Iterator[Violation]:
    round_ = state.round
    end = round_.last_seq
    yield from draw_faults(round_.dealer, played, round_.early_draw_seq)
    if _dealer_done(round_):
        yield from stood_short(played, _first_settling(round_))
    for spot in round_.spots:
        yield from _insurance_faults(spot, rules)
        for number in range(len(spot.hands)):
            yield from amount_faults(spot, number, rules)
        yield from _late_surrender(spot, played, rules)
    if round_.closed or round_.payments:
        yield from _cards_missing(round_, played)
    yield from out_of_order(round_.payments, rules)
    if round_.wagered:
        over = _dealer_done(round_)
        yield from compared(round_.payments, _dues(spots), end, over=over)


def _dealer_done(round_: Round) -> bool:
    """Tell whether the record shows that the dealer took no further card."""
    return round_.closed or round_.hole_shown or len(round_.dealer) > 2


def _first_settling(round_: Round) -> int:
    last_card = max((laid.seq for laid in round_.dealer), default=0)
    after = [payment.seq for payment in round_.payments if payment.seq > last_card]
    return after[0] if after and round_.payments[-1].seq > last_card else round_.last_seq


def _insurance_faults(spot: Spot, rules: Rulebook) -> Iterator[Violation]:
    main = spot.hands[0].stake
    if not spot.insurance or spot.insurance_faulted or not main:
        return
    laid, half = dollars(spot.insurance), dollars(main // 2)
    if spot.insurance > main // 2:
        detail = f"insurance of {laid} on a wager of {dollars(main)}; at most {half} counts"
        yield violation("insurance_over_half", spot.insurance_seq, detail, spot.number)
    elif rules.insurance == "exactly_half" and spot.insurance != main // 2:
        detail = f"insurance of {laid} on a wager of {dollars(main)}; it must be {half}"
        yield violation("insurance_not_half", spot.insurance_seq, detail, spot.number)


def _late_surrender(spot: Spot, played: Played, rules: Rulebook) -> Iterator[Violation]:
    if rules.surrender != "late" or not played.blackjack:
        return
    for number, hand in enumerate(spot.hands):
        if hand.surrendered_seq and not hand.surrender_faulted:
            detail = "surrender taken though the dealer had blackjack; it is refused then"
            yield violation(
                "surrender_vs_dealer_blackjack", hand.surrendered_seq, detail, spot.number, number
            )


def _cards_missing(round_: Round, played: Played) -> Iterator[Violation]:
    """Yield each hand that was owed a card, unless passing it over was already told."""
    if any(round_.passes):
        yield _deal_unfinished(round_)
    for spot in round_.spots:
        for number, hand in enumerate(spot.hands):
            seq = owed_card(hand)
            told = hand.surrendered_seq or (not hand.split and len(hand.cards) < 2)
            if seq and not told and not played.blackjack:
                detail = "a card was due to the hand and was not dealt"
                yield violation("missing_card", seq, detail, spot.number, number)


def _deal_unfinished(round_: Round) -> Violation:
    """Say who was to get the next card when the initial deal broke off."""
    to = next(due for due in round_.passes if due)[0]
    spot = None if to == "dealer" else to
    detail = "the initial deal broke off; the dealer was to get the next card"
    if spot is not None:
        detail = f"the initial deal broke off; spot {spot} was to get the next card"
    return violation("missing_card", round_.last_seq, detail, spot)


def _dues(spots: Sequence[SpotResult]) -> dict[Account, Cents | None]:
    dues: dict[Account, Cents | None] = {}
    for spot in spots:
        for hand in spot.hands:
            dues[spot.spot, hand.hand, "main"] = hand.net
        if spot.insurance is not None:
            dues[spot.spot, 0, "insurance"] = spot.insurance.net
    return dues


def _result(
    round_: Round,
    rules: Rulebook,
    played: Played,
    spots: tuple[SpotResult, ...],
    judged: Sequence[Violation],
) -> RoundResult:
    sure = known(played.cards) and bool(played.cards)
    points, soft = total(played.cards) if sure else (None, False)
    net = _sum([spot.net for spot in spots])
    waits = any(hand.outcome in _OPEN for spot in spots for hand in spot.hands)
    return RoundResult(
        round=round_.number,
        rulebook=rules.id,
        status="pending" if waits or net is None else "final",
        dealer=DealerResult(
            cards=played.cards,
            burned=played.burned,
            total=points,
            soft=soft,
            outcome=played.outcome,
        ),
        spots=spots,
        violations=tuple(sorted(judged, key=_seq)),
        net=None if net is None else -net,
    )


def _seq(found: Violation) -> int:
    return found.seq


def _table_after(state: State, spots: Sequence[SpotResult]) -> State:
    """Carry over what the next round starts from."""
    table = state.table
    shoe = replace(table.shoe, cut=table.shoe.cut or table.cut_now)
    moved = any(hand.net != 0 for spot in spots for hand in spot.hands)
    seen = bool(state.round.payments) or state.round.counted or not moved
    sure = table.tray_sure and seen
    return replace(state, table=replace(table, shoe=shoe, cut_now=False, tray_sure=sure))
