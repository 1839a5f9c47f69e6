-- How many traces of a list carry each label.
-- Grain: one row a label that occurs; traces without a label are one row with a null.
-- Columns: label; traces, a count.
SELECT label, count(*) AS traces
FROM rows
WHERE {where}
GROUP BY label
