-- The first trace of a run whose candidates, answer and citations are those of a given one.
-- Grain: one row, none where the trace's answer has no print.
-- Columns: row, the trace's place in its run, from 0; it may be the given trace itself.
SELECT min(row) AS row
FROM rows
WHERE answer_print = (SELECT answer_print FROM rows WHERE row = $row)
HAVING min(row) IS NOT NULL
