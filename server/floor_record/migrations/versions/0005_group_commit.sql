-- Take in parcels: consecutive entries of several chains, each of them as take() does, in one
-- transaction. One commit and one pair of statements serve all that simply follow; take() decides
-- about the others, one by one.
--
-- An entry belongs to the parcel that its `of` names, counted from 1, and the entries of a parcel
-- come in order. Returns an outcome for each parcel: as take() does, `unknown` for a chain that the
-- floor does not have, and `busy` where the table catches up and others do so already.
CREATE FUNCTION pitwatch.take_all(
    tables text[], epochs integer[], firsts bigint[], versions integer[], lasts bigint[],
    of integer[], hashes bytea[], bodies bytea[], is_late boolean
) RETURNS TABLE (nth integer, outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pitwatch, pg_temp AS $$
DECLARE
    done integer[];
    one record;
BEGIN
    -- Two at a time catch up, however many return at once: so they leave the database to live tables.
    IF is_late AND NOT (
        pg_try_advisory_xact_lock(hashtextextended('pitwatch catches up', 1))
        OR pg_try_advisory_xact_lock(hashtextextended('pitwatch catches up', 2))
    ) THEN
        RETURN QUERY SELECT n, 'busy' FROM generate_series(1, cardinality(tables)) AS n;
        RETURN;
    END IF;
    PERFORM set_config('synchronous_commit',
        CASE current_setting('synchronous_commit')
            WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true);
    -- In one order for everybody, so that two transactions never wait for each other.
    PERFORM FROM chains c
        JOIN (SELECT DISTINCT * FROM unnest(tables, epochs)) AS p (table_id, epoch)
        ON c.table_id = p.table_id AND c.epoch = p.epoch
        ORDER BY c.table_id, c.epoch FOR UPDATE OF c;

    BEGIN
        WITH parcel AS MATERIALIZED (
            SELECT p.*, c.day, c.head
            FROM (
                SELECT u.*, count(*) OVER (PARTITION BY u.table_id, u.epoch) AS parcels
                FROM unnest(tables, epochs, firsts, versions, lasts) WITH ORDINALITY
                    AS u (table_id, epoch, first, version, last_there, nth)
            ) AS p
            JOIN chains c ON c.table_id = p.table_id AND c.epoch = p.epoch
            WHERE c.state = 'sound' AND p.first = c.seq + 1 AND p.parcels = 1
        ), given AS MATERIALIZED (
            SELECT p.nth, p.first - 1 + row_number() OVER w AS seq, e.hash, e.body,
                coalesce(lag(e.hash) OVER w, p.head) AS before
            FROM unnest(of, hashes, bodies) WITH ORDINALITY AS e (of, hash, body, n)
            JOIN parcel p ON p.nth = e.of
            WINDOW w AS (PARTITION BY e.of ORDER BY e.n)
        ), follows AS MATERIALIZED (
            SELECT g.nth, max(g.seq) AS seq FROM given g GROUP BY g.nth
            HAVING bool_and(g.hash IS NOT DISTINCT FROM sha256(g.before || int8send(g.seq) || g.body))
        ), stored AS (
            INSERT INTO entries (day, table_id, epoch, seq, hash, body, version)
            SELECT p.day, p.table_id, p.epoch, g.seq, g.hash, convert_from(g.body, 'UTF8'), p.version
            FROM given g JOIN follows USING (nth) JOIN parcel p USING (nth)
        ), moved AS (
            UPDATE chains c SET seq = f.seq, head = g.hash, table_seq = p.last_there, seen_at = now()
            FROM follows f JOIN parcel p USING (nth) JOIN given g USING (nth, seq)
            WHERE c.table_id = p.table_id AND c.epoch = p.epoch
            RETURNING p.nth
        )
        SELECT array_agg(m.nth::integer) INTO done FROM moved m;
    EXCEPTION WHEN data_exception OR not_null_violation THEN
        done := NULL;  -- take() finds which one it is
    END;
    RETURN QUERY SELECT n, 'taken' FROM unnest(done) AS n;

    FOR one IN
        SELECT p.* FROM unnest(tables, epochs, firsts, versions, lasts) WITH ORDINALITY
            AS p (table_id, epoch, first, version, last_there, nth)
        WHERE done IS NULL OR p.nth <> ALL (done) ORDER BY p.nth
    LOOP
        nth := one.nth;
        IF EXISTS (SELECT FROM chains c WHERE c.table_id = one.table_id AND c.epoch = one.epoch) THEN
            SELECT t.outcome INTO STRICT outcome
                FROM (
                    SELECT array_agg(e.hash ORDER BY e.n) AS hashes, array_agg(e.body ORDER BY e.n) AS bodies
                    FROM unnest(take_all.of, take_all.hashes, take_all.bodies) WITH ORDINALITY AS e (of, hash, body, n)
                    WHERE e.of = one.nth
                ) AS mine,
                take(one.table_id, one.epoch, one.first, mine.hashes, mine.bodies,
                    one.version, one.last_there) AS t;
        ELSE
            outcome := 'unknown';
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;

-- Drop the entries of a day that is kept as Parquet, as before. It locks the chains in the order of
-- take_all(), so that neither waits for the other.
CREATE OR REPLACE FUNCTION pitwatch.retire_day(its_day date, its_manifest text)
RETURNS void LANGUAGE plpgsql SET search_path = pitwatch, pg_temp AS $$
DECLARE held holds;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('pitwatch partitions', 0));
    SELECT h.* INTO held FROM holds h
        WHERE h.lifted_at IS NULL AND its_day BETWEEN h.first_day AND h.last_day
        AND (h.table_id IS NULL OR EXISTS (
            SELECT FROM chains c WHERE c.day = its_day AND c.table_id = h.table_id))
        LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001',
            MESSAGE = format('day %s is under legal hold %s: %s', its_day, held.number, held.reason);
    END IF;
    INSERT INTO retired (day, manifest) VALUES (its_day, its_manifest);
    PERFORM FROM chains c WHERE c.day = its_day ORDER BY c.table_id, c.epoch FOR UPDATE;
    UPDATE chains c SET state = 'retired' WHERE c.day = its_day;
    EXECUTE format('DROP TABLE pitwatch.%I', 'entries_' || to_char(its_day, 'YYYYMMDD'));
END $$;

REVOKE ALL ON FUNCTION pitwatch.take_all(
    text[], integer[], bigint[], integer[], bigint[], integer[], bytea[], bytea[], boolean
) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pitwatch.take_all(
    text[], integer[], bigint[], integer[], bigint[], integer[], bytea[], bytea[], boolean
) TO pitwatch_forwarder;
