"""The service on the floor record: names of sessions, and the rows folded from them."""

from server.floor_record.migrating import script_beside

revision, down_revision, upgrade = "0002", "0001", script_beside(__file__)
