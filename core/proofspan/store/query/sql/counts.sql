-- How many traces of a list have each value of a column, which is `label` or `gold_state`.
-- Grain: one row a value that occurs; traces without one are one row with a null.
-- Columns: value; traces, a count.
SELECT {column} AS value, count(*) AS traces
FROM rows
WHERE {where}
GROUP BY {column}
