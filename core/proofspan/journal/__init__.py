"""Append-only JSONL files that people write: one line for each save, never rewritten."""
