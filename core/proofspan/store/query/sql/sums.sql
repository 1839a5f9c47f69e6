-- What every metric of a list is made of (see `proofspan.store.sums`), by slice.
-- Grain: one row a slice and combination of reasons that leave traces out of metrics; no more than the $most
--   largest slices. A trace is in each of its slices.
-- Columns: slice; the reasons, each null where the metrics that share it count the trace; traces, a count; for
--   each metric the sum of what the traces count for and, of a mean, that of its squares.
-- Numbers are added up as decimals of 12 places: exactly, so that no order of threads changes a digit. The
-- rows are read twice rather than kept: a million of them take more memory than a query may have.
WITH slices AS (
    SELECT {slice} AS slice
    FROM rows
    WHERE {where}
),
largest AS (
    SELECT slice
    FROM slices
    WHERE slice IS NOT NULL
    GROUP BY slice
    ORDER BY count(*) DESC, slice
    LIMIT $most
),
shown AS (
    SELECT {slice} AS slice, {left}, {columns}
    FROM rows
    WHERE {where}
)
SELECT slice, {reasons}, count(*) AS traces, {sums}
FROM shown SEMI JOIN largest USING (slice)
GROUP BY slice, {reasons}
