-- How a column's values changed from another run to this one.
-- Grain: one row a pair of values that occurs, over the traces of a list that the other run has too.
-- Columns: was, the value there; is_now, that here; null where a run has none; traces, a count.
SELECT was_{column} AS was, {column} AS is_now, count(*) AS traces
FROM rows
WHERE {where} AND was_row IS NOT NULL
GROUP BY was, is_now
