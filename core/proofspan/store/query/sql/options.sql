-- What a run's list can be narrowed to besides documents, with how many headline traces each choice keeps.
-- Grain: one row a kind and value.
-- Columns: kind, one of suspicion, code, section, gold, bucket, type, state; value; traces, a count.
--   A trace counts once a value (its suspicions and its codes are distinct as they are stored).
WITH shown AS (
    SELECT suspicions, codes, rank1_section, gold_state, bucket, q_type, lambda_state FROM rows WHERE {where}
),
choices AS (
    SELECT 'suspicion' AS kind, unnest(suspicions) AS value FROM shown
    UNION ALL
    SELECT 'code', unnest(codes) FROM shown
    UNION ALL
    SELECT 'section', rank1_section FROM shown WHERE rank1_section IS NOT NULL
    UNION ALL
    SELECT 'gold', gold_state FROM shown WHERE gold_state IS NOT NULL
    UNION ALL
    SELECT 'bucket', bucket FROM shown WHERE bucket IS NOT NULL
    UNION ALL
    SELECT 'type', q_type FROM shown WHERE q_type IS NOT NULL
    UNION ALL
    SELECT 'state', lambda_state FROM shown WHERE lambda_state IS NOT NULL
)
SELECT kind, value, count(*) AS traces
FROM choices
GROUP BY kind, value
