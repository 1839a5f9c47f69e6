-- How steady each question of a run is over its paraphrases and seeds.
-- Grain: one row a question; repeats are no traces of their own.
-- Columns: q_id; traces, paraphrases and seeds, counts; same_rank1, same_cited and same_label, whether all
--   traces agree: false where two differ, null where one has none and the others agree, or with one trace
--   alone; states, the different λ states that were logged, in order.
SELECT
    q_id,
    count(*) AS traces,
    count(DISTINCT paraphrase) AS paraphrases,
    count(DISTINCT seed) AS seeds,
    CASE
        WHEN count(DISTINCT rank1_section) > 1 THEN FALSE
        WHEN count(*) > 1 AND count(rank1_section) = count(*) THEN TRUE
    END AS same_rank1,
    CASE
        WHEN count(DISTINCT cited_print) > 1 THEN FALSE
        WHEN count(*) > 1 AND count(cited_print) = count(*) THEN TRUE
    END AS same_cited,
    CASE
        WHEN count(DISTINCT label) > 1 THEN FALSE
        WHEN count(*) > 1 AND count(label) = count(*) THEN TRUE
    END AS same_label,
    coalesce(list_sort(list(DISTINCT lambda_state) FILTER (lambda_state IS NOT NULL)), []) AS states
FROM rows
WHERE repeat = 1
GROUP BY q_id
ORDER BY q_id
