"""The demo workspace: an invented car's manual, a small retrieval pipeline over it, planted faults."""
