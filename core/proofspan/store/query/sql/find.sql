-- The place of one trace in its run.
-- Grain: at most one row.
-- Columns: row, the trace's place in its run, from 0.
SELECT row
FROM rows
WHERE q_id = $q_id AND paraphrase = $paraphrase AND seed = $seed AND repeat = $repeat
