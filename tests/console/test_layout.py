"""What is written is read whole at every size of screen, and no message covers a control."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.console.gallery import SIZES
from tests.console.looking import Screen, screen
from tests.server.service.house import House

pytestmark = pytest.mark.slow

PHONE = (390, 844)
_CUT = """() => [...document.querySelectorAll("select, input[placeholder]")].filter(
    (one) => one.checkVisibility(),
).map((one) => {
    const brush = document.createElement("canvas").getContext("2d");
    const style = getComputedStyle(one);
    brush.font = style.font;
    const text = one.placeholder || one.selectedOptions[0].text;
    const taken = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    const needed = brush.measureText(text).width + (one.placeholder ? 0 : 20);
    return needed > one.clientWidth - taken ? text : null;
}).filter(Boolean)"""
_FULL_TILES = """(many) => {
    const tiles = document.querySelector(".tiles");
    tiles.classList.remove("few", "many");
    tiles.classList.add(many);
    const [tile] = tiles.children;
    while (tiles.children.length < 12) tiles.append(tile.cloneNode(true));
    const counts = [["Mistakes", 53], ["Suspected", 17], ["Decide", 128]];
    const told = [["Round", 1204], ["Pace", "109/h"], ...counts];
    const cut = [];
    for (const one of tiles.children) {
        const list = one.querySelector("dl");
        const pair = list.firstElementChild;
        list.replaceChildren(...told.map(([name, value]) => {
            const copy = pair.cloneNode(true);
            copy.querySelector("dt").textContent = name;
            copy.querySelector("dd").textContent = value;
            return copy;
        }));
        const { right } = one.getBoundingClientRect();
        for (const part of one.querySelectorAll("dt, dd, strong, .state")) {
            if (part.getBoundingClientRect().right > right) cut.push(part.textContent);
        }
    }
    return cut;
}"""
_BOXES = """(row) => {
    const [, text, rests] = row.querySelectorAll("span");
    const box = (one) => one.getBoundingClientRect().toJSON();
    return { row: box(row), text: box(text), rests: box(rests) };
}"""


def sized(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})


def top_of(one: Locator) -> float:
    found = one.bounding_box()
    assert found is not None
    return found["y"]


@pytest.mark.parametrize("title", ["Incidents", "Rounds", "Charts", "Rulebook"])
def test_no_choice_and_no_hint_is_cut(officer: Screen, title: str) -> None:
    officer.go(title.lower())
    expect(officer.page.get_by_role("heading", name=title).first).to_be_visible()
    for size in SIZES:
        sized(officer.page, size)
        expect(officer.page.locator("main select, main input").last).to_be_visible()
        assert officer.page.evaluate(_CUT) == [], size


@pytest.mark.parametrize("many", ["few", "some", "many"])
def test_a_tile_holds_all_that_it_tells(officer: Screen, many: str) -> None:
    """However wide the house's number of tables lets it be."""
    officer.page.locator(".tile").first.wait_for()
    for size in SIZES:
        sized(officer.page, size)
        assert officer.page.evaluate(_FULL_TILES, many) == [], size


def test_the_house_clock_stands_in_the_bar_of_a_tablet(officer: Screen) -> None:
    sized(officer.page, (1024, 768))
    expect(officer.page.locator("#wall")).to_be_visible()
    expect(officer.page.locator("#wall")).to_have_text(re.compile(r"^\d\d:\d\d:\d\d UTC$"))


def test_the_house_clock_stands_in_the_menu_of_a_phone(officer: Screen) -> None:
    sized(officer.page, PHONE)
    officer.page.get_by_role("button", name="Menu").click()
    expect(officer.page.locator("#wall")).to_be_visible()


def test_severity_and_state_stand_side_by_side(officer: Screen) -> None:
    officer.go("incidents/bj-07.2")
    badges = officer.page.locator(".detail .head .badge")
    expect(badges).to_have_count(2)
    for size in SIZES:
        sized(officer.page, size)
        tops = badges.evaluate_all("all => all.map((one) => one.getBoundingClientRect().top)")
        assert tops[0] == tops[1], size


def test_what_an_event_rests_on_leaves_its_sentence_the_width_of_a_phone(
    officer: Screen,
) -> None:
    sized(officer.page, PHONE)
    officer.go("round/bj-07/1")
    events = officer.page.get_by_role("list", name="Events of the round").get_by_role("button")
    boxes = events.filter(has_text="based on").first.evaluate(_BOXES)
    assert boxes["rests"]["top"] >= boxes["text"]["bottom"]
    assert boxes["text"]["width"] > boxes["row"]["width"] * 0.8


def test_a_tick_of_the_time_line_has_the_colour_that_the_legend_names(officer: Screen) -> None:
    officer.go("round/bj-07/1")
    tick, name = officer.page.locator(".tick.mark").first, officer.page.locator(".legend .mark")
    expect(name).to_have_text("round")
    fill = tick.evaluate("one => getComputedStyle(one).fill")
    legend = "one => getComputedStyle(one, '::before').backgroundColor"
    assert fill == name.evaluate(legend)


def test_being_connected_again_covers_nothing(browser: Browser, at_work: House) -> None:
    with screen(browser, at_work, *PHONE) as officer:
        officer.sign_in("surveillance")
        officer.go("own")
        page = officer.page
        page.context.set_offline(True)
        expect(page.get_by_role("alert").filter(has_text="cannot be reached")).to_be_visible()
        page.context.set_offline(False)
        again = page.get_by_role("alert").filter(has_text="Connected again.")
        expect(again).to_be_visible()
        foot = again.evaluate("one => one.getBoundingClientRect().bottom")
        assert foot <= top_of(page.get_by_role("main"))
        expect(page.locator("#toast")).to_be_empty()


def test_a_card_in_a_sentence_is_written_as_on_the_table(officer: Screen) -> None:
    officer.go("incidents")
    listed = officer.page.get_by_role("list", name="Incidents").get_by_role("button")
    listed.filter(has_text="Dealer hit hard 17").click()
    detail = officer.page.locator(".note.bad > p").first
    expect(detail).to_contain_text(re.compile(r"drew (10|[2-9JQKA])[♠♥♦♣] on "))


def test_a_rule_that_is_an_amount_is_written_as_one(officer: Screen) -> None:
    officer.go("rulebook")
    rule = officer.page.get_by_role("row").filter(has_text="table_min")
    expect(rule.locator("b")).to_have_text("5.00")
