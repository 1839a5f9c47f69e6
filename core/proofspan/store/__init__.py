"""The thin index and the only room that speaks to DuckDB."""
