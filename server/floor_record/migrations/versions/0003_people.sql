-- What services share of people: accounts, sessions and limits, which they change; and the chains of
-- people's actions and of their work on incidents, to which they only append.

CREATE SCHEMA pitwatch_people;

CREATE TABLE pitwatch_people.accounts (
    name text PRIMARY KEY, role text NOT NULL, password text NOT NULL, active boolean NOT NULL,
    made_ns bigint NOT NULL
);
CREATE TABLE pitwatch_people.sessions (
    digest bytea PRIMARY KEY, name text NOT NULL, csrf bytea NOT NULL, made_ns bigint NOT NULL,
    seen_ns bigint NOT NULL
);
CREATE TABLE pitwatch_people.account_tables (
    name text NOT NULL, tab text NOT NULL, PRIMARY KEY (name, tab)
);
CREATE TABLE pitwatch_people.tries (
    name text PRIMARY KEY, failed bigint NOT NULL, last_ns bigint NOT NULL
);
CREATE TABLE pitwatch_people.factors (
    name text PRIMARY KEY, secret bytea NOT NULL, confirmed boolean NOT NULL,
    last_step bigint NOT NULL
);
CREATE TABLE pitwatch_people.recoveries (
    name text NOT NULL, digest bytea NOT NULL, PRIMARY KEY (name, digest)
);
CREATE TABLE pitwatch_people.password_ages (
    name text PRIMARY KEY, since_ns bigint NOT NULL, is_first boolean NOT NULL
);
CREATE TABLE pitwatch_people.former_passwords (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL,
    password text NOT NULL
);
CREATE TABLE pitwatch_people.tokens (
    id text PRIMARY KEY, name text NOT NULL, label text NOT NULL, scopes text NOT NULL,
    digest bytea NOT NULL UNIQUE, made_ns bigint NOT NULL, ends_ns bigint NOT NULL
);
CREATE TABLE pitwatch_people.token_makers (id text PRIMARY KEY, maker text NOT NULL);

-- Token buckets by kind and client; lost in a crash, which only fills the buckets.
CREATE UNLOGGED TABLE pitwatch_people.buckets (
    kind text NOT NULL, who text NOT NULL, tokens double precision NOT NULL,
    at timestamptz NOT NULL, PRIMARY KEY (kind, who)
);

CREATE TABLE pitwatch.own_journals (
    name text PRIMARY KEY,                           -- activity.journal, cases.journal
    journal text NOT NULL,
    seq bigint NOT NULL DEFAULT 0,
    head bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex')
);
CREATE TABLE pitwatch.own_entries (
    name text NOT NULL REFERENCES pitwatch.own_journals, seq bigint NOT NULL, hash bytea NOT NULL,
    body text NOT NULL, PRIMARY KEY (name, seq)
);
CREATE TRIGGER never BEFORE UPDATE OR DELETE ON pitwatch.own_entries
    FOR EACH ROW EXECUTE FUNCTION pitwatch.never();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON pitwatch.own_entries
    FOR EACH STATEMENT EXECUTE FUNCTION pitwatch.never();

CREATE FUNCTION pitwatch.open_own(of_name text, its_journal text)
RETURNS TABLE (journal text, seq bigint, head bytea)
LANGUAGE sql SECURITY DEFINER SET search_path = pitwatch, pg_temp AS $$
    INSERT INTO own_journals (name, journal) VALUES (of_name, its_journal)
        ON CONFLICT DO NOTHING;
    SELECT o.journal, o.seq, o.head FROM own_journals o WHERE o.name = of_name;
$$;

-- Append entries that follow `after`. Returns the last entry then: another one than the caller's
-- where another service has appended meanwhile, and nothing was appended.
CREATE FUNCTION pitwatch.append_own(of_name text, after bigint, hashes bytea[], bodies bytea[])
RETURNS TABLE (seq bigint, head bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pitwatch, pg_temp AS $$
DECLARE own own_journals;
BEGIN
    PERFORM set_config('synchronous_commit',
        CASE current_setting('synchronous_commit')
            WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true);
    SELECT * INTO STRICT own FROM own_journals o WHERE o.name = of_name FOR UPDATE;
    IF own.seq <> after THEN
        RETURN QUERY SELECT own.seq, own.head;
        RETURN;
    END IF;
    IF EXISTS (
        SELECT FROM generate_series(1, cardinality(hashes)) AS n
        WHERE hashes[n] IS DISTINCT FROM sha256(
            CASE WHEN n = 1 THEN own.head ELSE hashes[n - 1] END
            || int8send(after + n) || bodies[n])
    ) THEN
        RAISE EXCEPTION 'the hash of an entry of % does not follow', of_name;
    END IF;
    INSERT INTO own_entries (name, seq, hash, body)
        SELECT of_name, after + n, hashes[n], convert_from(bodies[n], 'UTF8')
        FROM generate_series(1, cardinality(hashes)) AS n;
    UPDATE own_journals o SET seq = after + cardinality(hashes), head = hashes[cardinality(hashes)]
        WHERE o.name = of_name RETURNING o.seq, o.head INTO seq, head;
    RETURN NEXT;
END $$;

-- Take a token from a client's bucket; return the seconds to wait, 0 where there was one.
CREATE FUNCTION pitwatch_people.admitted(of_kind text, client text, per_s double precision, burst integer)
RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    now timestamptz := clock_timestamp();
    full_after interval := make_interval(secs => burst / per_s);
    have double precision;
BEGIN
    INSERT INTO pitwatch_people.buckets AS b VALUES (of_kind, client, burst, now)
        ON CONFLICT (kind, who) DO UPDATE SET
            tokens = least(burst, b.tokens
                + greatest(extract(epoch FROM now - b.at), 0)::double precision * per_s),
            at = now
        RETURNING b.tokens INTO have;
    IF random() < 0.001 THEN
        DELETE FROM pitwatch_people.buckets b WHERE b.kind = of_kind AND b.at < now - full_after;
    END IF;
    IF have < 1 THEN
        RETURN (1 - have) / per_s;
    END IF;
    UPDATE pitwatch_people.buckets b SET tokens = have - 1 WHERE b.kind = of_kind AND b.who = client;
    RETURN 0;
END $$;

REVOKE ALL ON FUNCTION
    pitwatch.open_own(text, text),
    pitwatch.append_own(text, bigint, bytea[], bytea[]),
    pitwatch_people.admitted(text, text, double precision, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    pitwatch.open_own(text, text),
    pitwatch.append_own(text, bigint, bytea[], bytea[]),
    pitwatch_people.admitted(text, text, double precision, integer) TO pitwatch_service;
GRANT SELECT ON pitwatch.own_journals, pitwatch.own_entries TO pitwatch_service;
GRANT USAGE ON SCHEMA pitwatch_people TO pitwatch_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pitwatch_people TO pitwatch_service;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA pitwatch_people TO pitwatch_service;
