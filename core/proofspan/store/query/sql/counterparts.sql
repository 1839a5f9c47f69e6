-- Which trace of another run is the same as each of a run: the same question, paraphrase, seed and repeat.
-- Grain: one row a trace of `here`, in the order of its rows.
-- Columns: row, the place of that trace in `there`, from 0; null where it has none.
SELECT there.row
FROM here LEFT JOIN there USING (q_id, paraphrase, seed, repeat)
ORDER BY here.row
