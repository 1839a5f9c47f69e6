-- The traces that pass a filter, in the order of the file.
-- Grain: one row a trace that passes the filter.
-- Columns: row, the trace's place in its run, from 0.
SELECT row
FROM rows
WHERE {where}
