-- By how much the numbers of two runs differ, trace by trace.
-- Grain: one row a trace of a list that counts in both runs, in the order of this run's rows.
-- Columns: difference, this run's number less the other's.
SELECT {value} - {was} AS difference
FROM rows
WHERE {where} AND {value} IS NOT NULL AND {was} IS NOT NULL
ORDER BY row
