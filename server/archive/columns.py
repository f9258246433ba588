"""The columns of settled rounds as Parquet tables.

Money is int64 cents. Cards have the event format, separated by blanks: ``AS KD ??``. Every time has
two columns: a timestamp in UTC and, named ``_ns``, the events' nanoseconds since the Unix epoch.
Unknown and unobserved values are null.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from server.process.arrow import pa

CODE: Final = pa.dictionary(pa.int32(), pa.string())
"""Text with few distinct values."""
Schemas: TypeAlias = Mapping[str, pa.Schema]
_TIME: Final = pa.timestamp("ns", "UTC")
_ROUND: Final = (("file", CODE), ("table", CODE), ("round", pa.int64()))
_WHEN: Final = (
    ("opened_at", _TIME),
    ("opened_at_ns", pa.int64()),
    ("closed_at", _TIME),
    ("closed_at_ns", pa.int64()),
)
AT: Final = (("at", _TIME), ("at_ns", pa.int64()))
_RULES: Final = (("rulebook", CODE), ("overrides", CODE), ("rules_hash", CODE))
_POSSIBLE: Final = pa.list_(
    pa.struct([("outcome", pa.string()), ("net", pa.int64()), ("if", pa.string())])
)
SIDE_BETS: Final = pa.list_(
    pa.struct(
        [
            ("bet", pa.string()),
            ("bettor", pa.string()),
            ("stake", pa.int64()),
            ("outcome", pa.string()),
            ("net", pa.int64()),
            ("paid", pa.int64()),
        ]
    )
)

SETTLED: Final[Schemas] = {
    "hands": pa.schema(
        [
            *_ROUND,
            *_WHEN,
            *_RULES,
            ("status", CODE),
            ("spot", pa.int16()),
            ("hand", pa.int16()),
            ("cards", pa.string()),
            ("burned", pa.string()),
            ("stake", pa.int64()),
            ("outcome", CODE),
            ("net", pa.int64()),
            ("exact_numerator", pa.int64()),
            ("exact_denominator", pa.int64()),
            ("paid", pa.int64()),
            ("difference", pa.int64()),
            ("insurance_stake", pa.int64()),
            ("insurance_net", pa.int64()),
            ("insurance_paid", pa.int64()),
            ("insurance_difference", pa.int64()),
            ("dealer", pa.string()),
            ("dealer_outcome", CODE),
            ("clauses", pa.list_(pa.string())),
            ("violations", pa.list_(pa.string())),
            ("suspected", pa.list_(pa.string())),
            ("possible", _POSSIBLE),
            ("side_bets", SIDE_BETS),
        ]
    ),
    "violations": pa.schema(
        [
            *_ROUND,
            *AT,
            ("seq", pa.int64()),
            ("code", CODE),
            ("clause", CODE),
            ("spot", pa.int16()),
            ("hand", pa.int16()),
            ("detail", pa.string()),
            ("suspected", pa.bool_()),
        ]
    ),
    "rounds": pa.schema(
        [
            *_ROUND,
            *_WHEN,
            *_RULES,
            ("status", CODE),
            ("dealer", pa.string()),
            ("dealer_burned", pa.string()),
            ("dealer_total", pa.int16()),
            ("dealer_outcome", CODE),
            ("spots", pa.int16()),
            ("hands", pa.int32()),
            ("violations", pa.int32()),
            ("suspected", pa.int32()),
            ("net", pa.int64()),
            ("kept", pa.int64()),
            ("underpaid", pa.int64()),
            ("overpaid", pa.int64()),
        ]
    ),
}
"""The tables of ``settle --out``: one row a hand; in a folder, also violations and rounds.

``insurance_*`` and ``side_bets`` belong to the first hand of a spot that has them. ``net`` is due;
``paid`` was observed, 0 for a push left alone, null where no payment was seen; ``difference`` is
what was paid beyond what was due. ``kept`` is what the house kept, where ``net`` was due to it;
``underpaid`` and ``overpaid`` are still open, and 0 in a round under review. ``violations`` of a
hand are the certain mistakes that name it, ``suspected`` those that a person must still decide; of
a round both are counts.
"""

CHANGES: Final[Schemas] = {
    "changes": pa.schema(
        [
            *_ROUND,
            *_WHEN,
            *((f"then_{name}", kind) for name, kind in _RULES),
            *((f"now_{name}", kind) for name, kind in _RULES),
            ("changed", pa.bool_()),
            ("spot", pa.int16()),
            ("hand", pa.int16()),
            ("kind", CODE),
            ("then_outcome", CODE),
            ("then_net", pa.int64()),
            ("now_outcome", CODE),
            ("now_net", pa.int64()),
            ("clauses", pa.list_(pa.string())),
            ("paid", pa.int64()),
        ]
    ),
    "violations": pa.schema(
        [
            *_ROUND,
            *AT,
            ("change", CODE),
            ("seq", pa.int64()),
            ("code", CODE),
            ("clause", CODE),
            ("spot", pa.int16()),
            ("hand", pa.int16()),
            ("detail", pa.string()),
            ("suspected", pa.bool_()),
        ]
    ),
}
"""The tables of ``resettle --out``: one row a hand or insurance, changed or not; in a folder, also
the violations that ``appeared`` or are ``gone``. Nets are the player's gain."""
