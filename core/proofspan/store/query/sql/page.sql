-- One page of a list: its rows in order.
-- Grain: one row a trace that passes the filter, at most $limit of them after the first $offset.
-- Columns: row, the trace's place in its run, from 0.
SELECT row
FROM rows
WHERE {where}
ORDER BY {order}
LIMIT $limit OFFSET $offset
