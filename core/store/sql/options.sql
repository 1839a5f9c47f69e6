-- What a run's list can be narrowed to besides documents, with how many headline traces each choice keeps.
-- Grain: one row a kind and value.
-- Columns: kind, one of suspicion, section, gold; value; traces, a count. A trace counts once a value (its
--   suspicions are distinct as they are stored).
WITH shown AS (
    SELECT suspicions, rank1_section, gold_state FROM rows WHERE {where}
),
choices AS (
    SELECT 'suspicion' AS kind, unnest(suspicions) AS value FROM shown
    UNION ALL
    SELECT 'section', rank1_section FROM shown WHERE rank1_section IS NOT NULL
    UNION ALL
    SELECT 'gold', gold_state FROM shown WHERE gold_state IS NOT NULL
)
SELECT kind, value, count(*) AS traces
FROM choices
GROUP BY kind, value
