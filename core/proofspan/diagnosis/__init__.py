"""Labels and signals by rules that can be read: the reference reflection and what stands beside it."""
