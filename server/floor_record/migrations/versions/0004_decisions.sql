-- Decisions on their way to a table: a service asks, the forwarder on the table's machine hands the
-- decision in there and answers.

CREATE TABLE pitwatch.decisions (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session text NOT NULL REFERENCES pitwatch.chains (session),
    journal text NOT NULL,
    word text NOT NULL,                              -- the event, as it will be journalled
    asked_at timestamptz NOT NULL DEFAULT now(),
    asked_by text NOT NULL DEFAULT session_user,
    seq bigint,                                      -- its entry in the journal …
    last bigint,                                     -- … and the last one that followed from it
    by text,                                         -- table or journal, as it was written
    refused text,
    answered_at timestamptz
);
CREATE INDEX decisions_open ON pitwatch.decisions (journal) WHERE answered_at IS NULL;

CREATE FUNCTION pitwatch.ask(of_session text, its_word text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pitwatch, pg_temp AS $$
DECLARE
    chain chains;
    asked bigint;
BEGIN
    SELECT * INTO STRICT chain FROM chains c WHERE c.session = of_session;
    IF chain.state <> 'sound' OR EXISTS (
        SELECT FROM chains c WHERE c.table_id = chain.table_id AND c.journal = chain.journal
        AND c.epoch > chain.epoch
    ) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002',
            MESSAGE = 'the floor takes no more of this journal: decide it at its table';
    END IF;
    INSERT INTO decisions (session, journal, word) VALUES (of_session, chain.journal, its_word)
        RETURNING number INTO asked;
    PERFORM pg_notify('pitwatch_decisions', chain.journal);
    RETURN asked;
END $$;

CREATE FUNCTION pitwatch.asked(of_journals text[])
RETURNS TABLE (number bigint, journal text, word text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pitwatch, pg_temp AS $$
    SELECT d.number, d.journal, d.word FROM decisions d
        WHERE d.journal = ANY (of_journals) AND d.answered_at IS NULL ORDER BY d.number
$$;

CREATE FUNCTION pitwatch.answered(
    of_number bigint, its_seq bigint, its_last bigint, written_by text, why_not text
) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pitwatch, pg_temp AS $$
    UPDATE decisions d SET seq = its_seq, last = its_last, by = written_by, refused = why_not,
        answered_at = now()
        WHERE d.number = of_number AND d.seq IS NULL
$$;

-- Take back what no table has answered; it is not handed in later.
CREATE FUNCTION pitwatch.withdraw(of_number bigint) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pitwatch, pg_temp AS $$
    UPDATE decisions d SET refused = 'no table answered in time', answered_at = now()
        WHERE d.number = of_number AND d.answered_at IS NULL RETURNING true
$$;

REVOKE ALL ON FUNCTION pitwatch.ask(text, text), pitwatch.asked(text[]),
    pitwatch.answered(bigint, bigint, bigint, text, text), pitwatch.withdraw(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pitwatch.ask(text, text), pitwatch.withdraw(bigint) TO pitwatch_service;
GRANT EXECUTE ON FUNCTION pitwatch.asked(text[]),
    pitwatch.answered(bigint, bigint, bigint, text, text) TO pitwatch_forwarder;
GRANT SELECT ON pitwatch.decisions TO pitwatch_service;
