-- What a service on the floor record needs. A session is a chain under the name that viewers see.

ALTER TABLE pitwatch.chains
    ADD COLUMN session text UNIQUE,
    ADD COLUMN written boolean NOT NULL DEFAULT false,  -- whether its table has it open
    ADD COLUMN sealed boolean NOT NULL DEFAULT false;   -- whether it was closed in order

-- A session has its journal's name, and a number beside it where another had that name first.
CREATE FUNCTION pitwatch.name_session() RETURNS trigger
LANGUAGE plpgsql SET search_path = pitwatch, pg_temp AS $$
DECLARE
    stem text := regexp_replace(NEW.name, '\.journal$', '');
    nth integer := 1;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('pitwatch sessions', 0));
    NEW.session := stem;
    WHILE EXISTS (SELECT FROM chains c WHERE c.session = NEW.session) LOOP
        nth := nth + 1;
        NEW.session := stem || '-' || nth;
    END LOOP;
    RETURN NEW;
END $$;

DO $$
DECLARE
    one record;
    free text;
    nth integer;
BEGIN
    FOR one IN SELECT * FROM pitwatch.chains ORDER BY begun_at, table_id, epoch LOOP
        free := regexp_replace(one.name, '\.journal$', '');
        nth := 1;
        WHILE EXISTS (SELECT FROM pitwatch.chains c WHERE c.session = free) LOOP
            nth := nth + 1;
            free := regexp_replace(one.name, '\.journal$', '') || '-' || nth;
        END LOOP;
        UPDATE pitwatch.chains c SET session = free
            WHERE c.table_id = one.table_id AND c.epoch = one.epoch;
    END LOOP;
END $$;
ALTER TABLE pitwatch.chains ALTER COLUMN session SET NOT NULL;
CREATE TRIGGER name_session BEFORE INSERT ON pitwatch.chains
    FOR EACH ROW EXECUTE FUNCTION pitwatch.name_session();

-- A table says whether it has its journal open, and whether that was closed in order.
-- Returns whether the floor knows the journal.
CREATE FUNCTION pitwatch.stands(of_journal text, is_written boolean, is_sealed boolean)
RETURNS boolean LANGUAGE sql SECURITY DEFINER SET search_path = pitwatch, pg_temp AS $$
    UPDATE chains c SET written = is_written, sealed = is_sealed
        WHERE c.journal = of_journal AND (c.written, c.sealed) IS DISTINCT FROM (is_written, is_sealed);
    SELECT EXISTS (SELECT FROM chains c WHERE c.journal = of_journal);
$$;

-- The rows that services show, folded from the entries: derived, and made anew where they are lost.
CREATE SCHEMA pitwatch_read;

CREATE TABLE pitwatch_read.made (by text NOT NULL);
CREATE SEQUENCE pitwatch_read.moves;
CREATE TABLE pitwatch_read.sessions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    kept bytea,
    seq bigint NOT NULL DEFAULT 0,                   -- the last entry folded
    moved bigint NOT NULL DEFAULT 0,                 -- rises with each change
    fault text
);
CREATE INDEX sessions_moved ON pitwatch_read.sessions (moved);
CREATE TABLE pitwatch_read.tables (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE
);
CREATE TABLE pitwatch_read.notes (
    session bigint NOT NULL, kind text NOT NULL, number bigint NOT NULL, body bytea NOT NULL,
    PRIMARY KEY (session, kind, number)
);

DO $$
DECLARE
    kind record;
BEGIN
    FOR kind IN SELECT * FROM (VALUES
        ('rounds', 'status text,'), ('hands', 'spot bigint,'),
        ('violations', 'spot bigint, code text,'), ('reviews', ''),
        ('payments', 'spot bigint,'), ('ledger', 'account text,')) AS k (name, asked_by)
    LOOP
        EXECUTE format('CREATE TABLE pitwatch_read.%I (at bigint NOT NULL, session bigint NOT NULL,'
            ' seq bigint NOT NULL, n bigint NOT NULL, tab bigint NOT NULL, noticed boolean NOT NULL,'
            ' round bigint NOT NULL, %s body bytea NOT NULL)', kind.name, kind.asked_by);
        EXECUTE format('CREATE UNIQUE INDEX %I ON pitwatch_read.%I (at, session, seq, n)',
            kind.name || '_by_time', kind.name);
        EXECUTE format('CREATE INDEX %I ON pitwatch_read.%I (tab, at, session, seq, n)',
            kind.name || '_by_table', kind.name);
        EXECUTE format('CREATE INDEX %I ON pitwatch_read.%I (session, round)',
            kind.name || '_by_round', kind.name);
    END LOOP;
END $$;
CREATE INDEX rounds_noticed ON pitwatch_read.rounds (at, session, seq, n) WHERE noticed;
CREATE INDEX rounds_by_status ON pitwatch_read.rounds (status, at, session, seq, n)
    WHERE status <> 'final';
CREATE INDEX violations_by_code ON pitwatch_read.violations (code, at, session, seq, n);

REVOKE ALL ON FUNCTION pitwatch.name_session(), pitwatch.stands(text, boolean, boolean)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pitwatch.stands(text, boolean, boolean) TO pitwatch_forwarder;
GRANT USAGE ON SCHEMA pitwatch_read TO pitwatch_service;
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA pitwatch_read
    TO pitwatch_service;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA pitwatch_read TO pitwatch_service;
