"""A person enters what the floor rules while cards lie, or after they were taken up."""

from collections.abc import Callable

import pytest

from models.cards import Card
from models.events import (
    AnyFact,
    CardMoved,
    HandCalledOff,
    HandPlace,
    PaymentMade,
    RoundCalledOff,
    RoundOpened,
    TrayChanged,
    WagerRemoved,
)
from models.judgements import ReviewRaised, RoundResult
from settlement.engine import Engine
from settlement.reckoning.moves import Moves
from settlement.reckoning.story import Story
from settlement.reconcile.cameras import Cameras
from simulation.places import spot_places
from tests.settlement.felt_scene import FELT, RULES, UNREAD, Scene, reader

OFF = RoundCalledOff(reason="misdeal", by="ann")
SPOT_1_OFF = HandCalledOff(spot=1, reason="cards fouled", by="ann")
NEXT = [(1, "win", 1000), (3, "win", 2000)]
"""The round dealt after each of these."""
VOID = [(1, "void", 0), (3, "void", 0)]


def in_deal(scene: Scene) -> Scene:
    return scene.deal(1, "5S").deal(3, "6S").deal("dealer", "KD").deal(1, "4C").wait(1500)


def before_the_dealers_card(scene: Scene) -> Scene:
    return scene.deal(1, "5S").deal(3, "6S").wait(1500)


def in_play(scene: Scene) -> Scene:
    dealt = scene.deal_round("5S 6S KD 4C 5C 9S", spots=(1, 3)).wait(1500)
    return dealt.deal(1, "TD").wait(1500)


def in_the_dealers_turn(scene: Scene) -> Scene:
    dealt = scene.deal_round("KS KC 6D QS QC TD", spots=(1, 3)).wait(1500)
    return dealt.turn_hole("TD").wait(1500).deal("dealer", "2C").wait(1500)


def while_paying(scene: Scene) -> Scene:
    dealt = scene.deal_round("KS KC 7D QS QC TD", spots=(1, 3)).wait(1500)
    return dealt.turn_hole("TD").wait(800).chips(3, 0, 2000).wait(1000)


def swept(scene: Scene, *, back: bool, cards_first: bool = False) -> Scene:
    """The cards are taken up in any order, and the chips go back or lie on."""
    dealer = bool(scene._lying.get(("dealer", 0)))
    for step in ("cards", "chips") if cards_first else ("chips", "cards"):
        if step == "cards":
            scene.take(1).take(3)
            scene = scene.take("dealer") if dealer else scene
        elif back:
            scene.chips(1, 0, -1000).chips(3, 0, -2000)
    return scene.wait(500)


def with_next(scene: Scene, *, anew: bool) -> Scene:
    scene.wait(3000)
    if anew:
        scene.chips(1, 0, 1000).chips(3, 0, 2000)
    scene.deal_round("TS TH 7C 9D 9H TC", spots=(1, 3)).wait(1500).turn_hole("TC").wait(600)
    scene.chips(3, 0, 2000).take(3).chips(1, 0, 1000).take(1).take("dealer")
    return scene.wait(3000)


def start() -> Scene:
    return Scene().chips(1, 0, 1000).chips(3, 0, 2000)


def settled(scene: Scene) -> tuple[list[RoundResult], list[ReviewRaised]]:
    said = scene.said()
    facts: list[AnyFact] = [one for one in said if not isinstance(one, ReviewRaised)]
    engine = Engine(RULES, patient=True)
    found = [result for seq, fact in enumerate(facts, 1) for result in engine.feed(fact, seq)]
    return [*found, *engine.finish()], [one for one in said if isinstance(one, ReviewRaised)]


def hands(result: RoundResult) -> list[tuple[int, str, int | None]]:
    return [(spot.spot, hand.outcome, hand.net) for spot in result.spots for hand in spot.hands]


@pytest.mark.parametrize("cards_first", [False, True], ids=["chips-first", "cards-first"])
@pytest.mark.parametrize("back", [True, False], ids=["chips-go-back", "chips-lie-on"])
@pytest.mark.parametrize("when", [in_deal, before_the_dealers_card, in_play, in_the_dealers_turn])
def test_a_round_called_off_asks_nothing_and_the_next_one_opens(
    when: Callable[[Scene], Scene], *, back: bool, cards_first: bool
) -> None:
    scene = when(start()).enter(OFF).wait(2500)
    off, following = settled(
        with_next(swept(scene, back=back, cards_first=cards_first), anew=back)
    )[0]
    assert (off.status, off.net, hands(off), off.violations) == ("final", 0, VOID, ())
    assert (following.status, hands(following), following.violations) == ("final", NEXT, ())
    assert settled(scene)[1] == []


def test_what_was_paid_before_the_ruling_is_taken_back_after_it() -> None:
    scene = while_paying(start()).enter(OFF).wait(2500).chips(3, 0, -2000)
    (off, _), asked = settled(with_next(swept(scene, back=True), anew=True))
    assert (off.status, off.violations, asked) == ("final", (), [])
    paid = [fact.amount for fact in scene.facts() if isinstance(fact, PaymentMade)]
    assert paid[:2] == [2000, -2000]
    assert sum(fact.amount for fact in scene.facts() if isinstance(fact, WagerRemoved)) == 3000


def test_whose_chips_went_is_asked_where_the_payment_and_the_wager_go_at_one_time() -> None:
    scene = while_paying(start()).enter(OFF).wait(2500).chips(3, 0, -4000)
    asked = settled(with_next(swept(scene.chips(3, 0, 2000), back=True), anew=True))[1]
    assert [one.review.what.partition("?")[0] for one in asked] == [
        "Whose are the chips that moved at spot 3"
    ]


@pytest.mark.parametrize("late_ms", [0, 6000], ids=["as-it-closes", "once-it-is-over"])
def test_a_ruling_entered_after_the_chips_went_accuses_nobody_without_a_question(
    late_ms: int,
) -> None:
    dealt = start().deal_round("5S 6S KD 4C 5C 9S", spots=(1, 3)).wait(1500)
    scene = swept(dealt, back=True).wait(late_ms).enter(OFF)
    (off, following), asked = settled(with_next(scene, anew=True))
    assert (hands(off), hands(following)) == (VOID, NEXT)
    assert {found.code for found in off.violations} >= {"wrong_payout"}
    (last,) = [one for one in asked if "went before the ruling" in one.review.what]
    assert (last.round, last.settles_alike) == (1, False)
    facts = [account.changes for account in last.accounts or ()]
    assert any(
        [type(fact) for change in changes or () for fact in change.facts]
        == [WagerRemoved, WagerRemoved]
        for changes in facts
    )


def test_a_table_that_was_started_again_asks_the_same_of_the_round_before() -> None:
    dealt = start().deal_round("5S 6S KD 4C 5C 9S", spots=(1, 3)).wait(1500)
    *before, (at, ruling) = swept(dealt, back=True).wait(6000).enter(OFF).observations()
    table = reader(RULES, FELT)
    known = [one for when, heard in before for one in table.feed(heard, when)]
    known += table.advance(at - 1)
    asked = [one for one in table.feed(ruling, at) if isinstance(one, ReviewRaised)]
    assert len(asked) == 1
    again = reader(RULES, FELT, played=1)
    again.recall(known)
    assert [one for one in again.feed(ruling, at) if isinstance(one, ReviewRaised)] == asked


def test_a_round_called_off_closes_though_a_card_of_it_was_lost_from_sight() -> None:
    story = Story(Cameras(), Moves(RULES))
    story.open_round(1)
    lost = story.deal(1, 0, "up", 2)
    story.call_off(3)
    lost.where = "off"
    story.close_round(4, ())
    assert not story.in_play


@pytest.mark.parametrize("back", [True, False], ids=["chips-go-back", "chips-lie-on"])
def test_a_hand_called_off_goes_back_and_the_others_play_on(*, back: bool) -> None:
    scene = start().deal_round("5S TH 6D 5C TD 9S", spots=(1, 3)).wait(1500)
    scene.enter(SPOT_1_OFF).wait(2000)
    if back:
        scene.chips(1, 0, -1000)
    scene.take(1).wait(1000).turn_hole("9S").wait(1000).deal("dealer", "6C").wait(800)
    scene.chips(3, 0, -2000).take(3).take("dealer").wait(3000).chips(3, 0, 2000)
    if back:
        scene.chips(1, 0, 1000)
    (first, following), asked = settled(with_next(scene, anew=False))
    assert asked == []
    assert (hands(first), first.violations) == ([(1, "void", 0), (3, "lose", -2000)], ())
    assert (hands(following), following.violations) == (NEXT, ())


def test_a_change_of_the_tray_is_stated_within_a_round_and_between_two() -> None:
    buy_in = TrayChanged(amount=-20000, reason="buy_in", spot=3)
    fill = TrayChanged(amount=1000000, reason="fill", slip="F-1")
    scene = start().deal_round("KS KC 7D QS QC TD", spots=(1, 3)).wait(800).enter(buy_in).wait(800)
    scene.turn_hole("TD").wait(800).chips(3, 0, 2000).take(3).chips(1, 0, 1000).take(1)
    scene.take("dealer").wait(3000).enter(fill).chips(3, 0, -2000).chips(1, 0, -1000)
    results, asked = settled(with_next(scene, anew=False))
    assert asked == []
    assert [hands(one) for one in results] == [NEXT, NEXT]
    assert [[c.amount for c in one.tray_changes or ()] for one in results] == [[-20000], [1000000]]
    kinds = [type(fact) for fact in scene.facts() if isinstance(fact, TrayChanged | RoundOpened)]
    assert kinds == [RoundOpened, TrayChanged, TrayChanged, RoundOpened]


EXPOSED = Card("8D")
TO_SPOT_3 = CardMoved(card=EXPOSED, origin=HandPlace(to=1), to=HandPlace(to=3), reason="exposed")
TO_RACK = CardMoved(card=EXPOSED, origin=HandPlace(to=1), to="rack", reason="exposed")


def drawn_in_error() -> Scene:
    dealt = start().deal_round("KS 5C 7D 5D 7C TD", spots=(1, 3)).wait(1500)
    return dealt.deal(1, "8D").wait(1200)


def laid_at_spot_3(scene: Scene) -> Scene:
    track, _ = scene._lying[1, 0].pop()
    where = spot_places(FELT, 3).card(0, 2)
    scene._lying[3, 0].append((track, where))
    scene.sight(track, where, "up", UNREAD, change="moved", rest_ms=500, seen_ms=700)
    return scene.wait(900)


@pytest.mark.parametrize("entered", ["before", "after"])
def test_a_card_that_the_floor_moved_is_its_new_hands_and_whose_it_is_is_not_asked(
    entered: str,
) -> None:
    scene = drawn_in_error()
    if entered == "before":
        laid_at_spot_3(scene.enter(TO_SPOT_3).wait(800))
    else:
        laid_at_spot_3(scene).wait(800).enter(TO_SPOT_3)
    scene.wait(1500).turn_hole("TD").wait(800).chips(3, 0, 2000).take(3)
    scene.chips(1, 0, -1000).take(1).take("dealer").wait(3000)
    (only,), asked = settled(scene)
    assert asked == []
    assert (hands(only), only.violations) == ([(1, "lose", -1000), (3, "win", 2000)], ())
    assert [str(card) for card in only.spots[1].hands[0].cards] == ["5C", "7C", "8D"]


def test_a_card_that_the_floor_moved_to_the_rack_was_not_taken_up_too_soon() -> None:
    scene = drawn_in_error().enter(TO_RACK).wait(800)
    scene._lying["dealer", 9] = [scene._lying[1, 0].pop()]
    scene.take("dealer", 9).wait(1500).turn_hole("TD").wait(800).chips(3, 0, -2000).take(3)
    scene.chips(1, 0, -1000).take(1).take("dealer").wait(3000)
    (only,), asked = settled(scene)
    assert asked == []
    assert (hands(only), only.violations) == ([(1, "lose", -1000), (3, "lose", -2000)], ())


@pytest.mark.parametrize("entered", ["before", "after"])
def test_chips_that_the_floor_took_off_count_once(entered: str) -> None:
    off = WagerRemoved(spot=3, kind="main", amount=500, by="floor", reason="laid too late")
    scene = start().deal_round("KS 5C 7D 5D TC TD", spots=(1, 3)).wait(1500).chips(3, 0, 500)
    scene = scene.wait(3000).enter(off) if entered == "before" else scene.wait(3000)
    scene.wait(800).chips(3, 0, -500)
    scene = scene.enter(off) if entered == "after" else scene
    scene.wait(2500).turn_hole("TD").wait(800).chips(3, 0, -2000).take(3)
    scene.chips(1, 0, -1000).take(1).take("dealer").wait(3000)
    facts = [fact for fact in scene.facts() if isinstance(fact, WagerRemoved)]
    assert [(fact.amount, fact.by) for fact in facts] == [(500, "floor")]
    (only,), _ = settled(scene)
    assert hands(only) == [(1, "lose", -1000), (3, "lose", -2000)]
