"""The workspace's manifest: what it names, whether that is there, and paths that stay inside their roots."""
