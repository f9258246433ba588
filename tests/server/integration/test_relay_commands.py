"""The configuration, the secrets, and what a person does about dead letters."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import httpx
import jsonschema_rs
import pytest

from models.decode import toml_tree
from models.errors import InputRefused
from models.events import RoundOpened
from server.commands.app import run
from server.integration.check import integration_faults
from server.integration.schema import integration_schema
from server.integration.secret import Secret
from server.integration.store import Letter, RelayStore
from server.process.exit_status import Exit
from tests.server.integration.receivers import Receiver, receiving
from tests.server.integration.relays import KEY, configured, hook, metric, relaying
from tests.server.integration.serving import served
from tests.server.service.house import until, write

EXAMPLE: Final = Path(__file__).parents[3] / "server/examples/integration.toml"


def example(folder: Path, *changes: tuple[str, str]) -> Path:
    """The annotated example with pieces of its text changed."""
    text = EXAMPLE.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    file = folder / "integration.toml"
    file.write_text(text)
    return file


def simple(folder: Path, url: str) -> Path:
    """A configuration of one webhook called siem."""
    (folder / "siem.key").write_text(KEY)
    file = folder / "integration.toml"
    file.write_text(
        'service_url = "https://pit.example"\n[[destinations]]\nname = "siem"\n'
        'kind = "webhook"\nsend = ["round_opened"]\nstart = "beginning"\nfirst_wait_ms = 10\n'
        f'[destinations.settings]\nurl = "{url}"\nsecrets = [{{ file = "siem.key" }}]\n'
    )
    return file


def dead_letters(folder: Path) -> tuple[Letter, ...]:
    store = RelayStore.open(folder)
    try:
        return tuple(store.letters("dead"))
    finally:
        store.close()


# --- configuration ------------------------------------------------------------------------


def test_the_annotated_example_is_sound() -> None:
    assert integration_faults(EXAMPLE, at_rest=True) == ()
    assert run(["config", "check", str(EXAMPLE), "--at-rest"]) == Exit.CLEAN


def test_on_its_machine_every_missing_secret_is_reported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["config", "check", str(EXAMPLE)]) == Exit.REFUSED
    printed = capsys.readouterr().err
    for one in ("siem", "broker", "security-center"):
        assert f"destination {one}, " in printed
    assert "PITWATCH_GENETEC_APPLICATION" in printed


@pytest.mark.parametrize(
    ("changed", "detail"),
    [
        (("tries = 12", "tries = 0"), "destinations[0].tries"),
        (("longest_wait_s = 300.0", "longest_wait = 300.0"), "longest_wait"),
        (('kind = "webhook"', 'kind = "carrier-pigeon"'), "carrier-pigeon"),
        (('name = "broker"', 'name = "siem"'), "'siem' twice"),
        (('"review_resolved"', '"review_forgotten"'), "review_forgotten"),
        (("timeout_ms = 10000", "timeout_ms = 1"), "timeout_ms"),
        (("https://siem.casino", "https://me:word@siem.casino"), "url"),
        (("/hooks/pitwatch", "/hooks/pitwatch?token=1"), "url"),
        (('prefix = "casino/pit-1"', 'prefix = "casino/#"'), "prefix"),
        (('event = "Pitwatch"', 'evnt = "Pitwatch"'), "evnt"),
        (("6f1d8a52-9c1e", "6f1d8a52"), "cameras"),
    ],
)
def test_a_fault_is_reported_with_its_place(
    tmp_path: Path, changed: tuple[str, str], detail: str
) -> None:
    faults = integration_faults(example(tmp_path, changed), at_rest=True)
    assert faults
    assert detail in str(faults[0])


def test_every_field_at_fault_is_named(tmp_path: Path) -> None:
    file = example(
        tmp_path, ("tries = 12", "tries = 0"), ("first_wait_ms = 1000", "first_wait_ms = -1")
    )
    fields = {one.field for one in integration_faults(file) if isinstance(one, InputRefused)}
    assert fields >= {"destinations[0].tries", "destinations[0].first_wait_ms"}


def test_the_schema_takes_the_example_and_describes_every_field() -> None:
    schema = integration_schema()
    tree = toml_tree(EXAMPLE.read_text(), "example")
    jsonschema_rs.validate(schema, tree)
    for one in tree["destinations"]:
        of_kind = schema | {"$ref": f"#/$defs/settings%20of%20{one['kind']}"}
        jsonschema_rs.validate(of_kind, one["settings"])
    for name, definition in schema["$defs"].items():
        for field, described in definition["properties"].items():
            assert described.get("description"), f"{name}.{field} has no description"


def test_a_short_secret_is_refused(tmp_path: Path) -> None:
    file = simple(tmp_path, "https://siem.example/")
    (tmp_path / "siem.key").write_text("whsec_c2hvcnQ=")
    (fault,) = integration_faults(file)
    assert "24 bytes or more" in str(fault)
    assert "c2hvcnQ" not in str(fault)


# --- secrets ------------------------------------------------------------------------------


def test_a_secret_shows_itself_to_nobody(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY + "\n")
    found = Secret(file="key").read(tmp_path)
    assert found.plain == KEY
    assert KEY not in f"{found} {found!r}"


@pytest.mark.slow
def test_no_secret_is_in_the_log_the_letters_or_the_store(tmp_path: Path) -> None:
    with receiving(Receiver(answers=[400])) as receiver:
        write(tmp_path / "a.journal", RoundOpened(round=1, at=1_000, table="BJ-09"))
        file = simple(tmp_path, receiver.url)
        process = relay(tmp_path, file)
        until(lambda: bool(receiver.sent) and dead_letters(tmp_path) != ())
        printed = ended(process)
    lines = [json.loads(line) for line in printed.splitlines()]
    assert any(line["says"] == "given up" and line["destination"] == "siem" for line in lines)
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("relay.sqlite*"))
    for secret in (KEY, KEY.removeprefix("whsec_"), "0123456789abcdef"):
        assert secret not in printed
        assert secret.encode() not in kept


def relay(folder: Path, config: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "server", "relay", "run", folder, config, "--state", folder]
    root = Path(__file__).parents[3]
    return subprocess.Popen(
        list(map(str, command)), stderr=subprocess.PIPE, text=True, cwd=root, env=dict(os.environ)
    )


def ended(process: "subprocess.Popen[str]") -> str:
    process.send_signal(signal.SIGTERM)
    _, printed = process.communicate(timeout=30)
    assert process.returncode == 0, printed
    return printed


# --- commands -----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_killed_relay_goes_on_where_it_was(tmp_path: Path) -> None:
    with receiving() as receiver:
        write(
            tmp_path / "a.journal",
            *(RoundOpened(round=n, at=n * 1_000, table="BJ-09") for n in range(1, 41)),
        )
        file = simple(tmp_path, receiver.url)
        process = relay(tmp_path, file)
        until(lambda: len(receiver.taken) >= 10)
        process.kill()
        process.communicate(timeout=30)
        before = len(receiver.taken)
        process = relay(tmp_path, file)
        until(lambda: {sent.json["round"] for sent in receiver.taken} == set(range(1, 41)))
        ended(process)
    assert len(receiver.taken) <= 41, "it began again from the start"
    assert before >= 10


def test_a_trial_reports_whether_it_was_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with receiving(Receiver(answers=[200, 403])) as receiver:
        file = simple(tmp_path, receiver.url)
        assert run(["relay", "try", str(file), "siem"]) == Exit.CLEAN
        assert "accepted  siem" in capsys.readouterr().out
        assert run(["relay", "try", str(file), "siem"]) == Exit.FINDINGS
        assert "not accepted  siem: answered 403" in capsys.readouterr().out
        assert run(["relay", "try", str(file), "other"]) == Exit.REFUSED
    assert receiver.sent[0].json["type"] == "pitwatch.trial"


def test_a_dead_letter_is_listed_and_sent_again_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = ["--state", str(tmp_path)]
    write(tmp_path / "a.journal", RoundOpened(round=1, at=1_000, table="BJ-09"))
    with receiving(Receiver(answers=[400, 200])) as receiver:
        to = configured(tmp_path, hook(receiver.url, send=("round_opened",)))
        with relaying(tmp_path, tmp_path, to) as meters:
            until(lambda: metric(meters, "dead_letters_total") == 1)
            assert run(["relay", "letters", *state]) == Exit.FINDINGS
            assert "answered 400" in capsys.readouterr().out
            assert run(["relay", "resend", *state, "--destination", "nobody"]) == Exit.CLEAN
            assert "0 letters" in capsys.readouterr().out
            assert run(["relay", "resend", *state]) == Exit.CLEAN
            until(lambda: receiver.taken)
            until(lambda: run(["relay", "letters", *state]) == Exit.CLEAN)
    first, again = receiver.sent
    assert again.body == first.body
    assert again.headers["webhook-id"] == first.headers["webhook-id"]
    capsys.readouterr()
    assert run(["relay", "letters", *state, "--sent", "--json"]) == Exit.CLEAN
    (letter,) = json.loads(capsys.readouterr().out)
    assert (letter["state"], letter["tries"]) == ("sent", 2)


def test_a_letter_that_fails_again_stays_a_dead_letter(tmp_path: Path) -> None:
    write(tmp_path / "a.journal", RoundOpened(round=1, at=1_000, table="BJ-09"))
    with receiving(Receiver(answers=[400, 413])) as receiver:
        to = configured(tmp_path, hook(receiver.url, send=("round_opened",)))
        with relaying(tmp_path, tmp_path, to) as meters:
            until(lambda: metric(meters, "dead_letters_total") == 1)
            assert run(["relay", "resend", "--state", str(tmp_path)]) == Exit.CLEAN
            until(lambda: len(receiver.sent) == 2)
            until(lambda: dead_letters(tmp_path) != ())
    (letter,) = dead_letters(tmp_path)
    assert (letter.tries, letter.why) == (2, "answered 413")


def test_a_folder_that_nothing_was_sent_from_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["relay", "letters", "--state", str(tmp_path)]) == Exit.REFUSED
    assert "no message was ever sent from here" in capsys.readouterr().err


@pytest.mark.slow
def test_the_service_relays_and_exports_its_meters(tmp_path: Path) -> None:
    with receiving() as receiver:
        write(tmp_path / "a.journal", RoundOpened(round=1, at=1_000, table="BJ-09"))
        with served(tmp_path, simple(tmp_path, receiver.url)) as (url, token):
            until(lambda: receiver.taken)
            answer = httpx.get(
                f"{url}/metrics", headers={"Authorization": f"Bearer {token}"}, verify=False
            )
    assert 'pitwatch_relay_delivered_total{destination="siem"} 1.0' in answer.text
