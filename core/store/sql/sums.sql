-- What every metric of a list is made of (see `core.store.sums`), by slice.
-- Grain: one row a slice, the largest first; at most $most of them. A trace counts in each of its slices.
-- Columns: slice; then, for each measure: how many traces each reason leaves out, how many things are in the
--   denominator, the sum of what they count for and that of its squares, and, for quantiles, the values at its
--   rank and at the ranks of its 95 % interval (null beyond the first and the last).
-- Numbers are added up as decimals of 12 places: exactly, so that no order of threads changes a digit.
WITH shown AS (
    SELECT {slice} AS slice, {columns}
    FROM rows
    WHERE {where}
),
counted AS (
    SELECT slice, {counted}
    FROM shown
),
added AS (
    SELECT slice, count(*) AS traces, {added}
    FROM counted
    WHERE slice IS NOT NULL
    GROUP BY slice
)
SELECT slice, {fields}
FROM added
ORDER BY traces DESC, slice
LIMIT $most
