-- How many traces of a list fail, by what they are about.
-- Grain: one row a list of places that occurs (see `proofspan.diagnosis.about`); a trace counts in exactly one row.
-- Columns: about, the places; judged, how many traces of them can be judged; failing, how many of those fail.
WITH shown AS (
    SELECT about, {fails} AS fails FROM rows WHERE {where}
)
SELECT about, count(fails) AS judged, count(*) FILTER (fails) AS failing
FROM shown
GROUP BY about
ORDER BY about -- groups come in whatever order the threads finish
