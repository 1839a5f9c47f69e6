"""Ranked lists: from scores to candidates, and from two lists to one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tools.demo.corpus import Piece
from tools.demo.fusion import rrf
from tools.demo.lexical import Scores

#: How deep each ranker goes, how long the fused list is, and the constant of the fusion.
DEPTH, FUSED, K = 50, 20, 60


@dataclass(frozen=True, slots=True)
class Hit:
    """A candidate in a list: its chunk, what the list is ordered by, and the scores that led there."""

    piece: Piece
    score: float
    features: Mapping[str, float | int] = field(default_factory=dict)
    source: str = ""

    @property
    def chunk_id(self) -> str:
        """Its chunk's id."""
        return self.piece.chunk_id

    @property
    def section_id(self) -> str:
        """Its chunk's section."""
        return self.piece.section


def pinned_order(hit: Hit) -> tuple[float, str, str]:
    """Best score first; ties by section id, then by chunk id."""
    return -hit.score, hit.section_id, hit.chunk_id


def ranked(pieces: Sequence[Piece], scores: Scores, *, source: str) -> list[Hit]:
    """The best chunks that score above zero, at most `DEPTH`, each with its score and rank as features."""
    found = [Hit(piece, score) for piece, score in zip(pieces, scores.tolist(), strict=True) if score > 0]
    best = sorted(found, key=pinned_order)[:DEPTH]
    return [
        Hit(hit.piece, hit.score, {source: hit.score, f"{source}_rank": rank}, source)
        for rank, hit in enumerate(best, start=1)
    ]


def union(bm25: Sequence[Hit], dense: Sequence[Hit]) -> list[Hit]:
    """Merge two rankings by the better of the two ranks; the score is that rank's reciprocal."""
    merged: dict[str, Hit] = {}
    for hit in (*bm25, *dense):
        earlier = merged.get(hit.chunk_id)
        features = {**(earlier.features if earlier else {}), **hit.features}
        rank = min(features[name] for name in ("bm25_rank", "dense_rank") if name in features)
        source = "both" if earlier else hit.source
        merged[hit.chunk_id] = Hit(hit.piece, round(1 / rank, 6), features, source)
    return sorted(merged.values(), key=pinned_order)


def fuse(bm25: Sequence[Hit], dense: Sequence[Hit]) -> list[Hit]:
    """Reciprocal rank fusion of the two lists; features of both go with the candidate."""
    known = {hit.chunk_id: hit for hit in union(bm25, dense)}
    return [
        Hit(
            known[fused.chunk_id].piece,
            fused.score,
            {**known[fused.chunk_id].features, "rrf": fused.score},
            known[fused.chunk_id].source,
        )
        for fused in rrf([bm25, dense], k=K, limit=FUSED)
    ]
