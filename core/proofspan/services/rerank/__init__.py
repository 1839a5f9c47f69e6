"""Offline reranking: a logged top 20 in the order of a local cross-encoder or of a file of scores."""
