"""Decisions on their way from a service to a table."""

from server.floor_record.migrating import script_beside

revision, down_revision, upgrade = "0004", "0003", script_beside(__file__)
