-- What tables signed of their journals, as forwarders send it. The database verifies no signature: who
-- reads does, and counts only those of a key that the owner named. So a forwarder that invents entries,
-- with hashes that follow, can add nothing that counts as proven.
CREATE TABLE pitwatch.table_keys (
    table_id text NOT NULL,
    fingerprint text NOT NULL CHECK (fingerprint ~ '^[0-9a-f]{64}$'),
    named_at timestamptz NOT NULL DEFAULT now(),
    named_by text NOT NULL DEFAULT session_user,
    PRIMARY KEY (table_id, fingerprint)
);
CREATE TABLE pitwatch.signatures (
    journal text NOT NULL,
    seq bigint NOT NULL CHECK (seq > 0),             -- the last entry that it covers
    at bigint NOT NULL,                              -- nanoseconds since the Unix epoch
    key bytea NOT NULL CHECK (octet_length(key) = 32),
    signature bytea NOT NULL CHECK (octet_length(signature) = 64),
    PRIMARY KEY (journal, seq, signature)            -- a false one is no obstacle to the true one
);

-- Returns whether the floor knows the journal.
CREATE FUNCTION pitwatch.signed(
    of_journal text, up_to bigint, its_at bigint, its_key bytea, its_signature bytea
) RETURNS boolean LANGUAGE sql SECURITY DEFINER SET search_path = pitwatch, pg_temp AS $$
    INSERT INTO signatures (journal, seq, at, key, signature)
        SELECT of_journal, up_to, its_at, its_key, its_signature
        WHERE EXISTS (SELECT FROM chains c WHERE c.journal = of_journal)
        ON CONFLICT DO NOTHING;
    SELECT EXISTS (SELECT FROM chains c WHERE c.journal = of_journal);
$$;

REVOKE ALL ON FUNCTION pitwatch.signed(text, bigint, bigint, bytea, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pitwatch.signed(text, bigint, bigint, bytea, bytea) TO pitwatch_forwarder;
GRANT SELECT ON pitwatch.table_keys, pitwatch.signatures TO pitwatch_service;
