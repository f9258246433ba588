"""Entries of many tables in one transaction; tables that catch up leave the floor to live ones."""

from server.floor_record.migrating import script_beside

revision, down_revision, upgrade = "0005", "0004", script_beside(__file__)
