"""The workspace manifest: what it names, whether those files are good, and paths that stay inside roots."""
