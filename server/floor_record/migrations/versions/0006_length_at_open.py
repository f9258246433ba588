"""A chain that begins says at once how far its table is, so that the floor shows the lag."""

from server.floor_record.migrating import script_beside

revision, down_revision, upgrade = "0006", "0005", script_beside(__file__)
