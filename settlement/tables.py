"""The table between and at the start of rounds: seats, limits, entry, cut card, tray."""

from models.events import PlayerLeft, PlayerSeated, TrayChanged
from models.judgements import TrayChange
from models.money import Cents
from settlement.beside import side_unseen
from settlement.sentences import Sentence
from settlement.shoe import burn_due
from settlement.side_wagers import limits
from settlement.state import Noted, Spot, State, Table


def seated(table: Table, noted: Noted) -> None:
    """Assign spots to a player; one who played the last round only changes seats."""
    fact: PlayerSeated = noted.fact
    stayed = fact.player in table.entered or fact.player in table.seats.values()
    if table.dealt and not stayed:
        table.newcomers.add(fact.player)
    for spot in fact.spots:
        table.seats[spot] = fact.player


def left(table: Table, noted: Noted) -> None:
    """Free a leaving player's spots; one who sits down again before the deal misses nothing."""
    fact: PlayerLeft = noted.fact
    for spot in fact.spots:
        if table.seats.get(spot) == fact.player:
            del table.seats[spot]


def cut_card(state: State) -> None:
    """Note the end of the shoe: with the round in play, or with the one just finished.

    A continuous shuffler has no end.
    """
    if not state.rules.deals_out:
        return
    round_ = state.round
    if round_.phases.opened or round_.phases.dealt or round_.spots:
        state.table.cut_now = True
    else:
        state.table.shoe.cut = True


def deal_begins(state: State, seq: int) -> None:
    """Judge, at the first card, the wagers and the shoe that they are dealt from."""
    table, round_ = state.table, state.round
    burn_due(state, seq)
    if table.shoe.cut:
        detail = "a round was dealt after the cut card had come; the shoe had to be shuffled"
        state.find("dealt_past_cut_card", seq, detail)
    held = _held(round_.spots, table)
    if round_.wagered:
        _limits(state, held)
    for spot in round_.spots:
        if spot.beside:
            limits(state, spot)
    _too_many(state, held, seq)
    if not state.rules.mid_shoe_entry:
        _entries(state)
    table.newcomers.clear()
    table.shoe.dealt = table.dealt = True


def _player(spot: Spot, table: Table) -> str:
    """Return the player of a spot; one never seen to sit down is named after the spot."""
    player = table.seats.get(spot.number)
    return f"spot {spot.number}" if player is None else player


def _held(spots: list[Spot], table: Table) -> dict[str, int]:
    """Return the number of spots that each known seated player wagers on."""
    held: dict[str, int] = {}
    for spot in spots:
        player = table.seats.get(spot.number)
        if player is not None:
            held[player] = held.get(player, 0) + 1
    return held


def _limits(state: State, held: dict[str, int]) -> None:
    """Judge every wager by the table's limits; a player's spots by their minimum, once."""
    below: set[str] = set()
    for spot in state.round.spots:
        for one in spot.beside:
            if one.kind == "main" and one.stakes:
                _limit(state, spot, one.stake(0), one.seqs[0], state.rules.table_min)
        if not spot.hands[0].stake and spot.backed():
            continue
        player = state.table.seats.get(spot.number)
        many = 1 if player is None else held[player]
        least, stake = state.rules.least(many), spot.hands[0].stake
        if player is None or stake >= least or least <= state.rules.table_min:
            _limit(state, spot, stake, spot.hands[0].stake_seq, least)
        elif player not in below:
            below.add(player)
            detail = Sentence.BELOW_MULTIPLE.write(stake, many, least)
            state.find("multi_spot_minimum", spot.hands[0].stake_seq, detail, spot.number)


def _limit(state: State, spot: Spot, stake: Cents, seq: int, least: Cents) -> None:
    most = state.rules.table_max
    if stake < least:
        detail = Sentence.BELOW_MINIMUM.write(stake, least)
        state.find("below_table_min", seq, detail, spot.number)
    elif most is not None and stake > most:
        detail = Sentence.ABOVE_MAXIMUM.write(stake, most)
        state.find("above_table_max", seq, detail, spot.number)


def _too_many(state: State, held: dict[str, int], seq: int) -> None:
    most, seats = state.rules.max_spots_per_player, state.table.seats
    if most is None:
        return
    for player, many in held.items():
        if many > most:
            own = [spot for spot in state.round.spots if seats.get(spot.number) == player]
            last = sorted(own, key=_wagered_at)[most]
            detail = f"{player} plays {many} spots; at most {most} are allowed"
            state.find("too_many_spots", _wagered_at(last) or seq, detail, last.number)


def _wagered_at(spot: Spot) -> int:
    """Return the last wager before the deal: the own player's, or another bettor's without one."""
    others = [one.seqs[0] for one in spot.beside if one.kind == "main" and one.stakes]
    return spot.hands[0].stake_seq or max(others, default=0)


def _entries(state: State) -> None:
    """Find players who entered the shoe after its first round, and note this round's players."""
    table, round_ = state.table, state.round
    players: set[str] = set()
    for spot in sorted(round_.spots, key=_wagered_at):
        player = _player(spot, table)
        if round_.wagered and player not in players and _enters_late(player, table):
            detail = f"{player} came into the shoe after its first round; entry waits for a shuffle"
            state.find("mid_shoe_entry", _wagered_at(spot), detail, spot.number)
        players.add(player)
    table.entered = players


def _enters_late(player: str, table: Table) -> bool:
    if table.shoe.started:
        return table.shoe.dealt and player not in table.entered
    return player in table.newcomers


def _unseen(state: State) -> bool:
    """Return whether the round in play is over and may have moved chips that nobody saw."""
    round_ = state.round
    if not (round_.phases.closed and round_.phases.dealt) or round_.called_off:
        return False
    return not round_.settling_seen() or side_unseen(state)


def tray_changed(state: State, noted: Noted) -> None:
    """Count chips that enter or leave the tray other than by wagers."""
    fact: TrayChanged = noted.fact
    state.table.tray_change += fact.amount
    change = TrayChange(noted.seq, fact.amount, fact.reason, fact.spot, fact.player, fact.slip)
    state.tray_changes.append(change)


def tray(state: State, noted: Noted) -> None:
    """Compare a tray count with the last one and the payments since."""
    table, round_ = state.table, state.round
    if table.tray is not None and table.tray_sure and not _unseen(state):
        due = table.tray + table.tray_change
        if noted.amount != due:
            difference = noted.amount - due
            detail = Sentence.TRAY_COUNTED.write(
                noted.amount, due, difference, table.tray_seq, noted.seq
            )
            state.find("tray_mismatch", noted.seq, detail)
    table.tray, table.tray_seq = noted.amount, noted.seq
    table.tray_change = 0
    table.tray_sure = True
    round_.counted = round_.phases.closed
