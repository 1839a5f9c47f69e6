-- The traces that meet a condition, in order.
-- Grain: one row a trace, at most {limit} of them (NULL: all) after the first {offset}.
-- Columns: those asked for, mostly row, the trace's place in its run from 0.
SELECT {columns}
FROM rows
WHERE {where}
ORDER BY {order}
LIMIT {limit} OFFSET {offset}
