"""What the sensors of a table said, situation by situation, and what happened then."""

import pytest

from models.events import (
    AnyFact,
    CardBurned,
    CardDealt,
    HoleCardChecked,
    PaymentMade,
    PlayerActed,
    RoundClosed,
    ShoeStarted,
)
from models.judgements import ReviewRaised
from simulation.places import dealer_card, spot_places
from tests.settlement.felt_scene import FELT, MS, RULES, UNREAD, UNSEEN, Scene, apart, gone, reader
from vision.scenes.performance import Place

SPLIT = PlayerActed(spot=1, action="split", manner="hand")


def simple_round(scene: Scene) -> Scene:
    """Ten and nine against a ten and an eight: paid."""
    scene.chips(1, 0, 1000).deal_round("TS 9H TD 8C").turn_hole("8C")
    return scene.chips(1, 0, 1000).take(1).take("dealer")


# --- a round ------------------------------------------------------------------------------


def test_a_round_from_the_first_wager_to_the_last_card() -> None:
    scene = Scene()
    scene.chips(1, 0, 1000).deal_round("TS TD 9H 8C").turn_hole("8C")
    scene.chips(1, 0, 1000).take(1).take("dealer")
    assert scene.lines() == [
        "round_opened round=1",
        "wager_placed spot=1 kind=main amount=1000",
        "card_dealt to=1 card=TS",
        "card_dealt to=dealer card=TD",
        "card_dealt to=1 card=9H",
        "card_dealt to=dealer card=8C face=down",
        "card_exposed to=dealer card=8C",
        "payment_made spot=1 amount=1000",
        "round_closed",
    ]
    assert scene.reviews() == []


def test_every_fact_says_when_and_on_what_it_rests() -> None:
    scene = simple_round(Scene())
    known = {heard.seq for _, heard in scene.observations()}
    for fact in scene.facts()[1:]:
        assert fact.at is not None
        assert fact.evidence
        assert known.issuperset(fact.evidence)


def test_a_dealt_card_rests_on_the_shoe_and_on_the_camera() -> None:
    scene = simple_round(Scene())
    sources = {heard.seq: heard.source for _, heard in scene.observations()}
    dealt = next(fact for fact in scene.facts() if isinstance(fact, CardDealt))
    assert {sources[seq] for seq in dealt.evidence} == {"shoe", "camera:overhead"}


def test_a_push_is_left_alone() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("TS TD 8H 8C").turn_hole("8C")
    scene.take(1).take("dealer")
    assert scene.lines("payment_made") == ["payment_made spot=1 amount=0"]


def test_a_losing_wager_is_taken() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("TS TD 7H 8C").turn_hole("8C")
    scene.chips(1, 0, -1000).take(1).take("dealer")
    assert scene.lines("payment_made") == ["payment_made spot=1 amount=-1000"]


def test_a_broken_hand_is_taken_before_the_next_card() -> None:
    scene = Scene().chips(1, 0, 1000).chips(2, 0, 1000)
    scene.deal_round("TS 9S TD 7H 9D 8C", spots=(1, 2)).deal(1, "KC")
    scene.chips(1, 0, -1000).take(1)
    scene.deal(2, "2C")
    said = scene.lines()
    taken = said.index("payment_made spot=1 amount=-1000")
    assert said[taken - 1] == "card_dealt to=1 card=KC"
    assert said[taken + 1] == "card_dealt to=2 card=2C"


def test_a_blackjack_may_be_paid_at_once() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("AS 6D TH 8C")
    scene.chips(1, 0, 1500).take(1).turn_hole("8C").take("dealer")
    assert "payment_made spot=1 amount=1500" in scene.lines()
    assert scene.lines("wager_placed") == ["wager_placed spot=1 kind=main amount=1000"]


def test_winnings_are_drawn_back_and_the_next_round_has_its_own_wager() -> None:
    scene = simple_round(Scene())
    scene.chips(1, 0, -2000).chips(1, 0, 500)
    simple = scene.deal_round("5S TD 9H 8C")
    assert simple.lines("round_opened", "wager_placed", "wager_removed") == [
        "round_opened round=1",
        "wager_placed spot=1 kind=main amount=1000",
        "round_opened round=2",
        "wager_placed spot=1 kind=main amount=500",
    ]


# --- wagers in play -----------------------------------------------------------------------


def test_chips_beside_the_wager_and_a_card_across_are_a_double() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("5S 6D 6H TC").chips(1, 0, 1000)
    scene.deal(1, "9C", sideways=True)
    assert scene.lines()[-2:] == [
        "wager_placed spot=1 kind=double amount=1000",
        "card_dealt to=1 card=9C",
    ]


def test_chips_added_before_an_ordinary_card_raise_the_wager_after_the_deal() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("5S 6D 2H TC").chips(1, 0, 500).deal(1, "9C")
    assert "wager_placed spot=1 kind=main amount=500" in scene.lines()


def test_chips_taken_back_in_play_are_a_wager_removed() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("5S 6D 2H TC").chips(1, 0, -500).deal(1, "9C")
    assert "wager_removed spot=1 kind=main amount=500" in scene.lines()


def test_insurance_is_laid_and_paid_when_the_hole_card_is_known() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("TS AD 9H KC").chips(1, "I", 500)
    scene.enter(HoleCardChecked(blackjack=True)).turn_hole("KC")
    scene.chips(1, "I", 1000).chips(1, 0, -1000).take(1).take("dealer")
    assert scene.lines()[-6:] == [
        "wager_placed spot=1 kind=insurance amount=500",
        "hole_card_checked blackjack=True",
        "card_exposed to=dealer card=KC",
        "payment_made spot=1 kind=insurance amount=1000",
        "payment_made spot=1 amount=-1000",
        "round_closed",
    ]


def test_insurance_is_taken_after_a_peek_that_finds_nothing() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("TS AD 9H 8C").chips(1, "I", 500)
    scene.enter(HoleCardChecked(blackjack=False)).chips(1, "I", -500).deal(1, "2C")
    assert "payment_made spot=1 kind=insurance amount=-500" in scene.lines()


def test_surrender_takes_half_and_what_is_left_goes_home() -> None:
    scene = Scene().chips(1, 0, 1000).chips(2, 0, 1000)
    scene.deal_round("TS 9S TD 6H 9D 8C", spots=(1, 2))
    scene.enter(PlayerActed(spot=1, action="surrender", manner="verbal"))
    scene.chips(1, 0, -500).take(1).deal(2, "2C").chips(1, 0, -500)
    assert scene.lines("payment_made", "wager_removed") == ["payment_made spot=1 amount=-500"]


# --- splits -------------------------------------------------------------------------------


def split_eights() -> Scene:
    return Scene().chips(1, 0, 1000).deal_round("8S 6D 8H TC").chips(1, 1, 1000)


def test_a_split_makes_two_hands_that_get_their_own_cards() -> None:
    scene = split_eights().enter(SPLIT).split(1)
    scene.deal(1, "3C").deal(1, "9C").deal(1, "2D", hand=1).deal(1, "KD", hand=1)
    assert scene.lines()[-6:] == [
        "wager_placed spot=1 hand=1 kind=split amount=1000",
        "player_acted spot=1 action=split manner=hand",
        "card_dealt to=1 card=3C",
        "card_dealt to=1 card=9C",
        "card_dealt to=1 hand=1 card=2D",
        "card_dealt to=1 hand=1 card=KD",
    ]
    assert scene.reviews() == [
        "How did the round end? The session ended before its cards were taken up."
    ]


def test_a_split_entered_late_still_precedes_the_cards_that_follow_it() -> None:
    scene = split_eights().enter(SPLIT, late_ms=2_000).split(1).deal(1, "3C")
    assert scene.lines()[-2:] == [
        "player_acted spot=1 action=split manner=hand",
        "card_dealt to=1 card=3C",
    ]


def test_a_split_nobody_entered_shows_by_the_cards_apart_and_the_chips() -> None:
    scene = split_eights().split(1).deal(1, "3C")
    assert "player_acted spot=1 action=split" in scene.lines()


def test_like_cards_split_keep_their_sides_though_the_camera_lost_them() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("8C 6D 8C TC").chips(1, 1, 1000)
    scene.enter(SPLIT).split(1, lost="8C").deal(1, "3C").deal(1, "JH", hand=1)
    assert scene.lines("card_dealt")[-2:] == [
        "card_dealt to=1 card=3C",
        "card_dealt to=1 hand=1 card=JH",
    ]
    assert scene.reviews() == [
        "How did the round end? The session ended before its cards were taken up."
    ]


def test_cards_apart_without_chips_or_entry_are_for_a_person() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("8S 6D 8H TC").split(1).deal(1, "3C")
    assert any("The cards lie apart" in what for what in scene.reviews())


def test_hands_of_a_split_are_paid_each_from_its_own_box() -> None:
    scene = split_eights().enter(SPLIT).split(1)
    scene.deal(1, "3C").deal(1, "KD", hand=1).turn_hole("TC").deal("dealer", "TH")
    scene.chips(1, 0, 1000).take(1, 0).chips(1, 1, 1000).take(1, 1).take("dealer")
    assert scene.lines("payment_made") == [
        "payment_made spot=1 amount=1000",
        "payment_made spot=1 hand=1 amount=1000",
    ]


# --- shoe and camera ----------------------------------------------------------------------


def test_a_card_that_the_camera_cannot_read_is_what_the_shoe_said() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "7H", camera=UNREAD)
    assert "card_dealt to=1 card=7H" in scene.lines()


def test_a_card_that_the_camera_half_reads_is_what_the_shoe_said() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "8S", camera={"8S": 0.6, "6S": 0.4})
    assert scene.lines()[-1] == "card_dealt to=1 card=8S"
    assert scene.reviews() == [
        "How did the round end? The session ended before its cards were taken up."
    ]


def test_a_camera_sure_of_another_card_calls_a_person() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "KD", shoe="7H")
    raised = [said for said in scene.said() if isinstance(said, ReviewRaised)]
    assert raised[0].round == 1
    assert raised[0].review.what == apart("7H", "KD")
    assert raised[0].review.candidates == ("7H", "KD")


def test_a_camera_that_changes_its_mind_after_the_card_was_dealt_calls_a_person() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "7H").wait(4_000)
    scene.read_again(1, 0, {"KD": 0.999})
    assert apart("7H", "KD") in scene.reviews()


def test_one_look_against_the_shoe_and_an_earlier_look_calls_nobody() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "7H").wait(4_000)
    scene.look_again(1, 0, {"KD": 0.999})
    assert scene.reviews() == [
        "How did the round end? The session ended before its cards were taken up."
    ]


def test_a_second_look_against_the_shoe_calls_a_person() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "7H").wait(4_000)
    scene.look_again(1, 0, {"KD": 0.999}).look_again(1, 0, {"KD": 0.999})
    assert apart("7H", "KD or 7H") in scene.reviews()


def test_however_often_the_camera_contradicts_the_shoe_a_person_decides() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "KD", shoe="7H")
    for _ in range(5):
        scene.wait(1_000).look_again(1, 0, {"KD": 0.9999})
    assert apart("7H", "KD") in scene.reviews()


def test_a_camera_that_misread_once_is_overruled_by_the_shoe_and_its_own_next_look() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "7H", camera={"KD": 0.9999})
    scene.wait(1_000).look_again(1, 0, {"7H": 0.9999})
    assert scene.lines("card_dealt") == ["card_dealt to=1 card=7H"]
    assert scene.reviews() == [
        "How did the round end? The session ended before its cards were taken up."
    ]


def test_a_card_hidden_by_an_arm_keeps_its_place_in_the_order() -> None:
    scene = Scene().chips(1, 0, 1000).chips(2, 0, 1000)
    scene.deal(1, "7H", seen_after_ms=3_000).deal(2, "8D")
    assert scene.lines("card_dealt") == ["card_dealt to=1 card=7H", "card_dealt to=2 card=8D"]


def test_a_card_that_the_camera_never_sees_went_where_the_deal_had_it_go() -> None:
    scene = Scene().chips(1, 0, 1000).chips(2, 0, 1000)
    scene.deal(1, "7H", camera=UNSEEN).deal(2, "8D")
    assert scene.lines("card_dealt") == ["card_dealt to=1 card=7H", "card_dealt to=2 card=8D"]


def test_before_the_round_has_borne_it_out_a_person_is_told_of_a_card_nobody_saw() -> None:
    scene = Scene().chips(1, 0, 1000).chips(2, 0, 1000)
    scene.deal(1, "7H", camera=UNSEEN).deal(2, "8D")
    assert gone("7H") in scene.reviews()


def test_a_card_missed_by_the_shoe_is_read_by_the_camera_where_the_count_tells_of_it() -> None:
    scene = Scene().chips(1, 0, 1000)
    scene.deal(1, "7H").deal("dealer", "8D", shoe=None).deal(1, "9C")
    assert scene.lines("card_dealt") == [
        "card_dealt to=1 card=7H",
        "card_dealt to=dealer card=8D",
        "card_dealt to=1 card=9C",
    ]
    assert scene.reviews() == [
        "How did the round end? The session ended before its cards were taken up."
    ]


def test_a_card_behind_noise_on_the_line_is_read_by_the_camera() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "7H").fault("shoe", "checksum")
    scene.deal("dealer", "8D", shoe=None)
    assert scene.lines("card_dealt")[-1] == "card_dealt to=dealer card=8D"
    assert scene.reviews() == [
        "How did the round end? The session ended before its cards were taken up."
    ]


def test_noise_on_the_line_without_a_card_changes_nothing() -> None:
    scene = Scene().fault("shoe", "framing")
    assert simple_round(scene).lines() == simple_round(Scene()).lines()
    assert scene.reviews() == []


def test_a_card_that_never_left_the_shoe_calls_a_person() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "7H").deal("dealer", "8D", shoe=None)
    assert (
        "Did 8D leave the shoe? It lies on the felt, and the shoe did not read it."
        in scene.reviews()
    )


def test_neither_sensor_read_the_card() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "7H")
    scene.deal("dealer", "8D", shoe=None, camera={"8D": 0.5, "8H": 0.5}).deal(1, "9C")
    assert "card_dealt to=dealer card=8?" in scene.lines()
    assert (
        "Which card is the dealer's up card? Neither the shoe nor the camera read it."
        in scene.reviews()
    )


def test_what_the_shoe_cannot_hold_any_more_decides_between_two_readings() -> None:
    scene = Scene()
    scene.enter(ShoeStarted(decks=1))
    scene.chips(1, 0, 1000).deal(1, "8S")
    scene.deal("dealer", "6S", shoe=None, camera={"8S": 0.6, "6S": 0.3995}).deal(1, "9C")
    assert "card_dealt to=dealer card=6S" in scene.lines()


def test_two_cards_of_one_face_go_each_to_its_own_hand() -> None:
    scene = Scene().chips(1, 0, 1000).chips(2, 0, 1000)
    scene.deal(1, "7H", seen_after_ms=1_500).deal(2, "7H", seen_after_ms=700)
    assert scene.lines("card_dealt") == ["card_dealt to=1 card=7H", "card_dealt to=2 card=7H"]


def test_a_burned_card_is_the_one_that_left_the_shoe() -> None:
    scene = Scene().deal("dealer", "7H", camera=UNSEEN).enter(CardBurned(card=None))
    scene.chips(1, 0, 1000).deal(1, "9C")
    assert scene.lines()[0] == "card_burned card=7H"
    assert scene.reviews() == [
        "How did the round end? The session ended before its cards were taken up."
    ]


# --- places -------------------------------------------------------------------------------


def between_two_spots() -> Place:
    (x0, y0), (x1, y1) = FELT.spot(1).cards[3], FELT.spot(2).cards[0]
    return Place((x0 + x1) / 2, (y0 + y1) / 2, -50.0)


def test_a_card_to_a_spot_without_a_wager_is_a_fact_like_any_other() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "7H").deal(2, "9C")
    assert scene.lines()[-1] == "card_dealt to=2 card=9C"


# --- the dealer's hole card ---------------------------------------------------------------


def test_a_hole_card_that_turns_out_another_calls_a_person() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("TS TD 9H 8C").turn_hole("5C")
    assert apart("8C", "5C", "the dealer's hole card") in scene.reviews()


def test_a_hole_card_only_glimpsed_face_up_was_not_exposed() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("TS TD 9H 8C")
    hole = dealer_card(0)
    scene.sight(4, hole, "up", {"3D": 0.65, "3H": 0.18}, change="turned")
    assert scene.lines("card_exposed") == []
    scene.turn_hole("8C")
    assert scene.lines("card_exposed") == ["card_exposed to=dealer card=8C"]


def test_a_hole_card_that_the_shoe_missed_is_known_once_it_is_turned() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "TS").deal("dealer", "TD").deal(1, "9H")
    scene.fault("shoe", "checksum").deal("dealer", "8C", face="down", shoe=None)
    scene.wait(5_000).turn_hole("8C")
    assert scene.lines()[-2:] == [
        "card_dealt to=dealer card=None face=down",
        "card_exposed to=dealer card=8C",
    ]


def unseen_hole() -> Scene:
    scene = Scene().chips(1, 0, 1000).deal(1, "TS").deal("dealer", "TD").deal(1, "9H")
    return scene.deal("dealer", "8C", face="down", camera=UNSEEN).wait(12_000)


def test_a_hole_card_that_nobody_saw_is_the_one_that_is_turned_up() -> None:
    scene = unseen_hole()
    scene.sight(9, dealer_card(1), "up", {"8C": 0.9995})
    assert scene.lines()[-2:] == [
        "card_dealt to=dealer card=8C face=down",
        "card_exposed to=dealer card=8C",
    ]
    assert scene.reviews() == [
        "How did the round end? The session ended before its cards were taken up."
    ]


def test_a_hole_card_that_never_shows_calls_a_person() -> None:
    assert gone("8C") in unseen_hole().reviews()


def test_a_card_unseen_while_others_are_missing_is_nobodys_hole_card() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "TS").deal("dealer", "TD")
    scene.deal(1, "9H", camera=UNSEEN).wait(12_000)
    assert gone("9H") in scene.reviews()
    assert scene.lines("card_dealt")[-1] == "card_dealt to=1 card=9H"


def test_a_twin_laid_upon_its_like_is_not_the_first_card_moved() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "KH").deal("dealer", "TD")
    where = spot_places(FELT, 1).card(None, 1)
    scene.sight(1, where, "up", {"KH": 0.998}, change="moved", rest_ms=540, seen_ms=760)
    scene.deal(1, "KH", camera=UNSEEN)
    assert scene.lines("card_dealt")[-1] == "card_dealt to=1 card=KH"
    assert scene.reviews() == [
        "How did the round end? The session ended before its cards were taken up."
    ]


def test_a_second_card_dealt_face_up_is_told_as_it_was() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "TS").deal("dealer", "TD").deal(1, "9H")
    scene.deal("dealer", "8C")
    assert scene.lines()[-1] == "card_dealt to=dealer card=8C"


# --- doubt is never lost ------------------------------------------------------------------


def test_a_lost_plate_report_leaves_the_round_to_a_person() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "7H").fault("plate", "checksum")
    assert any("bet plate" in what for what in scene.reviews())


def test_a_session_cut_off_in_a_round_says_so() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "7H")
    assert scene.reviews() == [
        "How did the round end? The session ended before its cards were taken up."
    ]


def test_a_person_may_state_what_no_sensor_saw() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "7H")
    scene.enter(PaymentMade(spot=1, amount=500)).enter(RoundClosed())
    assert scene.lines()[-2:] == ["payment_made spot=1 amount=500", "round_closed"]
    assert scene.reviews() == []


@pytest.mark.parametrize("pace_ms", [0, 20, 250])
def test_facts_do_not_depend_on_how_often_the_time_is_told(pace_ms: int) -> None:
    scene = simple_round(split_eights().enter(SPLIT).split(1).deal(1, "3C"))
    table = reader(RULES, FELT)
    said: list[AnyFact | ReviewRaised] = []
    last = 0
    for at, heard in scene.observations():
        while pace_ms and last and last + pace_ms * MS < at:
            last += pace_ms * MS
            said += table.advance(last)
        said += table.feed(heard, at)
        last = at
    assert (*said, *table.finish()) == scene.said()
