"""Pinning records: what a run was made with. The fields are those of `data/schemas/pinning-1.0.json`."""
