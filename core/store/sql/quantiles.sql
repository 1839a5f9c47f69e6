-- The quantiles of a list, by slice: the values at the quantile's rank and at those of its 95 % interval.
-- Grain: one row a slice.
-- Columns: slice; for each quantile the value at its rank, then those at the ends, null where there is no such
--   rank. The ranks of the interval are those of the binomial's normal approximation.
WITH shown AS (
    SELECT {slice} AS slice, {columns}
    FROM rows
    WHERE {where}
),
sorted AS (
    SELECT slice, {lists}
    FROM shown
    WHERE slice IS NOT NULL
    GROUP BY slice
)
SELECT slice, {values}
FROM sorted
