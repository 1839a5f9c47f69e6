"""Find where a claim and its evidence differ."""

from proofspan.diagnosis.claims.differences.compare import differences_of

__all__ = ["differences_of"]
