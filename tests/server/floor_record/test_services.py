"""A service on the floor record tells the same as one over the journals' folder."""

from pathlib import Path
from typing import Any

import httpx

from tests.server.floor_record.cluster import FloorSite
from tests.server.floor_record.served import forwarded
from tests.server.service.house import House, house, play

LISTS = ("rounds", "hands", "violations", "reviews", "payments", "ledger", "incidents")


def told(found: House, client: httpx.Client) -> dict[str, Any]:
    """Return all that a service tells of its tables."""
    whole = {kind: found.get(client, f"/api/{kind}", limit=500)["items"] for kind in LISTS}
    sessions = found.get(client, "/api/sessions")
    events = {
        one["session"]: found.get(client, f"/api/sessions/{one['session']}/events", limit=500)
        for one in sessions
    }
    return whole | {
        "sessions": sessions,
        "events": events,
        "tables": found.get(client, "/api/tables"),
    }


def test_both_stores_tell_the_same(site: FloorSite, tmp_path: Path) -> None:
    journals = tmp_path / "journals"
    journals.mkdir()
    play(journals / "bj-07.journal", "mistake", "BJ-07")
    play(journals / "bj-08.journal", "plain", "BJ-08")
    whole = []
    with forwarded(journals, site) as record:
        for name, store in (("folder", None), ("floor", record)):
            with house(journals, tmp_path / name, store=store) as found:
                found.staff()
                with found.signed_in("surveillance") as officer:
                    whole.append(told(found, officer))
    assert whole[0]["violations"]
    assert whole[0] == whole[1]
