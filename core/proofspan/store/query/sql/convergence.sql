-- Whether the question of each trace converges: all of its traces log the state convergent.
-- Grain: one row a trace of `rows`, in their order (`at`, from 0). Repeats are no traces of their own.
-- Columns: unconverged, why that is not known: few_variants or not_logged; converges, a truth value, which
--   says something only where unconverged is null.
WITH questions AS (
    SELECT
        run,
        q_id,
        CASE
            WHEN count(DISTINCT paraphrase) < $paraphrases OR count(DISTINCT seed) < $seeds THEN 'few_variants'
            WHEN count(lambda_state) < count(*) THEN 'not_logged'
        END AS unconverged,
        bool_and(lambda_state = 'convergent') AS converges
    FROM rows
    WHERE repeat = 1
    GROUP BY run, q_id
    HAVING count(*) >= $paraphrases * $seeds
)
SELECT
    CASE WHEN questions.q_id IS NULL THEN 'few_variants' ELSE unconverged END AS unconverged,
    coalesce(converges, FALSE) AS converges
FROM rows LEFT JOIN questions USING (run, q_id)
ORDER BY rows.at
