"""Sensors that miss cards, see others and report twice: what is stated, and what a person is asked.

Each case says what happened at the table: that is stated, or a person is asked.
"""

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from models.events import AnyObservation
from models.judgements import ReviewRaised
from simulation.places import dealer_card, spot_places
from tests.settlement.felt_scene import FELT, MS, RULES, UNSEEN, Scene, line, reader
from tests.settlement.reconcile.test_sensors_that_lie import (
    ASKED,
    NOBODY_ASKED,
    ROUND,
    SOURCES,
    broken,
    dealt,
    doubled_again,
    faces,
    missed,
    out_of_order,
    paid_as_the_camera_reads,
    settle_two,
    twin,
    two_spots,
)
from tests.settlement.test_reconcile import SPLIT, between_two_spots, split_eights
from tests.thoroughness import examples
from vision.scenes.performance import Place

Heard = list[tuple[int, AnyObservation]]
LATE_MS = 900
"""So late a source's reports may come after those of others. A live table passes reports on in the
order of their times; this is for what comes later than it waits."""


def told(heard: Heard) -> list[str]:
    """Return the facts that are stated of what was heard."""
    table = reader(RULES, FELT)
    said = [one for at, observed in heard for one in table.feed(observed, at)]
    spoken = [one for one in (*said, *table.finish()) if not isinstance(one, ReviewRaised)]
    return [line(fact) for fact in spoken]


@settings(max_examples=examples(25), deadline=None, phases=[Phase.explicit, Phase.generate])
@given(st.fixed_dictionaries({source: st.integers(0, LATE_MS) for source in SOURCES}))
def test_facts_do_not_depend_on_whose_word_comes_first_within_the_bound(
    late_ms: dict[str, int],
) -> None:
    heard = [(at + late_ms[said.source] * MS, said) for at, said in ROUND.observations()]
    heard.sort(key=lambda timed: timed[0])
    assert told(heard) == ROUND.lines()


def test_a_report_sent_twice_is_one_card() -> None:
    twice = [pair for pair in ROUND.observations() for _ in range(2)]
    heard = [(at, msgspec.structs.replace(one, seq=n)) for n, (at, one) in enumerate(twice, 1)]
    assert told(heard) == ROUND.lines()


def test_a_wager_taken_as_a_broken_hands_from_one_that_stands_is_for_a_person() -> None:
    scene = two_spots().deal_round("TS 9S TD 6H TC 8C", spots=(1, 2))
    missed(scene.deal(1, "8D", shoe=None, camera=UNSEEN))
    scene.chips(1, 0, -1000).take(1).turn_hole("8C")
    scene.chips(2, 0, 1000).take(2).take("dealer").wait(15_000)
    (asked,) = scene.reviews()
    assert "did spot 1 get" in asked


@pytest.mark.parametrize("second", ["7D", "TH"], ids=["of-eleven", "of-fourteen"])
@pytest.mark.parametrize("after_ms", [0, 3_000], ids=["at-once", "later"])
def test_a_hand_paid_too_much_may_have_got_a_card_where_there_was_time_for_one(
    second: str, after_ms: int
) -> None:
    """Neither the shoe nor a camera reports another card of it."""
    scene = two_spots().deal_round(f"4D 9S TD {second} 2C 9C", spots=(1, 2)).wait(after_ms)
    scene.deal(2, "8C").wait(1_000).turn_hole("9C").chips(2, 0, 0).take(2)
    scene.chips(1, 0, 1000).take(1).take("dealer").wait(15_000)
    asked = [
        "Was spot 1 paid 10.00 where 10.00 were to be taken? "
        "Or did spot 1 get a card that no sensor saw?"
    ]
    assert scene.reviews() == (asked if after_ms else NOBODY_ASKED)


def test_a_like_card_upon_another_seen_twice_is_a_card_of_its_own() -> None:
    scene = twin(looks=2, paid=1000)
    assert dealt(scene).count("card_dealt to=1 card=2D") == 2
    assert scene.reviews() == NOBODY_ASKED


def test_a_camera_of_which_nothing_is_known_may_cling_to_its_error() -> None:
    assert ASKED[0] in paid_as_the_camera_reads(Scene()).reviews()


def test_a_card_seen_once_is_a_persons_matter_where_nothing_was_settled_by_it() -> None:
    (asked,) = broken(Scene(), taken=False).reviews()
    assert asked.startswith("Was spot 1 settled as a push where 10.00 were to be taken? Or ")


def test_a_card_that_the_shoe_missed_and_every_look_reads_otherwise_is_never_known() -> None:
    scene = two_spots().deal_round("6S 9S TD 6D TC 8C", spots=(1, 2))
    missed(scene.deal(1, "4C", shoe=None, camera={"6C": 0.9995}))
    scene.wait(300).look_again(1, 2, {"4C": 0.9995}).wait(4_000)
    assert "Which card is the third card of spot 1? Nobody read it." in settle_two(scene).reviews()


def test_a_back_turned_up_beside_another_card_is_not_that_card_and_for_a_person() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "TS").deal("dealer", "4H").deal(1, "9H")
    missed(scene.deal("dealer", "2D", face="down", shoe=None, camera=UNSEEN)).wait(1_000)
    scene.deal("dealer", "7D", place=dealer_card(2)).deal("dealer", "4C", place=dealer_card(3))
    track, where = scene._lying["dealer", 0][1]
    scene.sight(track, where, "down", {})
    scene.turn_hole("2D").wait(4_000).chips(1, 0, 1000).take(1).take("dealer").wait(15_000)
    assert "card_exposed to=dealer card=2D" in scene.lines("card_exposed")
    assert sorted(faces(scene, "dealer")) == ["4C", "4H", "7D", "None"]
    assert scene.reviews() != NOBODY_ASKED


@pytest.mark.parametrize("shoe", [None, ""], ids=["missed", "read"])
def test_chips_laid_on_a_double_are_that_mistake_whoever_read_its_card(shoe: str | None) -> None:
    scene = doubled_again(shoe=shoe)
    wagers = scene.lines("wager_placed")
    assert wagers[-2:] == [
        "wager_placed spot=1 kind=double amount=1000",
        "wager_placed spot=1 kind=main amount=300",
    ]
    assert scene.reviews() == NOBODY_ASKED


@pytest.mark.parametrize("seen_after_ms", [760, 1_700])
def test_cards_dealt_out_of_order_are_told_so_where_the_shoe_timed_them(seen_after_ms: int) -> None:
    scene = out_of_order(seen_after_ms=seen_after_ms)
    assert dealt(scene)[3:5] == ["card_dealt to=2 card=TC", "card_dealt to=1 card=9H"]
    assert scene.reviews() == NOBODY_ASKED


def test_a_split_entered_after_the_cards_showed_it_is_not_a_second_split() -> None:
    scene = split_eights().split(1).wait(4_500).read_again(1, 0, {"8S": 0.9995}).wait(500)
    scene.enter(SPLIT).deal(1, "3C").deal(1, "2D", hand=1).wait(4_000)
    assert len([line for line in scene.lines("player_acted") if "split" in line]) == 1
    assert scene.reviews() == [
        "How did the round end? The session ended before its cards were taken up."
    ]


def test_a_card_between_two_spots_is_that_of_the_one_whose_turn_it_was() -> None:
    scene = two_spots().deal(1, "7H", place=between_two_spots()).deal(2, "9C")
    scene.deal("dealer", "TD").deal(1, "TS").deal(2, "9S").deal("dealer", "8C", face="down")
    settle_two(scene)
    assert dealt(scene)[:2] == ["card_dealt to=1 card=7H", "card_dealt to=2 card=9C"]


def test_a_card_between_the_hands_of_a_split_is_that_of_the_one_that_waits_for_it() -> None:
    scene = split_eights().enter(SPLIT).split(1)
    one, other = (spot_places(FELT, 1).card(hand, 0) for hand in (0, 1))
    halfway = Place((one.x_mm + other.x_mm) / 2, (one.y_mm + other.y_mm) / 2, one.angle_deg)
    scene.deal(1, "3C", place=halfway)
    assert dealt(scene)[-1] == "card_dealt to=1 card=3C"


def test_a_card_outside_every_zone_calls_a_person() -> None:
    lost = Place(-950.0, 1_080.0, 0.0)
    scene = Scene().chips(1, 0, 1000).deal(1, "7H", place=lost)
    assert "Did spot 1 get 7H?" in scene.reviews()


def test_what_no_draw_explains_beside_another_card_is_no_card() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "QS").deal("dealer", "TD")
    lies = spot_places(FELT, 1).card(None, 0)
    scene.sight(9, Place(lies.x_mm + 20, lies.y_mm - 40, lies.angle_deg), "up", {"KH": 0.998})
    scene.wait(4_000).deal(1, "9H").deal("dealer", "8C", face="down").turn_hole("8C")
    scene.chips(1, 0, 1000).take(1).take("dealer").wait(15_000)
    assert not any("KH" in text for text in dealt(scene))
