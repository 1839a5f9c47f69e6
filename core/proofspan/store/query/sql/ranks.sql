-- Where the gold section of each judged question stood, run by run.
-- Grain: one row a run and question.
-- Columns: q_id; q; run, its place in the order asked for, from 0; section_rank and top_rank, from 1; bucket.
SELECT q_id, q, run, section_rank, top_rank, bucket
FROM rows
WHERE {where} AND unranked IS NULL
ORDER BY run, q_id
