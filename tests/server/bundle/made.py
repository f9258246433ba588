"""A bundle of each kind, as the program makes them, signed by one key."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from models.events import ClockAnchored
from server.archive.snapshot import Facts, pixels_sha256, snapshot
from server.bundle.bundle import head_of
from server.commands.app import run
from server.commands.backup import make
from server.commands.old_backups import ClockReading
from server.report.as_page import as_page
from server.report.as_paper import as_paper
from server.report.certificate import identity_in
from server.report.document import Document, Section, Text
from server.report.signature import report_of, signed_page, signed_paper
from stream.clock import ReplayClock
from stream.journal import Checkpoints, Journal
from stream.signing import Signer
from stream.verifying import verify_journal
from tests.server.archive.test_history import FIRST_NS, SECOND_NS, journal_at
from tests.server.archive.test_incident import Recorded
from tests.server.archive.test_incident_recordings import Table
from tests.server.filmed import START_NS, painted

EARLIER: Final = Path(__file__).parent / "earlier"
"""Artefacts of the version before bundles, with the public keys of their maker and their table."""
KINDS: Final = (
    "incident.zip",
    "snapshot.png",
    "report.html",
    "report.pdf",
    "history/2026-03-01",
    "backup",
)
NOW_NS: Final = 1_790_000_000_000_000_000


@dataclass(frozen=True)
class Made:
    """Bundles, and what they rest on."""

    folder: Path
    maker: Signer
    table: Signer
    journals: dict[str, Path]
    """The journal that a bundle rests on, by the bundle's name."""


def bundles(place: Path) -> Made:
    """Make a bundle of each kind in a folder."""
    out, data = place / "bundles", place / "data"
    for folder in (out, data / "journals", data / "service"):
        folder.mkdir(parents=True)
    maker = Signer.create(data / "service" / "report.key")
    table, clock = Signer.create(place / "table.key"), ReplayClock(START_NS)
    journal = data / "journals" / "BJ-01.journal"
    with Journal.create(journal, Checkpoints(table, clock), "BJ-01") as writing:
        session = Table(place, writing)
        session.play(clock)
    exported = Recorded(session.folder, journal, table).export(signer=maker)
    (out / "incident.zip").write_bytes(exported)
    _signed(out, place, maker, journal)
    (place / "day").mkdir()
    day_journal = place / "day" / "a.journal"
    journal_at(day_journal, "BJ-07", 2, FIRST_NS + 9 * 3600 * SECOND_NS)
    key = ["--key", str(data / "service" / "report.key")]
    assert run(["archive", "write", str(day_journal), str(out / "history"), *key]) == 0
    with closing(sqlite3.connect(data / "service" / "accounts.sqlite")) as accounts:
        accounts.execute("CREATE TABLE accounts (name)")
    anchored = ClockAnchored(source="clock", at=NOW_NS, wall_ns=NOW_NS, step_ns=0)
    make(data, place / "backups", 35, ClockReading(anchored, "synchronised"))
    (backup,) = (place / "backups").glob("20*Z")
    backup.rename(out / "backup")
    rests_on = dict.fromkeys(KINDS, journal) | {"history/2026-03-01": day_journal}
    return Made(out, maker, table, rests_on)


def _signed(out: Path, place: Path, maker: Signer, journal: Path) -> None:
    head, picture = head_of(journal.name, verify_journal(journal)), painted(14, (192, 64))
    facts = Facts(
        table="BJ-01",
        round=1,
        camera="overhead",
        file="overhead.mp4",
        frame=14,
        at=START_NS,
        entry=2,
        pixels_sha256=pixels_sha256(picture),
        made_by="anna",
    )
    (out / "snapshot.png").write_bytes(snapshot(picture, facts, NOW_NS, head, maker))
    identity = identity_in(place, "Pitwatch reports", NOW_NS)
    texts = Section("Texts", (Text("a --> b"),))
    document = Document("Report", "It comes to nothing.", (texts,), "the foot", NOW_NS)
    manifest = report_of("report of a --> b", NOW_NS, head)
    (out / "report.html").write_bytes(signed_page(as_page(document), manifest, maker))
    paper = signed_paper(as_paper(document), manifest, maker, identity)
    (out / "report.pdf").write_bytes(paper)
