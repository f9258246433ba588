"""The public names of :mod:`pitwatch`; imported when one of them is first used."""

from models import events
from models.errors import PitwatchError
from pitwatch.records import read, replay, settle
from pitwatch_client import Client, ClientError, rows
from server.archive.settling import Settled
from server.table.replay import Replayed

__all__ = [
    "Client",
    "ClientError",
    "PitwatchError",
    "Replayed",
    "Settled",
    "events",
    "read",
    "replay",
    "rows",
    "settle",
]
