"""A client of a Pitwatch service: typed answers, every page of a list, a stream that resumes.

::

    with Client("https://pit:8443", token) as service:
        for one in service.each(rows.ViolationRow, table="BJ-07"):
            ...
        for event in service.watch({"bj-07": 0}):
            ...
"""

from pitwatch_client import rows
from pitwatch_client.client import Client
from pitwatch_client.errors import ClientError, Refused, Unreachable
from pitwatch_client.watching import StreamEvent

__all__ = ["Client", "ClientError", "Refused", "StreamEvent", "Unreachable", "rows"]
