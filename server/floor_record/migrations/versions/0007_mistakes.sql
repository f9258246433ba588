-- The mistakes of each round as it settled last. `codes` of an entry has the suspected ones too, and
-- those of an earlier settlement: whoever counts mistakes counts them here.
CREATE VIEW pitwatch.mistakes AS
    SELECT e.day, e.table_id, e.epoch, e.seq, e.at, e.round,
        one ->> 'code' AS code,
        substring(one ->> 'spot' FROM '^[0-9]{1,9}$')::integer AS spot,
        substring(one ->> 'hand' FROM '^[0-9]{1,9}$')::integer AS hand,
        one ->> 'detail' AS detail,
        -- A person must still decide an item of the round, which may have been raised after it settled.
        coalesce(pitwatch.parsed(e.body) #>> '{result,status}' = 'review', false) OR EXISTS (
            SELECT FROM pitwatch.entries r
            WHERE r.day = e.day AND r.table_id = e.table_id AND r.epoch = e.epoch
                AND r.round = e.round AND r.seq > e.seq AND r.type = 'review_raised'
                AND coalesce(pitwatch.parsed(r.body) ->> 'settles_alike', 'false') <> 'true'
        ) AS suspected
    FROM pitwatch.entries e,
        json_array_elements(pitwatch.parsed(e.body) #> '{result,violations}') AS one
    WHERE e.codes IS NOT NULL AND NOT EXISTS (
        SELECT FROM pitwatch.entries l
        WHERE l.day = e.day AND l.table_id = e.table_id AND l.epoch = e.epoch
            AND l.round = e.round AND l.seq > e.seq AND l.type = 'round_settled'
    );
GRANT SELECT ON pitwatch.mistakes TO pitwatch_service;
GRANT EXECUTE ON FUNCTION pitwatch.parsed(text) TO pitwatch_service;
