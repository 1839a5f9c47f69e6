-- How the traces of a list came out, by slice: labels, buckets, λ states, and who declined what was found.
-- Grain: one row a slice, kind and value that occurs; traces without a value are one row with a null.
-- Columns: slice; kind, one of label, bucket, state, refusal; value, for a refusal two of 0 and 1 in a row:
--   whether the answer declines, and whether the gold is in the top 20 (traces of which both are known);
--   traces, a count.
WITH shown AS (
    SELECT
        {slice} AS slice,
        label,
        bucket,
        lambda_state,
        CASE
            WHEN unranked IS NULL AND refused IS NOT NULL
            THEN concat(CAST(refused AS INTEGER), CAST(coalesce(top_rank <= 20, FALSE) AS INTEGER))
        END AS refusal
    FROM rows
    WHERE {where}
)
SELECT slice, 'label' AS kind, label AS value, count(*) AS traces FROM shown GROUP BY slice, label
UNION ALL
SELECT slice, 'bucket', bucket, count(*) FROM shown GROUP BY slice, bucket
UNION ALL
SELECT slice, 'state', lambda_state, count(*) FROM shown GROUP BY slice, lambda_state
UNION ALL
SELECT slice, 'refusal', refusal, count(*) FROM shown WHERE refusal IS NOT NULL GROUP BY slice, refusal
ORDER BY slice, kind, traces DESC, value
