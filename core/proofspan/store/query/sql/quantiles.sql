-- The quantiles of one number of a list, by slice: the values at a quantile's rank and at those of its 95 %
-- interval, by the binomial's normal approximation.
-- Grain: one row a slice that has such a number.
-- Columns: slice; for each quantile the value at its rank (the least that so large a share does not exceed),
--   then those at the ends, null where there is no such rank.
WITH shown AS (
    SELECT {slice} AS slice, {value} AS value
    FROM rows
    WHERE {where} AND ({left}) IS NULL
),
ranked AS (
    SELECT
        slice,
        value,
        row_number() OVER (PARTITION BY slice ORDER BY value) AS rank,
        count(*) OVER (PARTITION BY slice) AS numbers
    FROM shown
    WHERE slice IS NOT NULL
)
SELECT slice, {values}
FROM ranked
GROUP BY slice
