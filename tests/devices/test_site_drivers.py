"""Drivers that a site installs as packages of its own."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from devices.registry import driver_names, make_driver
from models.cards import Card
from models.errors import InstallerError
from models.events import ReaderFault, ShoeCardRead

PAGE = Path(__file__).parents[2] / "docs" / "drivers.md"
Install = Callable[..., None]


def block(title: str) -> str:
    """The block of the page that bears ``title``."""
    found = re.search(rf"```\w+ {re.escape(title)}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    return found[1]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a package as pip leaves it: its module, and its metadata beside it."""

    def installed(
        code: str, value: str = "xor6_shoe:XOR6", *, name: str = "xor6", package: str = "xor6-shoe"
    ) -> None:
        folder = tmp_path / package
        metadata = folder / f"{package.replace('-', '_')}-1.2.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n"
        )
        (metadata / "entry_points.txt").write_text(f"[pitwatch.drivers]\n{name} = {value}\n")
        (folder / "xor6_shoe.py").write_text(code)
        monkeypatch.syspath_prepend(folder)
        monkeypatch.delitem(sys.modules, "xor6_shoe", raising=False)

    return installed


def test_the_driver_of_the_page_is_found_by_its_name_and_reads_its_device(
    install: Install,
) -> None:
    assert '"pitwatch.drivers"]\nxor6 = "xor6_shoe:XOR6"' in block("pyproject.toml")
    install(block("xor6_shoe.py"))
    assert "xor6" in driver_names()
    shoe = make_driver("xor6", {"source": "shoe:2"})
    seven_of_clubs = bytes((0xA5, 4, 7, 3, 0, 0xA5 ^ 4 ^ 7 ^ 3))
    card, fault = shoe.feed(seven_of_clubs + b"\x00", 5)
    assert isinstance(card, ShoeCardRead)
    assert (card.card, card.draw, card.source) == (Card("7C"), 4, "shoe:2")
    assert isinstance(fault, ReaderFault)


def test_the_settings_of_a_sites_driver_are_checked(install: Install) -> None:
    install(block("xor6_shoe.py"))
    with pytest.raises(InstallerError, match="baud, stop_bits, source"):
        make_driver("xor6", {"speed": 5})


@pytest.mark.parametrize(
    ("code", "value", "message"),
    [
        pytest.param("import no_such", "xor6_shoe:XOR6", "No module named 'no_such'", id="import"),
        pytest.param("XOR7 = 1", "xor6_shoe:XOR6", "no attribute 'XOR6'", id="attribute"),
        pytest.param("1 / 0", "xor6_shoe:XOR6", "ZeroDivisionError", id="its-own-fault"),
        pytest.param("XOR6 = 5", "xor6_shoe:XOR6", "is no Registration but int", id="kind"),
        pytest.param("XOR6 = 5", "absent:XOR6", "No module named 'absent'", id="module"),
    ],
)
def test_a_package_that_fails_to_load_is_named(
    install: Install, code: str, value: str, message: str
) -> None:
    install(code, value)
    with pytest.raises(InstallerError, match=re.escape(message)) as refused:
        make_driver("xor6")
    assert "package xor6-shoe 1.2: the driver 'xor6'" in str(refused.value)
    make_driver("line")


def test_a_name_that_is_ours_is_not_taken_over(install: Install) -> None:
    install(block("xor6_shoe.py"), name="line")
    with pytest.raises(InstallerError, match=r"in xor6-shoe 1\.2 and in Pitwatch itself"):
        make_driver("line")


def test_two_packages_with_one_name_are_both_named(install: Install) -> None:
    install(block("xor6_shoe.py"))
    install(block("xor6_shoe.py"), package="another-shoe")
    with pytest.raises(InstallerError, match="more than once") as refused:
        make_driver("xor6")
    assert "xor6-shoe 1.2" in str(refused.value)
    assert "another-shoe 1.2" in str(refused.value)


def test_the_tag_register_of_the_page_is_one(tmp_path: Path) -> None:
    file = tmp_path / "tags.toml"
    file.write_text(block("register"))
    make_driver("id12", {"register": str(file), "spot": 3})
