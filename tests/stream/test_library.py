"""The texts that ship with the product."""

from pathlib import Path

import pytest

from models.decode import from_toml
from models.errors import InstallerError
from models.layout import TableLayout, faults
from stream.library import layout_ids, layout_text, rulebook_ids, rulebook_text
from stream.recording import table_layout


def test_the_rulebooks_ship() -> None:
    assert {"kansas-shoe", "casino-single-deck", "home"} <= set(rulebook_ids())
    assert len(rulebook_ids()) == 8


@pytest.mark.parametrize("rulebook", rulebook_ids())
def test_a_rulebook_can_be_taken_out(rulebook: str) -> None:
    assert f'id = "{rulebook}"' in rulebook_text(rulebook)


@pytest.mark.parametrize("layout", layout_ids())
def test_a_layout_is_a_felt_that_can_be(layout: str) -> None:
    felt = from_toml(layout_text(layout), TableLayout, layout)
    assert felt.name == layout
    assert faults(felt) == ()


def test_an_unknown_rulebook_is_refused_with_those_there_are() -> None:
    with pytest.raises(InstallerError, match=r"'kansas'.*kansas-double-deck, kansas-shoe"):
        rulebook_text("kansas")


@pytest.mark.parametrize("name", ["", "../rulebooks/home", "nine-spots"])
def test_an_unknown_layout_is_refused(name: str) -> None:
    with pytest.raises(InstallerError, match="no layout is called"):
        layout_text(name)


def test_a_layout_is_loaded_by_its_id_or_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(layout_text("five-spots"))
    assert table_layout(str(file)) == table_layout("five-spots")
    assert table_layout("five-spots").name == "five-spots"
    with pytest.raises(InstallerError, match="no layout is called"):
        table_layout("nine-spots")
