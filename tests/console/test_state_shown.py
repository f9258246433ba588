"""What is shown of a table, a decision and a figure is true."""

import re
import shutil
import sys
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from models.events import CameraFault, CameraRecovered
from models.money import dollars
from server.house.device_faults import FAULT_WORDS, OVERLOAD_WAY_OUT, fault_text
from server.house.formatting import Formats
from server.readmodel.device_standing import LINK_FAULTS, PICTURE_FAULTS
from stream.clock import HostClock
from stream.journal import Journal
from tests.console.busy_floor import shifted
from tests.console.looking import Screen, screen
from tests.golden.sessions import heard
from tests.server.doubted import table
from tests.server.service.house import House, house, until

pytestmark = pytest.mark.slow

_COLOURS = """async () => {
    const { chart } = await import("/page/chart.js");
    const hour = 3.6e12;
    const points = (y) => [1, 2].map((one) => ({ x: one * hour, y }));
    const five = [1, 2, 3, 4, 5].map((one) => ({ name: `${one}`, points: points(one) }));
    const painted = (canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const found = new Set();
        for (let at = 0; at < data.length; at += 4) {
            found.add(`rgb(${data[at]}, ${data[at + 1]}, ${data[at + 2]})`);
        }
        return found;
    };
    const drawnAs = async (bars) => {
        const drawn = chart({ title: "t", about: "a", series: five, x: String, y: String, bars });
        document.querySelector("main").replaceChildren(drawn);
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        const seen = painted(drawn.querySelector("canvas"));
        return [...drawn.querySelectorAll(".key svg")].map((one) => {
            const colour = getComputedStyle(one.querySelector(".mark")).fill;
            const dash = one.querySelector(".curve")?.getAttribute("stroke-dasharray");
            const mark = one.querySelector(bars ? ".hatch" : ".mark").getAttribute("d");
            return { colour, dash, mark, painted: seen.has(colour) };
        });
    };
    return { lines: await drawnAs(false), bars: await drawnAs(true) };
}"""
_ACROSS_A_GAP = """async (step) => {
    const { chart } = await import("/page/chart.js");
    const hour = 3.6e12;
    const series = [{ name: "one", points: [1, 2, 9, 10].map((x) => ({ x: x * hour, y: 1 })) }];
    const written = { title: "t", about: "a", x: String, y: String };
    const drawn = chart({ ...written, series, step: step * hour });
    document.querySelector("main").replaceChildren(drawn);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const canvas = drawn.querySelector("canvas");
    const tone = getComputedStyle(drawn.querySelector(".key .mark")).fill;
    const middle = Math.round(canvas.width * 0.55);
    const { data } = canvas.getContext("2d").getImageData(middle, 0, 1, canvas.height);
    const colours = new Set();
    for (let at = 0; at < data.length; at += 4) {
        colours.add(`rgb(${data[at]}, ${data[at + 1]}, ${data[at + 2]})`);
    }
    return colours.has(tone);
}"""
_INDICES = """async () => {
    const { drawFelt } = await import("/page/felt.js");
    const { newTable } = await import("/page/table_state.js");
    const layout = await (await fetch("/api/sessions/bj-07/footage")).json();
    const table = newTable();
    const card = (one) => ({ card: one, face: "up", across: false });
    const cards = ["8H", "TD", "TS", "8?", "T?"].map(card);
    const hands = [{ stake: 100, doubled: false, acted: null, cards }];
    table.spots[1] = { wager: 100, insurance: 0, side: 0, paid: {}, hands };
    const felt = drawFelt(table, "players", layout.layout);
    document.querySelector("main").replaceChildren(felt);
    const box = (one) => {
        const { left, right } = one.getBoundingClientRect();
        return [left, right];
    };
    return [...felt.querySelectorAll(".index")].map((one) => {
        const face = one.parentNode.querySelector(".face");
        return { text: one.textContent, index: box(one), card: box(face) };
    });
}"""


def test_a_recorded_table_is_not_live(officer: Screen) -> None:
    tile = officer.page.get_by_role("region", name="Tables").get_by_role("link").first
    expect(tile).to_contain_text("Recorded")
    officer.go("table/BJ-07")
    expect(officer.page.get_by_text("Recorded", exact=True)).to_be_visible()
    expect(officer.page.get_by_text(re.compile("^Live"))).to_have_count(0)
    expect(officer.page.get_by_role("heading", name="Last events")).to_be_visible()


def test_no_link_leads_to_a_round_that_is_not_there(officer: Screen) -> None:
    officer.go("round/bj-07/2")
    expect(officer.page.get_by_role("link", name="Previous round")).to_be_visible()
    expect(officer.page.get_by_role("link", name="Next round")).to_have_count(0)
    officer.page.keyboard.press("]")
    expect(officer.page.get_by_role("heading", name="round 2")).to_be_visible()
    officer.page.keyboard.press("[")
    expect(officer.page.get_by_role("heading", name="round 1")).to_be_visible()
    expect(officer.page.get_by_role("link", name="Previous round")).to_have_count(0)


def test_a_replayed_table_is_quiet_and_a_dealing_one_is_live(
    browser: Browser, tmp_path: Path
) -> None:
    now_ns = HostClock().now_ns()
    with (
        Journal.create(tmp_path / "bj-21.journal") as dealing,
        Journal.create(tmp_path / "bj-22.journal") as replayed,
        house(tmp_path, tmp_path / "state") as own,
        screen(browser, own) as officer,
    ):
        for journal, name, observations in (
            (dealing, "BJ-21", shifted(heard("plain"), now_ns)),
            (replayed, "BJ-22", heard("plain")),
        ):
            live = table(journal, name)
            for one in observations[:20]:
                live.observe((one.observation,), one.now_ns)
        own.staff()
        officer.sign_in("surveillance")
        tiles = officer.page.get_by_role("region", name="Tables").get_by_role("link")
        expect(tiles.filter(has_text="BJ-21")).to_contain_text("In play")
        expect(tiles.filter(has_text="BJ-22")).to_contain_text("Quiet")
        officer.go("table/BJ-21")
        expect(officer.page.get_by_text("Live", exact=True)).to_be_visible()
        expect(officer.page.get_by_role("heading", name="Live events")).to_be_visible()
        dealing.append(camera_fault(now_ns, "damaged"))
        devices = officer.page.get_by_role("region", name="Devices")
        expect(devices).to_contain_text("1 damaged packet")
        expect(devices).to_contain_text("no fault")
        officer.go("floor")
        officer.shows("No device faults.")
        officer.go("table/BJ-22")
        expect(officer.page.get_by_text("Quiet", exact=True)).to_be_visible()


def camera_fault(at_ns: int, kind: str, count: int = 1) -> CameraFault:
    return CameraFault(
        table="BJ-21",
        at=at_ns,
        source="camera:overhead",
        kind=kind,
        detail="",
        frame=1,
        count=count,
    )


def test_a_machine_that_leaves_pictures_out_is_at_fault_until_it_keeps_up(
    browser: Browser, tmp_path: Path
) -> None:
    now_ns = HostClock().now_ns()
    with (
        Journal.create(tmp_path / "bj-21.journal") as dealing,
        house(tmp_path, tmp_path / "state") as own,
        screen(browser, own) as officer,
    ):
        live = table(dealing, "BJ-21")
        observed = shifted(heard("plain"), now_ns)
        for one in observed[:20]:
            live.observe((one.observation,), one.now_ns)
        own.staff()
        officer.sign_in("surveillance")
        tile = officer.page.get_by_role("region", name="Tables").get_by_role("link")
        expect(tile).to_contain_text("No device faults")
        dealing.append_all(
            [camera_fault(now_ns, "overloaded"), camera_fault(now_ns, "left_out", 26)]
        )
        expect(tile).to_contain_text("overload, pictures are left out")
        officer.shows("1 table with a device at fault.")
        officer.go("table/BJ-21")
        devices = officer.page.get_by_role("region", name="Devices")
        expect(devices).to_contain_text("overload, pictures are left out since")
        expect(devices).to_contain_text(OVERLOAD_WAY_OUT)
        expect(devices).to_contain_text("26 pictures left out")
        expect(devices).not_to_contain_text("no fault")
        events = officer.page.get_by_role("list", name="Events, newest first")
        expect(events).to_contain_text("Camera overhead: pictures left out (26)")
        expect(events).not_to_contain_text("left_out")
        dealing.append(
            CameraRecovered(
                table="BJ-21",
                at=now_ns,
                source="camera:overhead",
                kind="overloaded",
                lasted_ns=1,
                frame=1,
            )
        )
        expect(devices).to_contain_text("no fault")
        expect(devices).to_contain_text("1 overload")
        expect(devices).not_to_contain_text(OVERLOAD_WAY_OUT)
        for one in observed[20:]:
            live.observe((one.observation,), one.now_ns)
        live.finish()
        for number, is_said in ((1, True), (2, False)):
            officer.go(f"round/bj-21/{number}")
            findings = officer.page.get_by_role("region", name="Findings")
            expect(findings).to_contain_text("No mistake in this round.")
            said = findings.get_by_text("26 pictures left out while this round was dealt")
            expect(said).to_have_count(int(is_said))


def test_the_console_has_the_words_of_the_commands_for_every_fault(officer: Screen) -> None:
    of_console = """async (kinds) => {
        const { faultText, wayOut } = await import("/page/faults.js");
        return [kinds.map(faultText), wayOut("overloaded")];
    }"""
    kinds = [*FAULT_WORDS, "a_kind_of_a_plug_in"]
    words, way_out = officer.page.evaluate(of_console, kinds)
    assert words == [fault_text(kind) for kind in kinds]
    assert not any("_" in one for one in words)
    assert way_out == OVERLOAD_WAY_OUT
    assert {"overloaded", "left_out"} | LINK_FAULTS | PICTURE_FAULTS <= {*FAULT_WORDS}


def test_a_decision_is_shown_as_what_was_done_and_is_no_signature(
    browser: Browser, recorded: Path, tmp_path: Path
) -> None:
    shutil.copy(recorded / "bj-08.journal", tmp_path)
    with house(tmp_path, tmp_path / "state") as own, screen(browser, own) as officer:
        own.staff()
        officer.sign_in("pit")
        officer.go("incidents")
        choice = officer.page.get_by_role("button", name="It is 6♥")
        expect(officer.page.get_by_text("Nobody has worked on it yet.")).to_be_visible()
        choice.click()
        officer.page.get_by_role("button", name="Decide as pit: it is 6♥").click()
        status = officer.page.get_by_role("status").filter(has_text="Decided")
        expect(status).to_contain_text(re.compile(r"Journal entry \d+"))
        history = officer.page.get_by_role("region", name="History")
        expect(history).to_contain_text("pit decided: It is 6♥.")
        expect(officer.page.get_by_text("Nobody has worked on it yet.")).to_have_count(0)
        expect(officer.page.get_by_text(re.compile(r"\b[Ss]igned\b"))).to_have_count(0)
        officer.go("floor")
        newest = officer.page.get_by_role("region", name="Newest incidents")
        expect(newest).to_contain_text("BJ-08")
        expect(newest).not_to_contain_text("by hand")
        officer.go("table/BJ-08")
        expect(officer.page.get_by_text("Jan 1, 2026").first).to_be_visible()
        expect(officer.page.get_by_text(re.compile(r"\d s ago"))).to_have_count(0)


def test_an_export_that_the_service_cannot_write_is_not_offered(
    officer: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = officer.page.get_by_role("button", name=".parquet")
    officer.go("rounds")
    expect(parquet).to_have_count(2)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    officer.page.reload()
    expect(officer.page.get_by_role("button", name="ledger .csv")).to_be_visible()
    expect(parquet).to_have_count(0)


@pytest.mark.parametrize("path", ["table/BJ-08", "incidents"])
def test_a_moment_long_past_is_dated_once(officer: Screen, path: str) -> None:
    officer.go(path)
    expect(officer.page.get_by_text(re.compile("Jan 1, 2026, .* UTC")).first).to_be_visible()
    expect(officer.page.get_by_text("(Jan 1, 2026)")).to_have_count(0)


def test_a_loss_has_the_same_minus_on_the_page_and_in_a_sentence(officer: Screen) -> None:
    written = """async () => (await import("/page/house.js"))
        .amountOf(-500, { code: "USD", decimals: 2 })"""
    assert officer.page.evaluate(written) == Formats().amount(-500) == dollars(-500)


def test_a_line_ends_where_nothing_was_played(officer: Screen) -> None:
    officer.go("floor")
    assert officer.page.evaluate(_ACROSS_A_GAP, 8)
    assert not officer.page.evaluate(_ACROSS_A_GAP, 1)


def test_no_two_series_of_a_chart_look_alike(officer: Screen) -> None:
    drawn: dict[str, list[dict[str, Any]]] = officer.page.evaluate(_COLOURS)
    for kind, ways in (("lines", ("colour", "dash", "mark")), ("bars", ("colour", "mark"))):
        for way in ways:
            assert len({one[way] for one in drawn[kind]}) == 5, (kind, way, drawn[kind])
        assert all(one["painted"] for one in drawn[kind]), drawn[kind]
        colours = [rgb(one["colour"]) for one in drawn[kind]]
        assert min(apart(*pair) for pair in combinations(colours, 2)) > 70


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", colour)[:3])


def apart(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    return float(sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5)


def test_an_eight_and_a_ten_side_by_side_do_not_read_810(officer: Screen) -> None:
    """Each index stands within its own card, well apart from the one before."""
    found: list[dict[str, Any]] = officer.page.evaluate(_INDICES)
    assert [one["text"] for one in found] == ["8", "10", "10", "8", "10"]
    for one in found:
        margin = (one["card"][1] - one["card"][0]) * 0.03
        assert one["card"][0] + margin <= one["index"][0]
    for before, one in pairwise(found):
        gap = one["index"][0] - before["index"][1]
        assert gap > 0.1 * (before["card"][1] - before["card"][0]), (before, one)


@pytest.mark.parametrize("size", [(390, 844), (1024, 768)])
def test_a_phone_decides_comments_and_takes_out(
    browser: Browser, at_work: House, size: tuple[int, int]
) -> None:
    """All that can be done at a screen is within reach: nothing is hidden or beyond the edge."""
    with screen(browser, at_work, *size) as phone:
        phone.enter("surveillance")
        for address, names in _ACTIONS.items():
            phone.go(address)
            expect(phone.page.get_by_text("Reading…")).to_have_count(0)
            for name in names:
                one = phone.page.get_by_role("main").get_by_text(name).first
                expect(one).to_be_visible()
                until(partial(is_within, one, size[0]))
            assert phone.page.evaluate("document.documentElement.scrollWidth") <= size[0], address


def is_within(one: Locator, width_px: int) -> bool:
    box = one.bounding_box()
    return box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width_px + 1


_ACTIONS = {
    "incidents/bj-08.1": ["Nobody can tell", "The floor calls", "Another card", "Close it"],
    "incidents/bj-07.2": ["Watch the round", "Report", "Evidence file", "Take it"],
    "round/bj-07/1": ["Snapshot", "Play", "Incident", "PDF", "Next round"],
    "table/BJ-07": ["Replay this round", "All rounds", "Session report"],
    "rounds": ["mistakes .csv", "hands .parquet"],
    "charts": ["Table", "Steps"],
    "rulebook": ["Find a rule"],
    "own": ["Change it", "Set it up", "Sign out"],
}
