-- How many traces of a list have which value, or combination of values.
-- Grain: one row a combination that occurs; null is a value. A list that is unnested counts once a value.
-- Columns: the values asked for; traces, a count.
SELECT *, count(*) AS traces
FROM (SELECT {columns} FROM rows WHERE {where})
GROUP BY ALL
