-- How many traces of a list the other run does not have.
-- Grain: a single row.
-- Columns: traces, a count.
SELECT count(*) AS traces
FROM rows
WHERE {where} AND was_row IS NULL
