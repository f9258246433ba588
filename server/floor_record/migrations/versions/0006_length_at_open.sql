-- A chain begins with what is known of its table's length. Before, a new chain said that it was seen
-- just now and that the table had no entries, so that it showed no lag until its first entries came.

-- The chain of a journal, as before. A new one also notes the last entry that the table has; a
-- forwarder of an older version does not give it.
DROP FUNCTION pitwatch.open_chain(text, text, text, date);
CREATE FUNCTION pitwatch.open_chain(
    of_table text, of_journal text, its_name text, its_day date, last_there bigint DEFAULT NULL
) RETURNS TABLE (epoch integer, seq bigint, head bytea, state text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pitwatch, pg_temp AS $$
DECLARE
    begun integer;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('pitwatch ' || of_table, 0));
    IF NOT EXISTS (SELECT FROM chains c WHERE c.table_id = of_table AND c.journal = of_journal) THEN
        IF its_day IS NULL THEN
            RETURN;
        END IF;
        begun := begin_epoch(of_table, of_journal, its_name, its_day, '');
        UPDATE chains c SET table_seq = coalesce(last_there, 0)
            WHERE c.table_id = of_table AND c.epoch = begun;
    END IF;
    RETURN QUERY SELECT c.epoch, c.seq, c.head, c.state FROM chains c
        WHERE c.table_id = of_table AND c.journal = of_journal ORDER BY c.epoch DESC LIMIT 1;
END $$;
REVOKE ALL ON FUNCTION pitwatch.open_chain(text, text, text, date, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pitwatch.open_chain(text, text, text, date, bigint)
    TO pitwatch_forwarder;

-- Begin an epoch, and make the partition of its day, as before. A journal that had an epoch already
-- keeps what its forwarder last said of the table, and when.
CREATE OR REPLACE FUNCTION pitwatch.begin_epoch(
    of_table text, of_journal text, its_name text, its_day date, why text
) RETURNS integer LANGUAGE plpgsql SET search_path = pitwatch, pg_temp AS $$
DECLARE
    day_table text := 'entries_' || to_char(its_day, 'YYYYMMDD');
    begun integer;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('pitwatch partitions', 0));
    IF to_regclass('pitwatch.' || day_table) IS NULL THEN
        EXECUTE format(
            'CREATE TABLE pitwatch.%I PARTITION OF pitwatch.entries FOR VALUES FROM (%L) TO (%L)',
            day_table, its_day, its_day + 1);
    END IF;
    INSERT INTO chains (table_id, epoch, journal, name, day, reason)
        SELECT of_table, coalesce(max(c.epoch), 0) + 1, of_journal, its_name, its_day, why
        FROM chains c WHERE c.table_id = of_table
        RETURNING chains.epoch INTO begun;
    UPDATE chains c SET table_seq = before.table_seq, seen_at = before.seen_at
        FROM (
            SELECT b.table_seq, b.seen_at FROM chains b
            WHERE b.table_id = of_table AND b.journal = of_journal AND b.epoch < begun
            ORDER BY b.epoch DESC LIMIT 1
        ) AS before
        WHERE c.table_id = of_table AND c.epoch = begun;
    RETURN begun;
END $$;
