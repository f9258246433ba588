"""Chips on declared side bets: which bet, within which limits."""

from models.money import Cents
from settlement.houserules import HouseRules
from settlement.sentences import Sentence
from settlement.side_cards import Bet
from settlement.state import Beside, Noted, Spot, State


def bet_named(rules: HouseRules, noted: Noted) -> str | None:
    """Return the side bet that a wager or payment is for: an unnamed one is the only declared.

    Of another kind, such as a toke, the name tells nothing: it goes with the hand.
    """
    if noted.what != "side":
        return None
    bet: str | None = noted.fact.bet
    return rules.only_bet if bet is None else bet


def declared(rules: HouseRules, one: Beside) -> Bet | None:
    """Return the bet that chips lie on, where the rulebook declares it."""
    return rules.side_bets.get(one.bet) if one.kind == "side" and one.bet is not None else None


def dealer_plays(spot: Spot, rules: HouseRules) -> bool:
    """Return whether the dealer plays his hand out for a side bet of a spot."""
    for one in spot.beside:
        bet = declared(rules, one)
        if bet is not None and bet.dealer_plays and one.stakes and not spot.all_called_off():
            return True
    return False


def limits(state: State, spot: Spot) -> None:
    """Judge a spot's side bets by their limits, at the first card."""
    for one in spot.beside:
        bet = declared(state.rules, one)
        if bet is not None and one.stakes:
            _limit(state, spot, one, bet)


def _limit(state: State, spot: Spot, one: Beside, bet: Bet) -> None:
    stake, seq, most = one.stake(0), one.seqs[0], _most(state, spot, one, bet)
    if stake < bet.min:
        detail = Sentence.SIDE_BELOW.write(bet.name, stake, bet.min)
        state.find("below_table_min", seq, detail, spot.number)
    elif most is not None and stake > most:
        detail = Sentence.SIDE_ABOVE.write(bet.name, stake, most)
        state.find("above_table_max", seq, detail, spot.number)


def _most(state: State, spot: Spot, one: Beside, bet: Bet) -> Cents | None:
    """Return the most that may lie on a bet; ``None`` for no limit."""
    if bet.share is None or not state.round.wagered:
        return bet.max
    backed = spot.lies_beside("main", one.bettor, None) if one.bettor is not None else None
    share = bet.share.won(spot.hands[0].stake if backed is None else backed.stake(0))
    return share if bet.max is None else min(share, bet.max)
