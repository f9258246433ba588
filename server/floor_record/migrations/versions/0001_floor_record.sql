-- The floor record. A chain is one journal of a table, as one epoch of that table. Entries are
-- stored as they were hashed, so that any reader can verify them again. Nobody writes into these
-- tables directly: forwarders call take(), which verifies each link before it inserts.

CREATE SCHEMA pitwatch;

CREATE TABLE pitwatch.chains (
    table_id text NOT NULL,
    epoch integer NOT NULL CHECK (epoch > 0),
    journal text NOT NULL,
    name text NOT NULL,
    day date NOT NULL,                               -- the house's day on which the journal began
    begun_at timestamptz NOT NULL DEFAULT now(),
    reason text NOT NULL DEFAULT '',                 -- why the epoch began, where a person began it
    seq bigint NOT NULL DEFAULT 0,                   -- the last entry taken in, and its hash
    head bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
    table_seq bigint NOT NULL DEFAULT 0,             -- the last entry that the table had …
    seen_at timestamptz NOT NULL DEFAULT now(),      -- … when its forwarder last said so
    state text NOT NULL DEFAULT 'sound' CHECK (state IN ('sound', 'forked', 'behind', 'retired')),
    PRIMARY KEY (table_id, epoch)
);
CREATE INDEX chains_journal ON pitwatch.chains (journal);
CREATE INDEX chains_day ON pitwatch.chains (day);

-- The columns' view of an entry: PostgreSQL's JSON has no NUL.
CREATE FUNCTION pitwatch.parsed(body text) RETURNS json LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT replace(body, '\u0000', '\ufffd')::json
$$;

CREATE FUNCTION pitwatch.codes(body text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT array_agg(one ->> 'code')
    FROM json_array_elements(pitwatch.parsed(body) #> '{result,violations}') AS one
$$;

CREATE TABLE pitwatch.entries (
    day date NOT NULL,
    table_id text NOT NULL,
    epoch integer NOT NULL,
    seq bigint NOT NULL,
    hash bytea NOT NULL,
    body text NOT NULL,
    version smallint NOT NULL,                       -- of the journal that wrote it
    type text NOT NULL GENERATED ALWAYS AS (pitwatch.parsed(body) ->> 'type') STORED,
    at bigint GENERATED ALWAYS AS (
        substring(pitwatch.parsed(body) ->> 'at' FROM '^[0-9]{1,18}$|^[0-8][0-9]{18}$')::bigint) STORED,
    round bigint GENERATED ALWAYS AS (
        substring(coalesce(pitwatch.parsed(body) ->> 'round', pitwatch.parsed(body) #>> '{result,round}')
            FROM '^[0-9]{1,18}$')::bigint) STORED,
    spot integer GENERATED ALWAYS AS (
        substring(coalesce(pitwatch.parsed(body) ->> 'spot', pitwatch.parsed(body) ->> 'to')
            FROM '^[0-9]{1,9}$')::integer) STORED,
    account text GENERATED ALWAYS AS (pitwatch.parsed(body) ->> 'account') STORED,
    codes text[] GENERATED ALWAYS AS (
        CASE WHEN body LIKE '{"type":"round\_settled"%' THEN pitwatch.codes(body) END) STORED,
    PRIMARY KEY (day, table_id, epoch, seq)
) PARTITION BY RANGE (day);
CREATE INDEX entries_at ON pitwatch.entries (table_id, at);
CREATE INDEX entries_round ON pitwatch.entries (table_id, round) WHERE round IS NOT NULL;
CREATE INDEX entries_codes ON pitwatch.entries USING gin (codes) WHERE codes IS NOT NULL;

CREATE TABLE pitwatch.quarantine (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    received_at timestamptz NOT NULL DEFAULT now(),
    table_id text NOT NULL,
    epoch integer NOT NULL,
    seq bigint NOT NULL,
    hash bytea,
    body bytea,
    reason text NOT NULL,
    detail text NOT NULL,
    UNIQUE NULLS NOT DISTINCT (table_id, epoch, seq, reason, hash)  -- a repeat is no second alarm
);

CREATE TABLE pitwatch.holds (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    first_day date NOT NULL,
    last_day date NOT NULL CHECK (last_day >= first_day),
    table_id text,                                   -- null: every table
    reason text NOT NULL CHECK (reason <> ''),
    placed_by text NOT NULL DEFAULT session_user,
    placed_at timestamptz NOT NULL DEFAULT now(),
    lifted_by text,
    lifted_at timestamptz
);

CREATE TABLE pitwatch.retired (
    day date NOT NULL,
    manifest text NOT NULL,                          -- SHA-256 of the day's manifest
    retired_by text NOT NULL DEFAULT session_user,
    retired_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (day, retired_at)                    -- a late journal begins its day again
);

CREATE VIEW pitwatch.lag AS
    SELECT table_id, epoch, journal, day, state, seq, table_seq,
           greatest(table_seq - seq, 0) AS behind, now() - seen_at AS silent
    FROM pitwatch.chains WHERE state <> 'retired';

CREATE FUNCTION pitwatch.never() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the floor record never changes: no % on %', TG_OP, TG_TABLE_NAME;
END $$;
CREATE TRIGGER never BEFORE UPDATE OR DELETE ON pitwatch.entries
    FOR EACH ROW EXECUTE FUNCTION pitwatch.never();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON pitwatch.entries
    FOR EACH STATEMENT EXECUTE FUNCTION pitwatch.never();
CREATE TRIGGER never BEFORE UPDATE OR DELETE OR TRUNCATE ON pitwatch.quarantine
    FOR EACH STATEMENT EXECUTE FUNCTION pitwatch.never();

-- Put something aside that cannot be taken in, and tell whoever listens.
CREATE FUNCTION pitwatch.put_aside(
    of_table text, of_epoch integer, at_seq bigint, its_hash bytea, its_body bytea,
    why text, what text
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pitwatch.quarantine (table_id, epoch, seq, hash, body, reason, detail)
        VALUES (of_table, of_epoch, at_seq, its_hash, its_body, why, what)
        ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM pg_notify('pitwatch_alarms', json_build_object(
            'table', of_table, 'epoch', of_epoch, 'seq', at_seq, 'reason', why)::text);
    END IF;
END $$;

-- The chain of a journal: the latest epoch that it is, or a new one for a journal not seen before.
-- A journal that has not begun yet (no day) gets none.
CREATE FUNCTION pitwatch.open_chain(of_table text, of_journal text, its_name text, its_day date)
RETURNS TABLE (epoch integer, seq bigint, head bytea, state text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pitwatch, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('pitwatch ' || of_table, 0));
    IF NOT EXISTS (SELECT FROM chains c WHERE c.table_id = of_table AND c.journal = of_journal) THEN
        IF its_day IS NULL THEN
            RETURN;
        END IF;
        PERFORM begin_epoch(of_table, of_journal, its_name, its_day, '');
    END IF;
    RETURN QUERY SELECT c.epoch, c.seq, c.head, c.state FROM chains c
        WHERE c.table_id = of_table AND c.journal = of_journal ORDER BY c.epoch DESC LIMIT 1;
END $$;

-- Begin an epoch, and make the partition of its day.
CREATE FUNCTION pitwatch.begin_epoch(
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
    RETURN begun;
END $$;

-- Take in consecutive entries of a chain. Returns the last entry that the floor has, and `taken`,
-- or the reason why one of them was put aside; everything is durable when the call is committed.
CREATE FUNCTION pitwatch.take(
    of_table text, of_epoch integer, first bigint, hashes bytea[], bodies bytea[],
    its_version integer, last_there bigint
) RETURNS TABLE (seq bigint, outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pitwatch, pg_temp AS $$
DECLARE
    chain chains;
    bad record;
    known bytea;
    repeats bigint;
    fault text;
BEGIN
    PERFORM set_config('synchronous_commit',
        CASE current_setting('synchronous_commit')
            WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true);
    SELECT * INTO STRICT chain FROM chains c
        WHERE c.table_id = of_table AND c.epoch = of_epoch FOR UPDATE;
    IF chain.state <> 'sound' THEN
        RETURN QUERY SELECT chain.seq, chain.state;
        RETURN;
    END IF;
    repeats := least(greatest(chain.seq - first + 1, 0), cardinality(hashes));

    -- The hash of the last repeated entry stands for all before it.
    IF repeats > 0 THEN
        SELECT e.hash INTO known FROM entries e
            WHERE e.day = chain.day AND e.table_id = of_table AND e.epoch = of_epoch
            AND e.seq = first + repeats - 1;
        IF known IS DISTINCT FROM hashes[repeats] THEN
            PERFORM put_aside(of_table, of_epoch, first + repeats - 1, hashes[repeats],
                bodies[repeats], 'fork', 'the floor holds this entry with another hash');
            UPDATE chains c SET state = 'forked'
                WHERE c.table_id = of_table AND c.epoch = of_epoch;
            RETURN QUERY SELECT chain.seq, 'fork';
            RETURN;
        END IF;
    ELSIF first > chain.seq + 1 THEN
        PERFORM put_aside(of_table, of_epoch, first, hashes[1], bodies[1], 'gap',
            format('entry %s is the next that the floor waits for', chain.seq + 1));
        RETURN QUERY SELECT chain.seq, 'gap';
        RETURN;
    END IF;

    SELECT n, hashes[n] AS hash, bodies[n] AS body INTO bad
        FROM generate_series(repeats + 1, cardinality(hashes)) AS n
        WHERE hashes[n] IS DISTINCT FROM sha256(
            CASE WHEN n = repeats + 1 THEN chain.head ELSE hashes[n - 1] END
            || int8send(first + n - 1) || bodies[n])
        ORDER BY n LIMIT 1;
    IF FOUND THEN
        PERFORM put_aside(of_table, of_epoch, first + bad.n - 1, bad.hash, bad.body,
            'broken_link', 'its hash does not follow from the entry before and its content');
        RETURN QUERY SELECT chain.seq, 'broken_link';
        RETURN;
    END IF;

    BEGIN
        INSERT INTO entries (day, table_id, epoch, seq, hash, body, version)
            SELECT chain.day, of_table, of_epoch, first + n - 1, hashes[n],
                   convert_from(bodies[n], 'UTF8'), its_version
            FROM generate_series(repeats + 1, cardinality(hashes)) AS n;
    EXCEPTION WHEN data_exception OR not_null_violation THEN
        GET STACKED DIAGNOSTICS fault = MESSAGE_TEXT;
        PERFORM put_aside(of_table, of_epoch, first + repeats, hashes[repeats + 1],
            bodies[repeats + 1], 'no_event', fault);
        RETURN QUERY SELECT chain.seq, 'no_event';
        RETURN;
    END;
    UPDATE chains c SET
        seq = greatest(chain.seq, first + cardinality(hashes) - 1),
        head = CASE WHEN repeats < cardinality(hashes)
            THEN hashes[cardinality(hashes)] ELSE chain.head END,
        table_seq = last_there,
        seen_at = now()
        WHERE c.table_id = of_table AND c.epoch = of_epoch
        RETURNING c.seq INTO seq;
    outcome := 'taken';
    RETURN NEXT;
END $$;

-- A table says where it is, with or without new entries. One that ends before the entry that the
-- forwarder knew to be here (known) when it read the journal was restored from a backup, or lost its
-- end: it is alarmed, and waits for a new epoch. The floor's last entry is no measure: this message
-- may be older than the entries that came after it over another connection.
CREATE FUNCTION pitwatch.seen(of_table text, of_epoch integer, last_there bigint, known bigint)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pitwatch, pg_temp AS $$
DECLARE chain chains;
BEGIN
    UPDATE chains c SET table_seq = last_there, seen_at = now(),
        state = CASE WHEN c.state = 'sound' AND last_there < least(known, c.seq) THEN 'behind' ELSE c.state END
        WHERE c.table_id = of_table AND c.epoch = of_epoch RETURNING * INTO STRICT chain;
    IF chain.state = 'behind' THEN
        PERFORM put_aside(of_table, of_epoch, last_there, NULL, NULL, 'behind',
            format('the table ends here, the floor holds entries up to %s', chain.seq));
    END IF;
    RETURN chain.state;
END $$;

-- Drop the entries of a day that is kept as Parquet. The caller has compared the manifest.
CREATE FUNCTION pitwatch.retire_day(its_day date, its_manifest text)
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
    UPDATE chains c SET state = 'retired' WHERE c.day = its_day;
    EXECUTE format('DROP TABLE pitwatch.%I', 'entries_' || to_char(its_day, 'YYYYMMDD'));
END $$;

DO $$
DECLARE wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['pitwatch_forwarder', 'pitwatch_service'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        END IF;
    END LOOP;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pitwatch FROM PUBLIC;
GRANT USAGE ON SCHEMA pitwatch TO pitwatch_forwarder, pitwatch_service;
GRANT EXECUTE ON FUNCTION
    pitwatch.open_chain(text, text, text, date),
    pitwatch.take(text, integer, bigint, bytea[], bytea[], integer, bigint),
    pitwatch.seen(text, integer, bigint, bigint)
    TO pitwatch_forwarder;
GRANT SELECT ON ALL TABLES IN SCHEMA pitwatch TO pitwatch_service;
