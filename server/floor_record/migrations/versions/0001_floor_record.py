"""The floor record: chains, entries, quarantine, holds, and the roles that use them."""

from server.floor_record.migrating import script_beside

revision, down_revision, upgrade = "0001", None, script_beside(__file__)
