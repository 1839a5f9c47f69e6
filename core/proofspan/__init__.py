"""Proofspan: where an answer of a retrieval-augmented system went wrong, and what its source page says."""
