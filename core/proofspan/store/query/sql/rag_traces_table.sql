-- The traceability contract's table, for a dump to begin with; its JSONB is JSON here, which DuckDB, SQLite
-- and PostgreSQL all read.
--
-- Grain: one row a question and segment.
-- Columns: ts UTC; qid and seg (from 1) name the row; deltaS without unit, lambda_state a word; store to rev
--   what the citations share; citations ids, scores, kpos and kfinal (ranks from 1) lists of one length.
CREATE TABLE rag_traces (
  ts TIMESTAMP NOT NULL,
  qid TEXT NOT NULL,
  seg INTEGER NOT NULL,
  deltaS REAL NOT NULL,
  lambda_state TEXT NOT NULL,
  store TEXT,
  index_hash TEXT,
  embed_model TEXT,
  analyzer TEXT,
  section_id TEXT,
  rev TEXT,
  citations JSON,
  scores JSON,
  kpos JSON,
  kfinal JSON
);
