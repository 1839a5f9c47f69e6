-- The table of the traceability page, one row a question and segment; its JSONB is JSON here, which DuckDB,
-- SQLite and PostgreSQL all read.
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
