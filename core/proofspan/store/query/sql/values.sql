-- What every trace of a run counts for by a measure.
-- Grain: one row a trace, in the order of the rows.
-- Columns: value, a number; null where the trace is left out.
SELECT {value} AS value
FROM rows
ORDER BY row
