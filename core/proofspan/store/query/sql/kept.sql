-- The traces that meet a condition, with all columns of the table.
-- Grain: one row a trace, in the order of the run.
-- Columns: those of rows.
SELECT *
FROM rows
WHERE {where}
ORDER BY row
