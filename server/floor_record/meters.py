"""The floor record's own metrics, asked for at each scrape."""

from collections.abc import Iterable
from typing import Final

import sqlalchemy as sa
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from server.floor_record.database import FloorDown
from server.floor_record.engine import floor_engine

_TABLES: Final = """
    SELECT table_id, max(behind), extract(epoch FROM min(silent))::double precision
    FROM pitwatch.lag WHERE state = 'sound' GROUP BY table_id
"""
_CHAINS: Final = """
    SELECT s, count(c.state) FROM unnest(ARRAY['sound', 'forked', 'behind']) AS s
    LEFT JOIN pitwatch.chains c ON c.state = s AND NOT EXISTS (
        SELECT FROM pitwatch.chains d WHERE d.table_id = c.table_id AND d.journal = c.journal
        AND d.epoch > c.epoch
    ) GROUP BY s
"""
_QUARANTINE: Final = """
    SELECT r, count(q.reason)
    FROM unnest(ARRAY['fork', 'gap', 'broken_link', 'no_event', 'behind']) AS r
    LEFT JOIN pitwatch.quarantine q ON q.reason = r GROUP BY r
"""
_UNFOLDED: Final = """
    SELECT coalesce(sum(greatest(c.seq - coalesce(s.seq, 0), 0)), 0)::double precision
    FROM pitwatch.chains c LEFT JOIN pitwatch_read.sessions s ON s.name = c.session
    WHERE c.state <> 'retired'
"""
_REPLICAS: Final = """
    SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')),
        coalesce(max(extract(epoch FROM replay_lag)), 0)::double precision
    FROM pg_stat_replication WHERE application_name <> 'pg_basebackup'
"""
_WANTED: Final = """
    SELECT count(*) FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting <> ''
"""
_ANSWER_MS: Final = 5_000


class FloorMeters(Collector):
    """Collects the metrics; while the database does not answer, only that it does not."""

    def __init__(self, url: str) -> None:
        self._engine = floor_engine(url, answer_ms=_ANSWER_MS)

    def describe(self) -> Iterable[Metric]:
        """Name nothing beforehand: a service starts without waiting for the database."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Ask the database."""
        up = GaugeMetricFamily("pitwatch_floor_up", "1 while the floor's database answers.")
        try:
            with self._engine.connect() as on:
                found = list(_asked(on))
        except FloorDown:
            up.add_metric((), 0)
            return (up,)
        finally:
            self._engine.dispose()
        up.add_metric((), 1)
        return (up, *found)


def _asked(on: sa.Connection) -> Iterable[Metric]:
    behind = _gauge("behind_entries", "Entries that a table has and the floor has not.", "table")
    silent = _gauge("silent_seconds", "Time since a table's forwarder was last heard.", "table")
    for table, entries, silent_s in on.exec_driver_sql(_TABLES):
        behind.add_metric((table,), entries)
        silent.add_metric((table,), silent_s)
    chains = _gauge("chains", "Journals, by whether the floor takes more of them.", "state")
    for state, count in on.exec_driver_sql(_CHAINS):
        chains.add_metric((state,), count)
    aside = _gauge("quarantined", "Entries in quarantine, by reason.", "reason")
    for reason, count in on.exec_driver_sql(_QUARANTINE):
        aside.add_metric((reason,), count)
    unfolded = _gauge("unfolded_entries", "Entries that no service has folded into rows yet.")
    unfolded.add_metric((), on.exec_driver_sql(_UNFOLDED).scalar_one())
    there, in_step, lag_s = on.exec_driver_sql(_REPLICAS).one()
    replicas = _gauge("replicas", "Connected replicas, by whether commits wait for them.", "kind")
    replicas.add_metric(("synchronous",), in_step)
    replicas.add_metric(("asynchronous",), there - in_step)
    wanted = _gauge("replica_wanted", "1 where commits are configured to wait for a replica.")
    wanted.add_metric((), on.exec_driver_sql(_WANTED).scalar_one())
    lag = _gauge("replica_lag_seconds", "How far the slowest replica is behind.")
    lag.add_metric((), lag_s)
    return behind, silent, chains, aside, unfolded, replicas, wanted, lag


def _gauge(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"pitwatch_floor_{name}", text, labels=labels)
