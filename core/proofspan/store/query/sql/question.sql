-- All traces of one question in a run, the headline trace first.
-- Grain: one row a trace.
-- Columns: row, the trace's place in its run, from 0.
SELECT row
FROM rows
WHERE q_id = $q_id
ORDER BY paraphrase, seed, repeat
