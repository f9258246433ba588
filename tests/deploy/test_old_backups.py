"""Backups go by the age that clocks prove, with an entry, and the newest never."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from models.errors import TechnicianError
from models.events import ClockAnchored, SyncState
from server.commands import backup as backup_command
from server.commands.old_backups import JOURNAL, ClockReading
from stream.journal import Journal
from stream.proven_time import EvidenceRemoved
from stream.reading import entries_of
from tests.stream.machines import DAY, HOUR, YEAR, Machine, S

KEEP_DAYS = 35
JUMPS = (HOUR, -HOUR, DAY, -DAY, 30 * DAY, 180 * DAY, YEAR, -YEAR)


class Site(Machine):
    """A machine whose backups a timer makes."""

    folder: Path

    def back_up(self, state: SyncState = "synchronised", checked_by: str | None = None) -> str:
        """Make a backup; return its name."""
        self.rest(60 * S)
        self.start(state)
        anchored = next(one for one in reversed(self.entries) if isinstance(one, ClockAnchored))
        before = {*self.backups()}
        clocks = ClockReading(anchored, state, checked_by)
        backup_command.make(self.folder / "data", self.folder / "backups", KEEP_DAYS, clocks)
        (name,) = {*self.backups()} - before
        return name

    def back_up_each(self, every_ns: int, times: int) -> list[str]:
        """Make so many backups, each after a pause."""
        made = []
        for _ in range(times):
            self.rest(every_ns)
            made.append(self.back_up())
        return made

    def backups(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "backups").glob("20*Z"))

    def removed(self) -> Iterator[EvidenceRemoved]:
        for _, body in entries_of(self.folder / "backups" / JOURNAL, (EvidenceRemoved,)):
            yield msgspec.json.decode(body, type=EvidenceRemoved)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    journals = tmp_path / "data" / "journals"
    journals.mkdir(parents=True)
    Journal.create(journals / "BJ-01.journal").close()
    made = Site()
    made.folder = tmp_path
    return made


@pytest.mark.parametrize("by_ns", JUMPS)
def test_no_clock_makes_a_backup_remove_those_of_the_last_days(site: Site, by_ns: int) -> None:
    made = site.back_up_each(DAY, 10)
    site.jump(by_ns)
    for _ in range(3):
        made.append(site.back_up())
        site.rest(DAY)
    site.jump(-by_ns)
    made.append(site.back_up())
    site.rest(2 * DAY)
    made.append(site.back_up())
    assert site.backups() == sorted(made)
    assert [*site.removed()] == []


def test_what_is_too_old_goes_with_an_entry_and_the_newest_seven_stay(site: Site) -> None:
    made = site.back_up_each(HOUR, 9)
    (site.folder / "backups" / "kept by hand").mkdir()
    *_, last = site.back_up_each(7 * DAY, 6)
    assert (site.folder / "backups" / "kept by hand").is_dir()
    assert made[0] not in site.backups()
    first = next(site.removed())
    assert (first.name, first.rule) == (made[0], "keep_days = 35")
    assert first.age_ns > 35 * DAY
    assert first.size_bytes > 0
    assert len(site.backups()) == 7
    assert site.backups()[-1] == last
    assert [one.name for one in site.removed()] == made[:8]


def test_a_clock_in_doubt_keeps_them_and_says_so_until_a_person_checks_it(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    made = site.back_up_each(HOUR, 8)
    for _ in range(6):
        site.rest(7 * DAY)
        site.back_up("unsynchronised")
    assert made[0] in site.backups()
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == "backups kept: 7 past keep_days: the clock is not synchronised"
    site.back_up("unsynchronised", checked_by="ann")
    assert made[0] not in site.backups()


def test_backups_from_before_the_journal_count_from_its_beginning(site: Site) -> None:
    old = site.back_up_each(HOUR, 8)
    (site.folder / "backups" / JOURNAL).unlink()
    site.jump(200 * DAY)
    site.back_up()
    assert set(old) < set(site.backups())


def test_a_damaged_journal_of_backups_removes_nothing_and_the_backup_is_made(site: Site) -> None:
    site.back_up()
    journal = site.folder / "backups" / JOURNAL
    content = journal.read_bytes()
    assert content.count(b'"backup_made"') == 1
    journal.write_bytes(content.replace(b'"backup_made"', b'"backup_Made"'))
    site.rest(DAY)
    with pytest.raises(TechnicianError, match=r"backup 20\w+ was made, and no old one was removed"):
        site.back_up()
    assert len(site.backups()) == 2
