-- How the outcome of the traces of a list turned from another run to this one.
-- Grain: a single row.
-- Columns: fixed, regressed, both and neither (right in), counts of traces that can be judged in both runs;
--   only_here, of those that the other run does not have; left_out, of those that one run cannot judge.
WITH shown AS (
    SELECT {value} AS is_now, {was} AS was, was_row IS NULL AS is_alone
    FROM rows
    WHERE {where}
)
SELECT
    count(*) FILTER (was = 0 AND is_now = 1) AS fixed,
    count(*) FILTER (was = 1 AND is_now = 0) AS regressed,
    count(*) FILTER (was = 1 AND is_now = 1) AS both,
    count(*) FILTER (was = 0 AND is_now = 0) AS neither,
    count(*) FILTER (is_alone) AS only_here,
    count(*) FILTER (NOT is_alone AND (was IS NULL OR is_now IS NULL)) AS left_out
FROM shown
