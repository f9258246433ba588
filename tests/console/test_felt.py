"""The felt's state out of facts: one module for what is live and what is replayed, asked here in
the browser that it runs in."""

import re
from collections.abc import Callable, Iterator
from typing import Any, get_args

import pytest
from playwright.sync_api import Browser

from models.judgements import AnyEvent
from tests.console.looking import screen
from tests.server.service.house import House

pytestmark = pytest.mark.slow

Asked = Callable[..., Any]


@pytest.fixture(scope="module")
def asked(browser: Browser, at_work: House) -> Iterator[Asked]:
    """Ask one of the module's functions; its result comes back as JSON."""
    with screen(browser, at_work) as found:
        found.page.goto(found.url)

        def ask(function: str, *values: Any) -> Any:
            script = """async ([name, values]) => {
                const felt = await import("/page/table_state.js");
                return felt[name](...values);
            }"""
            return found.page.evaluate(script, [function, list(values)])

        yield ask


def events(*facts: dict[str, Any]) -> list[dict[str, Any]]:
    """Number facts as a journal does."""
    return [{"seq": seq, "at": seq * 10, **fact} for seq, fact in enumerate(facts, start=1)]


def dealt(to: Any, card: str | None, **more: Any) -> dict[str, Any]:
    return {"type": "card_dealt", "to": to, "card": card, **more}


def wager(spot: int, amount: int, kind: str = "main", **more: Any) -> dict[str, Any]:
    return {"type": "wager_placed", "spot": spot, "kind": kind, "amount": amount, **more}


OPENED = {"type": "round_opened", "round": 7}


def test_a_split_moves_the_second_card_to_a_hand_of_its_own(asked: Asked) -> None:
    table = asked(
        "tableOf",
        events(
            OPENED,
            wager(2, 3000),
            dealt(2, "8C"),
            dealt(2, "8D"),
            wager(2, 3000, "split", hand=1),
            {"type": "player_acted", "spot": 2, "action": "split"},
            dealt(2, "3H"),
            dealt(2, "JH", hand=1),
        ),
    )
    hands = table["spots"]["2"]["hands"]
    assert [[one["card"] for one in hand["cards"]] for hand in hands] == [
        ["8C", "3H"],
        ["8D", "JH"],
    ]
    assert [hand["stake"] for hand in hands] == [3000, 3000]


def test_the_card_on_a_double_lies_across(asked: Asked) -> None:
    facts = events(
        OPENED,
        wager(1, 500),
        dealt(1, "6S"),
        dealt(1, "5S"),
        wager(1, 500, "double"),
        dealt(1, "9D"),
    )
    (hand,) = asked("tableOf", facts)["spots"]["1"]["hands"]
    assert hand["stake"] == 1000
    assert [card["across"] for card in hand["cards"]] == [False, False, True]


def test_insurance_is_no_part_of_the_stake(asked: Asked) -> None:
    spot = asked("tableOf", events(OPENED, wager(1, 1000), wager(1, 500, "insurance")))["spots"][
        "1"
    ]
    assert (spot["hands"][0]["stake"], spot["insurance"]) == (1000, 500)


def test_a_card_face_down_is_turned_where_it_lies(asked: Asked) -> None:
    facts = events(
        OPENED,
        dealt("dealer", "6S"),
        dealt("dealer", None, face="down"),
        {"type": "card_exposed", "to": "dealer", "card": "TC"},
    )
    before = asked("tableOf", facts[:-1])["dealer"]["cards"]
    assert before[1]["face"] == "down"
    turned = asked("tableOf", facts)["dealer"]["cards"]
    assert [(one["card"], one["face"]) for one in turned] == [("6S", "up"), ("TC", "up")]


def test_a_new_round_clears_the_felt_but_not_the_seats(asked: Asked) -> None:
    facts = events(
        {"type": "player_seated", "player": "P1", "spots": [1]},
        OPENED,
        wager(1, 500),
        dealt(1, "6S"),
        {"type": "round_closed"},
        {"type": "round_opened", "round": 8},
    )
    table = asked("tableOf", facts)
    assert (table["round"], table["spots"], table["seats"]) == (8, {}, {"1": "P1"})


def test_one_event_after_another_comes_to_the_same_as_all_at_once(asked: Asked) -> None:
    facts = events(OPENED, wager(1, 500), dealt(1, "6S"), dealt("dealer", "9H"), dealt(1, "KD"))
    table = asked("newTable")
    for fact in facts:
        table = asked("after", table, fact)
    assert table == asked("tableOf", facts)


@pytest.mark.parametrize(
    ("cards", "total", "soft"),
    [
        pytest.param(["AS", "6D"], 17, True, id="soft-17"),
        pytest.param(["AS", "6D", "TH"], 17, False, id="ace-falls-to-one"),
        pytest.param(["AS", "AD"], 12, True, id="two-aces"),
        pytest.param(["KS", "QD", "2H"], 22, False, id="bust"),
    ],
)
def test_points(asked: Asked, cards: list[str], total: int, soft: bool) -> None:
    hand = [{"card": card, "face": "up"} for card in cards]
    assert asked("points", hand) == {"total": total, "soft": soft}


def test_points_with_a_card_that_is_not_known_are_not_guessed(asked: Asked) -> None:
    assert asked("points", [{"card": "AS", "face": "up"}, {"card": None, "face": "up"}]) is None
    assert asked("points", [{"card": "AS", "face": "up"}, {"card": "KD", "face": "down"}]) is None


LYING = [{"card": card, "face": "up", "across": False} for card in ("JS", "7H", "2H")]


def verdict(cards: list[str | None], burned: list[str | None]) -> dict[str, Any]:
    return {"cards": cards, "burned": burned}


def cards_of(hand: list[dict[str, Any]]) -> list[str | None]:
    return [one["card"] for one in hand]


@pytest.mark.parametrize("is_settled", [True, False])
def test_burned_cards_are_told_from_those_that_count(asked: Asked, *, is_settled: bool) -> None:
    found = asked("judged", LYING, verdict(["JS", "7H"], ["2H"]), is_settled)
    assert cards_of(found["counted"]) == ["JS", "7H"]
    assert found["burned"] == ["2H"]
    assert [one["isBurned"] for one in found["cards"]] == [False, False, True]


def test_before_the_draw_nothing_is_burned(asked: Asked) -> None:
    found = asked("judged", LYING[:2], verdict(["JS", "7H"], ["2H"]), False)
    assert (cards_of(found["counted"]), found["burned"]) == (["JS", "7H"], [])


@pytest.mark.parametrize(
    "settled",
    [
        pytest.param(verdict(["JS", "7D"], ["2H"]), id="another-card"),
        pytest.param(verdict(["JS", "7H"], []), id="a-card-of-another-hand"),
        pytest.param(verdict(["JS"], ["7H", "2H"]), id="more-burned"),
    ],
)
def test_a_settled_hand_is_drawn_as_it_was_decided(asked: Asked, settled: dict[str, Any]) -> None:
    found = asked("judged", LYING, settled, True)
    assert cards_of(found["counted"]) == settled["cards"]
    assert cards_of(found["cards"]) == [*settled["cards"], *settled["burned"]]
    assert cards_of(asked("judged", LYING, settled, False)["cards"]) == ["JS", "7H", "2H"]


def test_a_card_that_a_person_named_is_drawn_once_settled(asked: Asked) -> None:
    unread = [LYING[0], {"card": None, "face": "up", "across": False}]
    found = asked("judged", unread, verdict(["JS", "7H"], []), True)
    assert cards_of(found["counted"]) == ["JS", "7H"]


def test_a_verdict_that_hides_a_hand_changes_no_card_on_the_felt(asked: Asked) -> None:
    down = [LYING[0], {"card": None, "face": "down", "across": False}]
    found = asked("judged", down, verdict([None, None], []), True)
    assert [(one["card"], one["face"]) for one in found["cards"]] == [("JS", "up"), (None, "down")]


def test_every_kind_of_event_has_words_of_its_own(browser: Browser, at_work: House) -> None:
    """A kind that the console does not know is still shown, by its code; none ships so."""
    kinds = [str(kind.__struct_config__.tag) for kind in get_args(AnyEvent)]
    with screen(browser, at_work) as found:
        found.page.goto(found.url)
        source = found.page.evaluate("fetch('/page/words.js').then((one) => one.text())")
    told = re.findall(r"^  (\w+): [(a-z]", source, re.MULTILINE)
    assert set(kinds) <= set(told)
