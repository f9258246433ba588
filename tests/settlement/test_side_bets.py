"""Declared side bets: what each comes to, its limits, its payment, and what is left open."""

from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from models import events as ev
from models.cards import DECK
from models.events import AnyFact
from models.judgements import RoundResult, SideResult
from models.money import Odds
from models.rulebook import Rulebook
from models.side_bet import Award, Condition, SideBet
from settlement.balance import Balance, balance, payments_in
from settlement.engine import Engine
from settlement.ledger import post
from settlement.pay_tables import side_bets
from stream.library import side_bet_ids, side_bet_text
from tests.settlement.table import facts, rules

PAIRS, POKER, LADIES = "perfect-pairs-25-12-6", "21+3-9", "lucky-ladies-1000-125-19-9-4"
BUSTER, OVER = "buster-250-50-12-4-2", "over-13"
SHIPPED = {"pairs": PAIRS, "poker": POKER, "ladies": LADIES, "buster": BUSTER, "over": OVER}


def house(*bets: str, name: str = "kansas-shoe", **fields: Any) -> Rulebook:
    """Return a house with these bets, each with the fields that differ."""
    tables = {bet: {"extends": SHIPPED[bet], **fields} for bet in bets}
    found = side_bets(tables, "", "test", side_bet_text)
    return replace(rules(name), side_bets=found)


def played(text: str, book: Rulebook) -> RoundResult:
    engine = Engine(book, patient=True)
    results = [one for fact in facts(text) for one in engine.feed(fact)]
    (result,) = (*results, *engine.finish())
    return result


def sides(result: RoundResult) -> list[SideResult]:
    return [side for spot in result.spots for side in spot.side or ()]


def only_side(text: str, book: Rulebook) -> SideResult:
    (side,) = sides(played(text, book))
    return side


def codes(text: str, book: Rulebook) -> list[str]:
    return [found.code for found in played(text, book).violations]


DEAL = "1 8H; D 6H; 1 8D; D TC down"
END = "stand 1; show D TC; D 5S; close"
LOST = "stand 1; show D TC; D 5S; pay 1 -1000"
TWO = f"bet 1 1000; side 1 500 %pairs; side 1 500 %over; {DEAL}"
EFFECTS = [("stands", "win", 6000), ("returns", "push", 0), ("loses", "lose", -500)]


def test_a_bet_wins_by_its_pay_table_and_counts_in_the_totals() -> None:
    result = played(f"bet 1 1000; side 1 500 %pairs; {DEAL}; {END}", house("pairs"))
    (side,) = sides(result)
    assert (side.bet, side.stake, side.outcome, side.net) == ("pairs", 500, "win", 6000)
    assert side.award == "coloured pair"
    assert (result.spots[0].net, result.net, result.status) == (5000, -5000, "final")


def test_the_ledger_posts_a_bet_by_its_name() -> None:
    result = played(f"bet 1 1000; side 1 500 %pairs; {DEAL}; {END}", house("pairs"))
    assert [(line.account, line.amount) for line in post(result)] == [
        ("spot:1", -1000),
        ("tray", 1000),
        ("spot:1/side:pairs", 6000),
        ("tray", -6000),
    ]


def test_a_bet_without_its_name_is_the_only_one_that_the_house_has() -> None:
    text = f"bet 1 1000; side 1 500; {DEAL}; pay-side 1 5000; {LOST}; close"
    assert only_side(text, house("pairs")).net == 6000
    (found,) = played(text, house("pairs")).violations
    assert found.detail == "side bet pairs: due 60.00, paid 50.00, difference -10.00"
    assert only_side(text, house("pairs", "poker")).outcome == "unjudged"


def test_an_undeclared_bet_stays_unjudged_beside_a_declared_one() -> None:
    text = f"bet 1 1000; side 1 500 %pairs; side 1 300 %other; {DEAL}; pay-side 1 9 %other; {END}"
    one, other = sides(played(text, house("pairs")))
    assert (one.outcome, other.outcome, other.net) == ("win", "unjudged", None)
    assert codes(text, house("pairs")) == []


def test_bets_of_one_spot_settle_each_by_itself() -> None:
    text = f"bet 1 1000; side 1 100 %pairs; side 1 200 %poker; side 1 300 %over; {DEAL}; {END}"
    found = {side.bet: side.net for side in sides(played(text, house("pairs", "poker", "over")))}
    assert found == {"pairs": 1200, "poker": -200, "over": 300}


def test_the_first_two_cards_count_after_a_split() -> None:
    text = f"""bet 1 1000; side 1 500 %pairs; {DEAL}; split 1.1 1000; say-split 1;
        1 8S; stand 1; 1.1 8C; stand 1.1; show D TC; D 5S; close"""
    assert only_side(text, house("pairs")).award == "coloured pair"


def test_winnings_are_rounded_by_the_house() -> None:
    found = side_bets({"match": {"extends": "royal-match-25-5to2"}}, "", "test", side_bet_text)
    book = replace(rules("kansas-shoe"), side_bets=found)
    side = only_side(f"bet 1 1000; side 1 333 %match; 1 8H; D 6H; 1 9H; D TC down; {END}", book)
    assert (side.net, side.odd_cents) == (832, side.odd_cents)
    assert side.odd_cents.exact == (1665, 2)  # type: ignore[union-attr]


# --- payments and limits ------------------------------------------------------------------

PAID = f"bet 1 1000; side 1 500 %pairs; {DEAL}; pay-side 1 {{}} %pairs; {LOST}"


@pytest.mark.parametrize(
    ("paid", "found"), [(6000, []), (5999, ["wrong_payout"]), (-500, ["wrong_payout"])]
)
def test_a_payment_is_compared_with_what_is_due(paid: int, found: list[str]) -> None:
    text = f"{PAID.format(paid)}; close"
    assert codes(text, house("pairs")) == found


def test_a_wrong_payment_names_the_bet_and_the_amounts() -> None:
    text = f"{TWO}; pay-side 1 6100 %pairs; pay-side 1 500 %over; {LOST}; close"
    (found,) = played(text, house("pairs", "over")).violations
    assert (found.code, found.spot, found.clause) == ("wrong_payout", 1, "payment.due")
    assert found.detail == "side bet pairs: due 60.00, paid 61.00, difference 1.00"


def test_two_bets_paid_wrongly_are_two_mistakes() -> None:
    text = f"{TWO}; pay-side 1 6100 %pairs; pay-side 1 400 %over; {LOST}; close"
    assert codes(text, house("pairs", "over")) == ["wrong_payout", "wrong_payout"]


def test_a_bet_that_was_not_laid_is_due_nothing() -> None:
    text = f"bet 1 1000; {DEAL}; pay-side 1 6000 %pairs; {LOST}; close"
    (found,) = played(text, house("pairs", "over")).violations
    assert found.detail == "side bet pairs: due 0.00, paid 60.00, difference 60.00"


def test_a_bet_left_unpaid_is_missed_where_other_payments_were_seen() -> None:
    text = f"bet 1 1000; side 1 500 %pairs; {DEAL}; {LOST}; close"
    (found,) = played(text, house("pairs")).violations
    assert (found.code, found.detail) == (
        "payment_missing",
        "side bet pairs not settled: 60.00 should have been paid",
    )
    assert codes(f"bet 1 1000; side 1 500 %pairs; {DEAL}; {END}", house("pairs")) == []


def test_a_late_payment_makes_it_good() -> None:
    text = f"{PAID.format(5000)}; close; pay-side 1 1000 %pairs"
    assert codes(text, house("pairs")) == []


def test_the_tray_holds_what_side_bets_moved() -> None:
    text = f"tray 100000; {PAID.format(6000)}; close; tray {{}}"
    assert codes(text.format(95000), house("pairs")) == []
    assert codes(text.format(101000), house("pairs")) == ["tray_mismatch"]


@pytest.mark.parametrize(
    ("stake", "limits", "found"),
    [
        (500, {"min": 600}, ["below_table_min"]),
        (500, {"max": 400}, ["above_table_max"]),
        (500, {"most_of_main": "1:4"}, ["above_table_max"]),
        (500, {"min": 500, "max": 500, "most_of_main": "1:2"}, []),
    ],
)
def test_a_bet_has_its_own_limits(stake: int, limits: dict[str, Any], found: list[str]) -> None:
    text = f"bet 1 1000; side 1 {stake} %pairs; {DEAL}; {END}"
    assert codes(text, house("pairs", **limits)) == found


def test_a_limit_names_the_bet() -> None:
    text = f"bet 1 1000; side 1 500 %pairs; {DEAL}; {END}"
    (found,) = played(text, house("pairs", max=300)).violations
    assert found.detail == "side bet pairs of 5.00; its maximum is 3.00"


def test_a_bet_after_the_first_card_does_not_count() -> None:
    text = f"bet 1 1000; 1 8H; side 1 500 %pairs; D 6H; 1 8D; D TC down; {END}"
    assert codes(text, house("pairs")) == ["wager_after_deal"]
    assert sides(played(text, house("pairs"))) == []


def test_a_bet_taken_back_after_the_deal_stands() -> None:
    text = f"bet 1 1000; side 1 500 %pairs; {DEAL}; {{}}back 1 500 side %pairs; {{}}{END}"
    taken = text.format("", "")
    assert codes(taken, house("pairs")) == ["stake_reduced_after_deal"]
    assert only_side(taken, house("pairs")).net == 6000
    paid = text.format("pay-side 1 6000 %pairs; ", "")
    assert codes(paid, house("pairs")) == []
    late = "bet 1 1000; 1 8H; side 1 500 %pairs; back 1 500 side %pairs; D 6H; 1 8D; D TC down; "
    assert codes(late + END, house("pairs")) == ["wager_after_deal"]
    before = f"bet 1 1000; side 1 500 %pairs; back 1 200 side %pairs; {DEAL}; {END}"
    assert only_side(before, house("pairs")).stake == 300


def test_another_bettors_bet_is_his_own() -> None:
    result = played(
        f"""bet 1 1000; side 1 500 %pairs; side 1 200 %pairs @ANN; {DEAL};
        pay-side 1 6000 %pairs; pay-side 1 2300 %pairs @ANN; {LOST}; close""",
        house("pairs"),
    )
    assert [(one.bettor or None, one.net) for one in sides(result)] == [(None, 6000), ("ANN", 2400)]
    bettors = [(one.bettor, one.net) for one in result.spots[0].bettors or ()]
    assert bettors == [(None, 5000), ("ANN", 2400)]
    (found,) = result.violations
    assert found.detail == "side bet pairs of ANN: due 24.00, paid 23.00, difference -1.00"
    assert sum(line.amount for line in post(result) if line.account == "tray") == -7400


# --- what the main wager and the dealer do to a bet -----------------------------------------

PUSH = "bet 1 1000; side 1 500 %pairs; 1 TH; D TS; 1 TD; D TC down; stand 1; show D TC; close"


@pytest.mark.parametrize(("effect", "outcome", "net"), EFFECTS)
def test_a_push_of_the_main_wager(effect: str, outcome: str, net: int) -> None:
    side = only_side(PUSH, house("pairs", main_push=effect))
    assert (side.outcome, side.net) == (outcome, net)


@pytest.mark.parametrize(("effect", "outcome", "net"), EFFECTS)
def test_a_dealers_blackjack(effect: str, outcome: str, net: int) -> None:
    text = "bet 1 1000; side 1 500 %pairs; 1 TH; D AS; 1 TD; D TC down; peek yes; show D TC; close"
    side = only_side(text, house("pairs", dealer_blackjack=effect))
    assert (side.outcome, side.net) == (outcome, net)


def test_awards_that_add_up_are_paid_together() -> None:
    one = Award(award="pair", when=(Condition(same=("rank",)),), odds=Odds(3, 2))
    red = Award(award="red", when=(Condition(colour="red"),), odds=Odds(1, 2))
    bet = SideBet(
        title="Both",
        document="A felt",
        cards="player",
        pays=(one, red),
        adds_up=True,
        main_push="stands",
        dealer_blackjack="stands",
        dealer_plays=False,
    )
    book = replace(rules("kansas-shoe"), side_bets={"both": bet})
    side = only_side(f"bet 1 1000; side 1 500 %both; {DEAL}; {END}", book)
    assert (side.net, side.award) == (1000, "pair and red")


BROKEN = "bet 1 1000; side 1 500 %buster; 1 8H; D 6H; 1 8D; D TC down; hit 1; 1 9C; show D TC"


def test_the_dealer_plays_on_for_a_bet_on_his_hand() -> None:
    side = only_side(f"{BROKEN}; D KS; close", house("buster"))
    assert (side.award, side.net) == ("bust with 3 or 4 cards", 1000)
    assert codes(f"{BROKEN}; D KS; close", house("buster")) == []
    assert codes(f"{BROKEN}; D KS; close", house("buster", dealer_plays=False)) == [
        "dealer_drew_no_live_hands"
    ]


def test_a_bet_on_the_dealers_hand_waits_for_the_card_that_is_due() -> None:
    result = played(f"{BROKEN}; close", house("buster"))
    assert [(side.outcome, side.net) for side in sides(result)] == [("pending", None)]
    assert (result.status, [found.code for found in result.violations]) == (
        "pending",
        ["dealer_stood_below_17"],
    )


# --- cards that nobody saw ------------------------------------------------------------------


def possible(side: SideResult) -> list[tuple[str, int | None, str]]:
    return [(one.outcome, one.net, one.condition) for one in side.possible or ()]


def test_an_unread_card_leaves_a_bet_open_with_its_possible_results() -> None:
    text = f"bet 1 1000; side 1 100 %pairs; 1 8H; D 6H; 1 ??; D TC down; {END}"
    side = only_side(text, house("pairs"))
    assert (side.outcome, side.net) == ("unknown", None)
    assert possible(side) == [
        ("win", 2500, "the player's unknown card is 8H"),
        ("win", 1200, "the player's unknown card is 8D"),
        ("win", 600, "the player's unknown card is 8S or 8C"),
        ("lose", -100, "the player's unknown card is any other"),
    ]


def test_a_bet_that_no_card_could_change_is_settled() -> None:
    text = "bet 1 1000; side 1 100 %poker; 1 8H; D 2S; 1 KD; D ?? down; stand 1; close"
    assert only_side(text, house("poker")).net == -100


def test_a_card_without_its_suit_settles_what_asks_for_none() -> None:
    text = f"bet 1 1000; side 1 100 %{{}}; 1 8?; D 6H; 1 8D; D TC down; {END}"
    assert only_side(text.format("over"), house("over")).net == 100
    side = only_side(text.format("pairs"), house("pairs"))
    assert [net for _, net, _ in possible(side)] == [2500, 1200, 600]


def test_a_card_that_the_shoe_cannot_hold_is_not_possible() -> None:
    book = house("pairs", name="casino-single-deck")
    dealt = "1 8H down; D 6H; 1 ?? down; D TC down; show 1 8H"
    side = only_side(f"shoe 1; bet 1 1000; side 1 100 %pairs; {dealt}; {END}", book)
    assert [net for _, net, _ in possible(side)] == [1200, 600, -100]


def test_a_hole_card_that_was_looked_at_settles_what_hangs_on_a_blackjack() -> None:
    text = "bet 1 1000; side 1 100 %ladies; 1 QH; D AS; 1 QH; D ?? down; {}stand 1; close"
    assert only_side(text.format("peek no; "), house("ladies")).net == 12_500
    side = only_side(text.format(""), house("ladies"))
    assert possible(side) == [
        ("win", 100_000, "the dealer's unknown card is a ten"),
        ("win", 12_500, "the dealer's unknown card is an ace, 2, 3, 4, 5, 6, 7, 8 or 9"),
    ]


def test_two_faces_of_one_card_leave_open_what_depends_on_it() -> None:
    text = f"bet 1 1000; side 1 100 %{{}}; {DEAL}; show 1 8C; {END}"
    side = only_side(text.format("pairs"), house("pairs"))
    assert [net for _, net, _ in possible(side)] == [1200, 600]
    assert only_side(text.format("over"), house("over")).net == 100


def test_a_bet_waits_for_the_players_second_card() -> None:
    side = only_side("bet 1 1000; side 1 100 %pairs; 1 8H; D 6H; D TC down; close", house("pairs"))
    assert (side.outcome, side.net) == ("pending", None)


# --- the floor's rulings ----------------------------------------------------------------------


@pytest.mark.parametrize("ruling", [ev.HandCalledOff(spot=1), ev.RoundCalledOff()])
def test_a_bet_goes_back_with_its_hand_or_round(ruling: AnyFact) -> None:
    book = house("pairs")
    text = f"bet 1 1000; side 1 500 %pairs; {DEAL}"
    for facts_told in (
        [*facts(text), ruling, ev.RoundClosed()],
        [*facts(f"{text}; {END}"), ruling],
    ):
        engine = Engine(book, patient=True)
        results = [one for fact in facts_told for one in engine.feed(fact)]
        (result,) = (*results, *engine.finish())
        assert [(side.outcome, side.net) for side in sides(result)] == [("void", 0)]
        assert (result.net, result.status) == (0, "final")


# --- sums -------------------------------------------------------------------------------------


def balanced(text: str, book: Rulebook) -> Balance:
    return balance(played(text, book), payments_in(facts(text)))


def test_the_balance_counts_declared_bets() -> None:
    text = f"{TWO}; pay-side 1 5000 %pairs; pay-side 1 500 %over; {LOST}; close"
    found = balanced(text, house("pairs", "over"))
    assert (found.stake, found.due, found.paid, found.underpaid) == (2000, 5500, 4500, 1000)
    assert "side betting at spot 1 is still owed 10.00" in [one.says for one in found.lines]


def test_the_balance_is_not_known_while_a_bet_is_open() -> None:
    text = f"bet 1 1000; side 1 100 %pairs; 1 8H; D 6H; 1 ??; D TC down; {END}"
    assert balanced(text.replace("close", "pay 1 -1000; close"), house("pairs")).due is None


def test_an_undeclared_bet_is_in_no_sum() -> None:
    text = f"bet 1 1000; side 1 500 %other; {DEAL}; pay-side 1 900 %other; {LOST}; close"
    found = balanced(text, house("pairs"))
    assert (found.stake, found.due, found.paid, found.difference) == (1000, -1000, -1000, 0)


def test_the_stakes_of_a_spot_hold_its_declared_bets() -> None:
    text = f"bet 1 1000; side 1 500 %pairs; side 1 300 %other; {DEAL}; {END}"
    assert played(text, house("pairs")).spots[0].staked == 1500


# --- any cards hidden -------------------------------------------------------------------------

EVERY = {name: {"extends": name} for name in side_bet_ids() if not name.startswith("buster")}


def hidden_round(cards: list[str], book: Rulebook) -> list[set[tuple[str, int | None]]]:
    """Return what each bet may come to, for the player's two cards, the up card and the hole."""
    own, other, up, hole = cards
    bets = "; ".join(f"side 1 200 %{name}" for name in book.side_bets)
    text = f"bet 1 1000; {bets}; 1 {own}; D {up}; 1 {other}; D {hole} down; stand 1; close"
    return [
        {(one.outcome, one.net) for one in side.possible}
        if side.possible
        else {(side.outcome, side.net)}
        for side in sides(played(text, book))
    ]


@pytest.mark.parametrize(
    "number", [*range(3), *(pytest.param(more, marks=pytest.mark.slow) for more in range(3, 40))]
)
def test_a_bet_with_a_hidden_card_may_come_to_what_every_face_would_make_of_it(number: int) -> None:
    random = Random(number)
    book = replace(rules("kansas-shoe"), side_bets=side_bets(EVERY, "", "test", side_bet_text))
    cards = [str(random.choice(DECK)) for _ in range(4)]
    if number % 3 == 0:
        cards[:2] = ["QH", "QH"]
    at = random.randrange(4)
    each = [hidden_round([*cards[:at], str(face), *cards[at + 1 :]], book) for face in DECK]
    found = hidden_round([*cards[:at], "??", *cards[at + 1 :]], book)
    assert found == [set[tuple[str, int | None]]().union(*one) for one in zip(*each, strict=True)]
