"""JSONL bytes into canonical records or line issues, and other tools' files into workspaces."""
