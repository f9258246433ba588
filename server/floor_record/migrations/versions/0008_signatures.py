"""What tables signed, and the keys that the owner named."""

from server.floor_record.migrating import script_beside

revision, down_revision, upgrade = "0008", "0007", script_beside(__file__)
