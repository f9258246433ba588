"""The table between and at the start of rounds: seats, limits, entry, cut card, tray."""

from collections.abc import Iterator, Mapping

from models.events import PlayerLeft, PlayerSeated, TrayCounted
from models.judgements import Violation
from models.money import dollars
from models.rulebook import Rulebook
from settlement.clauses import violation
from settlement.play import replace
from settlement.shoe import burn_due, fresh_count
from settlement.state import Hand, Round, Spot, State, Step, Table


def seated(state: State, fact: PlayerSeated) -> Step:
    """Give spots to a player."""
    table = state.table
    seats = {**table.seats, **dict.fromkeys(fact.spots, fact.player)}
    newcomers = table.newcomers
    if table.seen_rounds and fact.player not in table.seats.values():
        newcomers = newcomers | {fact.player}
    return Step(replace(state, table=replace(table, seats=seats, newcomers=newcomers)))


def left(state: State, fact: PlayerLeft) -> Step:
    """Free the spots a player gives up."""
    seats = {
        spot: player
        for spot, player in state.table.seats.items()
        if not (player == fact.player and spot in fact.spots)
    }
    table = replace(state.table, seats=seats)
    if fact.player not in seats.values():
        table = replace(table, entered=table.entered - {fact.player})
    return Step(replace(state, table=table))


def cut_card(state: State, *, in_round: bool) -> Step:
    """Note that the shoe ends: with the round in play, or with the one just over."""
    table = state.table
    if in_round:
        return Step(replace(state, table=replace(table, cut_now=True)))
    return Step(replace(state, table=replace(table, shoe=replace(table.shoe, cut=True))))


def deal_begins(state: State, seq: int, rules: Rulebook) -> tuple[State, tuple[Violation, ...]]:
    """Judge, at the first card, the wagers that now stand and the shoe they are dealt from."""
    table, round_ = state.table, state.round
    shoe, found = burn_due(fresh_count(table.shoe), seq, rules)
    if shoe.cut:
        detail = "a round was dealt after the cut card had come; the shoe had to be shuffled"
        found = (*found, violation("dealt_past_cut_card", seq, detail))
    found = (*found, *_limits(round_, table, rules), *_too_many(round_, table, rules))
    found = (*found, *_entries(round_, table, rules))
    table = replace(
        table,
        shoe=replace(shoe, rounds=shoe.rounds + 1),
        entered=frozenset(_player(spot, table) for spot in round_.spots),
        newcomers=frozenset(),
        seen_rounds=table.seen_rounds + 1,
    )
    return replace(state, table=table), found


def _player(spot: Spot, table: Table) -> str:
    return table.seats.get(spot.number, f"spot {spot.number}")


def _held(round_: Round, table: Table) -> Mapping[str, list[Spot]]:
    """Return the spots wagered on by each player who is known to sit at them."""
    held: dict[str, list[Spot]] = {}
    for spot in round_.spots:
        if spot.number in table.seats:
            held.setdefault(table.seats[spot.number], []).append(spot)
    return held


def _limits(round_: Round, table: Table, rules: Rulebook) -> Iterator[Violation]:
    if not round_.wagered:
        return
    spots = {player: len(held) for player, held in _held(round_, table).items()}
    for spot in round_.spots:
        many = spots.get(_player(spot, table), 1)
        yield from _limit(spot, spot.hands[0], many, rules)


def _limit(spot: Spot, hand: Hand, many: int, rules: Rulebook) -> Iterator[Violation]:
    multiple = rules.multi_spot_min_multiple.get(many, 1) if many > 1 else 1
    least, most = multiple * rules.table_min, rules.table_max
    stake = dollars(hand.stake)
    if hand.stake < least and multiple > 1:
        detail = f"wager of {stake} by a player on {many} spots; each must be {dollars(least)}"
        yield violation("multi_spot_minimum", hand.stake_seq, detail, spot.number)
    elif hand.stake < least:
        detail = f"wager of {stake}; the minimum is {dollars(least)}"
        yield violation("below_table_min", hand.stake_seq, detail, spot.number)
    elif most is not None and hand.stake > most:
        detail = f"wager of {stake}; the maximum is {dollars(most)}"
        yield violation("above_table_max", hand.stake_seq, detail, spot.number)


def _too_many(round_: Round, table: Table, rules: Rulebook) -> Iterator[Violation]:
    most = rules.max_spots_per_player
    for player, held in _held(round_, table).items():
        if most is not None and len(held) > most:
            last = sorted(held, key=_wagered_at)[most]
            detail = f"{player} plays {len(held)} spots; at most {most} are allowed"
            yield violation("too_many_spots", last.hands[0].stake_seq, detail, last.number)


def _wagered_at(spot: Spot) -> int:
    return spot.hands[0].stake_seq


def _entries(round_: Round, table: Table, rules: Rulebook) -> Iterator[Violation]:
    if rules.mid_shoe_entry or not round_.wagered:
        return
    told: set[str] = set()
    for spot in sorted(round_.spots, key=_wagered_at):
        player = _player(spot, table)
        if player not in told and _enters_late(player, table):
            told.add(player)
            detail = f"{player} came into the shoe after its first round; entry waits for a shuffle"
            yield violation("mid_shoe_entry", spot.hands[0].stake_seq, detail, spot.number)


def _enters_late(player: str, table: Table) -> bool:
    if table.shoe.started:
        return table.shoe.rounds > 0 and player not in table.entered
    return player in table.newcomers


def tray(state: State, fact: TrayCounted, seq: int) -> Step:
    """Compare a count of the tray with the last one and what was paid and taken since."""
    table, round_ = state.table, state.round
    found: tuple[Violation, ...] = ()
    unseen = round_.closed and round_.dealing and not round_.payments
    if table.tray is not None and table.tray_sure and not unseen:
        due = table.tray + table.tray_change
        if fact.amount != due:
            detail = f"tray counted at {dollars(fact.amount)}, due {dollars(due)}: "
            detail += f"difference {dollars(fact.amount - due)}"
            found = (violation("tray_mismatch", seq, detail),)
    table = replace(table, tray=fact.amount, tray_change=0, tray_sure=True)
    round_ = replace(round_, counted=round_.closed)
    return Step(replace(state, table=table, round=round_), found)
