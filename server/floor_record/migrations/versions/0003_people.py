"""What services share of people: accounts, limits, casework and activity."""

from server.floor_record.migrating import script_beside

revision, down_revision, upgrade = "0003", "0002", script_beside(__file__)
