"""A view of the mistakes of each round, with the suspected ones marked."""

from server.floor_record.migrating import script_beside

revision, down_revision, upgrade = "0007", "0006", script_beside(__file__)
