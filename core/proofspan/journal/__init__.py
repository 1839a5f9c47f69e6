"""Append-only JSONL that people write: one line a save, never rewritten. Knows lines, not what they mean."""
