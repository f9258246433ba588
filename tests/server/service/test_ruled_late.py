"""A question that a later ruling of the floor leaves without consequence, as the console has it."""

from pathlib import Path

from stream.journal import Journal
from tests.server.service.conftest import Kept
from tests.server.service.house import house
from tests.server.table.test_ruled_late import OFF, ruled


def test_it_is_closed_with_the_ruling_as_the_reason(tmp_path: Path, kept: Kept) -> None:
    journals = tmp_path / "journals"
    journals.mkdir()
    with Journal.create(journals / "bj-09.journal") as journal:
        ruled(journal, OFF, name="BJ-09")
    with kept(journals) as store, house(journals, tmp_path / "state", store=store) as own:
        own.staff()
        with own.signed_in("surveillance") as officer:
            view = own.get(officer, "/api/incidents/bj-09.1")
    card, chips = view["reviews"]
    assert card["decided"]["person"] == "ann"
    assert card["decided"]["reason"] == "the floor called the round off: misdeal"
    assert chips["decided"] is None
    assert view["incident"]["reviews"] == 1
