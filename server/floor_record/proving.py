"""Up to which entry a chain on the floor is proven: by a signature of the table's own key.

A forwarder is not trusted. The database verifies that hashes follow, which whoever invents an entry
can compute. Only a checkpoint that a key signed which the owner named proves entries.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, LiteralString

from stream.identity import Identity
from stream.signing import is_signed

SIGNATURES: Final[LiteralString] = """
    SELECT c.session, c.journal, c.name, c.table_id, s.seq, s.at, s.key, s.signature, e.hash
    FROM pitwatch.chains c
    CROSS JOIN LATERAL (
        SELECT * FROM pitwatch.signatures s WHERE s.journal = c.journal AND s.seq <= c.seq
        AND EXISTS (
            SELECT FROM pitwatch.table_keys k
            WHERE k.table_id = c.table_id AND k.fingerprint = encode(sha256(s.key), 'hex'))
        ORDER BY s.seq DESC LIMIT 20
    ) AS s
    JOIN pitwatch.entries e ON e.day = c.day AND e.table_id = c.table_id
        AND e.epoch = c.epoch AND e.seq = s.seq
    WHERE c.session = ANY(%s::text[]) AND c.state <> 'retired'
    ORDER BY c.session, s.seq DESC
"""
"""The last ones of some sessions by a key that was named. More than one, as a forwarder may send
false ones: they can hide a proof for a while, and prove nothing."""


@dataclass(frozen=True, slots=True)
class _Signature:
    """A row of :data:`SIGNATURES`."""

    session: str
    journal: str
    name: str
    table: str
    seq: int
    at: int
    key: bytes
    signature: bytes
    head: bytes

    @property
    def fits(self) -> bool:
        """Whether the key made it over the entries up to its own.

        A journal may name no table, and one of an earlier version had no identity.
        """
        identities = (
            Identity(journal=self.journal, name=self.name, table=self.table),
            Identity(journal=self.journal, name=self.name),
            None,
        )
        return any(
            is_signed(self.key, self.signature, self.seq, self.at, self.head, identity=one)
            for one in identities
        )


def proven_in(rows: Iterable[Any]) -> dict[str, int]:
    """Return the last proven entry of each session in rows of :data:`SIGNATURES`."""
    found: dict[str, int] = {}
    for row in map(_signature, rows):
        if row.session not in found and row.fits:
            found[row.session] = row.seq
    return found


def _signature(row: Any) -> _Signature:
    session, journal, name, table, seq, at, *raw = row
    return _Signature(session, journal, name, table, seq, at, *map(bytes, raw))
