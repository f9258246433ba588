"""A person decides a review item from the console: at the table at work, or of a closed session."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from models.cards import Card
from models.errors import OperatorError
from models.events import CardDealt, CardPlace, ReviewResolved, RoundOpened
from models.judgements import Review, ReviewRaised
from server.commands.app import run
from server.house.rulebooks import rules_for
from server.process.exit_status import Exit
from server.readmodel.redaction import WITHHELD
from server.table.decision_requests import open_for_requests, socket_of
from server.table.persons import Word
from server.table.resolving import decide_closed
from stream.clock import HostClock
from stream.journal import Checkpoints, Journal, verify_journal
from stream.reading import UnknownEvent
from stream.signing import Signer
from tests.server.doubted import (
    FALSE,
    TRUE,
    blinded,
    play_between_accounts,
    play_blinded,
    table,
)
from tests.server.service.conftest import Kept
from tests.server.service.house import House, Standing, house, play, until, write

DECISION = "/api/incidents/bj-09.1/reviews/0/decision"


@pytest.fixture
def own(tmp_path: Path, kept: Kept) -> Iterator[House]:
    """BJ-09's session is over; of its first round a card could not be read."""
    journals = tmp_path / "journals"
    journals.mkdir()
    with Journal.create(journals / "bj-09.journal") as journal:
        play_blinded(journal, "BJ-09")
    play(journals / "bj-07.journal", "mistake", "BJ-07")
    with kept(journals) as store, house(journals, tmp_path / "state", store=store) as found:
        found.staff()
        yield found


def decided(client: httpx.Client, **body: Any) -> Any:
    answer = client.post(DECISION, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_an_item_of_a_closed_session_is_decided_and_its_journal_sealed_again(own: House) -> None:
    with own.signed_in("surveillance") as officer:
        before = own.get(officer, "/api/sessions/bj-09/rounds/1")
        assert (before["status"], before["net"]) == ("review", None)
        view = decided(officer, decision="chosen", choice=str(TRUE))
        assert (view["round"]["status"], view["round"]["net"]) == ("final", 2500)
        assert {one["decided"]["person"] for one in view["reviews"]} == {"surveillance"}
        assert view["incident"]["reviews"] == 0
        assert own.get(officer, "/api/sessions/bj-09/rounds/1")["status"] == "final"
    proved = verify_journal(own.journals / "bj-09.journal")
    assert proved.sealed
    with Journal.open(own.journals / "bj-09.journal") as journal:
        resolved = [event for event in journal.read() if isinstance(event, ReviewResolved)]
    assert [(one.source, one.choice) for one in resolved] == [("console:surveillance", TRUE)]


def test_the_journal_settles_again_to_its_own_results(own: House) -> None:
    with own.signed_in("pit") as pit:
        decided(pit, decision="void", reason="the shoe fell")
    path = own.journals / "bj-09.journal"
    put_right = ReviewResolved(
        source="console:ann",
        at=1,
        round=1,
        item=0,
        decision="chosen",
        choice=FALSE,
        card=CardPlace(to=3),
    )
    assert decide_closed(path, put_right) == verify_journal(path).entries - _following(path)


def _following(path: Path) -> int:
    """How many entries follow the last decision."""
    with Journal.open(path) as journal:
        kinds = [isinstance(event, ReviewResolved) for event in journal.read()]
    return kinds[::-1].index(True)


def test_the_second_person_learns_who_was_first_and_may_correct_it(own: House) -> None:
    with own.signed_in("surveillance") as officer, own.signed_in("pit") as pit:
        view = decided(officer, decision="chosen", choice=str(TRUE))
        late = pit.post(DECISION, json={"decision": "chosen", "choice": str(FALSE)})
        assert late.status_code == 409
        assert "surveillance has decided it" in late.json()["detail"]
        first = view["reviews"][0]["decided"]["seq"]
        again = decided(pit, decision="chosen", choice=str(FALSE), instead_of=first)
        assert again["reviews"][0]["decided"]["person"] == "pit"


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        pytest.param({"decision": "void"}, 409, "requires a reason", id="void-without-reason"),
        pytest.param({"decision": "chosen"}, 409, "no card is chosen", id="no-card"),
        pytest.param({"decision": "chosen", "choice": "1X"}, 422, "choice", id="no-such-card"),
        pytest.param({"decision": "guessed"}, 422, "decision", id="no-such-decision"),
        pytest.param(
            {"decision": "chosen", "choice": "6H", "card": {"to": 7}}, 409, "dealt 0", id="nobody"
        ),
    ],
)
def test_what_cannot_be_decided_is_refused_and_nothing_is_written(
    own: House, body: dict[str, Any], status: int, detail: str
) -> None:
    path = own.journals / "bj-09.journal"
    before = verify_journal(path).entries
    with own.signed_in("pit") as pit:
        answer = pit.post(DECISION, json=body)
        assert answer.status_code == status
        assert detail in answer.json()["detail"]
        nowhere = pit.post(DECISION.replace("reviews/0", "reviews/9"), json={"decision": "stands"})
        assert nowhere.status_code == 404
    assert verify_journal(path).entries == before


def test_an_item_of_a_table_at_work_is_written_by_the_table(tmp_path: Path) -> None:
    path = tmp_path / "bj-09.journal"
    with house(tmp_path, tmp_path / "state") as found, at_work(path) as socket:
        found.staff()
        with found.signed_in("pit") as pit:
            until(lambda: found.get(pit, "/api/reviews")["items"])
            view = decided(pit, decision="chosen", choice=str(TRUE))
            assert view["round"]["status"] == "final"
            socket.unlink()
            body = {"decision": "stands", "instead_of": view["reviews"][0]["decided"]["seq"]}
            refused = pit.post(DECISION, json=body)
            assert refused.status_code == 503
            assert "another program is writing it" in refused.json()["detail"]


@contextmanager
def at_work(path: Path) -> Iterator[Path]:
    """A table that has played the session and waits; yields its socket."""
    stop, loop = asyncio.Event(), asyncio.new_event_loop()

    async def run() -> None:
        with Journal.create(path) as journal:
            pipeline = table(journal, "BJ-09")
            for one in blinded():
                pipeline.observe((one.observation,), one.now_ns)

            async def take(word: Word) -> int:
                assert isinstance(word, ReviewResolved)
                pipeline.check(word)
                (written,) = pipeline.observe((word,), word.at or 0)
                return written.seq or 0

            async with open_for_requests(path, take):
                await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    until(lambda: socket_of(path).exists())
    try:
        yield socket_of(path)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def test_a_closed_journal_is_signed_on_and_refuses_rules_that_are_not_those_of_then(
    tmp_path: Path,
) -> None:
    path, key = tmp_path / "t.journal", Signer.create(tmp_path / "table.key")
    with Journal.create(path, Checkpoints(key, HostClock())) as journal:
        play_blinded(journal)
    decision = ReviewResolved(
        source="console:ann", at=1, round=1, item=0, decision="chosen", choice=Card("6H")
    )
    before = verify_journal(path).entries
    with pytest.raises(OperatorError, match="does not give the recorded settlement"):
        decide_closed(
            path, decision, rules_for("kansas-shoe", ["blackjack_payout=6:5", "win_payout=2:1"])
        )
    assert verify_journal(path).entries == before
    decide_closed(path, decision, None, Checkpoints(key, HostClock()))
    after = verify_journal(path, [key.fingerprint])
    assert after.signed == after.entries > before


def test_the_command_lists_and_resolves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "t.journal")
    with Journal.create(tmp_path / "t.journal") as journal:
        play_blinded(journal)
    assert run(["review", "list", path]) == Exit.FINDINGS
    assert "6♥ or 8♥" in capsys.readouterr().out
    wanted = ["review", "resolve", path, "-n", "1", "--choose", "6h", "--by", "ann"]
    assert run(wanted) == Exit.CLEAN
    assert "written by the journal" in capsys.readouterr().out
    assert run(["review", "list", path, "--json"]) in (Exit.CLEAN, Exit.FINDINGS)
    assert "chosen 6H, by ann" in capsys.readouterr().out
    assert run([*wanted, "--as", "guessed"]) == Exit.REFUSED
    for nowhere in ("3:x", "spot 3, hand 0", "spot 3, card", "spot, hand 1"):
        assert run([*wanted, "--at", nowhere]) == Exit.REFUSED
    capsys.readouterr()
    assert run([*wanted, "--at", "spot 3, hand 2, card 1"]) == Exit.REFUSED
    assert "spot 3 hand 2 was dealt 0 cards" in capsys.readouterr().err
    moved = ["--as", "dealt", "--at", "spot 1, card 2"]
    assert run([*wanted, *moved]) == Exit.CLEAN
    assert run(["review", "list", path, "--json"]) in (Exit.CLEAN, Exit.FINDINGS)
    assert "dealt 6H at spot 1, card 2, by ann" in capsys.readouterr().out
    assert run(["review", "resolve", path, "-n", "1", "--choose", "1X", "--by", "ann"]) == 2
    with Journal.open(tmp_path / "t.journal") as journal:
        assert not any(isinstance(event, UnknownEvent) for event in journal.read())


def test_the_command_asks_for_the_second_person_that_the_house_asks_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.journal"
    with Journal.create(path) as journal:
        play_blinded(journal)
    (tmp_path / "house.toml").write_text('two_people = ["void", "override"]\n')
    wanted = ["review", "resolve", str(path), "-n", "1", "--by", "ann"]
    void = [*wanted, "--as", "void", "--reason", "misdeal"]
    before = verify_journal(path).entries
    assert run(void) == Exit.REFUSED
    printed = capsys.readouterr().err
    assert "the house requires two people for this: void" in printed
    assert "--approved-by" in printed
    assert run([*void, "--approved-by", "ann"]) == Exit.REFUSED
    assert verify_journal(path).entries == before
    assert run([*wanted, "--choose", "6h"]) == Exit.CLEAN, "no override: nothing was decided"
    assert run([*wanted, "--choose", "8h"]) == Exit.REFUSED
    assert "two people for this: override" in capsys.readouterr().err
    assert run([*void, "--approved-by", "bea"]) == Exit.CLEAN
    with Journal.open(path) as journal:
        last = [event for event in journal.read() if isinstance(event, ReviewResolved)][-1]
    assert (last.decision, last.source, last.approved_by) == ("void", "console:ann", "bea")


ANSWERS = DECISION.replace("decision", "answers")


def test_an_answer_is_given_as_it_was_offered_and_told_in_its_words(own: House) -> None:
    with own.signed_in("pit") as pit:
        offered = own.get(pit, ANSWERS)["answers"]
        says = [one["says"] for one in offered]
        assert says[:2] == [f"it is {TRUE}", f"it is {FALSE}"]
        assert offered[0]["comes_to"] == "No mistake. Everybody was paid what is due."
        fields = ("decision", "choice", "card", "account")
        view = decided(pit, **{name: offered[0][name] for name in fields})
        assert {one["decided"]["says"] for one in view["reviews"]} == {f"it is {TRUE}"}
        assert own.get(pit, ANSWERS)["answers"] == offered, "an earlier answer changes none"
        assert pit.get(ANSWERS.replace("reviews/0", "reviews/9")).status_code == 404


def test_one_account_of_a_round_is_chosen_over_the_service(tmp_path: Path, kept: Kept) -> None:
    journals = tmp_path / "journals"
    journals.mkdir()
    with Journal.create(journals / "bj-09.journal") as journal:
        play_between_accounts(journal, "BJ-09")
    with kept(journals) as store, house(journals, tmp_path / "state", store=store) as found:
        found.staff()
        with found.signed_in("pit") as pit:
            offered = found.get(pit, ANSWERS)["answers"]
            account = next(one for one in offered if one["account"] == 1)
            view = decided(pit, decision="account", account=1)
            assert view["round"]["status"] == account["status"]
            nets = {spot["spot"]: spot["net"] for spot in view["round"]["result"]["spots"]}
            assert nets == {one["spot"]: one["due"] for one in account["spots"]}
            assert view["reviews"][0]["decided"]["says"] == account["says"]
            first = view["reviews"][0]["decided"]["seq"]
            refused = pit.post(
                DECISION, json={"decision": "account", "account": 9, "instead_of": first}
            )
            assert refused.status_code == 409
            assert "no account of it is named" in refused.json()["detail"]


def test_an_item_about_a_card_not_shown_is_decided_without_naming_it(tmp_path: Path) -> None:
    doubt = Review("the shoe said KS, the camera reads QS", ("KS", "QS"), (2,))
    write(
        tmp_path / "t.journal",
        RoundOpened(round=1, at=1, table="T"),
        CardDealt(to="dealer", card=Card("KS"), face="down", at=2, table="T", evidence=(2,)),
        ReviewRaised(round=1, at=3, table="T", review=doubt),
    )
    with house(tmp_path, tmp_path / "state", clock=Standing(10)) as found:
        found.staff()
        with found.signed_in("surveillance") as officer:
            path = "/api/incidents/t.1/reviews/0/decision"
            offered = found.get(officer, path.replace("decision", "answers"))["answers"]
            assert {one["decision"] for one in offered} <= {"stands", "unreadable", "void"}
            assert all((one["comes_to"], one["spots"]) == ("", []) for one in offered)
            named = officer.post(path, json={"decision": "chosen", "choice": "KS"})
            assert named.status_code == 409
            assert "wait until its shoe has ended" in named.json()["detail"]
            shown = found.get(officer, "/api/incidents/t.1")["reviews"][0]
            assert (shown["what"], shown["candidates"]) == (WITHHELD, [])
