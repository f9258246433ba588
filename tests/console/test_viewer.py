"""Looking closely at a round's picture: its labels, larger, one by one, and kept as proof."""

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from models.events import CardExposed
from server.archive.snapshot import Facts
from server.bundle.bundle import read_bundle
from stream.reading import read_journal
from tests.console.looking import Screen, screen
from tests.server.service.house import House, until

pytestmark = pytest.mark.slow

_BOXES = """rects => rects.map(one => { const { x, y, width, height } = one.getBoundingClientRect();
    return [x, y, x + width, y + height]; })"""
_PLACED = """async ([labels, bounds]) => {
    const { placeLabels } = await import("/page/labels.js");
    return placeLabels(labels, bounds);
}"""


def overlapping(boxes: list[list[float]]) -> list[tuple[list[float], list[float]]]:
    return [
        (one, other)
        for one, other in combinations(boxes, 2)
        if one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
    ]


def opened(at: Screen, address: str = "round/bj-07/1") -> Page:
    at.go(address)
    expect(at.page.locator("figcaption")).to_contain_text("picture")
    until(lambda: at.page.evaluate("document.querySelector('video').readyState > 1"))
    return at.page


def at_the_payments(page: Page) -> Locator:
    """Go to the moment at which all cards lie: before the first payment."""
    events = page.get_by_role("list", name="Events of the round").get_by_role("button")
    events.filter(has_text=re.compile("pays|is paid")).first.click()
    labels = page.locator(".outlines .label rect")
    expect(labels.first).to_be_attached()
    return labels


@pytest.mark.parametrize("width", [1600, 390])
def test_labels_on_small_cards_do_not_cover_each_other(
    browser: Browser, at_work: House, width: int
) -> None:
    with screen(browser, at_work, width, 900) as officer:
        officer.enter("surveillance")
        labels = at_the_payments(opened(officer))
        boxes = labels.evaluate_all(_BOXES)
        assert len(boxes) >= 7
        assert overlapping(boxes) == []
        assert min(bottom - top for _, top, _, bottom in boxes) > 12


def test_nothing_moves_beneath_the_pointer_when_the_evidence_comes(officer: Screen) -> None:
    page = officer.page
    page.route("**/clips/**", lambda _: None)  # a video that does not come: pictures wait for it
    officer.go("round/bj-07/1")
    events = page.get_by_role("list", name="Events of the round")
    expect(page.locator("figcaption")).to_contain_text("picture")
    before = events.bounding_box()
    expect(page.locator(".crops img[src]").first).to_be_visible()
    assert events.bounding_box() == before


def test_the_hole_card_is_among_the_evidence_pictures(officer: Screen, recorded: Path) -> None:
    """Its fact rests on the look at its back before the one at its face."""
    turned = next(
        one for one in read_journal(recorded / "bj-07.journal") if isinstance(one, CardExposed)
    )
    officer.go("round/bj-07/1")
    assert turned.card is not None
    name = turned.card.rank.replace("T", "10") + "♣♦♥♠"["CDHS".index(turned.card.suit)]
    dealers = officer.page.locator(".crops li").filter(has_text="dealer")
    expect(dealers.filter(has_text=name)).to_have_count(1)


def test_labels_of_many_cards_on_one_heap_are_led_apart(officer: Screen) -> None:
    def card(number: int) -> dict[str, Any]:
        x, y = 300 + number % 6 * 9, 200 + number // 6 * 9
        corners = [[x, y], [x + 20, y], [x + 20, y + 30], [x, y + 30]]
        anchor, point = [x - 5, y - 7], [x + 5, y + 7]
        size = {"width": 34, "height": 20}
        return {"anchor": anchor, "point": point, "corners": corners, **size}

    labels = [card(number) for number in range(40)]
    placed = officer.page.evaluate(_PLACED, [labels, {"width": 640, "height": 360}])
    boxes = [[one["x"] - 17, one["y"] - 10, one["x"] + 17, one["y"] + 10] for one in placed]
    assert overlapping(boxes) == []
    assert all(
        left >= 0 and right <= 640 and top >= 0 and bottom <= 360
        for left, top, right, bottom in boxes
    )
    assert not placed[0]["isAway"]
    assert all(one["isAway"] for one in placed[1:8])


def test_the_picture_is_enlarged_by_keys_and_its_labels_stay_as_they_are(
    officer: Screen,
) -> None:
    page = opened(officer)
    label = at_the_payments(page).first
    small = label.bounding_box()
    for _ in range(3):
        page.keyboard.press("+")
    expect(page.get_by_label("Enlarged")).to_have_text("338%")
    large = label.bounding_box()
    assert small is not None
    assert large is not None
    assert abs(large["height"] - small["height"]) < 1.5
    page.get_by_role("group", name="Picture of camera overhead").press("ArrowRight")
    moved = page.locator(".lens").evaluate("one => new DOMMatrix(one.style.transform).e")
    assert moved < 0
    page.keyboard.press("0")
    expect(page.get_by_label("Enlarged")).to_have_text("100%")


def test_the_picture_fills_the_screen_and_can_be_worked_there(officer: Screen) -> None:
    page = opened(officer)
    page.keyboard.press("f")
    until(lambda: page.evaluate("document.fullscreenElement?.matches('figure.picture')"))
    expect(page.get_by_role("button", name="Next picture")).to_be_visible()
    page.keyboard.press("f")
    until(lambda: page.evaluate("document.fullscreenElement === null"))


def shown_picture(page: Page) -> int:
    found = re.search(r"picture (\d+) of", page.locator("figcaption").inner_text())
    assert found is not None
    return int(found[1])


def test_a_round_is_stepped_through_picture_by_picture(officer: Screen) -> None:
    page = opened(officer)
    at_the_payments(page)
    first = shown_picture(page)
    video = page.locator("video")
    for step in range(1, 4):
        page.keyboard.press(".")
        expect(page.locator("figcaption")).to_contain_text(f"picture {first + step} of")
    until(lambda: page.evaluate("!document.querySelector('video').seeking"))
    stood = video.evaluate("one => one.currentTime")
    page.get_by_role("button", name="Previous picture").click()
    until(lambda: page.evaluate("!document.querySelector('video').seeking"))
    assert shown_picture(page) == first + 2
    assert stood - video.evaluate("one => one.currentTime") == pytest.approx(0.1, abs=0.01)


def test_a_snapshot_is_saved_with_its_proof(officer: Screen, at_work: House) -> None:
    page = opened(officer)
    at_the_payments(page)
    number = shown_picture(page)
    with page.expect_download() as taken:
        page.keyboard.press("s")
    assert re.fullmatch(r"BJ-07-round-1-overhead-.*Z\.png", taken.value.suggested_filename)
    facts = read_bundle(taken.value.path()).manifest.about_as(Facts, "snapshot")
    assert (facts.table, facts.round, facts.camera) == ("BJ-07", 1, "overhead")
    assert facts.made_by == "surveillance"
    with at_work.signed_in("pit") as pit:
        footage = at_work.get(pit, "/api/sessions/bj-07/rounds/1/footage")
    clip = footage["cameras"][0]["clip"]
    assert facts.at == clip["from_ns"] + clip["frames"][number - 1]
    expect(page.get_by_role("status").filter(has_text="Saved")).to_contain_text("pitwatch verify")
    officer.shot("viewer")
