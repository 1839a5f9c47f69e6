-- The view rag_traces: the log records of one run under the names and types of rag_traces_table.sql.
--
-- Grain: one row a question and segment, in the order of the run's traces.
-- Columns: those of rag_traces_table.sql. ts is UTC without its zone; deltaS has no unit (0: question and
--   context mean the same); seg and ranks count from 1; the lists are JSON and belong together by place.
-- Parameters: none. Reads: records (proofspan.store.rag_traces), all text but place, seg and deltaS.
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
