-- A whole list in its order, for the neighbours of a question and for exports.
-- Grain: one row a trace that passes the filter.
-- Columns: row, the trace's place in its run, from 0.
SELECT row
FROM rows
WHERE {where}
ORDER BY {order}
