-- How many traces of each run have which code, or which suspicion.
-- Grain: one row a run and code that occurs in it.
-- Columns: run, its place in the order asked for, from 0; code; traces, a count of all; questions, a count of
--   the headline ones among them. A trace counts once a code (its codes are distinct as they are stored).
-- Most traces of a run have the very codes that many others have, so whole lists are counted first.
WITH lists AS (
    SELECT run, {column} AS codes, count(*) AS traces, count(*) FILTER ({headline}) AS questions
    FROM rows
    GROUP BY run, codes
),
named AS (SELECT run, unnest(codes) AS code, traces, questions FROM lists)
SELECT run, code, sum(traces)::BIGINT AS traces, sum(questions)::BIGINT AS questions
FROM named
GROUP BY run, code
ORDER BY run, code
