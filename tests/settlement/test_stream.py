"""The engine over a stream: rounds parted, printed as the format says, prefix by prefix."""

import json

import msgspec
import pytest

from models.decode import decode_events
from models.events import CardSighted
from settlement.clauses import BREAKS
from settlement.engine import Engine, settle
from tests.settlement.table import facts, one_round, rounds, rules

SAMPLE = "bet 1 1000; 1 AS; D TS; 1 KD; D 7H down; close"

PRINTED = {
    "round": 1,
    "rulebook": "kansas-shoe",
    "status": "final",
    "dealer": {"cards": ["TS", "7H"], "burned": [], "total": 17, "soft": False, "outcome": "stand"},
    "spots": [
        {
            "spot": 1,
            "net": 1500,
            "hands": [
                {
                    "hand": 0,
                    "cards": ["AS", "KD"],
                    "burned": [],
                    "stake": 1000,
                    "outcome": "blackjack",
                    "net": 1500,
                    "clauses": ["blackjack.pays"],
                }
            ],
            "insurance": None,
        }
    ],
    "violations": [],
    "net": -1500,
}


def test_a_round_is_printed_as_the_format_says() -> None:
    printed = msgspec.json.encode(one_round(SAMPLE)).decode()
    assert json.loads(printed) == PRINTED
    assert list(json.loads(printed)) == list(PRINTED)


def test_a_violation_is_printed_with_its_clause() -> None:
    text = "bet 1 1000; 1 TS; D TH; 1 9C; D 7C down; show D 7C; D 5S; close"
    (printed,) = json.loads(msgspec.json.encode(one_round(text)))["violations"]
    assert printed == {
        "code": "dealer_hit_hard_17",
        "seq": 7,
        "spot": None,
        "hand": None,
        "clause": "dealer.draw",
        "detail": "drew 5S on TH 7C (hard 17); he stands on hard 17",
        "suspected": False,
    }


def test_lines_of_a_file_name_their_facts() -> None:
    lines = [
        b'{"type":"wager_placed","spot":1,"kind":"main","amount":100}',
        b"",
        b'{"type":"card_dealt","to":1,"card":"AS"}',
        b'{"type":"card_dealt","to":"dealer","card":"TS"}',
        b'{"type":"card_dealt","to":1,"card":"KD"}',
        b'{"type":"card_dealt","to":"dealer","card":"7H","face":"up"}',
    ]
    (result,) = settle(decode_events(lines, "facts.jsonl"), rules())
    assert [(v.code, v.seq) for v in result.violations] == [
        ("below_table_min", 1),
        ("hole_card_exposed", 6),
    ]


def test_a_seq_of_the_journal_is_kept() -> None:
    told = [msgspec.structs.replace(fact, seq=100 + n) for n, fact in enumerate(facts(SAMPLE))]
    told[0] = msgspec.structs.replace(told[0], amount=100)
    (result,) = settle(enumerate(told, start=1), rules())
    assert [violation.seq for violation in result.violations] == [100]


def test_observations_and_judgements_do_not_settle() -> None:
    sighting = CardSighted(
        source="camera:overhead",
        track=1,
        change="new",
        face="up",
        card=None,
        x_mm=0,
        y_mm=0,
        angle_deg=0,
        frame=1,
        crop=(0, 0, 1, 1),
    )
    told = [(n, fact) for n, fact in enumerate(facts(SAMPLE), start=1)]
    assert list(settle([(1, sighting), *told], rules())) == [one_round(SAMPLE)]


MARKED = "open 7; " + SAMPLE + "; open 8; " + SAMPLE
UNCLOSED = SAMPLE.replace("; close", "; open 8; ") + SAMPLE
UNMARKED = "bet 1 1000; 1 AS; D 9S; 1 KD; D 8H down; show D 8H; pay 1 1500; "


def test_a_record_that_breaks_off_accuses_nobody() -> None:
    dealt = "bet 1 1000; 1 TS; D TH; 1 2C; D 2D down"
    (result,) = rounds(dealt)
    assert (result.status, result.dealer.outcome, result.violations) == ("pending", "short", ())
    (begun,) = rounds("bet 1 1000; bet 2 1000; 1 TS")
    assert (begun.status, begun.violations) == ("pending", ())
    assert [violation.code for violation in rounds(dealt + "; close")[0].violations] == [
        "dealer_stood_below_17"
    ]


def test_a_deal_that_broke_off_is_one_mistake() -> None:
    (result,) = rounds("bet 1 1000; bet 2 1000; 1 TS; 2 9C; close")
    (violation,) = result.violations
    assert (violation.code, violation.seq, violation.spot) == ("missing_card", 5, None)
    assert [spot.hands[0].outcome for spot in result.spots] == ["pending", "pending"]


def test_tables_in_one_stream_settle_each_for_itself() -> None:
    told = facts(SAMPLE)
    mixed = [
        (line, msgspec.structs.replace(fact, table=table))
        for line, fact in enumerate(told, start=1)
        for table in ("BJ-01", "BJ-02")
    ]
    assert list(settle(mixed, rules())) == [one_round(SAMPLE)] * 2


def test_rounds_carry_their_own_number() -> None:
    assert [result.round for result in rounds(MARKED)] == [7, 8]
    assert [result.round for result in rounds(SAMPLE + "; " + SAMPLE)] == [1, 2]


def test_an_opening_closes_the_round_before() -> None:
    assert [(result.round, result.net) for result in rounds(UNCLOSED)] == [(1, -1500), (8, -1500)]


def test_without_marks_a_wager_after_the_payments_begins_a_round() -> None:
    results = rounds(UNMARKED * 3)
    assert [result.net for result in results] == [-1500] * 3
    assert [result.violations for result in results] == [()] * 3


def test_a_blackjack_paid_at_once_does_not_end_the_round() -> None:
    text = "bet 1 1000; 1 AS; D 9S; 1 KD; D 8H down; pay 1 1500; bet 1 500; show D 8H"
    (result,) = rounds(text)
    assert [violation.code for violation in result.violations] == ["stake_increased_after_deal"]


def test_a_round_without_wagers_settles_to_nothing() -> None:
    (result,) = rounds("open 3; close")
    assert (result.round, result.status, result.spots, result.net) == (3, "final", (), 0)


def test_a_round_appears_when_it_closes() -> None:
    engine = Engine(rules())
    *before, last = facts(SAMPLE)
    assert [engine.feed(fact) for fact in before] == [()] * len(before)
    assert len(engine.feed(last)) == 1
    assert engine.finish() == ()


@pytest.mark.parametrize("rounds_before", [1, 2, 3])
def test_a_prefix_settles_alike_whatever_follows(rounds_before: int) -> None:
    text = "shoe 6; tray 100000; " + (UNMARKED + "close; ") * 4
    whole = rounds(text)
    part = "shoe 6; tray 100000; " + (UNMARKED + "close; ") * rounds_before
    assert rounds(part) == whole[:rounds_before]


def test_a_mistake_between_rounds_is_told_with_the_next() -> None:
    (first, second) = rounds(
        "shoe 1; " + SAMPLE + "; burn AS; " + SAMPLE.replace("AS", "AD"), "kansas-shoe", "decks=1"
    )
    assert first.violations == ()
    assert second.violations[0].code == "impossible_card"


def test_a_mistake_after_the_last_round_is_not_lost() -> None:
    results = rounds("shoe 1; " + SAMPLE + "; burn AS", "kansas-shoe", "decks=1")
    assert [violation.code for violation in results[-1].violations] == ["impossible_card"]


CODES = """
dealer_hit_hard_17 dealer_hit_18_plus dealer_hit_soft_17 dealer_stood_soft_17
dealer_stood_below_17 dealer_drew_no_live_hands dealer_drew_after_breaking
dealer_drew_on_blackjack deal_order spot_skipped card_to_empty_spot deal_face
hole_card_exposed player_turn_order split_hand_order dealer_acted_before_players
face_up_card_used settle_order blackjack_paid_early extra_card_after_double
extra_card_on_split_ace card_after_stand card_after_breaking card_to_blackjack missing_card
impossible_card foreign_card burn_missing dealt_past_cut_card split_not_pair
split_unequal_rank split_wager_mismatch too_many_hands resplit_aces_not_allowed
double_total_not_allowed double_not_first_two double_over_original
double_for_less_not_allowed double_after_split_not_allowed double_split_aces
double_on_blackjack insurance_not_offered insurance_over_half insurance_not_half
insurance_late surrender_not_offered surrender_after_action surrender_after_split
surrender_vs_dealer_blackjack hole_card_misread wrong_deck_count wager_on_no_hand
even_money_not_offered below_table_min above_table_max
multi_spot_minimum too_many_spots mid_shoe_entry side_wager_prohibited
stake_increased_after_deal stake_reduced_after_deal wager_after_deal signal_not_accepted
player_touched_cards wrong_payout payment_missing tray_mismatch
"""


def test_every_code_of_the_format_has_its_clause() -> None:
    assert set(BREAKS) == set(CODES.split())
