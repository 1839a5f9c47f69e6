-- The view rag_traces: the log records of one run under the names and types of the traceability page's table.
--
-- Grain: one row a question and segment, in the order of the run's traces.
-- ts is UTC without its zone; deltaS has no unit (0: question and context mean the same); seg counts from 1.
-- citations, scores, kpos and kfinal are JSON lists that belong together place by place; ranks count from 1.
-- Reads: records, made by core.store.rag_traces, all of its columns but seg and deltaS as text.
CREATE TEMP VIEW rag_traces AS
SELECT
    CAST(ts AS TIMESTAMP) AS ts,
    qid,
    CAST(seg AS INTEGER) AS seg,
    CAST(deltaS AS REAL) AS deltaS,
    lambda_state,
    store,
    index_hash,
    embed_model,
    analyzer,
    section_id,
    rev,
    CAST(citations AS JSON) AS citations,
    CAST(scores AS JSON) AS scores,
    CAST(kpos AS JSON) AS kpos,
    CAST(kfinal AS JSON) AS kfinal
FROM records
ORDER BY place;
