"""Spanish 21: the pay table, the pack without tens, doubles of any hand and their rescue."""

import pytest

from models.errors import InputRefused
from settlement.rulebooks import overridden, parse, shown
from stream.library import rulebook_text
from tests.settlement.table import codes, found, nets, one_round, only_hand, rules

GAME = "spanish-21"


def hand(cards: str, dealer: str = "9S KH", *, also: str = "") -> str:
    """Return a round of one hand: its first two cards, its draws, the dealer's two."""
    first, second, *draws = cards.split()
    up, hole = dealer.split()
    drawn = "".join(f" hit 1; 1 {card};" for card in draws)
    return (
        f"bet 1 1000; 1 {first}; D {up}; 1 {second}; D {hole} down;{drawn}"
        f" {also} show D {hole}; close"
    )


PAID = [
    ("AS KH", 1500),
    ("6S 7S 8S", 3000),
    ("8H 6H 7H", 2000),
    ("6S 7S 8H", 1500),
    ("7S 7S 7S", 3000),
    ("7D 7D 7D", 2000),
    ("7S 7D 7S", 1500),
    ("2S 3H 4D 5C 7S", 1500),
    ("2S 3H 4D 5C 2S 5H", 2000),
    ("2S 3H 4D 2C 2S 3H 5D", 3000),
    ("2S 2H 2D 2C 3S 3H 3D 4C", 3000),
    ("8S 4H 9D", 1000),
    ("5S 4H KD", 0),
]


@pytest.mark.parametrize(("cards", "net"), PAID)
def test_a_hand_of_the_pay_table_is_paid_by_the_first_line_that_holds(cards: str, net: int) -> None:
    settled = only_hand(hand(cards, also="stand 1;"), GAME)
    assert settled.net == net
    assert ("win.pay_table" in settled.clauses) == (net > 0)


def test_a_21_wins_against_the_dealers_21() -> None:
    text = hand("8S 4H 9D", "9S KH").replace("close", "D 2D; close")
    assert only_hand(text, GAME).net == 1000
    assert found(text, GAME)[0][0] == "dealer_hit_18_plus"


def test_a_blackjack_wins_against_the_dealers_and_another_21_does_not() -> None:
    assert only_hand(hand("AS KH", "AH KD"), GAME).net == 1500
    assert only_hand(hand("8S 4H 9D", "AH KD"), GAME).net == -1000


def test_the_dealer_draws_to_no_hand_that_has_won() -> None:
    drawn = hand("6S 7S 8S", "9S 3H").replace("close", "D 8D; close")
    assert codes(drawn, GAME) == ["dealer_drew_no_live_hands"]
    assert only_hand(hand("6S 7S 8S", "9S 3H"), GAME).net == 3000


@pytest.mark.parametrize("cards", ["6S 7S 8S", "7S 7S 7S", "3S 2H 4D 5C 7S", "3S 2H 4D 2C 2S 8D"])
def test_a_doubled_hand_has_no_line_but_that_of_21(cards: str) -> None:
    first, second, *hits, last = cards.split()
    drawn = "".join(f"hit 1; 1 {card};" for card in hits)
    text = (
        f"bet 1 1000; 1 {first}; D 9S; 1 {second}; D KH down; {drawn} double 1 1000; 1 {last};"
        " show D KH; close"
    )
    assert (codes(text, GAME), only_hand(text, GAME).net) == ([], 2000)


def test_a_hand_of_three_cards_is_doubled_only_where_any_number_may_be() -> None:
    text = (
        "bet 1 1000; 1 3S; D 9S; 1 2H; D KH down; hit 1; 1 6D; double 1 1000; 1 9C; show D KH;close"
    )
    assert codes(text, GAME) == []
    assert codes(text, GAME, "double_on=any_two") == ["double_not_first_two"]


DOUBLED = "bet 1 1000; 1 6S; D 9S; 1 5H; D KH down; double 1 1000; 1 2D;"


def test_a_double_is_rescued_for_the_original_wager() -> None:
    text = DOUBLED + "surrender 1; back 1 1000 double; pay 1 -1000; show D KH; close"
    settled = only_hand(text, GAME)
    assert (settled.outcome, settled.net, settled.clauses) == (
        "surrender",
        -1000,
        ("surrender.rescue",),
    )
    assert codes(text, GAME) == []
    assert "surrender_after_action" in codes(text, GAME, "double_rescue=false")


def test_a_broken_double_is_not_rescued() -> None:
    text = "bet 1 1000; 1 6S; D 9S; 1 6H; D KH down; double 1 1000; 1 KD; surrender 1; close"
    assert "surrender_after_action" in codes(text, GAME)


@pytest.mark.parametrize("hole", ["KH", "??"])
def test_a_card_without_its_suit_leaves_open_what_its_suit_decides(hole: str) -> None:
    """A 21 wins whatever the dealer has: an unknown hole card is no part of the conditions."""
    text = f"bet 1 1000; 1 6S; D 9S; 1 7?; D {hole} down; hit 1; 1 8S; show D {hole}; close"
    settled = only_hand(text, GAME)
    assert settled.outcome == "unknown"
    assert isinstance(settled.possible, tuple)
    assert [(one.net, one.condition) for one in settled.possible] == [
        (3000, "the hand's suits make 6-7-8 of spades"),
        (2000, "the hand's suits make 6-7-8 of one suit"),
        (1500, "the hand's suits make 6-7-8 of mixed suits"),
    ]
    assert only_hand(hand("6S 7? 8H"), GAME).net == 1500
    assert only_hand(hand("5S 7? 8H", also="stand 1;"), GAME).net == 1000


def test_an_unread_card_is_each_rank_that_the_pack_has() -> None:
    settled = only_hand(hand("6S 7H ??"), GAME)
    assert isinstance(settled.possible, tuple)
    open_ = {one.net: one.condition for one in settled.possible}
    assert open_[1500] == "the hand's unknown card is 8"
    assert set(open_) == {1500, 1000, 0, -1000}


def test_a_ten_is_no_card_of_a_pack_without_tens() -> None:
    text = hand("TS 9H", also="stand 1;")
    assert found(text, GAME) == [("impossible_card", 2)]
    assert one_round(text, GAME).violations[0].detail.endswith("played without that rank")
    assert found(text, GAME, "pack_without=none") == []


def test_a_shoe_of_the_pack_has_no_more_cards_than_that() -> None:
    deck = [f"{rank}{suit}" for rank in "A23456789JQK" for suit in "SHDC"]
    burns = "".join(f"burn {card};" for card in deck)
    assert codes(f"shoe 1; {burns} bet 1 1000; 1 ??; close", GAME, "decks=1")[:1] == [
        "impossible_card"
    ]


def test_a_dealers_22_pushes_with_live_hands_alone() -> None:
    text = (
        "bet 1 1000; bet 2 1000; bet 3 1000; 1 9S; 2 AS; 3 KS; D 9H; 1 9D; 2 KH; 3 6D; D 4H down;"
        "stand 1; hit 3; 3 KD; show D 4H; D 9C; close"
    )
    assert nets(text, "kansas-shoe", "dealer_22=pushes") == [0, 1500, -1000]
    assert nets(text, "kansas-shoe") == [1000, 1500, -1000]


def test_a_dealer_who_breaks_otherwise_loses_still() -> None:
    text = "bet 1 1000; 1 9S; D 9H; 1 9D; D 4H down; stand 1; show D 4H; D KC; close"
    assert nets(text, "kansas-shoe", "dealer_22=pushes") == [1000]


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ('{ ranks = "678", of = "player" }', "pays[0].when[0].of"),
        ("{ }", "pays[0].when[0]"),
        ("{ between = [1, 2] }", "pays[0].when[0].between"),
        ('{ ranks = "6X8" }', "pays[0].when[0].ranks"),
    ],
)
def test_a_line_that_no_hand_can_be_of_is_refused_by_its_place(line: str, field: str) -> None:
    table = f'[[pays]]\naward = "it"\nwhen = [{line}]\nodds = "2:1"\nclause = "It pays."\n'
    text = f'id = "ours"\nextends = "home"\ntitle = "Ours"\n{table}'
    with pytest.raises(InputRefused) as refused:
        parse(text, "ours.toml", lambda name: parse(rulebook_text(name), name))
    assert refused.value.field == field


def test_the_pay_table_is_written_as_json_and_read_again() -> None:
    book = rules(GAME)
    silent = overridden(book, ["pays=none"])
    assert silent.pays == ()
    assert overridden(silent, [f"pays={shown(book.pays)}"]).pays == book.pays


@pytest.mark.parametrize(
    ("wager", "cards", "dealer", "won"),
    [
        pytest.param(400, "7D 7D 7D", "7S KH", 800, id="less-than-5-dollars"),
        pytest.param(500, "7D 7D 7D", "7S KH", 101_000, id="5-dollars"),
        pytest.param(2400, "7S 7S 7S", "7D KH", 107_200, id="less-than-25-dollars"),
        pytest.param(2500, "7S 7S 7S", "7D KH", 507_500, id="25-dollars"),
        pytest.param(2500, "7S 7S 7S", "KH 7D", 7_500, id="the-seven-lies-face-down"),
        pytest.param(2500, "7S 7S 7H", "7D KH", 3_750, id="of-two-suits"),
    ],
)
def test_three_sevens_of_a_suit_against_a_seven_win_a_fixed_amount_beside(
    wager: int, cards: str, dealer: str, won: int
) -> None:
    lines = hand(cards, dealer).replace("bet 1 1000", f"bet 1 {wager}")
    assert only_hand(lines, GAME).net == won


def test_no_fixed_amount_is_paid_on_a_doubled_or_a_split_hand() -> None:
    doubled = "bet 1 2500; 1 7S; D 7D; 1 7S; D KH down; double 1 2500; 1 7S; show D KH; close"
    assert only_hand(doubled, GAME).net == 5000
    split = (
        "bet 1 2500; 1 7S; D 7D; 1 7S; D KH down; say-split 1; split 1.1 2500;"
        " 1 7S; hit 1; 1 7S; 1.1 KD; stand 1.1; show D KH; close"
    )
    assert nets(split, GAME) == [7_500]


def test_every_bettor_wins_the_fixed_amount_of_his_own_wager_and_a_toke_none() -> None:
    others = "bet 1 400 @Ann; bet 1 500 @Ben; toke 1 500; "
    lines = others + hand("7D 7D 7D", "7S KH")
    (spot,) = one_round(lines, GAME).spots
    assert [one.net for one in spot.bettors or ()] == [102_000, 800, 101_000]
    assert spot.toke
    assert spot.toke.net == 1000


def test_a_fixed_amount_hangs_on_the_up_card_that_nobody_read() -> None:
    lines = hand("7D 7D 7D", "?? ??").replace("; show D ??", "")
    one = only_hand(lines, GAME)
    assert (one.outcome, one.net) == ("unknown", None)
    assert {way.net for way in one.possible or ()} == {-1_000, 2_000, 102_000}
