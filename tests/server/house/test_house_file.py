"""Where the house's file is looked for, and how a field at fault is reported."""

from pathlib import Path

import pytest

from models.errors import InputRefused, InstallerError
from models.house import House
from server.house.house_file import VARIABLE, house_for, read_house


def written(folder: Path, text: str, name: str = "house.toml") -> Path:
    file = folder / name
    file.write_text(text, "utf-8")
    return file


def test_the_file_named_comes_before_the_variable_and_that_before_the_one_beside(
    tmp_path: Path,
) -> None:
    written(tmp_path, 'currency = "EUR"')
    named = written(tmp_path, 'currency = "GBP"', "named.toml")
    environment = {VARIABLE: str(written(tmp_path, 'currency = "JPY"', "by-variable.toml"))}
    assert house_for(named, tmp_path, environment=environment).currency == "GBP"
    assert house_for(None, tmp_path, environment=environment).currency == "JPY"
    assert house_for(None, tmp_path, environment={}).currency == "EUR"
    assert house_for(None, tmp_path / "elsewhere", environment={}) == House()


def test_the_first_folder_that_has_one_is_taken(tmp_path: Path) -> None:
    for name in ("session", "house"):
        (tmp_path / name).mkdir()
    written(tmp_path / "house", 'zone = "Asia/Tokyo"')
    found = house_for(None, tmp_path / "session", tmp_path / "house", environment={})
    assert found.zone == "Asia/Tokyo"


@pytest.mark.parametrize(
    ("line", "field", "expected", "found"),
    [
        ('zone = "Paris"', "zone", "an IANA time zone such as Europe/Paris", "'Paris'"),
        ('locale = "fr_FR"', "locale", "a BCP 47 locale such as fr-FR", "'fr_FR'"),
        ('currency = "ZZZ"', "currency", "three letters of a currency", "'ZZZ'"),
        ("zone = 2", "zone", "an IANA time zone", "2"),
        ('time_zone = "UTC"', "time_zone", "'zone'", "no such field"),
        ('shifts = ["4:00"]', "shifts", "times of the day such as 04:00", "['4:00']"),
        ('shifts = ["12:00", "04:00"]', "shifts", "in their order", "['12:00', '04:00']"),
        ("shifts = []", "shifts", "times of the day", "[]"),
        ('two_people = ["voids"]', "two_people", "decisions of void, override", "['voids']"),
        ('two_people = "void"', "two_people", "each once", "'void'"),
        ("ended_after_hours = 0", "ended_after_hours", "a number above 0", "0"),
        ('ended_after_hours = "1"', "ended_after_hours", "a number above 0", "'1'"),
    ],
)
def test_a_field_at_fault_is_named_with_its_file_and_line(
    tmp_path: Path, line: str, field: str, expected: str, found: str
) -> None:
    file = written(tmp_path, f"# the house\n{line}\n")
    with pytest.raises(InputRefused) as refused:
        read_house(file)
    assert (refused.value.source, refused.value.field) == (str(file), field)
    assert expected in refused.value.expected
    assert found in refused.value.found
    assert refused.value.line == 2 or field == "time_zone"


def test_a_named_file_that_is_not_there_is_no_default_house(tmp_path: Path) -> None:
    with pytest.raises(InstallerError, match="--house"):
        house_for(tmp_path / "none.toml", environment={})
    with pytest.raises(InstallerError, match=VARIABLE):
        house_for(None, environment={VARIABLE: str(tmp_path / "none.toml")})


def test_the_shipped_house_is_the_default_one() -> None:
    assert read_house(Path("deploy/house.toml")) == House()
