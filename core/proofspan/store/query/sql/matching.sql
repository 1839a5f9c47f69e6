-- How many traces pass a filter.
-- Grain: a single row.
-- Columns: traces, a count.
SELECT count(*) AS traces
FROM rows
WHERE {where}
