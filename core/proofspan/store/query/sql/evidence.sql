-- How many traces of a list have a citation in each state (see `proofspan.store.files.evidence_states`).
-- Grain: one row a state that occurs. A trace counts once for each of its states.
-- Columns: value, the state; traces, a count.
WITH shown AS (
    SELECT evidence FROM rows WHERE {where}
),
states AS (
    SELECT unnest(evidence) AS value FROM shown
)
SELECT value, count(*) AS traces
FROM states
GROUP BY value
