"""The console as people use it, in a real browser, against a real service."""

import re
import shutil
from base64 import b32decode
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Download, Page, expect
from playwright.sync_api import TimeoutError as TooLate

from models.events import Fact, RoundOpened
from server.archive.incident import Facts
from server.bundle.bundle import read_bundle
from server.readmodel.ending import RESTART_NS
from server.service.access.people import TwoPeople
from server.service.access.totp import code_of, step_at
from server.table.pipeline import Pipeline
from stream.clock import HostClock
from stream.journal import Journal
from stream.reading import read_journal
from tests.console.busy_floor import shifted
from tests.console.looking import Screen, screen
from tests.golden.sessions import Heard, heard
from tests.server.doubted import play_between_accounts, table
from tests.server.filmed import at, recording, shot
from tests.server.service.house import PASSWORD, House, Standing, house, until

pytestmark = pytest.mark.slow


def test_the_sign_in_is_asked_for_before_anything_is_shown(
    browser: Browser, at_work: House
) -> None:
    with screen(browser, at_work) as stranger:
        stranger.go("table/BJ-07")
        expect(stranger.page.get_by_role("form", name="Sign in")).to_be_visible()
        expect(stranger.page.get_by_text("BJ-07")).to_have_count(0)
        stranger.shot("sign-in")


def test_a_wrong_password_is_refused_and_five_lock_the_name(
    browser: Browser, recorded: Path, tmp_path: Path
) -> None:
    with house(recorded, tmp_path / "state") as own, screen(browser, own) as stranger:
        own.staff()
        stranger.page.goto(own.url)
        for _ in range(5):
            stranger.try_sign_in("pit", "not the password")
            expect(stranger.page.get_by_role("alert")).to_contain_text("wrong")
        stranger.try_sign_in("pit", "a long enough password")
        expect(stranger.page.get_by_role("alert")).to_contain_text("try again in 15 min")
        stranger.shot("locked-out")


def test_the_floor_shows_every_table_and_what_needs_somebody_first(officer: Screen) -> None:
    tiles = officer.page.get_by_role("region", name="Tables").get_by_role("link")
    expect(tiles).to_have_count(2)
    newest = officer.page.get_by_role("region", name="Newest incidents")
    expect(newest.get_by_role("listitem").first).to_contain_text("Wrong payout")
    officer.shot("floor")


def test_a_table_settles_before_ones_eyes(browser: Browser, tmp_path: Path) -> None:
    """The felt fills with the cards as they are dealt, and shows what is due when it settles."""
    journals = tmp_path / "journals"
    journals.mkdir()
    observations = shifted(heard("plain"), HostClock().now_ns())
    with Journal.create(journals / "bj-21.journal") as journal:
        live = table(journal, "BJ-21")
        observe(live, observations[:8])
        with house(journals, tmp_path / "state") as own, screen(browser, own) as officer:
            own.staff()
            officer.sign_in("surveillance")
            officer.go("table/BJ-21")
            expect(officer.page.get_by_text("Live", exact=True)).to_be_visible()
            expect(officer.page.get_by_text("Shown when the round settles.")).to_be_visible()
            observe(live, observations[8:24])
            expect(officer.page.get_by_role("img", name="In play")).to_be_visible()
            officer.shot("table-in-play")
            observe(live, observations[24:])
            live.finish()
            due = officer.page.get_by_role("region", name="Due at settlement")
            # Headings, dealer, three spots and two sums.
            expect(due.get_by_role("row")).to_have_count(7)
            felt = officer.page.get_by_role("img", name="Settled")
            expect(felt).to_have_accessible_name(re.compile("No card lies on it"))
            officer.shot("table-settled")


def test_the_camera_of_a_table_at_work_is_played_as_it_records(
    browser: Browser, tmp_path: Path
) -> None:
    filming = recording(tmp_path / "bj-01", range(45), segment_s=6)
    with (
        Journal.create(tmp_path / "bj-01.journal") as journal,
        house(tmp_path, tmp_path / "state") as own,
        screen(browser, own) as officer,
    ):
        journal.append(RoundOpened(at=at(40), table="BJ-01", round=1))
        own.staff()
        officer.sign_in("surveillance")
        officer.shows("BJ-01")
        officer.go("table/BJ-01")
        video = officer.page.get_by_label("Camera overhead, live")
        expect(video).to_be_visible()
        for number in range(45, 130):
            filming.add(shot(number, at(number)))
        # The second segment has begun: it is played on, and in the recording's own time.
        until(lambda: video.evaluate("playing => playing.currentTime") > 9)
        officer.shot("table-live-video")
    filming.close()


def observe(live: Pipeline, observations: Iterable[Heard]) -> None:
    for one in observations:
        live.observe((one.observation,), one.now_ns)


def test_a_wrong_payment_is_caught_with_its_clause_in_words(officer: Screen) -> None:
    officer.go("table/BJ-07")
    officer.shows("due 7.50, paid 5.00")
    officer.shows("Every wager is paid or taken for exactly what it is due.")
    officer.shows("Spot 2 is still owed 2.50; the house paid 5.00 where 7.50 were due.")
    wrong = officer.page.locator("tr.wrong")
    expect(wrong).to_contain_text("Blackjack")
    expect(wrong).to_contain_text("-2.50")
    officer.shot("table-with-video")


@pytest.mark.slow(shows="a page of the console in a browser")
def test_a_mistake_is_quoted_from_the_part_of_the_rules_that_it_breaks(
    officer: Screen,
) -> None:
    officer.go("round/bj-07/1")
    note = officer.page.locator(".note.bad").first
    expect(note).to_contain_text("stand on any total of 17 through 21")
    expect(note).to_contain_text("Kansas Lottery: rules of blackjack")
    expect(note).not_to_contain_text("soft 17” and the dealer must draw")
    expect(note).not_to_contain_text(".txt")
    officer.shot("round-verdict")


def test_a_round_is_gone_through_event_by_event(officer: Screen) -> None:
    officer.go("round/bj-07/1")
    felt = officer.page.locator("svg.felt")
    officer.page.keyboard.press("End")
    expect(felt).to_have_attribute("aria-label", re.compile("Settled"))
    officer.page.keyboard.press("Home")
    expect(felt).to_have_attribute("aria-label", re.compile("round none|Wagers open"))
    for _ in range(4):
        officer.page.keyboard.press("ArrowRight")
    expect(felt).to_have_attribute("aria-label", re.compile("spot 2: .* of "))
    slider = officer.page.get_by_role("slider", name="Moment of the round")
    assert 0 < int(slider.input_value()) < int(slider.get_attribute("max") or 0)
    officer.shot("round")


def test_the_queue_is_worked_by_keyboard_and_nothing_in_it_goes(
    browser: Browser, recorded: Path, tmp_path: Path
) -> None:
    with house(recorded, tmp_path / "state") as own, screen(browser, own) as officer:
        own.staff()
        officer.sign_in("surveillance")
        press = officer.page.keyboard.press
        press("g")
        press("i")
        entries = officer.page.get_by_role("list", name="Incidents").get_by_role("button")
        expect(entries).to_have_count(3)
        expect(entries.first).to_have_attribute("aria-current", "true")
        officer.shows("due 7.50, paid 5.00")
        press("a")
        officer.shows("took it")
        press("c")
        officer.page.keyboard.type("Seen on the video as well.")
        officer.page.get_by_role("form", name="Comment").get_by_role("button").press("Enter")
        officer.shows("Seen on the video as well.")
        officer.shot("incident")
        press("x")
        officer.page.keyboard.type("The player was paid the rest.")
        officer.page.get_by_role("form", name="Close").get_by_role("button").press("Enter")
        expect(entries).to_have_count(2)
        officer.page.get_by_label("State").select_option("closed")
        expect(entries).to_have_count(1)
        officer.shows("closed it: The player was paid the rest.")


def test_a_card_in_doubt_is_decided_by_keyboard_and_the_round_settles(
    browser: Browser, recorded: Path, tmp_path: Path
) -> None:
    journals = tmp_path / "journals"
    journals.mkdir()
    shutil.copy(recorded / "bj-08.journal", journals)
    with house(journals, tmp_path / "state") as own, screen(browser, own) as officer:
        own.staff()
        officer.sign_in("pit")
        officer.go("incidents")
        officer.page.get_by_role("button", name="It is 6♥").wait_for()
        officer.shot("decide")
        officer.page.keyboard.press(choice_of(officer, "It is 6♥"))
        decide = officer.page.get_by_role("button", name="Decide as pit: it is 6♥")
        expect(decide).to_be_enabled()
        officer.page.keyboard.press("Enter")
        officer.shows("It is 6♥.")
        officer.shot("decided")


def test_an_item_between_two_accounts_shows_what_each_settles_to_and_who_speaks_for_it(
    browser: Browser, tmp_path: Path
) -> None:
    journals = tmp_path / "journals"
    journals.mkdir()
    with Journal.create(journals / "bj-09.journal") as journal:
        play_between_accounts(journal, "BJ-09")
    with house(journals, tmp_path / "state") as own, screen(browser, own) as officer:
        own.staff()
        officer.sign_in("pit")
        officer.go("incidents")
        officer.page.get_by_text("The figures").first.click()
        accounts = officer.page.get_by_role("list", name="What may have happened").first
        stated, rival = accounts.locator("> li").nth(0), accounts.locator("> li").nth(1)
        expect(stated).to_contain_text("As recorded")
        expect(stated).to_contain_text("Payment missing at spot 1")
        expect(stated).to_contain_text("Spot 1: win")
        expect(rival).to_contain_text("times likelier")
        expect(rival).to_contain_text("Spot 1: push 0.00")
        expect(rival).to_contain_text("No mistake")
        expect(rival).to_contain_text("Camera against it")
        expect(rival).to_contain_text("Usual play for it, 50,000 to 1")
        officer.shot("accounts")


def choice_of(officer: Screen, card: str) -> str:
    """Return the key beside a candidate."""
    return officer.page.get_by_role("button", name=card).locator("kbd").inner_text()


def test_who_may_not_see_rounds_is_shown_none(browser: Browser, at_work: House) -> None:
    with screen(browser, at_work) as engineer:
        engineer.sign_in("engineer")
        pages = engineer.page.get_by_role("navigation", name="Pages").get_by_role("link")
        assert pages.all_inner_texts() == ["Floor", "Rulebook"]
        engineer.go("round/bj-07/1")
        engineer.shows("The engineer role has no right to see this page.")
        engineer.go("table/BJ-07")
        expect(engineer.page.get_by_role("heading", name="BJ-07")).to_be_visible()
        expect(engineer.page.locator("svg.felt")).to_have_count(0)
        engineer.shot("table-of-an-engineer")


def test_a_card_that_was_never_shown_stays_a_back(browser: Browser, tmp_path: Path) -> None:
    """The dealer's hole card of a round broken off: nobody saw it, so the felt has its back."""
    journals = tmp_path / "journals"
    journals.mkdir()
    with Journal.create(journals / "bj-22.journal") as journal:
        observe(table(journal, "BJ-22"), heard("plain")[:27])
        with house(journals, tmp_path / "state") as own, screen(browser, own) as officer:
            own.staff()
            officer.sign_in("surveillance")
            officer.go("table/BJ-22")
            felt = officer.page.locator("svg.felt")
            expect(felt).to_have_attribute("aria-label", re.compile("dealer: .*face down"))


def test_a_round_is_found_by_table_and_time(officer: Screen) -> None:
    officer.go("rounds")
    officer.page.get_by_label("Find a moment").fill("BJ-07 2026-01-01 20:00:10")
    officer.page.keyboard.press("Enter")
    expect(officer.page.get_by_role("heading", name="BJ-07 · round 1")).to_be_visible()
    officer.go("rounds")
    officer.page.get_by_role("link", name="Round 1").first.wait_for()
    officer.shot("rounds")


def test_an_administrator_keeps_the_accounts(
    browser: Browser, recorded: Path, tmp_path: Path
) -> None:
    with house(recorded, tmp_path / "state") as own, screen(browser, own) as keeper:
        password = (own.state / "first-password").read_text().strip()
        keeper.page.goto(keeper.url)
        keeper.try_sign_in("admin", password)
        expect(keeper.page.get_by_text("Your password is temporary")).to_be_visible()
        keeper.page.get_by_label("Password now").fill(password)
        keeper.page.get_by_label("New password").fill(PASSWORD)
        keeper.page.get_by_role("button", name="Change it").click()
        expect(keeper.page.get_by_role("form", name="Sign in")).to_be_visible()
        keeper.sign_in("admin")
        keeper.go("people")
        keeper.page.get_by_label("Name").fill("mary")
        keeper.page.get_by_label("Role", exact=True).select_option("pit")
        keeper.page.get_by_label("First password").fill("a long enough password")
        keeper.page.get_by_role("button", name="Add").click()
        expect(keeper.page.get_by_role("row").filter(has_text="mary")).to_be_visible()
        with own.signed_in("mary", "a long enough password") as mary:
            first = {"old": "a long enough password", "new": PASSWORD + " of her own"}
            assert mary.post("/api/me/password", json=first).status_code == 204
        with own.signed_in("mary", first["new"]) as mary:
            made = mary.post("/api/tokens", json={"label": "board", "scopes": ["see_tables"]})
            assert made.status_code == 201
        keeper.go("own")
        keeper.go("people")
        tables = keeper.page.get_by_label("Tables of mary")
        expect(tables).to_have_value("")
        tables.fill("BJ-07, BJ-08")
        tables.press("Enter")
        expect(keeper.page.get_by_text("mary sees BJ-07, BJ-08 now.")).to_be_visible()
        with own.admin() as admin:
            (mary_now,) = [one for one in own.get(admin, "/api/accounts") if one["name"] == "mary"]
        assert mary_now["tables"] == ["BJ-07", "BJ-08"]
        expect(tables).to_have_value("BJ-07, BJ-08")
        keeper.page.get_by_role("button", name="Tokens of mary").click()
        keeper.shot("people")
        keeper.page.get_by_role("button", name="Revoke board").click()
        expect(keeper.page.get_by_label("Tokens", exact=True)).to_contain_text("None.")
        keeper.go("own")
        keeper.page.get_by_label("Password now").fill(PASSWORD)
        keeper.page.get_by_label("New password").fill("another long password")
        keeper.page.get_by_role("button", name="Change it").click()
        expect(keeper.page.get_by_role("form", name="Sign in")).to_be_visible()
        keeper.try_sign_in("admin", "another long password")
        expect(keeper.page.get_by_role("navigation", name="Pages")).to_be_visible()


def test_a_page_left_while_an_action_still_asks_is_no_failure(officer: Screen) -> None:
    """What a click asked for is dropped with its page: no script fails there."""
    officer.go("charts")
    expect(officer.page.get_by_role("heading", name="Pace")).to_be_visible()
    with officer.page.expect_request("**/api/series/pace*"):
        officer.page.route("**/api/series/*", lambda _: None)
        officer.page.get_by_label("Time").select_option("1")
    officer.go("own")
    expect(officer.page.get_by_label("Password now")).to_be_visible()
    expect(officer.page.locator("#toast")).to_be_empty()


def test_an_action_that_the_service_refuses_says_so(officer: Screen) -> None:
    officer.go("charts")
    expect(officer.page.get_by_role("heading", name="Pace")).to_be_visible()
    problem = {"title": "Busy", "detail": "the charts are being rebuilt"}
    officer.page.route("**/api/series/*", lambda route: route.fulfill(status=503, json=problem))
    officer.page.get_by_label("Time").select_option("1")
    expect(officer.page.get_by_text("The charts are being rebuilt.")).to_be_visible()
    expect(officer.page.get_by_label("Time")).to_have_value("")


def test_it_works_on_a_tablet(browser: Browser, at_work: House) -> None:
    with screen(browser, at_work, 820, 1180) as tablet:
        tablet.sign_in("pit")
        for path, name in (
            ("floor", "floor"),
            ("table/BJ-07", "table"),
            ("round/bj-07/2", "round"),
        ):
            tablet.go(path)
            expect(tablet.page.get_by_text("Reading…")).to_have_count(0)
            wide = tablet.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 820
            tablet.shot(f"tablet-{name}")


def test_charts_have_their_figures_as_tables_too(officer: Screen) -> None:
    officer.go("charts")
    mistakes = officer.page.get_by_role("region", name="Mistakes by shift", exact=True)
    mistakes.get_by_text("As a table").click()
    expect(mistakes.get_by_role("columnheader", name="Wrong payout").last).to_be_visible()
    officer.shot("charts")


def test_a_chart_names_the_figure_under_the_pointer(officer: Screen) -> None:
    officer.go("charts")
    pace = officer.page.get_by_role("region", name="Pace", exact=True)
    figures = pace.locator(".u-series .u-value")
    expect(figures.last).to_have_text("\N{EN DASH}")
    pace.locator(".u-over").hover()
    expect(figures.last).to_have_text(re.compile(r"\d"))


def test_the_rules_in_force_are_shown_with_the_houses_own_words(officer: Screen) -> None:
    officer.go("rulebook")
    expect(officer.page.get_by_role("heading", name="In force")).to_be_visible()
    officer.page.get_by_label("Find a rule").fill("blackjack_payout")
    rules = officer.page.get_by_role("region", name="Rules").get_by_role("row")
    expect(rules).to_have_count(2)
    expect(rules.last).to_contain_text("3:2")
    expect(rules.last.locator("q")).to_be_visible()
    officer.shot("rulebook")


def exported(page: Page, name: str) -> Download:
    """Click an export; twice at most: a page drawn anew during the click may lose it."""
    for _ in range(2):
        with suppress(TooLate):
            with page.expect_download(timeout=15_000) as taken:
                page.get_by_role("button", name=name).click()
            return taken.value
    raise AssertionError(f"{name} was not exported")


def test_a_list_is_taken_out_as_a_file(officer: Screen) -> None:
    officer.go("rounds")
    expect(officer.page.get_by_text("Reading…")).to_have_count(0)
    lines = exported(officer.page, "mistakes .csv").path().read_text().splitlines()
    assert len(lines) == 3
    assert any("wrong_payout" in line for line in lines)


def test_an_incident_is_taken_out_and_proves_itself_elsewhere(
    browser: Browser, recorded: Path, tmp_path: Path
) -> None:
    """Once its session has ended: the file holds what lay face down as well."""
    closed = [
        one.at or 0 for one in read_journal(recorded / "bj-07.journal") if isinstance(one, Fact)
    ]
    clock = Standing(max(closed) + RESTART_NS - 1)
    journals = tmp_path / "journals"
    shutil.copytree(recorded / "bj-07", journals / "bj-07")
    shutil.copy(recorded / "bj-07.journal", journals)
    with (
        house(journals, tmp_path / "state", clock=clock) as own,
        screen(browser, own) as officer,
    ):
        own.staff()
        officer.sign_in("surveillance")
        officer.go("incidents/bj-07.1")
        take = officer.page.get_by_role("button", name="Evidence file")
        take.click()
        expect(officer.page.get_by_role("status")).to_contain_text("its shoe may still be in use")
        clock.at_ns += 1
        with officer.page.expect_download() as taken:
            take.click()
        found = read_bundle(taken.value.path())
        assert found.manifest.about_as(Facts, "the file").round == 1
        assert found.signer is not None
        assert (journals / "bj-07" / "HOLD").is_file()


def test_who_may_not_see_what_lay_face_down_takes_out_no_evidence(at_work: House) -> None:
    with at_work.signed_in("pit") as pit:
        assert pit.get("/api/incidents/bj-07.1/evidence.zip").status_code == 403


def test_a_round_that_is_called_off_asks_for_a_reason(
    browser: Browser, recorded: Path, tmp_path: Path
) -> None:
    journals = tmp_path / "journals"
    journals.mkdir()
    shutil.copy(recorded / "bj-08.journal", journals)
    with house(journals, tmp_path / "state") as own, screen(browser, own) as officer:
        own.staff()
        officer.sign_in("surveillance")
        officer.go("incidents")
        officer.page.get_by_role("button", name="The floor calls the round off").wait_for()
        officer.page.keyboard.press(choice_of(officer, "The floor calls the round off"))
        decide = officer.page.get_by_role("button", name="Decide as surveillance")
        decide.click()
        expect(officer.page.get_by_role("alert").first).to_contain_text("requires a reason")
        officer.page.get_by_label("Reason", exact=True).fill("The cards fell to the floor.")
        decide.click()
        officer.shows("The cards fell to the floor.")
        with own.signed_in("surveillance") as client:
            row = own.get(client, "/api/sessions/bj-08/rounds/1")
        assert (row["status"], row["net"]) == ("final", 0)


def test_a_void_waits_for_a_second_person(browser: Browser, recorded: Path, tmp_path: Path) -> None:
    (tmp_path / "journals").mkdir()
    shutil.copy(recorded / "bj-08.journal", tmp_path / "journals")
    two = frozenset(TwoPeople)
    with (
        house(tmp_path / "journals", tmp_path / "state", two_people=two) as own,
        screen(browser, own) as officer,
        screen(browser, own) as boss,
    ):
        own.staff()
        officer.sign_in("surveillance")
        officer.go("incidents/bj-08.1")
        officer.page.get_by_role("button", name="The floor calls the round off").click()
        officer.page.get_by_label("Reason", exact=True).fill("The cards fell to the floor.")
        officer.page.get_by_role("button", name="Decide as surveillance").click()
        officer.shows("Another person must approve it.")
        expect(officer.page.get_by_role("button", name="Approve as")).to_have_count(0)
        boss.sign_in("pit")
        boss.go("incidents/bj-08.1")
        boss.shows("surveillance proposes")
        boss.shot("two-people")
        boss.page.get_by_role("button", name="Approve as pit").click()
        boss.shows("surveillance with pit")
        with own.signed_in("pit") as client:
            row = own.get(client, "/api/sessions/bj-08/rounds/1")
        assert (row["status"], row["net"]) == ("final", 0)


def test_a_second_factor_is_set_up_and_asked_for(
    browser: Browser, recorded: Path, tmp_path: Path
) -> None:
    with house(recorded, tmp_path / "state") as own, screen(browser, own) as officer:
        own.staff()
        officer.sign_in("pit")
        officer.go("own")
        officer.page.get_by_role("textbox", name="Your password").fill(PASSWORD)
        officer.page.get_by_role("button", name="Set it up").click()
        secret = b32decode(officer.page.locator(".secret").inner_text())
        code = code_of(secret, step_at(HostClock().now_ns()))
        officer.page.get_by_label("Code").fill(code)
        officer.page.get_by_role("button", name="Confirm").click()
        codes = officer.page.locator(".codes li")
        expect(codes).to_have_count(10)
        spare = codes.first.inner_text()
        officer.page.get_by_role("button", name="Sign out").click()
        officer.try_sign_in("pit", PASSWORD)
        asked = officer.page.get_by_label("Authenticator code")
        asked.fill(spare)
        officer.shot("second-factor")
        asked.press("Enter")
        expect(officer.page.get_by_role("navigation", name="Pages")).to_be_visible()
