"""Before the first fact nothing has happened, and a place used before is as good as new."""

from typing import Any

import pytest

from models import events as ev
from models.cards import Card
from settlement.facts import CARD_DEALT, KINDS, OPEN
from settlement.hands import UNKNOWN, Counted
from settlement.houserules import HouseRules
from settlement.payments import _Pass
from settlement.phases import RoundPhases
from settlement.reading import take
from settlement.script import Script
from settlement.state import NEVER, NOT_BOXED, Account, Hand, Noted, Round, Shoe, Spot, Table
from tests.settlement.table import facts, rules

HAND: dict[str, Any] = {
    **dict.fromkeys(("low", "unknown", "stake", "stake_seq", "owed_stake", "added"), 0),
    **dict.fromkeys(("added_seq", "doubled_seq", "surrendered_seq", "due_seq"), 0),
    **dict.fromkeys(("ace", "split", "aces", "double_card", "void_split", "void_double"), False),
    **dict.fromkeys(("stood", "even_money", "out_of_turn", "called_off"), False),
    "rare": None,
    "number": 0,
    "net": None,
    "cards": [],
    "burned": [],
    "unread": [],
}
SPOT: dict[str, Any] = {
    **dict.fromkeys(("dealt_in", "main_pass", "insurance_pass", "insurance"), 0),
    "insurance_seq": 0,
    "insurance_net": None,
    "last_turn": -1,
    "top": -1,
    **dict.fromkeys(("stray", "out_of_turn", "settled", "in_play", "late"), False),
    **dict.fromkeys(("insurance_faulted", "face_faulted"), False),
    "places": [0],
    "split_chips": [],
    "beside": [],
}
ROUND: dict[str, Any] = {
    **dict.fromkeys(("record", "order", "spots", "dealer", "payments", "passes", "owed")),
    **dict.fromkeys(("to_dealer", "first_draw", "turn_of", "hole_shown_seq"), 0),
    **dict.fromkeys(("early_draw_seq", "sweep", "last_seq"), 0),
    **dict.fromkeys(("order_faulted", "last_play"), -1),
    **dict.fromkeys(("wagered", "acted", "looked"), False),
    **dict.fromkeys(("saw_blackjack", "in_sweep", "counted"), False),
    **dict.fromkeys(("called_off", "off_in_settling", "beside"), False),
    **dict.fromkeys(("disputed", "dealer_disputed"), False),
    "off_at": NEVER,
    "moves": {},
}
ROUND |= {name: [] for name, value in ROUND.items() if value is None}
PHASES: dict[str, Any] = {
    **dict.fromkeys(("opened", "dealt", "closed", "settling"), False),
    **dict.fromkeys(("_wagered", "_dealer_plays", "_deal_over"), False),
    **dict.fromkeys(("_dealer_cards", "_short"), 0),
    "_in_deal": {},
}
ACCOUNT: dict[str, Any] = {"booked": False, "paid": 0, "seq": 0, "compared": False}
NOTE: dict[str, Any] = {
    "spot": 0,
    "hand": 0,
    "what": "",
    "amount": 0,
    "manner": None,
    "turned": OPEN,
    "read": UNKNOWN,
    "card": UNKNOWN,
    "down": False,
    "lies_down": False,
}

PLAYED = "1 8S; bet 1 1000; bet 2 500; D AH; 1 ??; D 9C down; ins 1 500; say-split 1; 1.1 2D; "
PLAYED += "stand 1; show D 9C; double 1.1 1000; D 5H; D 4H; move 4H D>1; pay 1 1000; off"


def _is(thing: object, expected: dict[str, Any]) -> bool:
    """Tell whether the fields named have these very values; ``None`` and 0 are not ``False``."""
    fields = {name: getattr(thing, name) for name in expected}
    told = {name: (type(value), value) for name, value in fields.items()}
    return told == {name: (type(value), value) for name, value in expected.items()}


def test_a_hand_without_cards() -> None:
    hand = Hand(0, Script())
    assert _is(hand, HAND)
    assert _is(hand.account, ACCOUNT)
    assert _is(hand.script, {"last_turn": -1, "_ended": False, "_lying": [], "_places": None})


def test_a_spot_and_a_round_without_facts() -> None:
    round_ = Round(2)
    spot = round_.spot(1)
    assert _is(round_, ROUND | {"number": 1})
    assert _is(spot, SPOT | {"number": 1})
    assert _is(spot.hands[0], HAND)
    assert _is(spot.insured, ACCOUNT)


@pytest.mark.parametrize("rounds_before", [1, 2])
def test_a_round_begun_anew_is_as_a_new_one(rounds_before: int) -> None:
    round_ = Round(2)
    for _ in range(rounds_before):
        _play(round_)
        round_.begin(7)
    assert _is(round_, ROUND | {"number": 7})
    assert _is(round_.phases, PHASES)
    spot = round_.spot(1)
    assert round_.named() == [spot]
    assert _is(spot, SPOT | {"number": 1})
    assert _is(spot.hands[0], HAND)
    assert _is(spot.script(0), {"last_turn": -1, "_ended": False, "_lying": [], "_places": None})
    assert _is(spot.script(1), {"last_turn": -1, "_ended": False, "_lying": [], "_places": None})
    assert _is(spot.account(0, "main"), ACCOUNT)
    assert _is(spot.account(0, "insurance"), ACCOUNT)
    assert _is(spot.account(3, "main"), ACCOUNT)
    assert spot.account(3, "main") is spot.account(3, "main")
    assert spot.account(3, "main") is not spot.account(2, "main")
    assert spot.account(3, "main") is not spot.account(3, "insurance")


def _play(round_: Round) -> None:
    for seq, fact in enumerate(facts(PLAYED), start=1):
        noted = round_.blank()
        noted.write(fact, KINDS[type(fact)], seq)
        take(round_, noted)
        round_.phases.follow(noted.kind, noted.spot)
    spot = round_.spot(1)
    hand = spot.hands[0]
    spot.account(0, "main").paid = spot.account(3, "main").paid = spot.insured.paid = 5
    for place, fields in ((round_, ROUND), (spot, SPOT), (hand, HAND)):
        for name in [name for name, value in fields.items() if value is False]:
            setattr(place, name, True)
    spot.insurance = spot.insurance_seq = spot.insurance_net = hand.stake = hand.net = 9
    spot.hands.append(Hand(1, spot.script(1)))
    spot.places.append(1)


def test_a_rounds_notes_are_used_again_and_say_only_what_the_next_fact_says() -> None:
    round_ = Round(2)
    _play(round_)
    used = round_.record[0]
    round_.begin(2)
    notes = [round_.blank() for _ in range(len(facts(PLAYED)))]
    assert used in notes
    assert round_.blank() not in notes
    for fact in (ev.RoundClosed(), ev.CutCardReached(), ev.HoleCardChecked(blackjack=True)):
        used.write(fact, KINDS[type(fact)], 3)
        assert _is(used, NOTE | {"seq": 3, "kind": KINDS[type(fact)]})
    used.write(ev.CardDealt(to=2, hand=1, card=Card("8S"), face="down"), CARD_DEALT, 4)
    dealt = NOTE | {"spot": 2, "hand": 1, "down": True, "lies_down": True}
    assert _is(used, dealt | {"read": Card("8S").index, "card": Card("8S").index})


def test_few_notes_are_kept() -> None:
    round_ = Round(2)
    round_.record.extend(Noted() for _ in range(300))
    kept = set(round_.record)
    round_.begin(2)
    again = [round_.blank() in kept for _ in range(257)]
    assert again == [True] * 256 + [False]


def test_a_shoe_and_a_table_nobody_has_seen() -> None:
    table = Table(HouseRules(rules()))
    shoe = Shoe(6, table.shoe.pack, started=False)
    counts = {"out": 0, "out_faces": [0] * 66, "out_ranks": [0] * 13, "boxed": {}}
    rest = {
        "burned": 0,
        "burn_judged": False,
        "boxed_last": NOT_BOXED,
        "dealt": False,
        "cut": False,
    }
    assert _is(shoe, counts | rest | {"decks": 6, "started": False})
    empty: dict[str, Any] = {"seats": {}, "entered": set(), "newcomers": set(), "dealt": False}
    tray = {"tray": None, "tray_change": 0, "tray_sure": True, "cut_now": False}
    assert _is(table, empty | tray)
    assert _is(table.shoe, {"decks": 6, "started": False})


def test_nothing_else_has_begun() -> None:
    assert _is(RoundPhases(2), PHASES | {"dealer_dealt": 2})
    assert _is(_Pass(), {"number": 0, "reported": False, "last": 0})
    assert _is(Account(), ACCOUNT)
    assert _is(Spot(3, 1), SPOT | {"number": 3, "serial": 1})
    assert _is(Counted(), {"cards": [], "low": 0, "ace": False, "unknown": 0})


def test_every_unread_card_is_counted() -> None:
    count = Counted()
    for expected in (1, 2, 3):
        count.add(UNKNOWN)
        assert count.unknown == expected
    assert (count.low, count.known(), count.words()) == (0, False, "unknown")
