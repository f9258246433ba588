"""Commands print in the house's currency and locale; their JSON is the same for all."""

import json
import re
from pathlib import Path

import pytest

from server.commands.app import run
from server.house.house_file import VARIABLE
from server.process.exit_status import Exit
from simulation.session import Settings, simulate
from tests.server.commands.test_settle import BLACKJACK

RULES = ["--rulebook", "kansas-shoe"]


def house(folder: Path, text: str, name: str = "house.toml") -> Path:
    file = folder / name
    file.write_text(text, "utf-8")
    return file


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    file = tmp_path / "facts.jsonl"
    file.write_text(BLACKJACK)
    return file


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    run(list(arguments))
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("", "-15.00"),
        ('currency = "JPY"', "-1,500"),
        ('currency = "KWD"', "-1.500"),
        ('locale = "de-DE"\ncurrency = "EUR"', "-15,00"),
    ],
)
def test_settle_writes_amounts_as_the_house_beside_the_facts_does(
    facts: Path, capsys: pytest.CaptureFixture[str], text: str, amount: str
) -> None:
    house(facts.parent, text)
    assert f"house {amount} " in printed(capsys, "settle", str(facts), *RULES).replace("\n", " ")


def test_every_process_of_many_writes_alike(
    facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts.with_name("more.jsonl").write_text(BLACKJACK)
    house(facts.parent, 'currency = "JPY"')
    text = printed(capsys, "settle", str(facts.parent), *RULES, "--jobs", "2")
    assert text.count("house -1,500") == 2
    assert "15.00" not in text


def test_resettle_writes_amounts_as_the_house_does(
    facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    yen = house(facts.parent, 'currency = "JPY"', "yen.toml")
    text = printed(
        capsys,
        "resettle",
        str(facts),
        *RULES,
        "--was",
        "home",
        "--set",
        "blackjack_payout=6:5",
        "--house",
        str(yen),
    )
    assert "-1,200" in text
    assert "12.00" not in text


def test_the_variable_names_the_house(
    facts: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(house(facts.parent, 'currency = "JPY"', "yen.toml")))
    assert "house -1,500" in printed(capsys, "settle", str(facts), *RULES)


def test_json_is_whole_minor_units_whatever_the_house(
    facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    house(facts.parent, 'locale = "de-DE"\ncurrency = "KWD"')
    assert json.loads(printed(capsys, "settle", str(facts), *RULES, "--json"))["net"] == -1500


def test_a_house_at_fault_is_one_line(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = house(facts.parent, 'zone = "Paris"')
    assert run(["settle", str(facts), *RULES]) == Exit.REFUSED
    error = capsys.readouterr().err
    assert error.startswith(f"pitwatch: {wrong}:1: field 'zone': expected an IANA time zone")
    assert error.count("\n") == 1


@pytest.mark.slow
def test_replay_keeps_the_sessions_currency_and_reports_that_the_house_has_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = tmp_path / "evening"
    simulate(Settings(rounds=1, seed=3, spots=(1, 3), video=False), session)
    euros = house(tmp_path, 'locale = "de-DE"\ncurrency = "EUR"')
    text = printed(capsys, "replay", str(session), "--house", str(euros))
    assert "amounts are in USD, the table's currency; the house's is EUR" in text
    description = session / "session.toml"
    description.write_text(description.read_text().replace('"USD"', '"JPY"'))
    text = printed(capsys, "replay", str(session), "--house", str(euros))
    assert "amounts are in JPY" in text
    assert not re.search(r"\d,\d\d\b", text.partition("amounts are in")[0])
